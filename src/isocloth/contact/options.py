"""Every constant that steers a step with contact, with its meaning, its unit and the range that was tried.

The range tried stands in the metadata of a field, as two other values, on either side of the default where there are
two sides. `python -m benchmarks.contact_constants` runs three scenes with each of them alone and prints what comes of
it; beyond them nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float
from isocloth.base.typing import FloatArray


class ContactNumbers(NamedTuple):
    """What compiled kernels read of the options."""

    stiffness: float
    stiffest: float
    forgiven: float
    correctable: int
    same_stiffness: float
    corrections: int
    corrected: float
    threshold_corrections: int
    threshold_corrected: float
    threshold_updates: int
    shortest: float
    full: float


def _flat(value: Any) -> FloatArray:
    """All numbers of a constant, which may be a tuple of tuples."""
    if isinstance(value, tuple):
        return np.concatenate([np.zeros(0), *[_flat(part) for part in value]])
    return np.array([value], dtype=np.float64)


def _option(default: Any, unit: str, tried: tuple[Any, ...]) -> Any:
    """A constant with its unit and the ends of the range that was tried."""
    return field(default=default, metadata={"unit": unit, "tried": tried})


@dataclass(frozen=True, kw_only=True)
class ContactOptions:
    """Constants of contact. The friction tolerance is the only one that changes during a step; see `friction`.

    When a step is accepted:
        penetration: largest violation of a gap, in thicknesses of the cloth.
        friction: largest distance of a contact force from Coulomb's law, relative to the largest force, in the first
            linearisations. What sticks near its limit must be met closely, or it creeps; in an impact the last digits
            would cost too much. So IT LOOSENS:
        friction_loosened: (linearisations, distance) pairs: after so many linearisations of one step this distance will
            do. By default 1e-3 after three and 1e-2 after five; `report.friction_residual` tells what it was.
        sliding: the distance that will do at once in a cloth that slides, if what its slip does not forgive is below
            `friction`.
        forgiven: part of rho |s_T|, with s_T the largest slip, by which forces may be wrong: of what would stop a
            contact within the step.
        loaded: the distance that will do in a cloth whose load changes, if all that springs do not give way is below
            `friction`: another iteration would find the same.

    Springs of closed contacts:
        stiffness: relative to the inertia m/h^2 a contact moves: under 1 g it gives way by g h^2 / stiffness.
        stiffest: the same at most: between obstacles that leave no room, forces would grow without end.
        yielding: under the force it bore a contact gives way by at most this part of the accepted penetration.
        impact_softening: springs of the first linearisations where the cloth hits something, relative to the others.

    Linearisations (outer iterations):
        thoroughness: (tolerance, factorisations) of the first, second, ... linearisation: contact forces to this part
            of the largest, within so many factorisations. While the contacts still move it is not worth more.
        without_angles: linearisations that go without the stiffness of angles (`cloth/system.py`).
        patience: linearisations that may be left unsolved before a library is asked.
        library_zero: share of the largest force below which a contact counts as open in its answer: its accuracy.
        max_work: factorisations that a step may take, all its parts and tries together, a problem solved by a library
            counted as 20. After three quarters of them what is left of the step is no longer cut into parts to be
            solved well; after all of them the cloth stays where it is until the end of the step, and `report.problem`
            says so.
            Counted and not timed: the same step is given up on every machine. None: `work_ratio` times the median of
            the steps of the simulation so far, and `least_work` at least.
        work_ratio: see `max_work`.
        least_work: with `max_work` None a step may always take so many. The median of a cloth that flies or rests is
            one factorisation, and what ends the flight, an impact that is cut into parts, takes hundreds; one that is
            cut to the end, with every part at all its iterations, about 3000. A bound below that lets cloth be passed.

    Semismooth Newton (inner iterations):
        correctable: contacts that may open, close, stick or slide anew before the matrix is factored again.
        same_stiffness: part of its spring by which a contact's stiffness may differ from the factor's, uncorrected.
        corrections: (pairs of substitutions, part of the error at which they end); about a factorisation's time.
        threshold_corrections: the same while the thresholds of friction follow the pressure.
        threshold_updates: how often the thresholds may follow between two factorisations.
        shortest: part of the way below which no shorter one is tried while the thresholds follow.
        full: a step is taken in full if the slope at its end is at most this part of that at its begin.

    Pattern of the factor:
        pattern_kept: room is kept for at most so many times the pairs of nodes that contacts couple.
        reordered: the factor is ordered anew where it takes so many times as much work as when it was, or as little.

    Detection:
        proximity: the papers' parameter: a pair counts as colliding within 2 omega of its separation.
        found: contacts are found while their gap is below this, in thicknesses.
        looked_again: pairs that are further away than iterates move are looked at again only if a node has gone by
            this, in thicknesses.
        calmed: iterates of a step after which normals and nearest points are averaged: those of two edges that are
            almost parallel jump along the edges, and an iteration that takes them as they are may go to and fro.

    The papers' lagged friction:
        settled: the last displacement of a step that has converged, in thicknesses: the papers' e2.

    Particles of the nonconforming model, whose contact comes after their step:
        sweeps: (repetitions over all contacts, change in m that ends them) of Gauss-Seidel.
        turns: how often what touches is pushed out in a step, with distances restored in between: always, and at
            most if layers or points and edges of obstacles are still nearer than `near_enough`.
        near_enough: in thicknesses.
        jaw_tries: how often a step is taken again until all forces between jaws agree with friction.
        jaw_excess: by which part a force between jaws may exceed what friction bears.
        jaw_straight: cosine of the angle by which friction between jaws may be askew.
    """

    penetration: float = _option(0.1, "thicknesses", (0.03, 0.3))
    friction: float = _option(1e-4, "1", (1e-5, 1e-3))
    friction_loosened: tuple[tuple[int, float], ...] = _option(
        ((3, 1e-3), (5, 1e-2)), "(linearisations, 1)", ((), ((2, 1e-3), (3, 1e-2)))
    )
    sliding: float = _option(1e-2, "1", (1e-3, 3e-2))
    forgiven: float = _option(0.01, "1", (1e-3, 0.03))
    loaded: float = _option(1e-3, "1", (1e-4, 1e-2))
    stiffness: float = _option(1e3, "1, of m/h^2", (3e2, 1e4))
    stiffest: float = _option(1e8, "1, of m/h^2", (1e6, 1e10))
    yielding: float = _option(0.2, "1", (0.05, 0.5))
    impact_softening: tuple[float, ...] = _option((0.03, 0.3), "1", ((), (0.01, 0.1)))
    thoroughness: tuple[tuple[float, int], ...] = _option(
        ((1e-1, 3), (1e-1, 3), (1e-2, 4), (1e-3, 12)),
        "(1, factorisations)",
        (((1e-3, 12),), ((1e-1, 2), (1e-1, 2), (1e-2, 3), (1e-3, 8))),
    )
    without_angles: int = _option(5, "linearisations", (0, 10))
    patience: int = _option(2, "linearisations", (0, 5))
    library_zero: float = _option(1e-6, "1", (1e-7, 1e-4))
    max_work: int | None = _option(None, "factorisations", (1000, 20000))
    work_ratio: float = _option(50.0, "1", (20.0, 200.0))
    least_work: int = _option(4000, "factorisations", (1000, 10000))
    correctable: int = _option(25, "contacts", (5, 100))
    same_stiffness: float = _option(0.05, "1", (0.01, 0.2))
    corrections: tuple[int, float] = _option((12, 1e-2), "(substitutions, 1)", ((4, 1e-1), (25, 1e-3)))
    threshold_corrections: tuple[int, float] = _option((1, 0.1), "(substitutions, 1)", ((0, 0.1), (4, 0.01)))
    threshold_updates: int = _option(8, "1", (0, 20))
    shortest: float = _option(0.1, "1", (0.02, 0.5))
    full: float = _option(0.1, "1", (0.01, 0.5))
    pattern_kept: float = _option(1.5, "1", (1.1, 3.0))
    reordered: float = _option(1.3, "1", (1.1, 2.0))
    proximity: float = _option(0.5, "1", (0.25, 1.0))
    found: float = _option(0.2, "thicknesses", (0.05, 0.5))
    looked_again: float = _option(1.0, "thicknesses", (0.3, 3.0))
    calmed: int = _option(6, "iterates", (3, 12))
    settled: float = _option(0.01, "thicknesses", (0.003, 0.03))
    sweeps: tuple[int, float] = _option((30, 1e-7), "(1, m)", ((10, 1e-6), (100, 1e-8)))
    turns: tuple[int, int] = _option((2, 8), "1", ((1, 4), (3, 16)))
    near_enough: float = _option(0.8, "thicknesses", (0.6, 0.9))
    jaw_tries: int = _option(20, "1", (10, 40))
    jaw_excess: float = _option(1e-4, "1", (1e-5, 1e-3))
    jaw_straight: float = _option(0.99, "1", (0.95, 0.999))

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value is None and option.default is None:
                continue
            try:
                if not isinstance(option.default, tuple) and as_float(value) is None:
                    raise InputTypeError
                numbers = _flat(value)
            except (TypeError, ValueError):
                raise InputTypeError(
                    f"{option.name} = {value!r}: expected numbers ({option.metadata['unit']})"
                ) from None
            if not np.isfinite(numbers).all() or (numbers < 0).any():
                raise InputError(
                    f"{option.name} = {value!r}: expected finite numbers, zero or positive ({option.metadata['unit']})"
                )
        if not (self.penetration > 0 and self.friction > 0 and self.stiffness > 1 and self.yielding > 0):
            raise InputError(f"{self}: expected positive tolerances, and springs stiffer than the inertia they move")
        for name in ("corrections", "threshold_corrections", "sweeps", "turns"):
            if len(getattr(self, name)) != 2:
                raise InputError(f"{name} = {getattr(self, name)!r}: expected a pair")
        for name in ("max_work", "least_work"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} = {value!r}: expected at least one factorisation")
        if min((most for _, most in self.thoroughness), default=0) < 1:
            raise InputError(f"thoroughness = {self.thoroughness!r}: expected pairs with at least one factorisation")
        if not self.thoroughness or not self.stiffest > self.stiffness or not self.reordered > 1:
            raise InputError(f"{self}: expected a thoroughness, stiffest > stiffness and reordered > 1")

    def most_work(self, median: float) -> float:
        """Factorisations that a step may take where the median of the steps before it took so many."""
        if self.max_work is not None:
            return self.max_work
        return max(self.least_work, self.work_ratio * median)

    def friction_tolerance(self, linearisations: int) -> float:
        """The distance from Coulomb's law that will do after so many linearisations of a step."""
        return max([self.friction, *(e for after, e in self.friction_loosened if linearisations >= after)])

    @cached_property
    def numbers(self) -> ContactNumbers:
        """For kernels."""
        # of one type whatever was given: another one would compile all kernels anew
        return ContactNumbers(
            stiffness=float(self.stiffness), stiffest=float(self.stiffest), forgiven=float(self.forgiven),
            correctable=int(self.correctable), same_stiffness=float(self.same_stiffness),
            corrections=int(self.corrections[0]), corrected=float(self.corrections[1]),
            threshold_corrections=int(self.threshold_corrections[0]),
            threshold_corrected=float(self.threshold_corrections[1]), threshold_updates=int(self.threshold_updates),
            shortest=float(self.shortest), full=float(self.full),
        )  # fmt: skip
