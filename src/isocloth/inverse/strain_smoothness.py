"""How unevenly a cloth is stretched over its flat panels: the smoothness by which noise is told from shape.

Errors of a captured shape, 1 mm on edges of 20 mm say, look like strains of some percent that jump from face to face.
A cloth that hangs has strains too, and they change slowly. With Green's strain E of every face in the plane of its
panel, the measure is

    S = sum |E_f - E_g|^2 / 2    over pairs of faces with a common edge in a panel

which is the square of a gradient, and does not depend on how fine the mesh is. Faces across a seam are not compared.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh


def neighbours(mesh: Mesh, corners: IntArray) -> IntArray:
    """(k, 2) faces with a common edge in a panel, and no seam between."""
    pairs = mesh.edge_faces[mesh.edge_faces[:, 1] >= 0]
    # a common edge has both ends in common, as points of a panel
    shared = (corners[pairs[:, 0]][:, :, None] == corners[pairs[:, 1]][:, None, :]).sum(axis=(1, 2))
    return np.asarray(pairs[shared == 2])


class StrainSmoothness:
    """Differences of strain between neighbours, and their derivatives."""

    def __init__(self, mesh: Mesh, corners: IntArray) -> None:
        """corners: (f, 3) points of the panels that every face has."""
        self.faces, self.corners = mesh.faces, corners
        self.pairs = neighbours(mesh, corners)
        sign = np.tile([1.0, -1.0], len(self.pairs))
        rows = np.repeat(np.arange(len(self.pairs)), 2)
        jump = sp.csr_matrix((sign, (rows, self.pairs.ravel())), shape=(len(self.pairs), len(corners)))
        #: (3k, 3f): strains of the faces -> their jumps. The shear counts twice, as it stands twice in the strain
        self.jump = sp.csr_matrix(sp.kron(jump, sp.diags([1.0, 1.0, np.sqrt(2.0)])))

    def strains(self, x: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """E11, E22, E12 (f, 3) of faces at positions x (n, 3), cut from points (p, 3) in the plane, with derivatives
        (f, 3, corner, 3) 1/m in the positions and in the points."""
        at, flat = x[self.faces], points[self.corners][:, :, :2]
        sides = np.stack([at[:, 1] - at[:, 0], at[:, 2] - at[:, 0]], axis=2)  # (f, 3, 2)
        inverse = np.linalg.inv(np.stack([flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]], axis=2))
        gradient = sides @ inverse  # (f, 3, 2), of the positions in the plane
        cauchy = gradient.transpose(0, 2, 1) @ gradient
        strain = np.stack([(cauchy[:, 0, 0] - 1.0) / 2, (cauchy[:, 1, 1] - 1.0) / 2, cauchy[:, 0, 1] / 2], axis=1)
        # corner k moves the gradient by its hat function's: F changes by dx (x) hat_k, and by -F dX (x) hat_k
        hat = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)  # (f, corner, 2)
        by_x, by_points = np.empty((len(at), 3, 3, 3)), np.zeros((len(at), 3, 3, 3))
        for k, (a, b) in enumerate(((0, 0), (1, 1), (0, 1))):
            for into, columns in ((by_x, gradient), (by_points[:, :, :, :2], -cauchy)):
                one = hat[:, :, a, None] * columns[:, None, :, b]
                two = hat[:, :, b, None] * columns[:, None, :, a]
                into[:, k] = (one + two) / 2.0
        return strain, by_x, by_points

    def __call__(self, x: FloatArray, points: FloatArray) -> FloatArray:
        """(3k,) jumps of strain, whose squares are S twice over."""
        return np.asarray(self.jump @ self.strains(x, points)[0].ravel())

    def derivatives(self, x: FloatArray, points: FloatArray) -> tuple[sp.csr_matrix, sp.csr_matrix]:
        """Of the jumps in positions (3k, 3n) and in points (3k, 3p), 1/m."""
        _, by_x, by_points = self.strains(x, points)
        out = []
        for block, places, size in ((by_x, self.faces, x.size), (by_points, self.corners, points.size)):
            column = (3 * places[:, None, :, None] + np.arange(3)) + np.zeros((1, 3, 1, 1), dtype=np.int64)
            row = np.arange(3 * len(places)).reshape(-1, 3, 1, 1) + np.zeros((1, 1, 3, 3), dtype=np.int64)
            whole = sp.csr_matrix((block.ravel(), (row.ravel(), column.ravel())), shape=(3 * len(places), size))
            out.append(sp.csr_matrix(self.jump @ whole))
        return out[0], out[1]
