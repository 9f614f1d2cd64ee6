"""Topological noise removal: handles and crosscaps that are too small to be true are taken out of the net.

Where a surface bends on the scale of the spacing, at a sharp seam or a narrow saddle, tangent planes are poor, and so
are the orders of edges that are read off them: the ribbon graph can grow a handle or a crosscap a few edges across.
`ribbon.remove_twisted_edges` finds it only if one face meets itself along an edge. Here the edges of such a place are
put in again one by one, those between planes that agree first, and what would make a handle or a crosscap is left out.
The gap that this leaves is a polygon like any other.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.reconstruction.triangulation import ribbon
from isocloth.reconstruction.triangulation.net import agreement


def remove_handles(frames: FloatArray, around: IntArray, degree: IntArray, ball: IntArray) -> int:
    """Remove edges between points (k,) of a ball, in place, until it is a piece of a sphere; return how many."""
    near = np.concatenate([around[v, : degree[v]] for v in ball.tolist()])
    place = np.unique(np.concatenate([ball, near]))  # polygons at the rim of the ball as well
    number = {v: k for k, v in enumerate(place.tolist())}
    beside = [[number[w] for w in around[v, : degree[v]].tolist() if w in number] for v in place.tolist()]
    edges = [(a, b) for a, others in enumerate(beside) for b in others if a < b]
    sure = [abs(agreement(frames, place[a], place[b])) for a, b in edges]
    order = np.argsort(-np.array(sure), kind="stable").tolist()
    refused = _refused(frames[place], beside, [edges[e] for e in order])
    for a, b in refused:
        ribbon.remove_edge(around, degree, place[a], place[b])
    return len(refused)


def _refused(frames: FloatArray, beside: list[list[int]], edges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Edges that would make a handle or a crosscap, of all edges in the order in which they are put in.

    An edge between two components joins them, one across a face divides it: neither changes points - edges + faces
    - 2 components. Any other edge joins two faces, which is a handle, or twists one, which is a crosscap.
    """
    n = len(beside)
    around = np.full((n, max(map(len, beside), default=0)), -1, dtype=np.int64)
    degree = np.zeros(n, dtype=np.int64)
    component = list(range(n))
    kept: list[set[int]] = [set() for _ in range(n)]
    faces, refused = 0, []
    for a, b in edges:
        kept[a].add(b)
        kept[b].add(a)
        for v in (a, b):
            _write(around, degree, v, [w for w in beside[v] if w in kept[v]])
        now = len(ribbon.faces(frames, around, degree)[1]) - 1
        if component[a] != component[b]:
            old, new = component[a], component[b]
            component = [new if label == old else label for label in component]
        elif now != faces + 1:
            refused.append((a, b))
            kept[a].remove(b)
            kept[b].remove(a)
            for v in (a, b):
                _write(around, degree, v, [w for w in beside[v] if w in kept[v]])
            continue
        faces = now
    return refused


def _write(around: IntArray, degree: IntArray, v: int, row: list[int]) -> None:
    """The neighbours of a point, in their order."""
    around[v] = -1
    around[v, : len(row)] = row
    degree[v] = len(row)
