"""The net: a graph of Voronoi neighbours that is planar, i.e. no two of its edges cross.

Voronoi neighbours found in one tangent plane need not be so in the next. Edges on which both ends agree come first,
then the others, shorter ones first; an edge is kept if it crosses none that was kept before and runs apart from all
others at its ends. So each edge is decided once, for both ends, and what is left between the edges are polygons.
"""

from __future__ import annotations

import math

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.reconstruction.triangulation.neighbours import MOST

#: edges closer than this where their projections cross do cross, in local spacings
GAP = 1.0
#: two edges at a point are at least this far apart, in rad
APART = math.radians(12.0)
#: largest angle between the tangent planes at the ends of an edge, as a cosine
BENT = math.cos(math.radians(70.0))


def candidate_edges(points: FloatArray, found: IntArray) -> tuple[IntArray, IntArray]:
    """Edges (e, 2), smaller point first, in the order in which they are tried, and how many ends want each."""
    n = len(points)
    start, slot = np.nonzero(found >= 0)
    end = found[start, slot]
    key = np.minimum(start, end) * n + np.maximum(start, end)
    keys, votes = np.unique(key, return_counts=True)
    edges = np.stack([keys // n, keys % n], axis=1)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    order = np.lexsort((keys, length, -votes))
    return edges[order], votes[order]


@kernel
def agreement(frames: FloatArray, a: int, b: int) -> float:
    """Determinant of the projection of the plane at a to that at b: the cosine of their angle, with a sign."""
    m00, m01, m10, m11 = 0.0, 0.0, 0.0, 0.0
    for c in range(frames.shape[2]):
        m00 += frames[a, 0, c] * frames[b, 0, c]
        m01 += frames[a, 0, c] * frames[b, 1, c]
        m10 += frames[a, 1, c] * frames[b, 0, c]
        m11 += frames[a, 1, c] * frames[b, 1, c]
    return m00 * m11 - m01 * m10


@kernel
def edge_in_plane(points: FloatArray, frames: FloatArray, v: int, w: int) -> tuple[float, float]:
    """Components in m of the edge from v to w in the tangent plane at v."""
    x, y = 0.0, 0.0
    for c in range(points.shape[1]):
        step = points[w, c] - points[v, c]
        x += step * frames[v, 0, c]
        y += step * frames[v, 1, c]
    return x, y


@kernel
def _cross(points: FloatArray, frames: FloatArray, v: int, a: int, b: int, c: int, d: int, gap: float) -> bool:
    """Whether a-b and c-d cross in the plane at v, and come closer than `gap` there."""
    ax, ay = edge_in_plane(points, frames, v, a)
    bx, by = edge_in_plane(points, frames, v, b)
    cx, cy = edge_in_plane(points, frames, v, c)
    dx, dy = edge_in_plane(points, frames, v, d)
    ux, uy, wx, wy = bx - ax, by - ay, dx - cx, dy - cy
    area = ux * wy - uy * wx
    if area == 0.0:
        return False
    s = ((cx - ax) * wy - (cy - ay) * wx) / area
    t = ((cx - ax) * uy - (cy - ay) * ux) / area
    if s <= 0.0 or s >= 1.0 or t <= 0.0 or t >= 1.0:
        return False
    squared = 0.0
    for k in range(points.shape[1]):
        step = points[a, k] + s * (points[b, k] - points[a, k]) - points[c, k] - t * (points[d, k] - points[c, k])
        squared += step * step
    return squared < gap * gap


@kernel
def _beside(
    points: FloatArray, frames: FloatArray, a: int, b: int, around: IntArray, count: int, cosine: float
) -> bool:
    """Whether the edge from a to b leaves a nearly along another edge at a."""
    bx, by = edge_in_plane(points, frames, a, b)
    length = math.hypot(bx, by)
    if length == 0.0:
        return True
    for k in range(count):
        cx, cy = edge_in_plane(points, frames, a, around[k])
        if bx * cx + by * cy > cosine * length * math.hypot(cx, cy):
            return True
    return False


@kernel
def planar_graph(
    points: FloatArray,
    frames: FloatArray,
    near: IntArray,
    distances: FloatArray,
    spacing: FloatArray,
    edges: IntArray,
    gap: float,
    apart: float,
    bent: float,
) -> tuple[IntArray, IntArray]:
    """A planar graph (edges that do not cross), chosen greedily from candidates (e, 2) in the order of their merit.

    Returns the neighbours (n, MOST) of every point and their number (n,).
    """
    n = len(points)
    around = np.full((n, MOST), -1, dtype=np.int64)
    degree = np.zeros(n, dtype=np.int64)
    cosine = math.cos(apart)
    longest = 0.0
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        length = 0.0
        for c in range(points.shape[1]):
            length += (points[a, c] - points[b, c]) ** 2
        length = math.sqrt(length)
        if degree[a] >= MOST or degree[b] >= MOST or abs(agreement(frames, a, b)) < bent:
            continue
        if _beside(points, frames, a, b, around[a], degree[a], cosine):
            continue
        if _beside(points, frames, b, a, around[b], degree[b], cosine):
            continue
        free = True
        limit = gap * 0.5 * (spacing[a] + spacing[b])
        # an edge that crosses this one has an end within half its length of the crossing, which is within half of
        # this length of a or b
        reach = 0.5 * (length + longest) + limit
        for side in range(2):
            v = a if side == 0 else b
            for k in range(-1, near.shape[1]):
                if k >= 0 and distances[v, k] > reach:
                    break
                c = v if k < 0 else near[v, k]
                if c in (a, b):
                    continue
                for q in range(degree[c]):
                    d = around[c, q]
                    if d in (a, b):
                        continue
                    if _cross(points, frames, a, a, b, c, d, limit) or _cross(points, frames, b, a, b, c, d, limit):
                        free = False
                        break
                if not free:
                    break
            if not free:
                break
        if free:
            longest = max(longest, length)
            around[a, degree[a]] = b
            around[b, degree[b]] = a
            degree[a] += 1
            degree[b] += 1
    return around, degree
