"""Level sets: the curves in which hyperplanes cut the surface, closed or between two points of its boundary.

Chapter 5 cuts the edges of the downward flow and connects the cuts by their distance. Here all edges are cut, and the
triangles between them say which cuts are neighbours, so that no curve has to be guessed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.topology import component_labels
from isocloth.reconstruction.triangulation.complex import Complex


@dataclass(frozen=True, eq=False)
class LevelSet:
    """The cut at one height (m): curves of points (k, N), a closed one without its first point again at the end."""

    height: float
    curves: list[FloatArray]
    closed: list[bool]

    @property
    def circles(self) -> int:
        """Number of closed curves."""
        return sum(self.closed)

    @property
    def intervals(self) -> int:
        """Number of curves that end at the boundary."""
        return len(self.closed) - self.circles


def regular_levels(height: FloatArray, count: int) -> FloatArray:
    """(count,) evenly spaced heights, in m, each moved halfway between the heights of two points: none lies on it."""
    values = np.unique(height)
    if len(values) < 2:
        return np.empty(0)
    wanted = values[0] + (values[-1] - values[0]) * (np.arange(count) + 0.5) / count
    above = np.clip(np.searchsorted(values, wanted), 1, len(values) - 1)
    return 0.5 * (values[above - 1] + values[above])


def level_counts(surface: Complex, height: FloatArray, level: float) -> tuple[int, int]:
    """Numbers of circles and of intervals at one height."""
    edges, links = _cuts(surface, height, level)
    if len(edges) == 0:
        return 0, 0
    count, label = component_labels(len(edges), links)
    ends = np.bincount(links.reshape(-1), minlength=len(edges)) == 1
    intervals = len(np.unique(label[ends]))
    return count - intervals, intervals


def level_set(surface: Complex, height: FloatArray, level: float) -> LevelSet:
    """The curves at one height, which must not be that of a point."""
    edges, links = _cuts(surface, height, level)
    a, b = surface.edges[edges, 0], surface.edges[edges, 1]
    t = (level - height[a]) / (height[b] - height[a])
    places = surface.points[a] + t[:, None] * (surface.points[b] - surface.points[a])
    beside: list[list[int]] = [[] for _ in range(len(edges))]
    for i, j in links.tolist():
        beside[i].append(j)
        beside[j].append(i)
    seen = np.zeros(len(edges), dtype=np.bool_)
    curves, closed = [], []
    # intervals first, from their ends
    for start in sorted(range(len(edges)), key=lambda i: (len(beside[i]), i)):
        if seen[start]:
            continue
        chain, here = [], start
        while here >= 0:
            seen[here] = True
            chain.append(here)
            here = next((j for j in beside[here] if not seen[j]), -1)
        curves.append(places[chain])
        closed.append(len(beside[start]) == 2)
    return LevelSet(level, curves, closed)


def _cuts(surface: Complex, height: FloatArray, level: float) -> tuple[IntArray, IntArray]:
    """Edges that cross the level, and pairs of these, by their place, that share a triangle."""
    above = height > level
    crossed = above[surface.edges[:, 0]] != above[surface.edges[:, 1]]
    edges = np.flatnonzero(crossed)
    place = np.full(len(crossed), -1, dtype=np.int64)
    place[edges] = np.arange(len(edges))
    sides = surface.triangle_edges
    cut = crossed[sides]
    inside = np.flatnonzero(cut.any(axis=1))
    links = place[sides[inside][cut[inside]]].reshape(-1, 2)
    return edges, links
