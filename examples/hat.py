"""Design a hat that keeps its brim: the same hat, cut as it should look, droops."""

import numpy as np

import isocloth as ic

RADIUS, THICKNESS, AROUND = 0.1, 0.001, 24
HEAD = ic.Sphere([0, 0, 0], RADIUS - THICKNESS / 2, friction=0.6)
FELT = ic.Fabric(density=2.0, thickness=THICKNESS, damping=1.0)
SHELL = ic.models.DiscreteShell(stretch=5.0, bending=2.5e-4)


def hat() -> ic.Mesh:
    """Rings on the head from 15 degrees off its top, then off it, then a wavy brim."""
    angles = np.radians(np.linspace(15.0, 75.0, 7))
    off = np.array([1.0, 1.0, 1.0, 1.01, 1.02, 1.03, 1.04])
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
    target = hat()
    target.save("hat.obj")
    found = ic.invert(target, FELT, model=SHELL, obstacles=[HEAD])
    found.rest.save("hat_rest.obj")
    drops = {}
    for name, sim in (("naive", found.naive()), ("designed", found.simulation())):
        trajectory = sim.run(0.5, every=0.05)
        drops[name] = np.abs(trajectory.positions[-1] - found.target.vertices).max()
        print(f"{name} hat: moves by {1e3 * drops[name]:.3g} mm in half a second")
    return drops["designed"] / drops["naive"]


if __name__ == "__main__":
    main()
