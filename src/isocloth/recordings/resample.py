"""Other times, without inventing what was not seen."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import InputError, RecordingError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray

#: more frames than this are a mistake in the step or in the times
MOST_FRAMES = 10_000_000


def steps(times: FloatArray, timestep: float) -> FloatArray:
    """Times from the first to the last, evenly apart."""
    if not 0.0 < (as_float(timestep) or np.nan) < np.inf:
        raise InputError(f"timestep = {shown(timestep)}: expected a positive number of seconds")
    count = int(np.floor((times[-1] - times[0]) / timestep + 1e-6)) + 1
    if not 2 <= count <= MOST_FRAMES:
        raise RecordingError(
            f"timestep = {timestep:g} s gives {count} frames from {times[0]:g} to {times[-1]:g} s; choose another one"
        )
    return times[0] + timestep * np.arange(count)


def resample(times: FloatArray, points: FloatArray, wanted: FloatArray, longest_gap: float) -> FloatArray:
    """(W, k, 3) at other times, by straight lines between neighbouring sightings at most `longest_gap` (s) apart."""
    out = np.full((len(wanted), *points.shape[1:]), np.nan)
    slack = 1e-9 * max(1.0, float(np.abs(times).max()))
    for j in range(points.shape[1]):
        seen = np.flatnonzero(np.isfinite(points[:, j]).all(axis=1))
        if len(seen) == 0:
            continue
        t, x = times[seen], points[seen, j]
        after = np.searchsorted(t, wanted - slack)
        exact = (after < len(t)) & (np.abs(t[np.minimum(after, len(t) - 1)] - wanted) <= slack)
        out[exact, j] = x[after[exact]]
        inner = ~exact & (after > 0) & (after < len(t))
        b = after[inner]
        near = t[b] - t[b - 1] <= longest_gap + slack
        inner[np.flatnonzero(inner)[~near]] = False
        b = b[near]
        s = ((wanted[inner] - t[b - 1]) / (t[b] - t[b - 1]))[:, None]
        out[inner, j] = (1.0 - s) * x[b - 1] + s * x[b]
    return out


def longest_absence(times: FloatArray, points: FloatArray) -> tuple[float, float, float]:
    """Longest time (s) without a sighting of one marker (T, 3), and when it begins and ends."""
    seen = np.isfinite(points).all(axis=1)
    if not seen.any():
        return float(times[-1] - times[0]), float(times[0]), float(times[-1])
    t = np.concatenate([[times[0]], times[seen], [times[-1]]])
    k = int(np.argmax(np.diff(t)))
    return float(t[k + 1] - t[k]), float(t[k]), float(t[k + 1])
