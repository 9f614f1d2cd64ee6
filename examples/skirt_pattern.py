"""Copy a skirt: from how it hangs to the weight of its cloth and its pattern of two panels. See docs/patterns.md."""

import numpy as np

import isocloth as ic

AROUND, RINGS = 32, 10
WAIST = np.arange(AROUND)
SEAMS = {
    side: [start + AROUND * ring for ring in range(RINGS)] for side, start in (("left", 0), ("right", AROUND // 2))
}
SHELL = ic.models.DiscreteShell(stretch=30.0, bending=2e-5)


def cone() -> ic.Mesh:
    """Rings from the waist down, each wider than the last one."""
    turn = 2.0 * np.pi * np.arange(AROUND) / AROUND
    points = [((0.12 + 0.14 * d) * np.cos(a), (0.12 + 0.14 * d) * np.sin(a), -0.4 * d)
              for d in np.linspace(0.0, 1.0, RINGS) for a in turn]  # fmt: skip
    faces = []
    for i in range(AROUND * (RINGS - 1)):
        j = i + 1 if (i + 1) % AROUND else i + 1 - AROUND  # the next one on the ring
        faces += [(i, i + AROUND, j), (j, i + AROUND, j + AROUND)]
    return ic.Mesh(points, faces)


def in_the_shop() -> tuple[ic.Mesh, np.ndarray]:
    """A skirt of 0.2 kg/m^2 that hangs in folds, and the true panels, which nobody knows."""
    mesh = cone()
    flat = ic.patterns.flatten(mesh, ic.patterns.cut_open(mesh, SEAMS))
    panels = ic.patterns.Panels(mesh, ic.patterns.cut_open(mesh, SEAMS), flat.points)
    turn, depth = np.arctan2(mesh.vertices[:, 1], mesh.vertices[:, 0]), -mesh.vertices[:, 2] / 0.4
    folds = 1.0 + depth * (0.1 * np.cos(5.0 * turn + 0.3) + 0.03 * np.cos(3.0 * turn + 1.0))
    start = mesh.vertices * np.stack([folds, folds, np.ones_like(folds)], axis=1)
    hung = ic.equilibrium(
        mesh, ic.Fabric(density=0.2), model=SHELL, rest=panels.rest, held=dict(zip(WAIST, mesh.vertices, strict=False)),
        start=start,
    )  # fmt: skip
    return mesh.with_vertices(hung.positions), flat.points


def main() -> float:
    target, true = in_the_shop()
    found = ic.pattern(target, ic.Fabric(density=0.1), model=SHELL, seams=SEAMS, held=WAIST)
    for name, text in found.lines():
        print(f"{name:16} {text}")
    found.save("skirt.svg", allowance=10.0, title="Skirt")
    found.report("skirt.html", title="A skirt of two panels")
    edges = found.cut.edges
    off = [np.linalg.norm(flat[edges[:, 0]] - flat[edges[:, 1]], axis=1) for flat in (found.flat, true)]
    print(f"panels are off by {1e3 * np.abs(off[0] - off[1]).max():.1e} mm on an edge")
    return found.density


if __name__ == "__main__":
    main()
