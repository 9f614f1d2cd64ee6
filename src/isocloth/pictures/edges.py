"""The edges of faces: each once for strain, and each side of each triangle for the wireframe."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isocloth.typing import FloatArray, IntArray

HIDDEN, INNER, BORDER = 0, 1, 2


def unique_edges(faces: IntArray) -> tuple[IntArray, IntArray]:
    """(e, 2) edges of triangles or quadrilaterals, each once, and (e,) the number of faces at each."""
    pairs = np.stack([faces, np.roll(faces, -1, axis=1)], axis=2).reshape(-1, 2)
    edges, counts = np.unique(np.sort(pairs, axis=1), axis=0, return_counts=True)
    return edges, counts


def side_kinds(faces: IntArray) -> np.ndarray:
    """(k, 3) uint8 kind of the side opposite to each corner of each triangle of `faces`.

    The triangles are those of Trajectory.triangles; the diagonal that splits a quadrilateral is HIDDEN.
    """
    edges, counts = unique_edges(faces)
    n = int(faces.max()) + 1
    border = edges[counts == 1] @ np.array([n, 1])
    if faces.shape[1] == 3:
        triangles, hidden = faces, np.zeros((len(faces), 3), dtype=bool)
    else:
        triangles = faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
        # 0-1-2 has the diagonal opposite to its corner 1, and 0-2-3 opposite to its corner 2.
        hidden = np.tile(np.array([[False, True, False], [False, False, True]]), (len(faces), 1))
    sides = np.sort(
        np.stack([np.roll(triangles, -1, axis=1), np.roll(triangles, -2, axis=1)], axis=2), axis=2
    )
    kinds = np.where(np.isin(sides @ np.array([n, 1]), border), BORDER, INNER)
    return np.where(hidden, HIDDEN, kinds).astype(np.uint8)


def mean_at_vertices(edges: IntArray, n: int) -> sp.csr_array:
    """(n, e) matrix that averages values on edges over the edges at each vertex."""
    e = len(edges)
    columns = np.repeat(np.arange(e), 2)
    touch = sp.csr_array((np.ones(2 * e), (edges.ravel(), columns)), shape=(n, e))
    count = np.maximum(touch.sum(axis=1), 1.0)
    return sp.csr_array(sp.diags_array(1.0 / count) @ touch)


def vertex_strain(positions: FloatArray, rest: FloatArray, faces: IntArray) -> FloatArray:
    """(..., n) mean relative change of length of the edges at each vertex, positive when stretched.

    positions: (..., n, 3) and rest: (n, 3), metres. Edges without rest length are left out.
    """
    edges = unique_edges(faces)[0]
    length = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=-1)
    edges, length = edges[length > 0], length[length > 0]
    now = np.linalg.norm(positions[..., edges[:, 1], :] - positions[..., edges[:, 0], :], axis=-1)
    strain = now / length - 1.0
    mean = mean_at_vertices(edges, len(rest)) @ strain.reshape(-1, len(edges)).T
    return np.ascontiguousarray(mean.T).reshape(positions.shape[:-1])
