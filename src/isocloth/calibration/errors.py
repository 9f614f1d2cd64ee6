"""How far a simulation is from a recording: the papers' measures (thesis, eq. 4.3 - 4.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray


class Errors(NamedTuple):
    """Errors in every frame, m."""

    times: FloatArray  # (T,) s
    e: FloatArray  # (T,) sqrt of the mean over the sheet of squared distances, markers that are missing left out
    s: FloatArray  # (T,) standard deviation of the distance over the markers
    d: FloatArray  # (T,) dispersion, e + 2 s

    def within(self, start: float, end: float) -> Errors:
        """The frames from start to end, s."""
        inside = (self.times >= start - 1e-9) & (self.times <= end + 1e-9)
        return Errors(*[x[inside] for x in self])

    @property
    def mean(self) -> float:
        """Mean of e over time."""
        return float(np.nanmean(self.e)) if np.isfinite(self.e).any() else float("nan")

    @property
    def rms(self) -> float:
        """Root of the mean of e^2 over time."""
        return float(np.sqrt(np.nanmean(self.e**2))) if np.isfinite(self.e).any() else float("nan")

    @property
    def deviation(self) -> float:
        """Mean of s over time."""
        return float(np.nanmean(self.s)) if np.isfinite(self.s).any() else float("nan")

    @property
    def largest_dispersion(self) -> float:
        """Largest d."""
        return float(np.nanmax(self.d)) if np.isfinite(self.d).any() else float("nan")


def errors(times: FloatArray, simulated: FloatArray, recorded: FloatArray, weights: FloatArray) -> Errors:
    """Errors of simulated positions (T, k, 3) m against recorded ones, with weights (k,) (areas) of the markers."""
    away = simulated - recorded
    distance = np.linalg.norm(away, axis=2)
    seen: BoolArray = np.asarray(np.isfinite(distance))
    w = np.where(seen, weights, 0.0)
    total = w.sum(axis=1)
    square = np.where(seen, distance, 0.0) ** 2
    with np.errstate(divide="ignore", invalid="ignore"):
        e = np.sqrt((w * square).sum(axis=1) / total)
        count = seen.sum(axis=1)
        mean = np.where(seen, distance, 0.0).sum(axis=1) / count
        s = np.sqrt((np.where(seen, distance - mean[:, None], 0.0) ** 2).sum(axis=1) / count)
    return Errors(times, e, s, e + 2.0 * s)


def residuals(simulated: FloatArray, recorded: FloatArray, weights: FloatArray) -> FloatArray:
    """(T, 3 k) m, whose squares sum up to the mean over frames of e^2; 0 where a marker is missing."""
    away = simulated - recorded
    seen: BoolArray = np.asarray(np.isfinite(away).all(axis=2))
    w = np.where(seen, weights, 0.0)
    frames = (w.sum(axis=1) > 0.0).sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.sqrt(w / (w.sum(axis=1, keepdims=True) * max(int(frames), 1)))
    out = np.where(seen[:, :, None], share[:, :, None] * away, 0.0)
    return out.reshape(len(out), -1)
