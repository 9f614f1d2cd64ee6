"""How late a camera is behind a robot's tool."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import RecordingError
from isocloth.base.typing import FloatArray
from isocloth.recordings.resample import resample


def lag(
    times: FloatArray,
    seen: FloatArray,
    tool_times: FloatArray,
    tool: FloatArray,
    *,
    largest: float = 1.0,
    rate: float = 100.0,
    smoothing: float = 0.1,
) -> float:
    """Seconds by which what was seen comes after the tool: the frame stamped t shows the world at t - lag.

    The shift at which the velocities of the two agree best, by normalised correlation over all three axes, its peak
    placed between samples by a parabola.

    Args:
        times, seen: (T,) s and (T, 3) m, e.g. the middle of the held corners; NaN where it was not seen.
        tool_times, tool: (M,) s and (M, 3) m of the tool, on the same clock.
        largest: s, the largest lag looked for, either way.
        rate: samples per second of the comparison.
        smoothing: s, over which velocities are taken.
    """
    start = max(times[0], tool_times[0]) - largest
    end = min(times[-1], tool_times[-1]) + largest
    grid = np.arange(start, end, 1.0 / rate)
    a = _velocity(times, seen, grid, smoothing, rate)
    b = _velocity(tool_times, tool, grid, smoothing, rate)
    if np.isfinite(a).sum() < 3 * rate * 0.5 or np.isfinite(b).sum() < 3 * rate * 0.5:
        raise RecordingError("camera and tool have less than half a second in common; the lag cannot be found")
    if np.nanstd(b) < 1e-3:
        raise RecordingError("the tool stands still; its lag cannot be found from this recording")
    shifts = np.arange(-round(largest * rate), round(largest * rate) + 1)
    score = np.array([_agreement(a, b, int(k)) for k in shifts])
    best = int(np.nanargmax(score))
    offset = 0.0
    if 0 < best < len(score) - 1 and np.isfinite(score[best - 1 : best + 2]).all():
        left, mid, right = score[best - 1 : best + 2]
        bend = left - 2.0 * mid + right
        offset = 0.5 * (left - right) / bend if bend < 0.0 else 0.0
    return float((shifts[best] + offset) / rate)


def _velocity(times: FloatArray, points: FloatArray, grid: FloatArray, smoothing: float, rate: float) -> FloatArray:
    # up to half a second between camera frames is bridged: this is for timing, not for data
    x = resample(times, points[:, None], grid, 0.5)[:, 0]
    half = max(1, round(0.5 * smoothing * rate))
    v = np.full_like(x, np.nan)
    v[half:-half] = (x[2 * half :] - x[: -2 * half]) * (rate / (2 * half))
    return v


def _agreement(a: FloatArray, b: FloatArray, shift: int) -> float:
    """Normalised correlation of a(t) with b(t - shift)."""
    first, second = (a[shift:], b[: len(b) - shift]) if shift >= 0 else (a[:shift], b[-shift:])
    known = np.isfinite(first).all(axis=1) & np.isfinite(second).all(axis=1)
    if known.sum() < 10:
        return float("nan")
    p, q = first[known], second[known]
    norm = np.sqrt((p**2).sum() * (q**2).sum())
    return float((p * q).sum() / norm) if norm > 0.0 else float("nan")
