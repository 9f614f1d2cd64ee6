"""Copy a skirt: from how it hangs to the weight of its cloth and its pattern of two panels. See docs/patterns.md."""

import numpy as np

import isocloth as ic
from isocloth import patterns

AROUND, RINGS = 32, 10
WAIST = np.arange(AROUND)
SEAMS = {side: [start + AROUND * ring for ring in range(RINGS)] for side, start in (("left", 0), ("right", 16))}
SHELL = ic.models.DiscreteShell(stretch=30.0, bending=2e-5)


def in_the_shop() -> ic.Mesh:
    """A skirt of 0.2 kg/m^2 that hangs in folds: sewn of the panels of a cone, which are not given away."""
    d, a = (g.ravel() for g in np.meshgrid(np.linspace(0, 1, RINGS), 2 * np.pi * WAIST / AROUND, indexing="ij"))
    r = 0.12 + 0.14 * d
    faces = []
    for i in range(AROUND * (RINGS - 1)):
        j = i + 1 if (i + 1) % AROUND else i + 1 - AROUND  # the next one on the ring
        faces += [(i, i + AROUND, j), (j, i + AROUND, j + AROUND)]
    cone = ic.Mesh(np.stack([r * np.cos(a), r * np.sin(a), -0.4 * d], axis=1), faces)
    cut = patterns.cut_open(cone, SEAMS)
    panels = patterns.Panels(cone, cut, patterns.flatten(cone, cut).points)
    folds = 1.0 + d * (0.1 * np.cos(5.0 * a + 0.3) + 0.03 * np.cos(3.0 * a + 1.0))
    start = cone.vertices * np.stack([folds, folds, np.ones_like(d)], axis=1)
    hung = ic.equilibrium(cone, ic.Fabric(density=0.2), model=SHELL, rest=panels.rest, held=WAIST, start=start)
    return cone.with_vertices(hung.positions)


def main() -> float:
    found = ic.pattern(in_the_shop(), ic.Fabric(density=0.1), model=SHELL, seams=SEAMS, held=WAIST)
    print("\n".join(f"{name:16} {text}" for name, text in found.lines()))
    found.save("skirt.svg", allowance=10.0, title="Skirt")
    found.report("skirt.html", title="A skirt of two panels")
    return found.density


if __name__ == "__main__":
    main()
