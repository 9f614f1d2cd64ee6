"""Paths of held corners from noisy sightings: a smooth curve whose stiffness the data themselves choose."""

from __future__ import annotations

import numpy as np
from scipy.fft import dct
from scipy.interpolate import make_smoothing_spline
from scipy.optimize import minimize_scalar

from isocloth.base.errors import RecordingError
from isocloth.base.typing import FloatArray

#: logarithm of the stiffest spline, in units of the step: beyond it rounding tells, and a straight line is as good
STIFFEST = 8.0


def smooth_path(
    times: FloatArray, points: FloatArray, wanted: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """(W, h, 3) at other times: smoothing splines through points (T, h, 3), NaN where not seen.

    min sum w |x - f|^2 + lambda int |f''|^2 with weights (T,), one lambda for all coordinates, by generalised
    cross-validation without the weights. Noise of a millimetre at 100 Hz is an acceleration of 20 m/s^2, which would
    shake the simulated cloth; what the cloth was really moved by changes within tenths of a second.
    """
    h = points.shape[1]
    flat = points.reshape(len(times), -1)
    strength = _strength(times, flat)
    out = np.empty((len(wanted), flat.shape[1]))
    for c in range(flat.shape[1]):
        seen = np.isfinite(flat[:, c])
        if seen.sum() < 5:
            raise RecordingError(f"a held marker is seen in {int(seen.sum())} frames; at least 5 are needed")
        w = None if weights is None else weights[seen]
        if np.isinf(strength):
            roots = None if w is None else np.sqrt(w)
            out[:, c] = np.polynomial.Polynomial.fit(times[seen], flat[seen, c], 1, w=roots)(wanted)
            continue
        centre = times[seen].mean()
        spline = make_smoothing_spline(times[seen] - centre, flat[seen, c], w=w, lam=strength)
        inside = np.clip(wanted, times[seen][0], times[seen][-1]) - centre
        out[:, c] = spline(inside)
    return out.reshape(len(wanted), h, 3)


def _strength(times: FloatArray, flat: FloatArray) -> float:
    """lambda of the smoothing spline, s^3, by generalised cross-validation on evenly spaced data.

    On an even grid with step h the spline is nearly diagonal in cosines: factors 1 / (1 + s (2 - 2 cos w)^2), and
    lambda = s h^3.
    """
    n = len(times)
    grid = np.linspace(times[0], times[-1], n)
    step = grid[1] - grid[0]
    columns = []
    for c in range(flat.shape[1]):
        seen = np.isfinite(flat[:, c])
        x = np.interp(grid, times[seen], flat[seen, c])
        # a straight line is free of charge; without it cosines would see a jump between the ends
        line = np.polynomial.Polynomial.fit(grid, x, 1)
        columns.append(x - line(grid))
    power = (dct(np.stack(columns), axis=1, norm="ortho") ** 2).sum(axis=0)
    bend = (2.0 - 2.0 * np.cos(np.pi * np.arange(n) / n)) ** 2

    def score(log_s: float) -> float:
        pull = 10.0**log_s * bend
        left = pull / (1.0 + pull)
        return float(np.log((power * left**2).sum() + 1e-300) - 2.0 * np.log(left.mean()))

    coarse = np.linspace(-3.0, STIFFEST, 45)
    best = coarse[int(np.argmin([score(s) for s in coarse]))]
    if best == coarse[-1]:
        return float("inf")
    fine = minimize_scalar(score, bounds=(best - 0.25, best + 0.25), method="bounded")
    return float(10.0**fine.x * step**3)


def with_smooth_distance(times: FloatArray, points: FloatArray, wanted: FloatArray, path: FloatArray) -> FloatArray:
    """A path (W, 2, 3) of two markers whose distance is smoothed for itself, from their sightings (T, 2, 3).

    Hands and hangers hold two corners at a distance that hardly changes, and little noise in it matters much: a sheet
    whose corners come together by a part e of their distance bows out by 0.6 sqrt(e) of it, 8 mm for 0.2 mm.
    """
    seen = np.linalg.norm(points[:, 1] - points[:, 0], axis=1)
    distance = smooth_path(times, np.repeat(seen[:, None, None], 3, axis=2), wanted)[:, 0, 0]
    return set_distance(path, distance)


def set_distance(path: FloatArray, distance: float | FloatArray) -> FloatArray:
    """A path (S, 2, 3) of two nodes at a given distance (m, one or for every step), about the same middle."""
    apart = path[:, 1] - path[:, 0]
    factor = (distance / np.maximum(np.linalg.norm(apart, axis=1), 1e-12))[:, None]
    middle = 0.5 * (path[:, 0] + path[:, 1])
    return np.stack([middle - 0.5 * factor * apart, middle + 0.5 * factor * apart], axis=1)


def sighting_weights(points: FloatArray, distance: float) -> FloatArray:
    """(T,) weights of sightings (T, 2, 3) of two markers whose distance (m) is known, 1 in the mean.

    A frame that shows them at a distance wrong by e has one of them at least e / 2 from where it is: 1 / (s^2 + e^2),
    where s is the root of the mean of e^2. Where one of them is not seen, e is taken to be s.
    """
    squared = (np.linalg.norm(points[:, 1] - points[:, 0], axis=1) - distance) ** 2
    mean = float(np.nanmean(squared)) if np.isfinite(squared).any() else 0.0
    # a tool's own path has the same error everywhere, up to rounding
    weights = 1.0 / np.maximum(mean + np.where(np.isfinite(squared), squared, mean), 1e-18)
    out: FloatArray = weights / weights.mean()
    return out


def limit_distance(path: FloatArray, distance: float) -> tuple[FloatArray, float]:
    """A path (S, 2, 3) of two nodes brought together where they are farther apart than the cloth between them is long.

    Returns the path and the largest correction of a node, m. Without it noise would stretch a cloth that cannot.
    """
    mended = set_distance(path, np.minimum(np.linalg.norm(path[:, 1] - path[:, 0], axis=1), distance))
    return mended, float(np.linalg.norm(mended - path, axis=2).max())


def filled_ends(times: FloatArray, seen: FloatArray) -> FloatArray:
    """Ends (T, 2, 3) m of a rigid stick; one that is not seen is put where the other one and the direction say.

    The direction is interpolated linearly: a stick that is swung turns slowly beside how fast its ends move. Where
    neither end is seen both stay missing.
    """
    apart = seen[:, 1] - seen[:, 0]
    both = np.isfinite(apart).all(axis=1)
    along = np.stack([np.interp(times, times[both], apart[both, c]) for c in range(3)], axis=1)
    length = float(np.median(np.linalg.norm(apart[both], axis=1)))
    along *= length / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-12)
    first, second = (np.isfinite(seen[:, i, 0]) for i in range(2))
    out = seen.copy()
    out[second & ~first, 0] = (seen[:, 1] - along)[second & ~first]
    out[first & ~second, 1] = (seen[:, 0] + along)[first & ~second]
    return out
