"""Distance of points to a triangulated surface."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray

#: nodes of the surface near a point, whose triangles are looked at
LOOKED_AT = 8


@kernel
def _closest(points: FloatArray, vertices: FloatArray, triangles: IntArray, p: int, t: int) -> float:
    """Squared distance of a point to a triangle, by the region of the triangle that its projection falls into."""
    uu, uv, vv, wu, wv, ww = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    for k in range(points.shape[1]):
        u = vertices[b, k] - vertices[a, k]
        v = vertices[c, k] - vertices[a, k]
        w = points[p, k] - vertices[a, k]
        uu += u * u
        uv += u * v
        vv += v * v
        wu += w * u
        wv += w * v
        ww += w * w
    area = uu * vv - uv * uv
    best = ww
    if area > 0.0:
        s, r = (vv * wu - uv * wv) / area, (uu * wv - uv * wu) / area
        if s >= 0.0 and r >= 0.0 and s + r <= 1.0:
            return max(ww - 2.0 * (s * wu + r * wv) + s * s * uu + 2.0 * s * r * uv + r * r * vv, 0.0)
    # sides: a-b, a-c, b-c
    if uu > 0.0:
        s = min(max(wu / uu, 0.0), 1.0)
        best = min(best, ww - 2.0 * s * wu + s * s * uu)
    if vv > 0.0:
        s = min(max(wv / vv, 0.0), 1.0)
        best = min(best, ww - 2.0 * s * wv + s * s * vv)
    side = uu - 2.0 * uv + vv
    if side > 0.0:
        s = min(max((wv - wu - uv + uu) / side, 0.0), 1.0)
        from_b = ww - 2.0 * wu + uu
        best = min(best, from_b - 2.0 * s * (wv - wu - uv + uu) + s * s * side)
    return max(best, 0.0)


@kernel
def _nearest(
    points: FloatArray, vertices: FloatArray, triangles: IntArray, near: IntArray, first: IntArray, fan: IntArray
) -> FloatArray:
    found = np.empty(len(points))
    for p in range(len(points)):
        best = np.inf
        for k in range(near.shape[1]):
            v = near[p, k]
            for q in range(first[v], first[v + 1]):
                best = min(best, _closest(points, vertices, triangles, p, fan[q]))
        found[p] = np.sqrt(best)
    return found


def distances(points: FloatArray, vertices: FloatArray, triangles: IntArray) -> FloatArray:
    """(n,) distances in m of points (n, N) to a surface. Only triangles at the nearest 8 of its nodes are looked at."""
    used, numbered = np.unique(triangles, return_inverse=True)
    corners = numbered.reshape(-1, 3).astype(np.int64)
    nodes = np.ascontiguousarray(vertices[used])
    count = min(LOOKED_AT, len(nodes))
    near = np.asarray(cKDTree(nodes).query(points, k=count)[1], dtype=np.int64).reshape(len(points), count)
    order = np.argsort(corners.reshape(-1), kind="stable")
    first = np.searchsorted(corners.reshape(-1)[order], np.arange(len(nodes) + 1))
    result: FloatArray = _nearest(np.ascontiguousarray(points), nodes, corners, near, first, order // 3)
    return result
