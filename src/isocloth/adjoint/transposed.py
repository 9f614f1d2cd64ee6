"""Transposed solves on the linear system of an equilibrium.

Where G(x) = 0 at the free nodes and x + dx is the equilibrium of a changed problem, A dx = -dG with A = dG/dx. The
derivative of a loss L(x) in a parameter p is then v . dG/dp with A^T v = -dL/dx: one solve for all parameters. Energies
have a symmetric A; friction and curved obstacles do not.

The free coordinates are x of the free nodes and whatever is eliminated together with them (the angles of edges of a
shell), so that A may have more rows than there are coordinates.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import FloatArray, IntArray

#: steps of inverse iteration
STEPS = 6


class Transposed:
    """Solves with A^T: over x y z of n nodes, and behind them what is eliminated with them; some do not move."""

    def __init__(self, solve: Callable[[FloatArray], FloatArray], free: IntArray, size: int) -> None:
        """solve: with A^T over the free unknowns (m,); free: which these are, of `size` in all."""
        self._solve, self._free, self._size = solve, free, size

    @classmethod
    def of_matrix(cls, matrix: Any, free: IntArray) -> Transposed:
        """Of a sparse A over all unknowns, symmetric or not, of which the free ones (m,) move."""
        whole = sp.csr_matrix(matrix)
        try:
            factor: Any = splu(sp.csc_matrix(whole[free][:, free]))
        except RuntimeError:
            raise neutral(0.0) from None
        return cls(lambda right: np.asarray(factor.solve(right, trans="T")), free, whole.shape[0])

    def __call__(self, right: FloatArray) -> FloatArray:
        """v (size,) with A^T v = right (n, 3) at the free unknowns, and v = 0 at the others."""
        every = np.zeros(self._size)
        every[: right.size] = right.ravel()
        out = np.zeros(self._size)
        out[self._free] = self._solve(every[self._free])
        if not np.isfinite(out).all():
            raise neutral(0.0)
        return out

    def smallest(self, mass: FloatArray) -> float:
        """1/s^2: about the size of the smallest eigenvalue of A relative to the masses (n,), not less than it is.

        By a few steps of inverse iteration, from the same vector each time.
        """
        every = np.zeros(self._size)
        every[: 3 * len(mass)] = np.repeat(mass, 3)
        weight = every[self._free]
        if len(weight) == 0:
            return np.inf
        way = np.random.default_rng(0).standard_normal(len(weight))
        size = 0.0
        for _ in range(STEPS):
            way /= np.sqrt(np.sum(weight * way * way))
            way = self._solve(weight * way)
            size = float(np.sqrt(np.sum(weight * way * way)))
            if not np.isfinite(size):
                return 0.0
        return 1.0 / max(size, 1e-300)


def neutral(eigenvalue: float) -> ConvergenceError:
    """What is raised where A is singular, or nearly; its smallest eigenvalue in 1/s^2."""
    return ConvergenceError(
        f"the equilibrium is neutral: its smallest eigenvalue is {eigenvalue:.1e} 1/s^2, so the cloth can move without "
        "force and its place has no derivative; hold another node, or let friction or bending stiffness keep it"
    )
