"""The second derivative of shells whose edges have angles of their own, normals "sin" and "tan", with what these do.

The angles phi take the values of least energy for every shape, so that the true second derivative is

    A = E_xx - E_xphi E_phiphi^-1 E_phix,

which is full. Instead the matrix with the angles as unknowns is factorised,

    [[E_xx, E_xphi], [E_phix, E_phiphi]],

which gives the same displacements, and is positive definite just where A is: E_phiphi is, at the least energy. With
the angles held, E_xx alone is stiffer than the shell: Newton's method on it only creeps, on slender triangles not even
that, and calls shapes stable that are not.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import SuperLU, splu

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.sparse.inertia import negative_pivots, symmetric_factor
from isocloth.statics.hessian import NO_PAIRS, Hessian
from isocloth.statics.potential import Potential
from isocloth.terms.koiter_bending import AngleSystem, KoiterBending, angle_system


def hessian_of(cloth: Cloth, held: BoolArray, pairs: IntArray = NO_PAIRS) -> Hessian:
    """The second derivative of a cloth, of the kind that its terms ask for."""
    kind = AngledHessian if any(_has_angles(term) for term in cloth.stencils) else Hessian
    return kind(cloth, held, pairs)


def _has_angles(term: object) -> bool:
    return isinstance(term, KoiterBending) and term.normals != "average"


class AngledHessian(Hessian):
    """A of a shell, with the angles of its edges as unknowns of the factor."""

    def __init__(self, cloth: Cloth, held: BoolArray, pairs: IntArray = NO_PAIRS) -> None:
        super().__init__(cloth, held, pairs)
        self._angles: list[AngleSystem] = []
        self._lu: SuperLU | None = None

    def fill(self, potential: Potential, tension: FloatArray) -> None:
        """A of the cloth alone where the potential was evaluated, with multipliers (r,)."""
        super().fill(potential, tension)
        self._angles = [
            angle_system(term, potential.positions)
            for term in self.cloth.stencils
            if isinstance(term, KoiterBending) and _has_angles(term)
        ]

    def factorise(self, shift: float = 0.0) -> bool:
        """Factor the matrix with the angles, A + shift M; says whether A + shift M is positive definite."""
        mass = sp.diags(shift * np.repeat(self.mass, 3)[self.free])
        self._lu = symmetric_factor(self._whole(mass))
        return negative_pivots(self._lu) == 0

    def solve(self, force: FloatArray) -> FloatArray:
        """(n, 3) m: displacement under forces (n, 3) N, by the last factor; held nodes do not move."""
        return self._solved(self._lu, force)

    def solve_indefinite(self, force: FloatArray) -> FloatArray:
        """The same where A is not positive definite, with pivoting; not a number where A is singular."""
        try:
            return self._solved(splu(self._whole()), force)
        except RuntimeError:
            return np.full((self.cloth.n, 3), np.nan)

    def whole(self) -> sp.csr_matrix:
        """A over x y z of all nodes, free and held, and behind them the angles of all edges."""
        across: Any = sp.hstack([system.mixed for system in self._angles])
        angles: Any = sp.block_diag([system.angles for system in self._angles])
        return sp.csr_matrix(sp.bmat([[self.matrix(), across], [across.T, angles]]))

    def _whole(self, mass: sp.spmatrix | None = None) -> sp.csc_matrix:
        """The matrix over free nodes and angles."""
        own: Any = self.matrix()[self.free][:, self.free]
        if mass is not None:
            own = own + mass
        mixed = [system.mixed[self.free] for system in self._angles]
        angles = sp.block_diag([system.angles for system in self._angles])
        across = sp.hstack(mixed)
        return sp.csc_matrix(sp.bmat([[own, across], [across.T, angles]]))

    def _solved(self, lu: SuperLU | None, force: FloatArray) -> FloatArray:
        if lu is None:
            return np.full((self.cloth.n, 3), np.nan)
        out = np.zeros(3 * self.cloth.n)
        whole = np.zeros(lu.shape[0])
        whole[: len(self.free)] = force.ravel()[self.free]
        out[self.free] = lu.solve(whole)[: len(self.free)]
        return out.reshape(-1, 3)
