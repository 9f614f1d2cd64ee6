"""A recording of a small simulated sheet whose parameters are known."""

from __future__ import annotations

from functools import cache

import numpy as np

import isocloth as ic

TRUE = {"gravity_density": 0.12, "damping": 0.45}
FABRIC = ic.Fabric(density=0.2, **TRUE)


@cache
def recording(duration: float = 3.0, noise: float = 5e-4, missing: float = 0.03, seed: int = 0) -> ic.Recording:
    """An A3 sheet with 4 x 3 markers, still for 0.2 s and then shaken."""
    flat = ic.meshes.rectangle(0.297, 0.42, (5, 7))
    sheet = flat.with_vertices(flat.vertices[:, [0, 2, 1]])
    sim = ic.Simulation(sheet, FABRIC, rest=flat)
    held = sheet.nearest([[0.0, 0.0, 0.42], [0.297, 0.0, 0.42]])
    start = sheet.vertices[held]

    def path(t: float) -> np.ndarray:
        go = max(t - 0.2, 0.0)
        return start + np.array([0.0, 0.05 * np.sin(2 * np.pi * 0.6 * go) * min(1.0, go / 0.5), 0.0])

    sim.grasp(held, path)
    trajectory = sim.run(duration)
    made = ic.recordings.from_trajectory(
        trajectory, markers=(4, 3), noise=noise, missing=missing, longest_loss=0.1, rate=60.0, seed=seed
    )
    return made.with_(fabric=ic.Fabric(density=0.2))
