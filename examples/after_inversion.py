"""Garments of inverse design that are let go on living: hats in the wind, a page that is turned, a hem on the ground.

    python examples/after_inversion.py [folder]

Each begins at rest in its target. A PNG of six instants is written for every film, and lines say how well steps went.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import isocloth as ic


def hat(rings: int = 10, around: int = 30) -> tuple[ic.Mesh, ic.Sphere]:
    """A cap on a head, with a wavy brim."""
    radius, crown = 0.1, 5
    level = np.radians(np.linspace(20.0, 70.0, crown))
    off = np.where(np.arange(crown) < 2, 1.0, 1.02 + 0.004 * np.arange(crown))
    brim = np.arange(1, rings - crown + 1)
    r = np.concatenate([radius * np.sin(level) * off, radius * np.sin(level[-1]) * off[-1] + 0.006 * brim])
    z = np.concatenate([radius * np.cos(level) * off, radius * np.cos(level[-1]) * off[-1] - 0.003 * brim])
    points, faces = [], []
    for i in range(rings):
        a = 2.0 * np.pi * (np.arange(around) + 0.5 * (i % 2)) / around
        wave = 0.004 * max(i - crown + 1, 0) / (rings - crown) * np.cos(5.0 * a)
        points.append(np.stack([r[i] * np.cos(a), r[i] * np.sin(a), z[i] + wave], axis=1))
    for i in range(rings - 1):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            c, d = a + around, b + around
            faces += [(a, c, b), (b, c, d)] if i % 2 == 0 else [(a, c, d), (a, d, b)]
    return ic.Mesh(np.concatenate(points), np.array(faces)), ic.Sphere([0, 0, 0], radius - 5e-4, friction=0.6)


def page(along: int = 25, across: int = 11) -> tuple[ic.Mesh, ic.Floor]:
    """A page that arches between two ends on a table."""
    flat = ic.meshes.rectangle(0.25, 0.2, (along, across), element="triangle")
    s = flat.vertices[:, 0] / 0.25
    height = 0.06 * np.sin(np.pi * np.clip((s - 0.1) / 0.8, 0.0, 1.0)) ** 2 + 5e-4
    return flat.with_vertices(flat.vertices * [1, 1, 0] + height[:, None] * [0, 0, 1]), ic.Floor(friction=0.4)


def film(sim: ic.Simulation, seconds: float, path: Path | None) -> tuple[float, float, float]:
    """Run and draw; returns the part of the steps that converged, the smallest gap, m, and how far it moved, m."""
    begin = sim.positions.copy()
    trajectory = sim.run(seconds)
    if path is not None:
        ic.pictures.render(trajectory, path, width=900, height=420)
    converged = float(np.mean([report.converged for report in trajectory.reports]))
    closest = min(report.min_gap for report in trajectory.reports)
    moved = float(np.abs(sim.positions - begin).max())
    name = path.stem if path is not None else "film"
    print(f"{name}: {100 * converged:.0f} % of steps converged, gap at least {closest:.1e} m, moved {moved:.2f} m")
    return converged, closest, moved


def main(folder: Path | None = None, seconds: float = 0.8) -> list[tuple[float, float, float]]:
    """Both films, with pictures if there is a folder for them."""
    found = []
    mesh, head = hat()
    felt = ic.models.DiscreteShell(stretch=20.0, bending=1e-3)
    design = ic.invert(mesh, ic.Fabric(density=0.3, thickness=1e-3), model=felt, obstacles=[head])
    wind = ic.AirDrag(design.target, wind=(12.0, 0.0, 6.0))
    found.append(film(design.simulation(extra_force=wind), seconds, folder and folder / "hat.png"))
    mesh, table = page()
    paper = ic.models.DiscreteShell(stretch=50.0, bending=2e-3)
    design = ic.invert(mesh, ic.Fabric(density=0.3, thickness=1e-3), model=paper, obstacles=[table])
    spine = np.flatnonzero(mesh.vertices[:, 0] < 0.011)
    wind = ic.AirDrag(design.target, wind=(-4.0, 0.0, 6.0))
    sim = design.simulation(extra_force=wind)
    sim.grasp(spine)
    found.append(film(sim, seconds, folder and folder / "page.png"))
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else None)
