"""Penalties of chapter 6: how far a rest shape is from developable, and from smooth.

    C_DGC    = sum C_i^2 / 2        C_i = 2 pi - sum of the angles around an interior node      (the thesis, 6.2)
    C_smooth = sum thetabar_e^2 / 2    thetabar_e the dihedral angle of an inner edge            (6.4)
    C_DOG    = sum (cos_k - cos_k+1)^2 / 2    of neighbouring angles at nodes of four quads       (4.3)

All are half a sum of squares, of residuals c(X): the gradient is (dc/dX)^T c, the matrix of Gauss and Newton
(dc/dX)^T dc/dX, which is the second derivative where the residuals vanish. The thesis names the vector C_i alone and
minimises "C_DGC": the sum of squares is what a penalty of it can be. No weight by areas, as in its first approach.

C_i changes with the square of heights over a plane, so that around a flat rest shape C_DGC is of fourth order and its
matrix vanishes: it holds what is flat only loosely, and a sheet that is nearly flat crumples a little for nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import FloatArray, IntArray
from isocloth.measure.curvature import corner_angles
from isocloth.measure.geodesics import angle_differences, stars_of
from isocloth.meshes import Mesh
from isocloth.terms.dihedral import hinges_of
from isocloth.terms.rest_shape import RestShape


class Residuals(NamedTuple):
    """c (k,) and dc/dX (k, 3n), 1/m, at a rest shape."""

    value: FloatArray
    slope: sp.csr_matrix

    @property
    def penalty(self) -> float:
        """sum c^2 / 2."""
        return 0.5 * float(self.value @ self.value)

    @property
    def gradient(self) -> FloatArray:
        """(n, 3) 1/m of the penalty."""
        return np.asarray(self.slope.T @ self.value).reshape(-1, 3)

    @property
    def matrix(self) -> sp.csr_matrix:
        """(3n, 3n) 1/m^2, of Gauss and Newton."""
        return sp.csr_matrix(self.slope.T @ self.slope)


#: residuals of a rest shape (n, 3)
Penalty = Callable[[FloatArray], Residuals]


def gauss_penalty(mesh: Mesh) -> Penalty:
    """C_DGC over the interior nodes of a mesh."""
    number = np.full(mesh.n_vertices, -1, dtype=np.int64)
    number[mesh.interior_nodes] = np.arange(len(mesh.interior_nodes))
    faces, count = mesh.faces, len(mesh.interior_nodes)
    f, m = faces.shape
    row = np.broadcast_to(number[faces][:, :, None, None], (f, m, 3, 3)).ravel()
    places = np.stack([faces, np.roll(faces, -1, axis=1), np.roll(faces, 1, axis=1)], axis=2)  # as `corner_angles` has
    column = (3 * places[:, :, :, None] + np.arange(3)).ravel()
    kept = row >= 0

    def residuals(points: FloatArray) -> Residuals:
        angle, slope = corner_angles(points, faces)
        turn = np.bincount(faces.ravel(), angle.ravel(), minlength=mesh.n_vertices)
        values = -slope.ravel()[kept]
        matrix = sp.csr_matrix((values, (row[kept], column[kept])), shape=(count, points.size))
        return Residuals(np.asarray(2.0 * np.pi - turn[mesh.interior_nodes]), matrix)

    return residuals


def smooth_penalty(mesh: Mesh) -> Penalty:
    """C_smooth over the inner edges of a mesh."""
    hinges = RestShape(mesh, mesh.vertices, mesh.faces.copy()).hinge_corners
    joined = np.ones(len(hinges), dtype=np.bool_)
    row = np.repeat(np.arange(len(hinges)), 18)
    column = (3 * hinges[:, :, None] + np.arange(3)).ravel()

    def residuals(points: FloatArray) -> Residuals:
        found = hinges_of(points[hinges[:, :3]], points[hinges[:, 3:]], joined)
        values = np.concatenate([found.first, found.second], axis=1).ravel()
        return Residuals(found.angle, sp.csr_matrix((values, (row, column)), shape=(len(hinges), points.size)))

    return residuals


def geodesic_penalty(quads: IntArray) -> Penalty:
    """C_DOG over nodes of four quads (q, 4), of a net whose triangles the shell may have."""
    stars = stars_of(quads)
    row = np.repeat(np.arange(3 * len(stars)), 15)
    column = np.broadcast_to((3 * stars[:, None, :, None] + np.arange(3)), (len(stars), 3, 5, 3)).ravel()

    def residuals(points: FloatArray) -> Residuals:
        value, slope = angle_differences(points, stars)
        matrix = sp.csr_matrix((slope.ravel(), (row, column)), shape=(value.size, points.size))
        return Residuals(value.ravel(), matrix)

    return residuals
