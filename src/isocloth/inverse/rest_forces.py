"""The forces of a cloth in its target as a function of its rest shape, and their derivatives.

    F(X) = d/dx (E(x, X) + sum m_i(X) g z_i)    at the target x

is what hands and obstacles must push the nodes with: zero where nothing touches them. Masses are those of the rest
shape, and change with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Protocol

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.rest_shape import RestShape, RestTerm, assembled_rest_gradient
from isocloth.terms.term import assembled_gradient, assembled_hessian


class Energies(Protocol):
    """What forces need of a shell."""

    def energies(self, rest: RestShape) -> tuple[RestTerm, ...]:
        """The terms of a rest shape."""
        ...


class RestForces:
    """F and its derivatives for one target."""

    def __init__(
        self, target: Mesh, model: Energies, density: float, gravity: float, corners: IntArray | None = None
    ) -> None:
        """density: kg/m^2, that weighs; gravity: m/s^2, along -z; corners: (f, 3) points of the rest shape that every
        face has, where these are not its nodes."""
        self.target, self.model, self.density, self.gravity = target, model, density, gravity
        self.corners = target.faces.copy() if corners is None else corners
        self.positions = target.vertices.copy()
        self.n = target.n_vertices

    def at(self, positions: FloatArray) -> RestForces:
        """The same of a cloth at other positions (n, 3)."""
        moved = copy(self)
        moved.positions = np.ascontiguousarray(positions)
        return moved

    def at_density(self, density: float) -> RestForces:
        """The same of a cloth of another density, kg/m^2."""
        other = copy(self)
        other.density = density
        return other

    def shape(self, points: FloatArray) -> RestShape:
        """The rest shape with points (p, 3), n of them unless faces have corners of their own."""
        return RestShape(self.target, points, self.corners)

    def weight(self, points: FloatArray, load: float = 1.0) -> FloatArray:
        """(n,) N, downwards; load: part of gravity that acts."""
        return load * self.gravity * self.density * self.shape(points).node_areas

    def __call__(self, points: FloatArray, load: float = 1.0) -> FloatArray:
        """F (n, 3) N."""
        rest = self.shape(points)
        total = np.zeros((self.n, 3))
        for term in self.model.energies(rest):
            total += assembled_gradient(term, self.positions, self.n)
        total[:, 2] += load * self.gravity * self.density * rest.node_areas
        return total

    def derivative(self, points: FloatArray, load: float = 1.0) -> sp.csr_matrix:
        """dF/dX (3n, 3p) N/m."""
        rest = self.shape(points)
        up = sp.csr_matrix(
            (np.ones(self.n), (3 * np.arange(self.n) + 2, np.arange(self.n))), shape=(3 * self.n, self.n)
        )  # fmt: skip
        total = load * self.gravity * self.density * (up @ rest.node_area_gradient())
        for term in self.model.energies(rest):
            total = total + assembled_rest_gradient(term, self.positions, self.n, len(points))
        return total.tocsr()

    def parameter_derivative(self, points: FloatArray, names: Sequence[str]) -> FloatArray:
        """dF/dp (3n, p) N per unit, of parameters p of the model by name, and of "density"."""
        total, rest = np.zeros((self.n, 3, len(names))), self.shape(points)
        if "density" in names:
            total[:, 2, names.index("density")] = self.gravity * rest.node_areas
        for term in self.model.energies(rest):
            slopes = term.parameter_gradient(self.positions)
            for k, name in enumerate(names):
                if name in slopes:
                    np.add.at(total[:, :, k], term.stencils, slopes[name])
        return total.reshape(3 * self.n, len(names))

    def stiffness(self, points: FloatArray) -> sp.csr_matrix:
        """dF/dx (3n, 3n) N/m: the second derivative of the energy, by which the target is stable or not."""
        total = sp.csr_matrix((3 * self.n, 3 * self.n))
        for term in self.model.energies(self.shape(points)):
            total = total + assembled_hessian(term, self.positions, self.n, psd=False)
        return total
