"""One step: the minimisation that every integrator ends in, apart from how it is solved.

Over node positions y (n, 3), with the held nodes prescribed, a step minimises

    Phi(y) = 1/2 y.A y - b.y + 1/2 sum_k w_k C_k(y)^2 + sum of energies over stencils,    A = diag(inertia) + a_K K,

where the inertia of a node is its mass over h^2 and its damping over h, K the bending matrix, and C the rows of the
model, whose targets belong to the step. With the multipliers lambda_k = w_k C_k its stationary point is
A y - b + J^T lambda + ... = 0: the discrete equation of motion (eq. 14-15) with a very stiff, honest membrane in place
of an infinitely stiff one.

An integrator is v = (y - x_bar)/h and a = (v - v_bar)/h. Nodes that are struck or stick take a first-order one
(`simulation/steppers/impacts.py`): the velocity that a second-order one remembers from before an impact would make them
bounce. Bending damps with the velocity of the second-order one everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.cloth import Cloth, Sparse
from isocloth.terms.rows import shorter
from isocloth.terms.term import DampedTerm, Term


class Scheme(NamedTuple):
    """An integrator's step: v = (y - x_bar)/h, a = (v - v_bar)/h with x_bar = near x + far x_prev, v_bar alike."""

    h: float  # s
    near: float
    far: float


class Past(NamedTuple):
    """Positions (n, 3) m and velocities m/s now and one step before."""

    positions: FloatArray
    velocities: FloatArray
    previous_positions: FloatArray
    previous_velocities: FloatArray


class StepArrays(NamedTuple):
    """The numbers of a step, as kernels read them."""

    inertia: FloatArray  # (n,) N/m, m/h^2 and damping together
    bending: FloatArray  # (n,) N m, the factors of the rows of K
    targets: FloatArray  # (r,) values of the rows at which they are content
    free: BoolArray  # (r,) diagonals that may be short: the shorter of a quad where the step begins
    load: FloatArray  # b (n, 3) N
    start: FloatArray  # (n, 3) m; held nodes at their prescribed positions
    held: BoolArray  # (n,)


class Step(NamedTuple):
    """The problem of one step, or of a part of one."""

    arrays: StepArrays
    base: FloatArray  # x_bar (n, 3) m
    h: float | FloatArray  # s, of the scheme; where nodes differ (n, 1)
    early: BoolArray  # (n,) which nodes take the first-order scheme
    stencils: tuple[Term, ...]  # the terms over stencils as they act in this step

    @property
    def inertia(self) -> FloatArray:
        """(n,) N/m, m/h^2 and damping together."""
        return self.arrays.inertia

    @property
    def load(self) -> FloatArray:
        """b (n, 3) N."""
        return self.arrays.load

    @property
    def start(self) -> FloatArray:
        """(n, 3) m, the first guess; held nodes at their prescribed positions."""
        return self.arrays.start

    @property
    def held(self) -> BoolArray:
        """(n,) which nodes are prescribed."""
        return self.arrays.held

    def velocities(self, positions: FloatArray) -> FloatArray:
        """(n, 3) m/s at the end of the step, if it ends at positions (n, 3)."""
        velocities: FloatArray = (positions - self.base) / self.h
        return velocities

    def with_targets(self, targets: FloatArray) -> Step:
        """The same step with other targets (r,) of the rows."""
        return self._replace(arrays=self.arrays._replace(targets=targets))

    def of_rows(self, chosen: BoolArray) -> Step:
        """The same step for a cloth that has the chosen (r,) rows only."""
        a = self.arrays
        return self._replace(arrays=a._replace(targets=a.targets[chosen], free=a.free[chosen]))

    def with_springs(self, stiffness: FloatArray, to: FloatArray) -> Step:
        """The same step with springs (n,) N/m that pull nodes to places (n, 3) m: they act as more inertia does."""
        a = self.arrays
        inertia, load = a.inertia + stiffness, a.load + stiffness[:, None] * to
        return self._replace(arrays=a._replace(inertia=inertia, load=load))


