"""Synthetic recordings, made from simulations: markers with noise and gaps, whose truth is known."""

from __future__ import annotations

from numpy.typing import ArrayLike

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
        seed: of the noise and the gaps.
    """
    return Recording(
        **simulated_fields(
            trajectory, markers=markers, held=held, noise=noise, missing=missing, longest_loss=longest_loss, rate=rate,
            seed=seed, name=name,
        )
    )  # fmt: skip
