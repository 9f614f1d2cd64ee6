"""Whether a surface passes through itself: edges that pierce faces."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from isocloth.base.typing import FloatArray, IntArray

#: a volume is rounded by at most this part of its sides and its distance from the origin
ROUNDING = 64 * float(np.finfo(np.float64).eps)

#: an edge in the plane of a face, up to this part of the third power of their size, passes through nothing: the volumes
#: in a flat sheet are rounding, however it is turned, and their signs mean nothing
FLAT = 1e-9


def piercings(vertices: FloatArray, edges: IntArray, faces: IntArray) -> IntArray:
    """Pairs (p, 2) of edges (e, 2) that pass through or touch triangles (f, 3), which they share no vertex with.

    Edges are looked for around every face within the reach of both: meant for a look at the start, not for every step.
    """
    ends, corners = vertices[edges], vertices[faces]
    middles, centres = ends.mean(axis=1), corners.mean(axis=1)
    around_edge = np.linalg.norm(ends[:, 0] - middles, axis=1)
    around_face = np.linalg.norm(corners - centres[:, None], axis=2).max(axis=1)
    near = cKDTree(middles).query_ball_point(centres, around_face + around_edge.max(initial=0.0))
    face = np.repeat(np.arange(len(faces)), [len(n) for n in near])
    edge = np.concatenate([np.asarray(n, dtype=np.int64) for n in near]) if len(face) else face
    apart = (edges[edge][:, :, None] != faces[face][:, None, :]).all(axis=(1, 2))
    edge, face = edge[apart], face[apart]
    a, b = ends[edge, 0], ends[edge, 1]
    p, q, r = corners[face, 0], corners[face, 1], corners[face, 2]
    longest = 2.0 * (around_face.max(initial=0.0) + around_edge.max(initial=0.0))
    rounding = ROUNDING * np.abs(vertices).max(initial=0.0) * longest**2
    above, below = _volume(p, q, r, a), _volume(p, q, r, b)
    steep = np.maximum(np.abs(above), np.abs(below)) > max(FLAT * longest**3, 10.0 * rounding)
    across = steep & (np.minimum(above, below) <= rounding) & (np.maximum(above, below) >= -rounding)
    sides = np.stack([_volume(a, b, p, q), _volume(a, b, q, r), _volume(a, b, r, p)])
    inside = (sides >= -rounding).all(axis=0) | (sides <= rounding).all(axis=0)
    return np.stack([edge, face], axis=1)[across & inside]


def _volume(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    """Six times the signed volume of tetrahedra."""
    return np.asarray(np.einsum("md,md->m", np.cross(b - a, c - a), d - a))