def build_step(
    cloth: Cloth, scheme: Scheme, past: Past, start: FloatArray, held: BoolArray, *,
    early: BoolArray | None = None, first_order: Scheme | None = None, force: FloatArray | None = None,
) -> Step:  # fmt: skip
    """The step of an integrator from the past to its end.

    Args:
        start: (n, 3) m, the first guess, held nodes where they are sent.
        early: (n,) nodes which take the scheme `first_order` instead; None: no node does.
        force: (n, 3) N, whatever acts on the cloth beside its weight.
    """
    load, base, inertia = np.empty(start.shape), np.empty(start.shape), np.empty(len(start))
    h: float | FloatArray = scheme.h
    if early is None or first_order is None:
        early, first_order = cloth.nobody, scheme
    else:
        h = np.where(early, first_order.h, scheme.h)[:, None]
    # parts, not named tuples: of a small cloth, handing over the names takes longer than the sums
    _fill(cloth.area, cloth.weight, cloth.density, cloth.damping, *scheme, early, *first_order, *past, base, load,
          inertia)  # fmt: skip
    bending = cloth.bending_stiffness
    if cloth.bent_slowly:
        creep = cloth.bending_damping / scheme.h
        bending = bending + creep
        _add_creep(cloth.bending, creep, scheme.near, scheme.far, past.positions, past.previous_positions, load)
    if force is not None:
        load += force
    stencils = cloth.stencils
    if stencils and cloth.bent_slowly:
        stencils = tuple(_damped(term, scheme, past, cloth.bending_damping) for term in stencils)
    free = shorter(cloth.rows.arrays, past.positions)
    arrays = StepArrays(inertia, bending, cloth.rows.rest, free, load, start, held)
    return Step(arrays, base, h, early, stencils)


def _damped(term: Term, scheme: Scheme, past: Past, rate: FloatArray) -> Term:
    """A term over stencils with the dissipation of a step: its strain resists change, as that of bending does.

    rate: (n,) N m s; all nodes of a stencil have the same, as they are of one piece.
    """
    if not isinstance(term, DampedTerm):
        return term
    strain = scheme.near * term.strain(past.positions) + scheme.far * term.strain(past.previous_positions)
    return term.damped(rate[term.stencils[:, 0]] / scheme.h, strain)


@kernel
def _fill(
    area: FloatArray, weight: FloatArray, density: FloatArray, mass_rate: FloatArray, h: float, near: float, far: float,
    early: BoolArray, h1: float, near1: float, far1: float, positions: FloatArray, velocities: FloatArray,
    previous_positions: FloatArray, previous_velocities: FloatArray, base: FloatArray, load: FloatArray,
    inertia: FloatArray,
) -> None:  # fmt: skip
    """x_bar; load = weight + M (density/h^2 (x_bar + h v_bar) + rate/h x_bar); inertia = M (density/h^2 + rate/h)."""
    for i in range(len(area)):
        s, a, b = h, near, far
        if early[i]:
            s, a, b = h1, near1, far1
        mass, drag = density[i] / s**2, mass_rate[i] / s
        inertia[i] = (mass + drag) * area[i]
        for d in range(3):
            x = a * positions[i, d] + b * previous_positions[i, d]
            v = a * velocities[i, d] + b * previous_velocities[i, d]
            base[i, d] = x
            load[i, d] = weight[i, d] + area[i] * (mass * (x + s * v) + drag * x)


@kernel
def _add_creep(
    k: Sparse, creep: FloatArray, near: float, far: float, now: FloatArray, before: FloatArray, load: FloatArray
) -> None:
    """load += creep (n,) K x_bar, with x_bar of the second-order scheme."""
    for i in range(len(load)):
        for p in range(k.indptr[i], k.indptr[i + 1]):
            j = k.indices[p]
            for d in range(3):
                load[i, d] += creep[i] * k.data[p] * (near * now[j, d] + far * before[j, d])
