"""Small analytic motions to picture."""

from __future__ import annotations

import numpy as np

from isocloth.trajectory import Trajectory


def grid(n: int) -> tuple[np.ndarray, np.ndarray]:
    """(n * n, 3) vertices of the unit square and its quadrilaterals."""
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    at = np.arange(n * n).reshape(n, n)
    faces = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
    return np.stack([x.ravel(), y.ravel(), np.zeros(n * n)], axis=1), faces


def waving(n: int = 9, frames: int = 11, duration: float = 0.5) -> Trajectory:
    """A sheet that waves like a flag, with invented certificates."""
    rest, faces = grid(n)
    times = np.linspace(0.0, duration, frames)
    u, v = rest[:, 0], rest[:, 1]
    positions = [np.stack([0.95 * u, 0.15 * u * np.sin(2 * np.pi * (u - t + 0.2 * v)), v], axis=1) for t in times]
    reports = {
        "isometry_error": np.r_[np.nan, 1e-7 * (1 + np.arange(frames - 1))],
        "iterations": np.arange(frames),
        "converged": np.ones(frames, dtype=bool),
    }
    return Trajectory(times=times, positions=np.array(positions), faces=faces, rest=rest, reports=reports)
