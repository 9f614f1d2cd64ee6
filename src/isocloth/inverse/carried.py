"""A cloth in its target and what carries it: the same for every method that looks for the rest shape."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.supports import Supports
from isocloth.sparse.inertia import negative_pivots, symmetric_factor


class Carried:
    """Forces of rest shapes in the target, and the supports that bear them.

    spread: (3n, 3k), forces at the supports -> forces on the nodes.
    touched: (3n,) coordinates that supports push; free: the others.
    """

    def __init__(self, forces: RestForces, supports: Supports) -> None:
        self.forces, self.supports, self.n = forces, supports, forces.n
        self.spread = supports.spread(self.n)
        self.touched: BoolArray = np.zeros(3 * self.n, dtype=np.bool_)
        self.touched[np.unique(self.spread.nonzero()[0])] = True
        self.free: IntArray = np.flatnonzero(~self.touched)

    def at_supports(self, nodal: FloatArray, near: FloatArray | None = None) -> FloatArray:
        """Forces (k, 3) of supports that come nearest to nodal ones (3n,).

        near: (k, 3) of which the change is the least, where several supports share a node; else zero.
        """
        begin = np.zeros(self.spread.shape[1]) if near is None else near.ravel()
        left = np.where(self.touched, nodal, 0.0) - self.spread @ begin
        matrix = (self.spread.T @ self.spread + 1e-12 * sp.identity(self.spread.shape[1])).tocsc()
        return np.asarray(begin + splu(matrix).solve(self.spread.T @ left)).reshape(-1, 3)

    def stable(self, points: FloatArray) -> bool:
        """Whether the second derivative of the energy is positive definite over the nodes that nothing touches."""
        stiffness = self.forces.stiffness(points)[self.free][:, self.free].tocsc()
        return negative_pivots(symmetric_factor(stiffness)) == 0
