"""Layers that pass through each other, moved until they do not.

Where the edges that pass through faces cut a part off the cloth, a corner or an end, this part goes back through them.
Elsewhere the curves in which layers cross are made shorter, until they end.

Where an edge e passes through a face with normal N, the curve of intersection runs on through the faces beside the
edge, along r_i, a unit vector into the i-th of them. Moving the edge against the face by d changes the length of the
curve by -d . g with g = sum_i (r_i - 2 (e . r_i) / (e . N) N): moved along g, the curve ends sooner (after Volino and
Magnenat-Thalmann, Resolving surface collisions through intersection contour minimization, 2006).
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.tangled import piercings


def untangling(positions: FloatArray, edges: IntArray, faces: IntArray, length: float) -> FloatArray | None:
    """Displacements (n, 3), m, of nodes whose layers cross, of about `length`; None if nothing crosses.

    edges (e, 2) and faces (f, 3) are those of the triangulated cloth.
    """
    pierced = piercings(positions, edges, faces)
    if len(pierced) == 0:
        return None
    beside, part, size = _beside(edges, faces), *_parts(len(positions), edges, pierced)
    moved, weight = np.zeros_like(positions), np.zeros(len(positions))
    for e, f in pierced:
        a, b = edges[e]
        p, q, r = positions[faces[f]]
        normal = np.cross(q - p, r - p)
        normal /= np.linalg.norm(normal) + 1e-300
        if part[a] != part[b] and size[part[a]] != size[part[b]]:
            tip, root = (a, b) if size[part[a]] < size[part[b]] else (b, a)
            side = normal if (positions[root] - p) @ normal > 0.0 else -normal
            step = 2.0 * length * side
            nodes: IntArray = np.flatnonzero(part == part[tip])
        else:
            step = _shortening(positions, edges[e], normal, [k for g, k in beside[int(e)] if g != f], length)
            nodes = edges[e]
        for who, sign in ((nodes, 0.5), (faces[f], -0.5)):
            moved[who] += sign * step
            weight[who] += 1.0
    return np.asarray(moved / np.maximum(weight, 1.0)[:, None])


def _shortening(
    positions: FloatArray, edge: IntArray, normal: FloatArray, thirds: list[int], length: float
) -> FloatArray:
    """Displacement (3,) of an edge along g; thirds: the corners opposite to it of the faces beside it."""
    a, b = positions[edge]
    along = (b - a) / (np.linalg.norm(b - a) + 1e-300)
    steep, g = float(along @ normal), np.zeros(3)
    if abs(steep) < 1e-6:
        return g
    for third in thirds:
        own = np.cross(along, positions[third] - a)  # normal of the face beside
        curve = np.cross(normal, own)
        size = np.linalg.norm(curve)
        if size < 1e-9 * np.linalg.norm(own):
            continue
        curve /= size
        if curve @ np.cross(own, along) < 0.0:  # into that face, away from the edge
            curve = -curve
        g += curve - 2.0 * float(along @ curve) / steep * normal
    return np.asarray(length * g / np.sqrt(g @ g + 1.0))


def _parts(count: int, edges: IntArray, pierced: IntArray) -> tuple[IntArray, IntArray]:
    """In which part of the cloth every node (n,) is if the edges that pass through faces are cut, and their sizes."""
    kept = np.delete(edges, np.unique(pierced[:, 0]), axis=0)
    graph = coo_array((np.ones(len(kept)), (kept[:, 0], kept[:, 1])), shape=(count, count))
    _, part = connected_components(graph, directed=False)
    return part.astype(np.int64), np.bincount(part).astype(np.int64)


def _beside(edges: IntArray, faces: IntArray) -> list[list[tuple[int, int]]]:
    """For every edge the faces beside it, each with its corner that is not on the edge."""
    number = {(int(a), int(b)): k for k, (a, b) in enumerate(np.sort(edges, axis=1))}
    beside: list[list[tuple[int, int]]] = [[] for _ in edges]
    for f, corners in enumerate(faces.tolist()):
        for q in range(3):
            a, b, c = corners[q], corners[(q + 1) % 3], corners[(q + 2) % 3]
            k = number.get((min(a, b), max(a, b)))
            if k is not None:
                beside[k].append((f, c))
    return beside
