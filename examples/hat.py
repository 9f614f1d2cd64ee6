"""Design a hat that keeps its brim: the same hat, cut as it should look, droops. See docs/tutorial_hat.md."""

import numpy as np

import isocloth as ic

RADIUS, THICKNESS, AROUND = 0.1, 0.001, 24


def hat() -> ic.Mesh:
    """Rings on the head from 15 degrees off its top, then off it, then a wavy brim."""
    angles, off = np.radians(np.linspace(15.0, 75.0, 7)), [1.0, 1.0, 1.0, 1.01, 1.02, 1.03, 1.04]
    rings = [(RADIUS * f * np.sin(a), RADIUS * f * np.cos(a), 0.0) for a, f in zip(angles, off, strict=True)]
    rings += [(rings[6][0] + 0.008 * k, rings[6][1] - 0.004 * k, 0.0016 * k) for k in range(1, 6)]
    turn = 2.0 * np.pi * np.arange(AROUND) / AROUND
    points = [(r * np.cos(a), r * np.sin(a), z + wave * np.cos(4.0 * a)) for r, z, wave in rings for a in turn]
    faces = []
    for i in range(AROUND * (len(rings) - 1)):
        j = i + 1 if (i + 1) % AROUND else i + 1 - AROUND  # the next one on the ring
        faces += [(i, i + AROUND, j), (j, i + AROUND, j + AROUND)]
    return ic.Mesh(points, faces)


def main() -> float:
    hat().save("hat.obj")
    felt, shell = ic.Fabric(density=2.0, thickness=THICKNESS), ic.models.DiscreteShell(stretch=5.0, bending=2.5e-4)
    head = ic.Sphere([0, 0, 0], RADIUS - THICKNESS / 2, friction=0.6)
    found = ic.invert(hat(), felt, model=shell, obstacles=[head])
    moved = {}
    for name, sim in (("naive", found.naive()), ("designed", found.simulation())):
        sim.run(0.5)
        moved[name] = np.abs(sim.positions - found.target.vertices).max()
        print(f"the {name} hat moves by {1e3 * moved[name]:.3g} mm in half a second")
    return float(moved["designed"] / moved["naive"])


if __name__ == "__main__":
    main()
