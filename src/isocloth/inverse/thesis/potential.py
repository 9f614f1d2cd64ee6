"""The potential of a cloth of one rest shape X: its energies, and its weight with masses of X.

    E_p(x, X) = E_int(x, X) + sum m_i(X) g z_i,    m_i(X) = density * a third of the faces at i, in X

Terms are made once for X, and evaluated in any shape x. Products with dF/dX, F = dE_p/dx, are taken stencil by stencil;
the matrix is never put together.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.rest_forces import RestForces
from isocloth.terms.rest_shape import RestTerm
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
        for term in self.terms:
            e, m = term.stencils.shape
            pulled = np.einsum("er,erc->ec", way[term.stencils].reshape(e, 3 * m), term.rest_gradient(x))
            total += gathered_at(term.rest_stencils, pulled.reshape(e, -1, 3), len(self.points))
        return total + self._heavier(way[:, 2]) if self.follows else total

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

    def density_product(self, way: FloatArray) -> float:
        """v . dF/d(density), J per kg/m^2."""
        return float(self.gravity * (self.areas @ way[:, 2]))

    def _heavier(self, lift: FloatArray) -> FloatArray:
        """Derivative (p, 3) of sum m_i g v_i in X, for heights (n,)."""
        rest, faces = self.rest, self.rest.mesh.faces
        p = self.points[rest.corners]
        normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        normal /= 2.0 * rest.areas[:, None]
        load = self.gravity * self.density * lift[faces].sum(axis=1) / 6.0
        # a corner moves the area by half the opposite side, turned by a right angle in the plane
        slope = load[:, None, None] * np.cross(normal[:, None, :], p[:, [2, 0, 1]] - p[:, [1, 2, 0]])
        return gathered_at(rest.corners, slope, len(self.points))


def gathered_at(places: IntArray, values: FloatArray, count: int) -> FloatArray:
    """Sum (count, 3) of values (e, m, 3) at places (e, m)."""
    flat = places.ravel()
    return np.stack([np.bincount(flat, values[..., d].ravel(), minlength=count) for d in range(3)], axis=1)
