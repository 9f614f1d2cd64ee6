"""Small clouds, reconstructed once for all tests."""

from __future__ import annotations

from functools import cache

import numpy as np

import isocloth as ic
from isocloth.meshes.surfaces import surface
from isocloth.reconstruction import Reconstruction, reconstruct

NAMES = ("sphere", "torus", "disk", "annulus", "Moebius strip", "Klein bottle", "pair of pants")


@cache
def found(name: str, count: int = 1500, seed: int = 0, noise: float = 0.0) -> Reconstruction:
    return reconstruct(surface(name).sample(count, seed=seed, noise=noise))


def assert_simulates(mesh: ic.Mesh, held: list[float]) -> None:
    """The simulator takes a mesh that is held at its node next to a point, and moves it."""
    simulation = ic.Simulation(mesh, ic.Fabric(density=0.2))
    simulation.grasp(mesh.nearest([held]))
    report = simulation.step()
    assert report.converged
    assert np.isfinite(simulation.state.positions).all()
