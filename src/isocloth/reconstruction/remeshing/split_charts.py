"""Charts with too much distortion are split in two, as remark 5.4.7 advises.

Tutte's weights squeeze what sticks out of a cell, exponentially with its length: a finger of ten radii ends up in a
point of the chart, as far as numbers can tell. Such a chart is cut in two along a path that runs over the most squeezed
point, from the nearest point of the boundary to one opposite to it. What stuck out is then cut open along its length.
"""

from __future__ import annotations

import heapq

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.reconstruction.remeshing.parametrise import Chart
from isocloth.reconstruction.remeshing.patches import Patch, flattened
from isocloth.reconstruction.triangulation.complex import Complex
from isocloth.reconstruction.triangulation.geodesics import neighbour_lists

#: a chart is cut where lengths are squeezed to less than this share of the usual
SQUEEZED = 1e-4


def split_edges(surface: Complex, patches: list[Patch]) -> BoolArray:
    """(ne,) edges of the surface along which patches with too much distortion are to be split; none if none is."""
    edges = np.zeros(len(surface.edges), dtype=np.bool_)
    n = len(surface.points)
    keys = surface.edges[:, 0] * n + surface.edges[:, 1]
    for patch in patches:
        chart = flattened(surface, patch)
        path = _cut(chart)
        if path is not None:
            ends = np.sort(np.stack([chart.points[path[:-1]], chart.points[path[1:]]], axis=1), axis=1)
            edges[np.searchsorted(keys, ends[:, 0] * n + ends[:, 1])] = True
    return edges


def _cut(chart: Chart) -> IntArray | None:
    """Points of a chart from boundary to boundary over the most squeezed one; None if that is not squeezed too much."""
    own = Complex(chart.positions, chart.triangles)
    flat = np.linalg.norm(chart.uv[own.edges[:, 1]] - chart.uv[own.edges[:, 0]], axis=1) / own.edge_lengths
    scale = np.full(len(chart.points), 0.0)
    np.maximum.at(scale, own.edges.ravel(), np.repeat(flat, 2))  # a point is squeezed if all of its edges are
    tip = int(scale.argmin())
    if scale[tip] >= SQUEEZED * np.median(scale):
        return None
    graph = neighbour_lists(own)
    size = len(chart.boundary)
    place = np.full(len(chart.points), -1, dtype=np.int64)
    place[chart.boundary] = np.arange(size)
    one = _way(tip, *graph, place, place >= 0, np.zeros(len(place), dtype=np.bool_))
    if one is None:
        return None
    opposite = np.abs((place - place[one[-1]] + size // 2) % size - size // 2) >= size // 4
    used = np.zeros(len(place), dtype=np.bool_)
    used[one] = True
    other = _way(tip, *graph, place, (place >= 0) & opposite, used)
    return None if other is None else np.array(one[:0:-1] + other, dtype=np.int64)


def _way(
    start: int,
    first: IntArray,
    beside: IntArray,
    length: FloatArray,
    place: IntArray,
    goal: BoolArray,
    closed: BoolArray,
) -> list[int] | None:
    """The shortest way from a point to one of the goals, over points that are neither closed nor on the boundary."""
    before: dict[int, int] = {start: start}
    distance = {start: 0.0}
    queue = [(0.0, start)]
    while queue:
        d, v = heapq.heappop(queue)
        if d > distance[v]:
            continue
        if goal[v]:
            path = [v]
            while path[-1] != start:
                path.append(before[path[-1]])
            return path[::-1]
        if place[v] >= 0:
            continue
        for k in range(first[v], first[v + 1]):
            w = int(beside[k])
            if closed[w]:
                continue
            if d + length[k] < distance.get(w, np.inf):
                distance[w] = d + float(length[k])
                before[w] = v
                heapq.heappush(queue, (distance[w], w))
    return None
