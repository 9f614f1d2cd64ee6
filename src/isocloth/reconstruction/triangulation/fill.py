"""Triangulation of the polygons of the net by the shortest diagonals, and of holes that are closed."""

from __future__ import annotations

import math

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.reconstruction.triangulation.neighbours import MOST

#: corners of the largest polygon that is filled
LARGEST = 60


@kernel
def _joined(around: IntArray, degree: IntArray, a: int, b: int) -> bool:
    return bool(np.any(around[a, : degree[a]] == b))


@kernel
def _divide(points: FloatArray, around: IntArray, degree: IntArray, loop: IntArray) -> IntArray:
    """Cheapest triangles (k - 2, 3) of a polygon (k,), by the squared lengths of diagonals; none if there are none.

    cost[i, j] = min over i < m < j of cost[i, m] + cost[m, j] + |i j|^2. A diagonal that is an edge already, on the
    other side of the polygon, would be shared by more than two triangles and is not allowed.
    """
    size = len(loop)
    cost = np.full((size, size), math.inf)
    choice = np.full((size, size), -1, dtype=np.int64)
    for i in range(size - 1):
        cost[i, i + 1] = 0.0
    for span in range(2, size):
        for i in range(size - span):
            j = i + span
            a, b = loop[i], loop[j]
            own = 0.0
            if span < size - 1:
                if a == b or degree[a] >= MOST or degree[b] >= MOST or _joined(around, degree, a, b):
                    continue
                for c in range(points.shape[1]):
                    own += (points[a, c] - points[b, c]) ** 2
            for m in range(i + 1, j):
                if loop[m] == a or loop[m] == b:
                    continue
                total = cost[i, m] + cost[m, j] + own
                if total < cost[i, j]:
                    cost[i, j], choice[i, j] = total, m
    if not math.isfinite(cost[0, size - 1]):
        return np.empty((0, 3), dtype=np.int64)
    triangles = np.empty((size - 2, 3), dtype=np.int64)
    stack = [(0, size - 1)]
    count = 0
    while len(stack) > 0:
        i, j = stack.pop()
        if j - i < 2:
            continue
        m = choice[i, j]
        triangles[count, 0], triangles[count, 1], triangles[count, 2] = loop[i], loop[m], loop[j]
        count += 1
        stack.append((i, m))
        stack.append((m, j))
    return triangles


@kernel
def fill(
    points: FloatArray,
    around: IntArray,
    degree: IntArray,
    nodes: IntArray,
    start: IntArray,
    radii: FloatArray,
    largest_hole: float,
    largest_polygon: int,
) -> tuple[IntArray, BoolArray]:
    """Triangles (m, 3) of all polygons but the holes, and which polygons (faces,) stay open.

    A polygon is a hole if it reaches farther than `largest_hole` spacings from its middle. Diagonals are added to the
    net, in place.
    """
    triangles = np.empty((len(nodes), 3), dtype=np.int64)
    opened = np.zeros(len(start) - 1, dtype=np.bool_)
    count = 0
    for f in range(len(start) - 1):
        loop = nodes[start[f] : start[f + 1]]
        size = len(loop)
        if size < 3 or size > largest_polygon or (radii[f] > largest_hole):
            opened[f] = True
            continue
        found = _divide(points, around, degree, loop)
        if len(found) == 0:
            opened[f] = True
            continue
        for t in range(len(found)):
            for k in range(3):
                triangles[count, k] = found[t, k]
                a, b = found[t, k], found[t, (k + 1) % 3]
                if not _joined(around, degree, a, b):
                    around[a, degree[a]] = b
                    around[b, degree[b]] = a
                    degree[a] += 1
                    degree[b] += 1
            count += 1
    return triangles[:count].copy(), opened


def closed(points: FloatArray, triangles: IntArray, edges: IntArray, curves: list[IntArray]) -> IntArray:
    """Triangles (m, 3), and with them those that close boundary curves, where that makes no edge of three triangles."""
    if not curves:
        return triangles
    around = np.full((len(points), MOST), -1, dtype=np.int64)
    degree = np.zeros(len(points), dtype=np.int64)
    for a, b in np.concatenate([edges, edges[:, ::-1]]).tolist():
        if degree[a] < MOST:
            around[a, degree[a]] = b
            degree[a] += 1
    start = np.cumsum([0, *map(len, curves)])
    largest = max(map(len, curves))
    more, _ = fill(points, around, degree, np.concatenate(curves), start, np.zeros(len(curves)), 1.0, largest)
    return np.concatenate([triangles, more])
