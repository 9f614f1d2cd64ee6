"""What can be predicted without a model of cloth, to be beaten by one that is worth its name."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.calibration.experiment import Experiment

#: damping rates of the pendulum that are tried, 1/s
RATES = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
GRAVITY = 9.81


def frozen(experiment: Experiment) -> FloatArray:
    """(T, k, 3) m: nothing moves."""
    return np.repeat(experiment.markers[None], len(experiment.recording), axis=0)


def rigid_translation(experiment: Experiment) -> FloatArray:
    """(T, k, 3) m: the first shape is carried along with the middle of the held nodes."""
    middle = experiment.path.mean(axis=1)
    return experiment.markers[None] + experiment.at_times((middle - middle[0])[:, None])


def damped_pendulum(experiment: Experiment, rate: float, *, weight: float = 1.0) -> FloatArray:
    """(T, k, 3) m: the first shape as a rigid board that swings about the line through the held nodes.

    theta'' = (3 / (2 L)) n . (w g - a) - rate theta', for a uniform board of height L whose edge has acceleration a; n
    is the direction in which it swings, theta its angle from the vertical, and the rate is in 1/s. The weight w is what
    delta / rho is to a cloth; the plain pendulum has 1.
    """
    path, dt = experiment.path, experiment.timestep
    if path.shape[1] < 2:
        axis = np.repeat([[1.0, 0.0, 0.0]], len(path), axis=0)
    else:
        axis = path[:, -1] - path[:, 0]
        axis /= np.linalg.norm(axis, axis=1, keepdims=True)
    middle = path.mean(axis=1)
    up = np.array([0.0, 0.0, 1.0])
    down = -(up - (axis @ up)[:, None] * axis)
    down /= np.linalg.norm(down, axis=1, keepdims=True)
    out = np.cross(axis, down)
    acceleration = np.gradient(np.gradient(middle, dt, axis=0), dt, axis=0)
    pull = -acceleration - weight * GRAVITY * up  # felt by what moves along
    along, across = np.einsum("td,td->t", pull, down), np.einsum("td,td->t", pull, out)
    flat = experiment.mesh.vertices
    height = float(np.ptp(flat[:, 1]))
    # a sheet that begins at rest hangs as gravity lets it, whatever bias a camera has; one that moves has an angle
    local = experiment.markers - middle[0]
    free = np.ones(len(local), dtype=bool)
    free[experiment.recording.held] = False
    hang = local[free].mean(axis=0)
    moving = bool(experiment.velocities.any())
    first = float(np.arctan2(hang @ out[0], hang @ down[0])) if moving else 0.0
    ray, normal = np.cos(first) * down[0] + np.sin(first) * out[0], np.cos(first) * out[0] - np.sin(first) * down[0]
    u, v, w = local @ axis[0], local @ ray, local @ normal
    theta = np.full(len(path), first)
    speed = float(experiment.velocities.mean(axis=0) @ normal) / max(float(np.linalg.norm(hang)), 1e-6)
    factor = 1.5 / height
    for k in range(len(path) - 1):  # semi-implicit: stable for steps far below the period
        force = factor * (across[k + 1] * np.cos(theta[k]) - along[k + 1] * np.sin(theta[k]))
        speed = (speed + dt * force) / (1.0 + dt * rate)
        theta[k + 1] = theta[k] + dt * speed
    rays = np.cos(theta)[:, None] * down + np.sin(theta)[:, None] * out
    normals = np.cos(theta)[:, None] * out - np.sin(theta)[:, None] * down
    board = (
        middle[:, None] + u[None, :, None] * axis[:, None] + v[None, :, None] * rays[:, None]
        + w[None, :, None] * normals[:, None]
    )  # fmt: skip
    return experiment.at_times(board)


def fitted_pendulum(experiment: Experiment, window: tuple[float, float]) -> tuple[float, FloatArray]:
    """The damping rate (1/s) with the least mean error in a window (s), and the motion it gives (T, k, 3)."""
    motions = {rate: damped_pendulum(experiment, rate) for rate in RATES}
    best = min(RATES, key=lambda rate: experiment.errors(motions[rate]).within(*window).mean)
    return best, motions[best]
