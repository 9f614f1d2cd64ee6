"""The draping function: where a cloth of a rest shape X comes to rest near its target.

    Phi(X) = argmin over the free nodes of  E_p(x, X) + lambda / 2 |x - target|^2

with all that is touched fixed where it is, masses of X (`potential.py`), and an attraction lambda (N/m) by which far
equilibria near the target vanish (the thesis, sections 5.3 and 5.4.2). Newton's method begins in the target, as in the
thesis, or where it is told to. Where the second derivative is not positive definite, which its Cholesky factor says, a
multiple of the identity is added until it is; steps are shortened until the energy falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.thesis.free_matrix import FreeFactor, FreeMatrix
from isocloth.inverse.thesis.potential import Potential

#: steps at most
STEPS = 100
#: of the weight, the largest force that is left; and what rounding leaves, of the stiffness times the size
BALANCED, ROUNDED = 1e-13, 4.0 * float(np.finfo(np.float64).eps)
#: of the weight, the force at which a cloth is at rest that cannot come nearer to rest
AT_REST = 1e-7
#: of the largest number on the diagonal: the first shift; and by how much a next one is larger, or smaller
SHIFT, MORE, LESS = 1e-4, 10.0, 0.1
#: of the size of the cloth: the longest step of a node
LONGEST = 0.2
#: part of the fall that the slope promises; and of a step the least that is tried
SUFFICIENT, SHORTEST = 1e-4, 1e-10
#: of the energy: what rounding may change
NOISE = 1e-13


class Draped(NamedTuple):
    """A cloth that has come to rest.

    points: (p, 3) m, its rest shape; positions: (n, 3) m, Phi(X).
    attraction: lambda, N/m.
    potential: E_p of the rest shape; factor: of the second derivative there with lambda, None where it is not stable.
    residual: N, the largest force left on a free coordinate.
    steps: of Newton's method.
    converged: whether it is at rest.
    """

    points: FloatArray
    positions: FloatArray
    attraction: float
    potential: Potential
    factor: FreeFactor | None
    residual: float
    steps: int
    converged: bool

    @property
    def stable(self) -> bool:
        """Whether it is at rest and the second derivative of its energy, lambda included, is positive definite."""
        return self.converged and self.factor is not None


class Draping:
    """Phi of one target, for any rest shape, attraction and density."""

    def __init__(
        self, forces: RestForces, fixed: Sequence[int] | IntArray, target: FloatArray | None = None,
        areas: FloatArray | None = None,
    ) -> None:  # fmt: skip
        """fixed: nodes that do not move; target: (n, 3) m, the positions of `forces` if None; areas: (n,) m^2 that
        weigh, whatever the rest shape is, to see what that does; None: those of the rest shape."""
        self.forces, self.areas = forces, areas
        self.target = np.array(forces.positions if target is None else target, dtype=np.float64)
        self.fixed = np.unique(np.asarray(fixed, dtype=np.int64))
        self.free = np.setdiff1d(np.arange(forces.n), self.fixed)
        self.size = float(np.ptp(self.target, axis=0).max())
        self._layout: FreeMatrix | None = None

    def at_density(self, density: float) -> Draping:
        """The same of a cloth of another density, kg/m^2."""
        other = copy(self)
        other.forces = self.forces.at_density(density)
        return other

    def potential(self, points: FloatArray) -> Potential:
        """E_p of a rest shape (p, 3) m."""
        return Potential(self.forces, np.array(points, dtype=np.float64).reshape(-1, 3), self.areas)

    def layout(self, potential: Potential) -> FreeMatrix:
        """Of matrices over the free nodes; any rest shape's will do."""
        if self._layout is None:
            self._layout = FreeMatrix([term.stencils for term in potential.terms], self.free, self.target)
        return self._layout

    def __call__(self, points: FloatArray, attraction: float = 0.0, start: FloatArray | None = None) -> Draped:
        """The cloth of a rest shape (p, 3) m at rest; start: (n, 3) m, the target if None."""
        potential = self.potential(points)
        layout, free = self.layout(potential), self.free
        x = self.target.copy()
        if start is not None:
            x[free] = start[free]
        total = float(potential.weight.sum())
        shift, steps, left = 0.0, 0, self._left(potential, x, attraction)
        while True:
            data = layout.assembled(potential.blocks(x))
            stiffest = layout.largest(data)
            worst = float(np.abs(left).max(initial=0.0))
            if worst <= max(BALANCED * total, ROUNDED * stiffest * self.size) or steps == STEPS:
                break
            factor, shift = self._positive(layout, data, attraction, shift, stiffest)
            if factor is None:
                break
            step = -factor.solve(left.ravel()).reshape(-1, 3)
            found = self._along(potential, x, attraction, step, left)
            if found is None:
                break
            x, left = found
            steps += 1
        factor = layout.factorised(layout.shifted(data, attraction)) if np.isfinite(data).all() else None
        rest = bool(worst <= max(AT_REST * total, 1e3 * ROUNDED * stiffest * self.size))
        return Draped(potential.points, x, attraction, potential, factor, worst, steps, rest)

    # ------------------------------------------------------------------- Newton's method

    def _left(self, potential: Potential, x: FloatArray, attraction: float) -> FloatArray:
        """(k, 3) N on the free nodes."""
        return np.asarray(potential.gradient(x)[self.free] + attraction * (x - self.target)[self.free])

    def _energy(self, potential: Potential, x: FloatArray, attraction: float) -> float:
        off = x - self.target
        return potential.energy(x, self.target[:, 2]) + 0.5 * attraction * float(np.sum(off * off))

    def _positive(
        self, layout: FreeMatrix, data: FloatArray, attraction: float, shift: float, stiffest: float
    ) -> tuple[FreeFactor | None, float]:
        """A factor with the least shift that was tried and makes it positive definite, and this shift."""
        if not np.isfinite(data).all():
            return None, shift
        shift = LESS * shift if shift > 1.1 * SHIFT * stiffest else 0.0
        while shift <= 1e3 * stiffest:
            factor = layout.factorised(layout.shifted(data, attraction + shift))
            if factor is not None:
                return factor, shift
            shift = max(MORE * shift, SHIFT * stiffest)
        return None, shift

    def _along(
        self, potential: Potential, x: FloatArray, attraction: float, step: FloatArray, left: FloatArray
    ) -> tuple[FloatArray, FloatArray] | None:
        """The shape after the longest part of a step that lowers the energy, and the forces left there."""
        slope = float(np.sum(step * left))
        before = self._energy(potential, x, attraction)
        noise = NOISE * (abs(before) + float(np.abs(potential.weight @ self.target[:, 2])))
        worst = float(np.abs(left).max())
        share = min(1.0, LONGEST * self.size / max(float(np.abs(step).max(initial=0.0)), 1e-300))
        while share >= SHORTEST:
            tried = x.copy()
            tried[self.free] += share * step
            change = self._energy(potential, tried, attraction) - before
            if change <= SUFFICIENT * share * slope:
                return tried, self._left(potential, tried, attraction)
            if change <= noise:  # the energy says nothing any more, forces still do
                found = self._left(potential, tried, attraction)
                if float(np.abs(found).max(initial=0.0)) < 0.9 * worst:
                    return tried, found
                if share * abs(slope) <= noise:
                    return None
            share *= 0.5
        return None
