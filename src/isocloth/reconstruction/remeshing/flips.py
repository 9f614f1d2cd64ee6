"""Edge flips: better triangles between the same nodes, by Delaunay's criterion measured in space."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes.topology import edge_sides, edge_table

#: cosine of the largest angle by which a turned edge may bend the surface, unless it was bent more before
BENT = 0.7


def flipped(
    vertices: FloatArray, triangles: IntArray, normals: FloatArray, kept: IntArray, rounds: int = 60
) -> IntArray:
    """Triangles (m, 3), turned alike, with edges turned; `kept` (k, 2), smaller node first, stay.

    An edge is turned if fewer triangles then lie upside down against `normals` (n, 3) of the surface at the nodes; or
    if the angles opposite to it are more than pi together, and the two new triangles lie as the old ones do. The new
    one must not be an edge already. Labels of triangles stay right as long as edges between different ones are kept.
    """
    faces = triangles.copy()
    n = len(vertices)
    stays = np.sort(kept[:, 0] * n + kept[:, 1])
    for _ in range(rounds):
        table = edge_table(faces)
        keys = table.edges[:, 0] * n + table.edges[:, 1]
        pairs = edge_sides(table)
        pairs = pairs[(pairs[:, 1] >= 0) & ~_among(keys, stays)]
        first, second = (pairs // 3).T
        side, other = (pairs % 3).T
        a, b = faces[first, side], faces[first, (side + 1) % 3]
        c, d = faces[first, (side + 2) % 3], faces[second, (other + 2) % 3]
        gain = _angle(vertices, c, a, b) + _angle(vertices, d, a, b) - np.pi
        before = _crosses(vertices, a, b, c), _crosses(vertices, b, a, d)
        after = _crosses(vertices, c, a, d), _crosses(vertices, d, b, c)
        up = normals[a] + normals[b] + normals[c] + normals[d]
        righted = _turned(before, up) - _turned(after, up)
        flat = _cosine(*after) >= np.minimum(BENT, _cosine(*before))
        new = np.minimum(c, d) * n + np.maximum(c, d)
        better = (righted > 0) | ((righted == 0) & (gain > 1e-6) & flat)
        wanted = np.flatnonzero(better & (c != d) & ~_among(new, keys))
        order = wanted[np.lexsort((wanted, -gain[wanted], -righted[wanted]))]
        chosen = _apart(order, first, second, new, len(faces))
        if len(chosen) == 0:
            break
        faces[first[chosen]] = np.stack([c, a, d], axis=1)[chosen]
        faces[second[chosen]] = np.stack([d, b, c], axis=1)[chosen]
    return faces


def _turned(pair: tuple[FloatArray, FloatArray], up: FloatArray) -> IntArray:
    """(k,) how many of two triangles lie upside down."""
    one, other = ((cross * up).sum(axis=1) <= 0.0 for cross in pair)
    return one.astype(np.int64) + other


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


def _crosses(vertices: FloatArray, a: IntArray, b: IntArray, c: IntArray) -> FloatArray:
    return np.cross(vertices[b] - vertices[a], vertices[c] - vertices[a])


def _cosine(u: FloatArray, v: FloatArray) -> FloatArray:
    norm = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    return (u * v).sum(axis=1) / np.maximum(norm, 1e-300)
