"""The potential of a cloth of one rest shape X: its energies, and its weight with masses of X.

    E_p(x, X) = E_int(x, X) + sum m_i(X) g z_i,    m_i(X) = density * a third of the faces at i, in X

Terms are made once for X, and evaluated in any shape x. Products with dF/dX, F = dE_p/dx, are taken stencil by stencil;
the matrix is put together where many are wanted.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.rest_forces import RestForces
from isocloth.terms.rest_shape import RestTerm, assembled_rest_gradient
from isocloth.terms.term import total_energy


class Potential:
    """E_p of one rest shape."""

    def __init__(self, forces: RestForces, points: FloatArray, areas: FloatArray | None = None) -> None:
        """points: (p, 3) m; areas: (n,) m^2 that weigh, whatever the rest shape is; None: those that it has."""
        self.points, self.n, self.gravity, self.density = points, forces.n, forces.gravity, forces.density
        self.rest = forces.shape(points)
        self.terms: tuple[RestTerm, ...] = tuple(forces.model.energies(self.rest))
        self.follows = areas is None
        self.areas = self.rest.node_areas if areas is None else areas
        #: (n,) N
        self.weight = self.gravity * self.density * self.areas

    def energy(self, x: FloatArray, level: FloatArray | float = 0.0) -> float:
        """E_p (J) in a shape (n, 3) m; level: heights (n,) m in which weight counts nothing."""
        return sum(total_energy(term, x) for term in self.terms) + float(self.weight @ (x[:, 2] - level))

    def gradient(self, x: FloatArray) -> FloatArray:
        """F (n, 3) N."""
        total = np.zeros((self.n, 3))
        total[:, 2] = self.weight
        for term in self.terms:
            each = np.empty((*term.stencils.shape, 3))
            term.gradient(x, each)
            total += gathered_at(term.stencils, each, self.n)
        return total

    def blocks(self, x: FloatArray) -> list[FloatArray]:
        """d^2E_p/dx^2 of every term's stencils, (e, 3m, 3m) N/m."""
        found = []
        for term in self.terms:
            e, m = term.stencils.shape
            out = np.empty((e, 3 * m, 3 * m))
            term.hessian(x, out, False)
            found.append(out)
        return found

    def times_stiffness(self, x: FloatArray, way: FloatArray) -> FloatArray:
        """(d^2E_p/dx^2) v (n, 3) N of a displacement v (n, 3) m."""
        total = np.zeros((self.n, 3))
        for term, blocks in zip(self.terms, self.blocks(x), strict=True):
            e, m = term.stencils.shape
            pushed = np.einsum("erc,ec->er", blocks, way[term.stencils].reshape(e, 3 * m))
            total += gathered_at(term.stencils, pushed.reshape(e, m, 3), self.n)
        return total

    def rest_product(self, x: FloatArray, way: FloatArray) -> FloatArray:
        """(dF/dX)^T v (p, 3) N of a displacement v (n, 3) m: how v . F changes with the rest shape."""
        total = np.zeros_like(self.points)
        for places, pulled in self.rest_parts(x, way):
            total += gathered_at(places, pulled, len(self.points))
        return total

    def rest_parts(self, x: FloatArray, way: FloatArray) -> list[tuple[IntArray, FloatArray]]:
        """The same part by part: points (e, k) of the rest shape, and what their places (e, k, 3) N add, for every term
        and, where masses follow the rest shape, for the weight."""
        parts = []
        for term in self.terms:
            e, m = term.stencils.shape
            pulled = np.einsum("er,erc->ec", way[term.stencils].reshape(e, 3 * m), term.rest_gradient(x))
            parts.append((term.rest_stencils, pulled.reshape(e, -1, 3)))
        return [*parts, (self.rest.corners, self._heavier(way[:, 2]))] if self.follows else parts

    def times_rest(self, x: FloatArray, change: FloatArray) -> FloatArray:
        """(dF/dX) dX (n, 3) N of a change of the rest shape (p, 3) m."""
        total = np.zeros((self.n, 3))
        for term in self.terms:
            e, m = term.stencils.shape
            local = change[term.rest_stencils].reshape(e, -1)
            pushed = np.einsum("erc,ec->er", term.rest_gradient(x), local)
            total += gathered_at(term.stencils, pushed.reshape(e, m, 3), self.n)
        if self.follows:
            total[:, 2] += self.gravity * self.density * (self.rest.node_area_gradient() @ change.ravel())
        return total

    def rest_matrix(self, x: FloatArray) -> sp.csr_matrix:
        """dF/dX (3n, 3p) N/m in a shape (n, 3) m."""
        total = sp.csr_matrix((3 * self.n, self.points.size))
        for term in self.terms:
            total = total + assembled_rest_gradient(term, x, self.n, len(self.points))
        if self.follows:
            node = np.arange(self.n)
            up = sp.csr_matrix((np.ones(self.n), (3 * node + 2, node)), shape=(3 * self.n, self.n))
            total = total + self.gravity * self.density * (up @ self.rest.node_area_gradient())
        return sp.csr_matrix(total)

    def density_product(self, way: FloatArray) -> float:
        """v . dF/d(density), J per kg/m^2."""
        return float(self.gravity * (self.areas @ way[:, 2]))

    def _heavier(self, lift: FloatArray) -> FloatArray:
        """Derivative (f, 3, 3) N of sum m_i g v_i in the corners of faces at rest, for heights (n,)."""
        rest, faces = self.rest, self.rest.mesh.faces
        p = self.points[rest.corners]
        normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        normal /= 2.0 * rest.areas[:, None]
        load = self.gravity * self.density * lift[faces].sum(axis=1) / 6.0
        # a corner moves the area by half the opposite side, turned by a right angle in the plane
        return np.asarray(load[:, None, None] * np.cross(normal[:, None, :], p[:, [2, 0, 1]] - p[:, [1, 2, 0]]))


def gathered_at(places: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Sum (count, 3) of values (e, m, 3) at places (e, m)."""
    flat = places.ravel()
    return np.stack([np.bincount(flat, values[..., d].ravel(), minlength=count) for d in range(3)], axis=1)
