"""The edges of faces: each once for strain, and each side of each triangle for the wireframe."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import FloatArray, IntArray

HIDDEN, INNER, BORDER = 0, 1, 2


def unique_edges(faces: IntArray) -> tuple[IntArray, IntArray]:
    """(e, 2) edges of triangles or quadrilaterals, each once, and (e,) the number of faces at each."""
    n = int(faces.max()) + 1
    following = np.roll(faces, -1, axis=1)
    # One number per edge sorts much faster than pairs.
    numbers = np.minimum(faces, following) * n + np.maximum(faces, following)
    unique, counts = np.unique(numbers, return_counts=True)
    return np.column_stack([unique // n, unique % n]), counts


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
    sides = np.sort(np.stack([np.roll(triangles, -1, axis=1), np.roll(triangles, -2, axis=1)], axis=2), axis=2)
    kinds = np.where(np.isin(sides @ np.array([n, 1]), border), BORDER, INNER)
    return np.where(hidden, HIDDEN, kinds).astype(np.uint8)


@dataclass(frozen=True)
class StrainGauge:
    """What the strain of many poses of one mesh has in common.

    edges: (e, 2) with a rest length. lengths: (e,) metres, at rest. mean: (n, e) average over the edges at
    each vertex.
    """

    edges: IntArray
    lengths: FloatArray
    mean: sp.csr_array

    @classmethod
    def of(cls, rest: FloatArray, faces: IntArray) -> StrainGauge:
        """The gauge of a mesh; rest: (n, 3) metres. Edges without rest length are left out."""
        edges = unique_edges(faces)[0]
        lengths = np.linalg.norm(rest[edges[:, 1]] - rest[edges[:, 0]], axis=-1)
        edges, lengths = edges[lengths > 0], lengths[lengths > 0]
        e = len(edges)
        touch = sp.csr_array((np.ones(2 * e), (edges.ravel(), np.repeat(np.arange(e), 2))), shape=(len(rest), e))
        count = np.maximum(touch.sum(axis=1), 1.0)
        return cls(edges, lengths, sp.csr_array(sp.diags_array(1.0 / count) @ touch))

    def at(self, positions: FloatArray) -> FloatArray:
        """(..., n) mean relative change of length of the edges at each vertex; positions: (..., n, 3) m."""
        a, b = self.edges.T
        now = np.linalg.norm(positions[..., b, :] - positions[..., a, :], axis=-1)
        strain = (now / self.lengths - 1.0).reshape(-1, len(self.edges))
        return np.ascontiguousarray((self.mean @ strain.T).T).reshape(positions.shape[:-1])


def vertex_strain(positions: FloatArray, rest: FloatArray, faces: IntArray) -> FloatArray:
    """(..., n) strain at each vertex, positive when stretched: `StrainGauge` for a single use."""
    return StrainGauge.of(rest, faces).at(positions)
