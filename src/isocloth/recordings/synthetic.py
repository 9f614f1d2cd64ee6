"""Synthetic recordings, made from simulations: markers with noise and gaps, whose truth is known."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.recordings.bodies import Body
from isocloth.recordings.recording import Recording
from isocloth.recordings.simulated import simulated_fields
from isocloth.trajectory import Trajectory


def from_trajectory(
    trajectory: Trajectory,
    *,
    markers: tuple[int, int] | ArrayLike | None = None,
    held: ArrayLike | None = None,
    noise: float = 0.0,
    missing: float = 0.0,
    longest_loss: float = 0.0,
    rate: float | None = None,
    others: Mapping[str, FloatArray] | None = None,
    bodies: Mapping[str, Body] | None = None,
    seed: int = 0,
    name: str = "synthetic",
) -> Recording:
    """What cameras would have seen of a simulated cloth.

    Args:
        trajectory: of any simulation.
        markers: (rows, columns) of a grid of markers on a rectangular sheet, both edges included; or nodes; None = all.
        held: which markers are held, indices; None = the upper corners of a grid of markers, or those nodes of others
            that lie at the highest corners of the first frame.
        noise: standard deviation of every coordinate, m.
        missing: share of positions lost at random.
        longest_loss: s; losses last a random time up to this, at least a frame.
        rate: frames per second, by straight lines between frames; None = those of the trajectory.
        others: label -> (T, 3) m at the times of the trajectory, markers beside the cloth, which are seen as badly.
        bodies: what the cloth met.
        seed: of the noise and the gaps.
    """
    if not 0.0 <= missing < 1.0 or not noise >= 0.0:
        raise InputError(f"noise = {noise!r}, missing = {missing!r}: expected a length in m, and a share from 0 to 1")
    made = Recording(**simulated_fields(trajectory, markers, name=name))
    random = np.random.default_rng(seed)
    times = made.times
    if rate is not None:
        times = times[0] + np.arange(int(np.floor((times[-1] - times[0]) * rate + 1e-9)) + 1) / rate

    def seen(points: FloatArray) -> FloatArray:
        if rate is not None:
            points = _sampled(made.times, points, times)
        points = points + noise * random.standard_normal(points.shape)
        points[_losses(random, times, points.shape[1], missing, longest_loss)] = np.nan
        return points

    positions = seen(made.positions)
    beside: dict[str, FloatArray] = {}
    if others:
        shown = seen(np.stack([np.asarray(x, dtype=np.float64) for x in others.values()], axis=1))
        beside = {label: shown[:, i] for i, label in enumerate(others)}
    return made.with_(
        times=times, positions=positions, held=made.held if held is None else held, others=beside, bodies=bodies or {},
        metadata={**made.metadata, "synthetic": {"noise": noise, "missing": missing, "seed": seed}},
    )  # fmt: skip


def _sampled(times: FloatArray, points: FloatArray, wanted: FloatArray) -> FloatArray:
    after = np.clip(np.searchsorted(times, wanted), 1, len(times) - 1)
    s = np.clip((wanted - times[after - 1]) / (times[after] - times[after - 1]), 0.0, 1.0)[:, None, None]
    return (1.0 - s) * points[after - 1] + s * points[after]


def _losses(random: np.random.Generator, times: FloatArray, k: int, share: float, longest: float) -> BoolArray:
    """(T, k) which positions are lost."""
    lost = np.zeros((len(times), k), dtype=bool)
    if share == 0.0:
        return lost
    step = float(np.median(np.diff(times)))
    most = max(1, round(longest / step))
    while lost.mean() < share:
        j, t = int(random.integers(k)), int(random.integers(len(times)))
        lost[t : t + int(random.integers(1, most + 1)), j] = True
    return lost
