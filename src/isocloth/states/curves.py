"""Distances of boundary curves in space: discrete Frechet and Hausdorff distances, after alignment or without."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray


def frechet(p: ArrayLike, q: ArrayLike) -> float:
    """Discrete Frechet distance (m) of two polygons (n, 3) and (m, 3), walked from first to last point.

    The least length of a leash between two who walk the curves point by point and never turn back (Alt and Godau 1995).
    """
    a, b = _curve("p", p), _curve("q", q)
    return float(np.sqrt(_frechet(a, b)))


def hausdorff(p: ArrayLike, q: ArrayLike) -> float:
    """Discrete Hausdorff distance (m) of two polygons (n, 3), (m, 3): the farthest that a point is from the other."""
    a, b = _curve("p", p), _curve("q", q)
    table = cdist(a, b)
    return float(max(table.min(axis=0).max(), table.min(axis=1).max()))


def aligned(moving: ArrayLike, fixed: ArrayLike) -> FloatArray:
    """Curves (..., n, 3) moved rigidly so that their points lie closest to those of `fixed` (..., n, 3), in m.

    Both are centred at the origin; the rotation has the least sum of squared distances (Kabsch 1976), no reflection.
    `fixed` has to be centred by the caller if its own place is to be kept out of the distance.
    """
    a, b = np.asarray(moving, dtype=np.float64), np.asarray(fixed, dtype=np.float64)
    if a.shape[-2:] != b.shape[-2:] or a.shape[-1] != 3:
        raise InputError(f"curves have shapes {a.shape} and {b.shape}, expected the same number of points (..., n, 3)")
    a, b = centred(a), centred(b)
    u, _, vt = np.linalg.svd(np.swapaxes(a, -1, -2) @ b)
    flip = np.sign(np.linalg.det(u @ vt))
    u = u * np.stack([np.ones_like(flip), np.ones_like(flip), flip], axis=-1)[..., None, :]
    return np.asarray(a @ (u @ vt))


def centred(curve: FloatArray) -> FloatArray:
    """Curves (..., n, 3) with the mean of their points at the origin."""
    return np.asarray(curve - curve.mean(axis=-2, keepdims=True))


def mean_curve(curves: FloatArray) -> FloatArray:
    """Mean (n, 3) of curves (k, n, 3) after alignment to each other."""
    mean = centred(curves[0])
    for _ in range(3):  # the mean settles at once: curves of one class are close
        mean = aligned(curves, np.broadcast_to(mean, curves.shape)).mean(axis=0)
    return mean


def _curve(name: str, points: ArrayLike) -> FloatArray:
    x = np.ascontiguousarray(points, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != 3 or not len(x) or not np.isfinite(x).all():
        raise InputError(f"{name} has shape {x.shape}, expected (n, 3) finite points in m, at least one")
    return x


@kernel
def _frechet(p: FloatArray, q: FloatArray) -> float:
    """Square of the discrete Frechet distance, by rows of the table of Eiter and Mannila (1994)."""
    row = np.empty(len(q))
    for i in range(len(p)):
        corner = 0.0  # table entry (i - 1, j - 1)
        for j in range(len(q)):
            square = 0.0
            for k in range(3):
                square += (p[i, k] - q[j, k]) ** 2
            above = row[j]
            if i == 0 and j == 0:
                reach = square
            elif i == 0:
                reach = row[j - 1]
            elif j == 0:
                reach = above
            else:
                reach = min(above, row[j - 1], corner)
            corner = above
            row[j] = max(reach, square)
    return float(row[-1])
