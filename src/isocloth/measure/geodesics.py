"""Discrete orthogonal geodesics: nets of quads whose four angles at a node are alike (Rabinovich, Hoffmann and Sorkine,
Discrete geodesic nets for modeling developable surfaces, 2018).

With the edges e_1 ... e_4 that leave an interior node of four quads, in turn,

    cos(e_1, e_2) = cos(e_2, e_3) = cos(e_3, e_4) = cos(e_4, e_1),

three equations. A net that satisfies them everywhere is developable; a developable surface satisfies them only where
its net is one of geodesics, so that they say as much about the net as about the surface. The thesis of Ly (4.3) has
them times the lengths of the three edges, which says the same of edges that have lengths.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import MeshError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.measure.frames import frames_of
from isocloth.meshes import Mesh


def orthogonal_geodesics(mesh: Mesh, positions: ArrayLike | None = None) -> FloatArray:
    """Largest difference (..., n) of the cosines of neighbouring angles at every interior node of four quads, at
    positions (..., n, 3), the vertices of the mesh if None; 0 at other nodes."""
    if mesh.element != "quad":
        raise MeshError(f"a net of geodesics is made of quads, got {mesh!r}: give the mesh before it was triangulated")
    at: ArrayLike = mesh.vertices if positions is None else positions
    frames = frames_of(mesh, at)
    stars = stars_of(mesh.faces)
    found = np.zeros((len(frames), mesh.n_vertices))
    for frame, out in zip(frames, found, strict=True):
        out[stars[:, 0]] = np.abs(angle_differences(frame, stars)[0]).max(axis=1, initial=0.0)
    return found[0] if np.ndim(at) == 2 else found


def stars_of(quads: IntArray) -> IntArray:
    """(k, 5) interior nodes of four quads (q, 4), and the other ends of their edges in turn."""
    after: dict[int, dict[int, int]] = {}
    for quad in quads.tolist():
        for k, node in enumerate(quad):  # seen from a corner, the edge to the next node comes before that to the last
            after.setdefault(node, {})[quad[(k + 1) % 4]] = quad[k - 1]
    stars = []
    for node, turn in sorted(after.items()):
        ring = [next(iter(turn))]
        while len(ring) < 5 and ring[-1] in turn:
            ring.append(turn[ring[-1]])
        if len(turn) == 4 and len(ring) == 5 and ring[4] == ring[0]:
            stars.append([node, *ring[:4]])
    return np.array(stars, dtype=np.int64).reshape(-1, 5)


def angle_differences(x: FloatArray, stars: IntArray) -> tuple[FloatArray, FloatArray]:
    """(k, 3) differences of the cosines of neighbouring angles of stars (k, 5) at positions x (n, 3), and their
    derivative (k, 3, 5, 3), 1/m, in the nodes of the star."""
    e = x[stars[:, 1:]] - x[stars[:, :1]]
    length = np.linalg.norm(e, axis=2, keepdims=True)
    u = e / length
    after, reach = np.roll(u, -1, axis=1), np.roll(length, -1, axis=1)
    cosine = np.sum(u * after, axis=2)
    slope = np.zeros((len(stars), 4, 5, 3))
    for k in range(4):  # of an angle k between the edges k and k + 1
        other = (k + 1) % 4
        c = cosine[:, k, None]
        slope[:, k, 1 + k] += (after[:, k] - c * u[:, k]) / length[:, k]
        slope[:, k, 1 + other] += (u[:, k] - c * after[:, k]) / reach[:, k]
    slope[:, :, 0] = -slope[:, :, 1:].sum(axis=2)
    return cosine[:, :3] - cosine[:, 1:], slope[:, :3] - slope[:, 1:]
