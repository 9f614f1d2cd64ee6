"""What is unknown of a rest shape: any points, or points of flat panels with seams of equal length."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.linalg import qr

from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.square_system import rigid_modes
from isocloth.meshes import Mesh

#: area of a face at rest, of that at the start, below which a step is not taken
LEAST_AREA = 0.05


class RestCoordinates(NamedTuple):
    """Coordinates of the points of a rest shape.

    start: (p, 3) m, where they begin; corners: (f, 3) points of every face.
    columns: (c,) coordinates that are unknown; the others say where pieces lie, or that panels are flat.
    basis: (3p, c) how all coordinates follow these: where faces were split, points between follow the ends.
    pairs: (s, 4) points a0, a1, b0, b1 of both sides of a piece of a seam, which are as long as each other.
    flat: whether panels lie in the plane, and must not turn over.
    """

    start: FloatArray
    corners: IntArray
    columns: IntArray
    basis: sp.csr_matrix
    pairs: IntArray
    flat: bool

    @classmethod
    def of_shape(cls, mesh: Mesh, start: FloatArray) -> RestCoordinates:
        """All points (n, 3) of a mesh, but six coordinates of every piece, which say where it lies."""
        fixed = _pivots(rigid_modes(start, mesh.piece), 6)
        columns = np.setdiff1d(np.arange(start.size), fixed)
        none = np.zeros((0, 4), dtype=np.int64)
        return cls(start, mesh.faces.copy(), columns, _chosen(columns, start.size), none, False)

    @classmethod
    def of_panels(cls, start: FloatArray, corners: IntArray, panel: IntArray, pairs: IntArray) -> RestCoordinates:
        """Points (p, 2) of panels (p,) in the plane, but three coordinates of each, which say where it lies."""
        p, pieces = len(start), int(panel.max()) + 1
        modes = np.zeros((p, 2, 3 * pieces))
        for one in range(pieces):
            own = np.flatnonzero(panel == one)
            arm = start[own] - start[own].mean(axis=0)
            modes[own, 0, 3 * one] = modes[own, 1, 3 * one + 1] = 1.0
            modes[own, :, 3 * one + 2] = np.stack([-arm[:, 1], arm[:, 0]], axis=1) / np.abs(arm).max()
        flat = np.setdiff1d(np.arange(2 * p), _pivots(modes.reshape(2 * p, -1), 3))
        points = np.concatenate([start, np.zeros((p, 1))], axis=1)
        columns = 3 * (flat // 2) + flat % 2
        return cls(points, corners, columns, _chosen(columns, points.size), pairs, True)

    def split(self, corners: IntArray, between: sp.csr_matrix, place: IntArray) -> RestCoordinates:
        """Of smaller faces with corners (f, 3), whose points (q,) are `between` (q, p) these; place: (p,) their numbers
        there."""
        every = sp.csr_matrix(sp.kron(between, sp.identity(3)))
        columns = 3 * place[self.columns // 3] + self.columns % 3
        return RestCoordinates(
            between @ self.start, corners, columns, sp.csr_matrix(every @ self.basis), place[self.pairs], self.flat
        )

    def gaps(self, points: FloatArray) -> FloatArray:
        """(s,) m, by how much one side of a seam is longer than the other."""
        a, b = self._sides(points)
        return np.asarray(np.linalg.norm(a, axis=1) - np.linalg.norm(b, axis=1))

    def slope(self, points: FloatArray) -> sp.csr_matrix:
        """(s, c) derivative of `gaps` in the unknown coordinates."""
        a, b = (side / np.linalg.norm(side, axis=1)[:, None] for side in self._sides(points))
        value = np.stack([-a, a, b, -b], axis=1)
        places = 3 * self.pairs[:, :, None] + np.arange(3)
        row = np.broadcast_to(np.arange(len(a))[:, None, None], places.shape)
        whole = sp.csr_matrix((value.ravel(), (row.ravel(), places.ravel())), shape=(len(a), points.size))
        return sp.csr_matrix(whole @ self.basis)

    def folded(self, points: FloatArray) -> bool:
        """Whether a face has all but vanished, or turned over in the plane."""
        return bool((self._areas(points) < LEAST_AREA * self._areas(self.start)).any())

    def _areas(self, points: FloatArray) -> FloatArray:
        p = points[self.corners]
        normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]) / 2.0
        return np.asarray(normal[:, 2] if self.flat else np.linalg.norm(normal, axis=1))

    def _sides(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        p = points[self.pairs]
        return p[:, 1] - p[:, 0], p[:, 3] - p[:, 2]


def _pivots(modes: FloatArray, each: int) -> IntArray:
    """Of every `each` modes (m, each k) as many coordinates, which fix them."""
    fixed = [qr(modes[:, at : at + each].T, pivoting=True, mode="economic")[2][:each]
             for at in range(0, modes.shape[1], each)]  # fmt: skip
    return np.concatenate(fixed)


def _chosen(columns: IntArray, size: int) -> sp.csr_matrix:
    """(size, c) that puts unknown coordinates into their places."""
    return sp.csr_matrix((np.ones(len(columns)), (columns, np.arange(len(columns)))), shape=(size, len(columns)))
