"""The potential energy of a cloth at rest, its gradient, and the mixed form of both.

    E(y) = kappa y.K y / 2 - w.y + 1/2 sum_k w_k C_k(y)^2 + energies over stencils

with the weight w of the nodes, the bending matrix K and the rows C of the model. An equilibrium is where its gradient
vanishes at every node that nothing holds or touches. In mixed form the multipliers lambda_k of the rows are unknowns of
their own,

    kappa K y - w + J^T lambda + ... = 0,    C_k(y) - lambda_k / w_k = 0,

which has the same solutions, and on the way there no false tension: a step that turns an edge by theta leaves
C = theta^2, which times a stiff w is many times what the edge bears.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.terms.rows import add_forces, evaluate, shorter
from isocloth.terms.term import assembled_gradient


class Potential:
    """Rows, gradient and residual of one cloth at the positions it was moved to last."""

    def __init__(self, cloth: Cloth) -> None:
        self.cloth = cloth
        rows = cloth.rows
        self.positions = cloth.mesh.vertices.copy()
        self.values = np.zeros(len(rows))  # C
        self.jacobian = np.zeros((len(rows.nodes), 3))  # J, an entry per row and node
        self._rows = rows.arrays
        self._free = shorter(self._rows, self.positions)
        self._outer = np.zeros((cloth.n, 3))

    def move(self, positions: FloatArray, *, choose: bool = True) -> None:
        """C, J and the forces of all but the rows at positions (n, 3).

        choose: of two diagonals the shorter one here is free to be short; else the one that was before, so that an
        iteration does not change its mind where they are alike (`terms/diagonals.py`).
        """
        cloth = self.cloth
        self.positions = np.ascontiguousarray(positions)
        if choose:
            self._free = shorter(self._rows, self.positions)
        evaluate(self._rows, cloth.rows.rest, self._free, self.positions, self.values, self.jacobian)
        self._outer[:] = cloth.bending_stiffness[:, None] * (cloth.stiffness @ self.positions) - cloth.weight
        for term in cloth.energies:
            self._outer += assembled_gradient(term, self.positions, cloth.n)

    def choose_again(self) -> bool:
        """Choose as `move` does, here; whether that changes what any row resists."""
        before = self.values.copy()
        self.move(self.positions)
        return not np.array_equal(before, self.values)

    @property
    def tension(self) -> FloatArray:
        """(r,) J: w C, the multipliers that belong to the positions."""
        return np.asarray(self.cloth.rows.weight * self.values)

    def gradient(self, tension: FloatArray | None = None) -> FloatArray:
        """(n, 3) N: the gradient of E, or of the mixed form with the multipliers (r,) `tension`."""
        force = self._outer.copy()
        add_forces(self._rows, self.jacobian, self.tension if tension is None else tension, force)
        return force

    def strain_gap(self, tension: FloatArray) -> float:
        """Largest |C - lambda / w|: how far multipliers (r,) are from the strain they stand for."""
        gap = np.abs(self.values - tension / self.cloth.rows.weight)
        return float(gap.max(initial=0.0))

    def linearised_tension(self, step: FloatArray) -> FloatArray:
        """(r,) w (C + J d) after a displacement d (n, 3); of rows that do not resist here, zero."""
        rows = self.cloth.rows
        change = np.zeros(len(rows))
        if len(rows):
            along = np.einsum("sd,sd->s", self.jacobian, step[rows.nodes])
            change = np.add.reduceat(along, rows.ptr[:-1])
        return np.asarray(rows.weight * (self.values + change))
