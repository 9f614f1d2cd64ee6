"""Nodes on arcs: one set on each, used by the charts on both of its sides.

Nodes are evenly spaced along an arc. An arc that is much shorter than an edge, as between two points at which flow
lines meet, shrinks to one node, which leaves the topology as it is. A closed arc gets three segments at least, and of
several arcs between the same two ends all but one get two: otherwise edges would become the same by gluing.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.polygons import along
from isocloth.reconstruction.remeshing.patches import Patch, Skeleton, first_steps
from isocloth.reconstruction.triangulation.complex import Complex

#: arcs shorter than this shrink to a node, in edges
SHORT = 0.5


class Seams(NamedTuple):
    """Nodes on the arcs of a skeleton."""

    places: FloatArray  #: (n, N) positions of the nodes, in m
    on: list[IntArray]  #: nodes of every arc, from its first point on; a single one if it has shrunk

    @property
    def edges(self) -> IntArray:
        """(k, 2) nodes that follow each other on an arc, smaller first."""
        return np.sort(np.concatenate([np.stack([a[:-1], a[1:]], axis=1) for a in self.on]), axis=1)

    def every_other(self) -> Seams:
        """The same with every second node left out, for arcs with an even number of segments; numbers are kept."""
        return Seams(self.places, [a[::2] for a in self.on])


def seam_nodes(
    surface: Complex, skeleton: Skeleton, edge: float, *, even: bool = False, wanted: IntArray | None = None
) -> Seams:
    """Nodes about `edge` m apart on all arcs. `even`: each has an even number of segments, and all holds for halves.

    wanted: (na,) segments of the arcs, in place of those from their lengths.
    """
    unit = 2 if even else 1
    names, ends = np.unique([[a[0], a[-1]] for a in skeleton.arcs], return_inverse=True)
    ends = ends.reshape(-1, 2)
    joined, shrunk = _shrink(surface, skeleton, names, ends, SHORT * unit * edge)
    numbers, node = np.unique(joined, return_inverse=True)
    places, on = [np.empty((len(numbers), surface.points.shape[1]))], []
    for k in range(len(numbers)):
        places[0][k] = surface.points[names[joined == numbers[k]]].mean(axis=0)
        edge_point = names[(joined == numbers[k]) & surface.on_boundary[names]]
        if len(edge_point):  # what has shrunk onto the boundary stays there
            places[0][k] = surface.points[edge_point[0]]
    seen: set[tuple[int, int]] = set()
    count = len(numbers)
    for k, (path, length) in enumerate(zip(skeleton.arcs, skeleton.lengths.tolist(), strict=True)):
        a, b = node[ends[k]].tolist()
        if shrunk[k]:
            on.append(np.array([a], dtype=np.int64))
            continue
        pair = (min(a, b), max(a, b))
        least = 3 if a == b else 2 if pair in seen else 1
        seen.add(pair)
        segments = unit * max(round(length / (unit * edge)), least) if wanted is None else int(wanted[k])
        inner = along(surface.points[path], np.arange(1, segments) / segments)
        places.append(inner)
        on.append(np.concatenate([[a], count + np.arange(len(inner)), [b]]).astype(np.int64))
        count += len(inner)
    return Seams(np.concatenate(places), on)


def _shrink(
    surface: Complex, skeleton: Skeleton, names: IntArray, ends: IntArray, short: float
) -> tuple[IntArray, list[bool]]:
    """Which ends of arcs are one node (k,), and which arcs have shrunk to it: the shortest first, never a closed one.

    Not if another arc would close up, if two parts of the boundary would be pinched together, or if a patch would be
    left with fewer than three sides.
    """
    joined = np.arange(len(names))
    shrunk = [False] * len(skeleton.arcs)
    rim = surface.on_boundary[names]
    beside: list[list[int]] = [[] for _ in skeleton.arcs]
    sides = [[arc for arc, _ in patch.sides] for patch in skeleton.patches]
    for p, around_it in enumerate(sides):
        for arc in around_it:
            beside[arc].append(p)
    left = [len(around_it) for around_it in sides]
    for k in np.argsort(skeleton.lengths, kind="stable").tolist():
        if skeleton.lengths[k] >= short:
            break
        a, b = joined[ends[k]].tolist()
        others = {frozenset(joined[ends[j]].tolist()) for j in range(len(ends)) if j != k and not shrunk[j]}
        on_boundary = len(beside[k]) == 1
        both_on_rim = rim[joined == a].any() and rim[joined == b].any()
        if a == b or frozenset((a, b)) in others or (both_on_rim and not on_boundary):
            continue
        if any(left[p] - beside[k].count(p) < 3 for p in beside[k]):
            continue
        for p in beside[k]:
            left[p] -= 1
        joined[joined == b] = a
        shrunk[k] = True
    return joined, shrunk


def nodes_around(skeleton: Skeleton, seams: Seams, patch: Patch) -> tuple[IntArray, FloatArray]:
    """Nodes (k,) around a patch, and how far each is along its boundary, in m."""
    nodes, distance, done = [], [], 0.0
    for arc, forward in patch.sides:
        on = seams.on[arc] if forward else seams.on[arc][::-1]
        share = np.arange(len(on) - 1) / max(len(on) - 1, 1)
        nodes.append(on[:-1])
        distance.append(done + skeleton.lengths[arc] * share)
        done += float(skeleton.lengths[arc])
    return np.concatenate(nodes), np.concatenate(distance)


def evenly_spaced(surface: Complex, skeleton: Skeleton, seams: Seams, corners: IntArray) -> FloatArray:
    """Positions (n, N) in m of the nodes of seams, those on boundary curves evenly spaced between `corners`."""
    places = seams.places.copy()
    on_arc = first_steps(skeleton.arcs)
    sharp = set(corners.tolist())
    for curve in surface.boundary_curves:
        points = curve.tolist()
        starts = [i for i, v in enumerate(points) if v in sharp]
        starts = starts or [i for i, v in enumerate(points) if (v, points[(i + 1) % len(points)]) in on_arc][:1]
        for i, j in zip(starts, [*starts[1:], starts[0] + len(points)], strict=True):
            path = [points[k % len(points)] for k in range(i, j + 1)]
            nodes: list[int] = []
            for v, w in pairwise(path):
                if (v, w) in on_arc:
                    arc, forward = on_arc[v, w]
                    nodes += (seams.on[arc] if forward else seams.on[arc][::-1])[:-1].tolist()
            places[nodes] = along(surface.points[path], np.arange(len(nodes)) / len(nodes))
    return places
