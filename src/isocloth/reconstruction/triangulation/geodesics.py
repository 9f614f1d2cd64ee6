"""Geodesic distances along the edges of a surface, by Dijkstra's method, and farthest point sampling by them."""

from __future__ import annotations

import heapq

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.reconstruction.triangulation.complex import Complex


def neighbour_lists(surface: Complex) -> tuple[IntArray, IntArray, FloatArray]:
    """Adjacency lists by rows (CSR): where each begins (n + 1,), the neighbours, and the lengths of the edges in m."""
    ends = np.concatenate([surface.edges, surface.edges[:, ::-1]])
    length = np.tile(surface.edge_lengths, 2)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    first = np.searchsorted(ends[order, 0], np.arange(len(surface.points) + 1))
    return first.astype(np.int64), np.ascontiguousarray(ends[order, 1]), np.ascontiguousarray(length[order])


@kernel
def spread_distances(
    seeds: IntArray, first: IntArray, beside: IntArray, length: FloatArray, distance: FloatArray, owner: IntArray
) -> None:
    """Distances along edges to new seeds, and whose region a point is in, updated in place (Dijkstra)."""
    queue = [(0.0, np.int64(0))]
    queue.pop()
    for v in seeds:
        distance[v] = 0.0
        owner[v] = v
        heapq.heappush(queue, (0.0, np.int64(v)))
    while len(queue) > 0:
        d, v = heapq.heappop(queue)
        if d > distance[v]:
            continue
        for k in range(first[v], first[v + 1]):
            w = beside[k]
            if d + length[k] < distance[w]:
                distance[w] = d + length[k]
                owner[w] = owner[v]
                heapq.heappush(queue, (distance[w], np.int64(w)))


@kernel
def farthest_points(
    first: IntArray, beside: IntArray, length: FloatArray, distance: FloatArray, owner: IntArray, stop: float
) -> IntArray:
    """Seeds added one by one at the farthest point, until none is farther than `stop`; in the order of adding."""
    n = len(distance)
    queue = [(-distance[v], np.int64(v)) for v in range(n)]
    heapq.heapify(queue)
    added = np.empty(n, dtype=np.int64)
    count = 0
    seed = np.empty(1, dtype=np.int64)
    while len(queue) > 0:
        d, v = heapq.heappop(queue)
        if -d != distance[v]:  # it has come closer to a seed since
            if distance[v] > stop:
                heapq.heappush(queue, (-distance[v], v))
            continue
        if distance[v] <= stop:
            break
        seed[0] = v
        added[count] = v
        count += 1
        spread_distances(seed, first, beside, length, distance, owner)
    return added[:count].copy()


def covering_points(surface: Complex, distance: float) -> IntArray:
    """Points such that every other is within `distance` m of one, along the surface."""
    first, beside, length = neighbour_lists(surface)
    away, owner = np.full(len(surface.points), np.inf), np.full(len(surface.points), -1, dtype=np.int64)
    starts = np.unique(surface.component_of, return_index=True)[1].astype(np.int64)
    spread_distances(starts, first, beside, length, away, owner)
    return np.concatenate([starts, farthest_points(first, beside, length, away, owner, distance)])
