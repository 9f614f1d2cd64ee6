"""Every constant that steers a step with contact, with its meaning, its unit and the range that was tried.

"Tried" says within which range of a constant the scenes of `python -m benchmarks.contact_constants` still run with all
steps converged; the default is not at the edge of it. Where a constant trades accuracy for time, the meaning says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from isocloth.base.errors import InputError


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
    """

    penetration: float = 0.1
    friction: float = 1e-4
    friction_loosened: tuple[tuple[int, float], ...] = ((3, 1e-3), (5, 1e-2))
    sliding: float = 1e-2
    forgiven: float = 0.01
    loaded: float = 1e-3
    stiffness: float = 1e3
    stiffest: float = 1e8
    yielding: float = 0.2
    impact_softening: tuple[float, ...] = (0.03, 0.3)
    thoroughness: tuple[tuple[float, int], ...] = ((1e-1, 3), (1e-1, 3), (1e-2, 4), (1e-3, 12))
    without_angles: int = 5
    patience: int = 2
    library_zero: float = 1e-6
    correctable: int = 25
    same_stiffness: float = 0.05
    corrections: tuple[int, float] = (12, 1e-2)
    threshold_corrections: tuple[int, float] = (1, 0.1)
    threshold_updates: int = 8
    shortest: float = 0.1
    full: float = 0.1
    pattern_kept: float = 1.5
    reordered: float = 1.3
    proximity: float = 0.5
    found: float = 0.2
    looked_again: float = 1.0
    calmed: int = 6
    settled: float = 0.01

    def __post_init__(self) -> None:
        if not (self.penetration > 0 and self.friction > 0 and self.stiffness > 1 and self.yielding > 0):
            raise InputError(f"{self}: expected positive tolerances, and springs stiffer than the inertia they move")
        if not self.thoroughness or not self.stiffest > self.stiffness or not self.reordered > 1:
            raise InputError(f"{self}: expected a thoroughness, stiffest > stiffness and reordered > 1")

    def friction_tolerance(self, linearisations: int) -> float:
        """The distance from Coulomb's law that will do after so many linearisations of a step."""
        return max([self.friction, *(e for after, e in self.friction_loosened if linearisations >= after)])

    @cached_property
    def numbers(self) -> ContactNumbers:
        """For kernels."""
        return ContactNumbers(
            self.stiffness, self.stiffest, self.forgiven, self.correctable, self.same_stiffness, *self.corrections,
            *self.threshold_corrections, self.threshold_updates, self.shortest, self.full,
        )  # fmt: skip
