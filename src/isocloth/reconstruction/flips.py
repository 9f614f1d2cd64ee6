"""Better triangles between the same nodes: edges turned where Delaunay's criterion asks for it, measured in space."""

from __future__ import annotations

import numpy as np

from isocloth.meshes.topology import edge_sides, edge_table
from isocloth.typing import BoolArray, FloatArray, IntArray

#: cosine of the largest angle by which a turned edge may bend the surface, unless it was bent more before
BENT = 0.7


def flipped(vertices: FloatArray, triangles: IntArray, kept: IntArray, rounds: int = 60) -> IntArray:
    """Triangles (m, 3), turned alike, with edges turned; `kept` (k, 2), smaller node first, stay.

    An edge is turned if the angles opposite to it are more than pi together, the new one is not an edge already, and
    the two new triangles lie on the surface as the old ones do. The order of triangles may carry labels as long as
    all edges between different ones are kept.
    """
    faces = triangles.copy()
    n = len(vertices)
    stays = np.sort(kept[:, 0] * n + kept[:, 1])
    for _ in range(rounds):
        table = edge_table(faces)
        keys = table.edges[:, 0] * n + table.edges[:, 1]
        sides = edge_sides(table)
        free = (sides[:, 1] >= 0) & ~_among(keys, stays)
        f, g = sides[free] // 3, sides[free] % 3
        first, second = f[:, 0], f[:, 1]
        a, b = faces[first, g[:, 0]], faces[first, (g[:, 0] + 1) % 3]
        c, d = faces[first, (g[:, 0] + 2) % 3], faces[second, (g[:, 1] + 2) % 3]
        gain = _angle(vertices, c, a, b) + _angle(vertices, d, a, b) - np.pi
        before = _normals(vertices, a, b, c), _normals(vertices, b, a, d)
        after = _normals(vertices, c, a, d), _normals(vertices, d, b, c)
        together = before[0] + before[1]
        flat = np.minimum(BENT, _cosine(*before))
        fits = (_cosine(*after) >= flat) & (_cosine(after[0], together) > 0.0) & (_cosine(after[1], together) > 0.0)
        new = np.minimum(c, d) * n + np.maximum(c, d)
        wanted = np.flatnonzero((gain > 1e-6) & fits & (c != d) & ~_among(new, keys))
        chosen = _apart(wanted[np.argsort(-gain[wanted], kind="stable")], first, second, new, len(faces))
        if len(chosen) == 0:
            break
        faces[first[chosen]] = np.stack([c, a, d], axis=1)[chosen]
        faces[second[chosen]] = np.stack([d, b, c], axis=1)[chosen]
    return faces


def _apart(order: IntArray, first: IntArray, second: IntArray, new: IntArray, count: int) -> IntArray:
    """Of the edges in this order those that share no triangle and no new edge with one before."""
    used, made = np.zeros(count, dtype=np.bool_), set()
    chosen = []
    for k in order.tolist():
        f, g, key = first[k], second[k], int(new[k])
        if used[f] or used[g] or key in made:
            continue
        used[f] = used[g] = True
        made.add(key)
        chosen.append(k)
    return np.array(chosen, dtype=np.int64)


def _among(keys: IntArray, ordered: IntArray) -> BoolArray:
    if len(ordered) == 0:
        return np.zeros(len(keys), dtype=np.bool_)
    at = np.minimum(np.searchsorted(ordered, keys), len(ordered) - 1)
    found: BoolArray = ordered[at] == keys
    return found


def _angle(vertices: FloatArray, at: IntArray, one: IntArray, other: IntArray) -> FloatArray:
    u, v = vertices[one] - vertices[at], vertices[other] - vertices[at]
    return np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), (u * v).sum(axis=1))


def _normals(vertices: FloatArray, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
    return np.cross(vertices[b] - vertices[a], vertices[c] - vertices[a])


def _cosine(u: FloatArray, v: FloatArray) -> FloatArray:
    norm = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    return (u * v).sum(axis=1) / np.maximum(norm, 1e-300)
