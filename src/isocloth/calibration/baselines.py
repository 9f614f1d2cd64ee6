"""What can be predicted without a model of cloth, to be beaten by one that is worth its name."""

from __future__ import annotations

import numpy as np

from isocloth.calibration.experiment import Experiment
from isocloth.typing import FloatArray

#: damping rates of the pendulum that are tried, 1/s
RATES = (0.0, 0.5, 1.0, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 16.0)
GRAVITY = 9.81


def frozen(experiment: Experiment) -> FloatArray:
    """(T, k, 3) m: nothing moves."""
    return experiment.at_markers(np.repeat(experiment.start[None], len(experiment.path), axis=0))


def rigid_translation(experiment: Experiment) -> FloatArray:
    """(T, k, 3) m: the first shape is carried along with the middle of the held nodes."""
    middle = experiment.path.mean(axis=1)
    return experiment.at_markers(experiment.start[None] + (middle - middle[0])[:, None])


def damped_pendulum(experiment: Experiment, rate: float) -> FloatArray:
    """(T, k, 3) m: a rigid board that swings about the line through the two held nodes, damped with a rate (1/s).

    theta'' = -(3 / (2 L)) (n . (g + a)) - rate theta', for a uniform board of height L whose edge has acceleration a; n
    is the direction in which it swings.
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
    pull = -acceleration - GRAVITY * up  # felt by what moves along
    along, across = np.einsum("td,td->t", pull, down), np.einsum("td,td->t", pull, out)
    flat = experiment.mesh.vertices
    y = flat[:, 1].max() - flat[:, 1]
    height = float(y.max())
    theta = np.empty(len(path))
    # it starts where the sheet hangs: the mean direction of its free part
    hang = (experiment.start - middle[0])[y > 0.25 * height].mean(axis=0)
    theta[0], speed = np.arctan2(hang @ out[0], hang @ down[0]), 0.0
    factor = 1.5 / height
    for k in range(len(path) - 1):  # semi-implicit: stable for steps far below the period
        force = factor * (across[k + 1] * np.cos(theta[k]) - along[k + 1] * np.sin(theta[k]))
        speed = (speed + dt * force) / (1.0 + dt * rate)
        theta[k + 1] = theta[k] + dt * speed
    ray = np.cos(theta)[:, None] * down + np.sin(theta)[:, None] * out
    x = flat[:, 0] - flat[experiment.held, 0].mean()
    frames = middle[:, None] + x[None, :, None] * axis[:, None] + y[None, :, None] * ray[:, None]
    return experiment.at_markers(frames)


def fitted_pendulum(experiment: Experiment, window: tuple[float, float]) -> tuple[float, FloatArray]:
    """The damping rate (1/s) with the least mean error in a window (s), and the motion it gives (T, k, 3)."""
    motions = {rate: damped_pendulum(experiment, rate) for rate in RATES}
    best = min(RATES, key=lambda rate: experiment.errors(motions[rate]).within(*window).mean)
    return best, motions[best]
