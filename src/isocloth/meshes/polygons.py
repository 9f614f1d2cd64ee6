"""Polygons in the plane: area, containment; polylines in space: points along them. Lengths in m."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.typing import BoolArray, FloatArray


def polygon_area(polygon: FloatArray) -> float:
    """Signed area of a closed polygon (b, 2), positive when counter-clockwise, in m^2."""
    after = np.roll(polygon, -1, axis=0)
    return float(0.5 * np.sum(polygon[:, 0] * after[:, 1] - polygon[:, 1] * after[:, 0]))


def inside(polygon: FloatArray, points: FloatArray) -> BoolArray:
    """Which points (k, 2) lie inside a polygon (b, 2): a ray to the right crosses an odd number of sides."""
    x, y = points[:, :1], points[:, 1:]
    x0, y0 = polygon[:, 0], polygon[:, 1]
    x1, y1 = np.roll(x0, -1), np.roll(y0, -1)
    spans = (y0 > y) != (y1 > y)
    rise = np.where(y1 == y0, 1.0, y1 - y0)
    crossing = x0 + (y - y0) * (x1 - x0) / rise
    return np.count_nonzero(spans & (x < crossing), axis=1) % 2 == 1


def curve_length(curve: FloatArray) -> float:
    """Length of an open polyline (k, 2)."""
    return float(np.linalg.norm(np.diff(curve, axis=0), axis=1).sum())


def reach(curve: FloatArray) -> FloatArray:
    """(k,) how far the points of a polyline (k, d) are along it."""
    return np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(curve, axis=0), axis=1))])


def closed_reach(loop: FloatArray) -> FloatArray:
    """(k + 1,) the same of a closed polyline (k, d); the last is its length."""
    return reach(np.concatenate([loop, loop[:1]]))


def along(curve: FloatArray, parts: ArrayLike) -> FloatArray:
    """Points (..., d) at given parts of the length of a polyline (k, d), 0 at its beginning and 1 at its end."""
    far = reach(curve)
    at = np.asarray(parts, dtype=np.float64) * far[-1]
    return np.stack([np.interp(at, far, curve[:, c]) for c in range(curve.shape[1])], axis=-1)


def resample(curve: FloatArray, segments: int) -> FloatArray:
    """Cut a polyline (k, 2) into equally long segments: (segments + 1, 2) points, both ends kept exactly."""
    arc = reach(curve)
    at = np.linspace(0.0, arc[-1], segments + 1)
    points = np.stack([np.interp(at, arc, curve[:, 0]), np.interp(at, arc, curve[:, 1])], axis=1)
    points[0], points[-1] = curve[0], curve[-1]
    return points
