"""Newton's method on the equations of equilibrium: from near an equilibrium to rounding.

Each step solves (A + s M) d = -(gradient less contact springs) with the true second derivative A (`hessian.py`).
Multipliers and contact forces are unknowns of their own, that follow to first order. The shift s, 1/s^2, is zero unless
A is not positive definite or an edge would turn too far: then it grows until that is mended, and falls again. A step
that makes things much worse is taken back, and the next one may turn edges by less.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.solvers.coupling import each_once, pairs_of
from isocloth.statics.angles import hessian_of
from isocloth.statics.hessian import NO_PAIRS, Hessian
from isocloth.statics.potential import Potential
from isocloth.statics.touching import CONE, Known, Touching

#: net force on the free nodes, relative to the weight, at which the equations are solved ...
SOLVED = 1e-9
#: ... with strains, and gaps of contacts in thicknesses, that are what their forces ask for to this
FITTING = 1e-8

#: rad, about: no edge is turned further in a step, ...
TURN = 0.2
#: ... and no node is moved by more than this part of the cloth
FURTHEST = 0.05

#: a step that makes the residual so many times as large is taken back, ...
WORSE = 5.0
#: ... unless it turned edges by less than this
SMALL_TURN = 1e-3

#: 1/s^2, the first shift, and the largest
FIRST, LARGEST = 10.0, 1e9

#: how often contacts may begin to slide, or springs become stiffer
SLIDES = 12
#: how often the diagonals that may be short are chosen anew where an equilibrium was found
CHOICES = 4

#: 1/s^2: a mode with an eigenvalue this small counts as neutral, as that of a cloth that can turn about a corner
NEUTRAL = 1e-4

#: m/s^2: forces are measured by the weight on earth, also where nothing weighs
EARTH = 9.81


class Polished(NamedTuple):
    """What came of it."""

    positions: FloatArray  # (n, 3) m
    tension: FloatArray  # (r,) J
    residual: float  # net force on the free nodes over the weight
    converged: bool
    definite: bool  # whether the second derivative was positive definite at the last iterate
    iterations: int


class Balance(NamedTuple):
    """The state of an iteration, to which it may go back."""

    positions: FloatArray
    tension: FloatArray
    known: Known | None  # of the contacts


def scale_of(cloth: Cloth) -> float:
    """N: the weight of a cloth on earth."""
    return sum(EARTH * fabric.density * float(cloth.area[nodes].sum()) for fabric, nodes in cloth.parts)


def unbalanced(potential: Potential, tension: FloatArray, touching: Touching | None) -> FloatArray:
    """(n, 3) N: gradient of the energy less contact forces; at held nodes, the force that holds them."""
    force = potential.gradient(tension)
    if touching is not None:
        force -= touching.on_nodes(len(force))
    return force


def residual_of(potential: Potential, tension: FloatArray, held: BoolArray, touching: Touching | None) -> float:
    """Net force on the free nodes over the weight."""
    force = unbalanced(potential, tension, touching)
    return float(np.linalg.norm(force[~held])) / scale_of(potential.cloth)


class Polisher:
    """Newton's method for one cloth with held nodes (n,)."""

    def __init__(self, cloth: Cloth, held: BoolArray) -> None:
        self.cloth, self.held = cloth, held
        self.potential = Potential(cloth)
        self.size = float(np.linalg.norm(np.ptp(cloth.mesh.vertices, axis=0)))
        self._hessian: Hessian | None = None
        self._edges, self._length = cloth.mesh.edges, cloth.mesh.edge_lengths
        self._soft = cloth.rows.partner != 0

    def hessian(self, tension: FloatArray, touching: Touching | None, slides: BoolArray | None = None) -> Hessian:
        """A where the potential is, contacts included; slides: (c,) contacts that do not stick, those that slid."""
        pairs = NO_PAIRS
        if touching is not None and len(touching.contacts.gap):
            pairs = np.asarray(each_once(pairs_of(touching.contacts)), dtype=np.int64)
        if self._hessian is None or (len(pairs) and not self._hessian.has_room(pairs)):
            self._hessian = hessian_of(self.cloth, self.held, pairs)
        self._hessian.fill(self.potential, tension)
        if touching is not None:
            touching.add_to(self._hessian, slides)
        return self._hessian

    def solve(
        self, y: FloatArray, tension: FloatArray, touching: Touching | None = None, *, most: int = 30,
        patience: int = 6, indefinite: bool = False, convex: bool = False, reach: float = np.inf,
    ) -> Polished:  # fmt: skip
        """From positions y (n, 3) and multipliers (r,) to the equilibrium nearby, contacts that slide included.

        Args:
            touching: contacts, which follow.
            most: iterations.
            patience: iterations in a row that may be no better than the best so far.
            indefinite: go to the nearest equilibrium, stable or not; else downhill.
            convex: give up at once where the energy is not convex: the equilibrium may be far.
            reach: m, give up beyond.
        """
        found = self._solve(y, tension, touching, most, patience, (indefinite, convex), reach)
        if touching is None:
            return found
        for _ in range(SLIDES):
            if not found.converged:
                break
            lawful, soft = touching.yield_to_friction() <= CONE, touching.stiffen()
            if lawful and not soft and not touching.anchor_again():
                break
            again = self._solve(found.positions, found.tension, touching, most, patience, (indefinite, False), reach)
            found = again._replace(iterations=found.iterations + again.iterations)
        passed = touching.crossings(found.positions)
        return found._replace(converged=found.converged and not passed and touching.yield_to_friction() <= CONE)

    def _solve(
        self, y: FloatArray, tension: FloatArray, touching: Touching | None, most: int, patience: int,
        kind: tuple[bool, bool], reach: float,
    ) -> Polished:  # fmt: skip
        (indefinite, convex), begin, potential = kind, y, self.potential
        self._at(y, touching, choose=True)
        shift, radius, definite, old = 0.0, TURN, True, np.inf
        back: Balance | None = None
        step: FloatArray | None
        best, waited, choices = np.inf, 0, 0
        for k in range(most + 1):
            tension = np.where(self._soft, potential.tension, tension)
            residual, gap = residual_of(potential, tension, self.held, touching), potential.strain_gap(tension)
            if touching is not None:
                gap = max(gap, touching.mismatch() / touching.world.fabric.thickness)
            merit = max(residual, gap)
            if residual < SOLVED and gap < FITTING and k > 0:
                if choices == CHOICES or not potential.choose_again():
                    return Polished(y, tension, residual, True, definite, k)
                choices, best, waited, old, back = choices + 1, np.inf, 0, np.inf, None
                continue
            waited, best = (0, merit) if merit < 0.9 * best else (waited + 1, best)
            far = float(np.abs(y - begin).max()) > reach
            if k == most or waited > patience or far or not np.isfinite(merit):
                break
            if back is not None and merit > WORSE * old and radius > SMALL_TURN:
                y, tension, radius = back.positions, back.tension, 0.25 * radius
                if touching is not None and back.known is not None:
                    touching.known = back.known
                self._at(y, touching)
            else:
                radius = min(2.0 * radius, TURN) if merit < 0.5 * old else radius
                old = merit
            force = -potential.gradient()
            if touching is not None:
                force += touching.springs_on_nodes(len(y))
            hessian = self.hessian(tension, touching)
            shift = 0.1 * shift if shift > FIRST else 0.0
            if indefinite:
                definite = hessian.factorise(NEUTRAL)
                step = hessian.solve(force) if definite else hessian.solve_indefinite(force)
            else:
                definite = hessian.factorise(max(shift, NEUTRAL))
                if not definite and convex and k == 0:
                    return Polished(y, tension, residual, False, False, k)
                step, shift = self._downhill(hessian, force, shift, definite, radius)
                definite = definite and shift == 0.0
            if step is None or not np.isfinite(step).all():
                break
            if indefinite:
                step *= min(1.0, radius / max(self._turn(step), 1e-300))
            back = Balance(y, tension, None if touching is None else touching.known)
            tension, y = potential.linearised_tension(step), y + step
            if touching is not None:
                touching.linearised(step)
            self._at(y, touching)
        return Polished(y, tension, residual, False, definite, k)

    def _at(self, y: FloatArray, touching: Touching | None, *, choose: bool = False) -> None:
        self.potential.move(y, choose=choose)
        if touching is not None:
            touching.move(y)

    def _downhill(
        self, hessian: Hessian, force: FloatArray, shift: float, definite: bool, radius: float
    ) -> tuple[FloatArray | None, float]:
        """A step downhill that turns no edge by more than the radius, and the shift it takes; None: there is none."""
        while shift <= LARGEST:
            if definite:
                step = hessian.solve(force)
                turn = self._turn(step)
                if turn <= radius and np.abs(step).max() <= FURTHEST * self.size:
                    return step, shift
                if shift == 0.0 and turn <= 4.0 * radius:
                    return step * (radius / turn), shift
            shift = max(5.0 * shift, FIRST)
            definite = hessian.factorise(shift)
        return None, shift

    def _turn(self, step: FloatArray) -> float:
        """How far a step (n, 3) turns or stretches an edge, at most, relative to its length."""
        edges: IntArray = self._edges
        return float((np.linalg.norm(step[edges[:, 1]] - step[edges[:, 0]], axis=1) / self._length).max())
