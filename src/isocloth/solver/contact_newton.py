"""Newton's method for a step with contact: isometry, contact and friction in one linear system per iteration.

Each linearisation finds the contacts at the iterate and takes the thresholds of friction from their last forces; what
remains is a convex problem (coulomb.py, descent.py), which is solved the further the closer the iterate is. The
contacts of the last step, with their forces, are the first guess: a cloth at rest needs one factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np

from isocloth.compiled import kernel
from isocloth.problem import Problem, StepProblem
from isocloth.solver.contact_qp import ContactQP
from isocloth.solver.coulomb import OPEN, ContactSet, Law, misfit, prepare, subtract_forces
from isocloth.solver.descent import descend
from isocloth.solver.fallback import fall_back, unsolved
from isocloth.solver.linearised import Linearised, along_surface, contact_problem
from isocloth.solver.newton import Cloth, Newton, NewtonOptions, Workspace, _linearise
from isocloth.solver.outcome import Outcome
from isocloth.terms.rows import add_forces, evaluate
from isocloth.typing import FloatArray, IntArray


class Encounter(Protocol):
    """Where a step's contacts come from."""

    def find(self, y: FloatArray) -> ContactSet:
        """Contacts at the iterate y (n, 3)."""
        ...

    def couplings(self, y: FloatArray) -> IntArray:
        """Pairs of nodes (p, 2) that contacts may couple at y and near it."""
        ...


#: how far the convex problem of the first, second, ... linearisation is solved: contact forces to this part of the
#: largest, within so many factorisations. While the contacts still move it is not worth more
THOROUGHNESS = ((1e-1, 3), (1e-1, 3), (1e-2, 4), (1e-3, 12))

#: under the force it bore a contact gives way by at most this part of the accepted penetration
YIELDING = 0.2

#: linearisations of a step that may be left unsolved before a library is asked: mostly the next one mends it
PATIENCE = 2

#: linearisations after which this distance from Coulomb's law will do
SLOW, ENOUGH = 3, 1e-2


class Touch(NamedTuple):
    """Contacts and what was known of them: what the next iteration, or the next step, starts from."""

    key: IntArray  # (c,)
    law: Law


class ContactOutcome(NamedTuple):
    """Outcome of a step with contacts."""

    outcome: Outcome
    contacts: ContactSet
    law: Law


def empty_law(count: int) -> Law:
    """Contacts of which nothing is known."""
    return Law(
        np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=np.int64), np.zeros((count, 3)), np.zeros(count),
        np.zeros(count), np.full((count, 2), np.nan),
    )  # fmt: skip


NO_TOUCH = Touch(np.empty(0, dtype=np.int64), empty_law(0))


class ContactNewton:
    """Newton with contacts, on the system of a `Newton`."""

    name = "newton"

    def __init__(self, problem: Problem, options: NewtonOptions | None = None) -> None:
        self.newton = Newton(problem, options)
        self.options = self.newton.options
        self.system = self.newton.system
        self.deepest = self.options.penetration * problem.fabric.thickness
        self.yielding = YIELDING * self.deepest
        self.longest = 4.0 * float(np.sqrt(problem.area.mean()))
        self.coupled = np.zeros((0, 2), dtype=np.int64)  # pairs of nodes that contacts may couple ...
        self.coupled_at = np.zeros((0, 3))  # ... ordered when the cloth was here
        self.rebuilt = 0  # how often the pattern had to follow the contacts
        self.fallbacks = 0  # convex problems that a library solved
        self.on_problem: Callable[[ContactQP], None] | None = None  # is given the contact problem of each linearisation
        self._problem = problem

    @cached_property
    def linearised(self) -> Linearised:
        """The linearisation as sparse matrices, for those who ask."""
        return Linearised(self._problem)

    def couple(self, pairs: IntArray, positions: FloatArray) -> None:
        """Make room in the factor for contacts between pairs of nodes."""
        self.coupled, self.coupled_at = pairs, positions
        self.rebuilt += 1
        self.system.couple(pairs, positions)

    def solve(
        self, step: StepProblem, inertia: FloatArray, multipliers: FloatArray, touch: Touch, encounter: Encounter,
        *, first: bool = False,
    ) -> ContactOutcome:  # fmt: skip
        """Find the end of a step; inertia (n,) N/m is the factor of the positions, m/h^2 and damping together."""
        o, system, work = self.options, self.system, self.newton._work
        cloth = self.newton._cloth._replace(assembly=system.assembly)
        y, lam = step.start.copy(), multipliers.copy()
        iterations = linearisations = stuck = 0
        converged = False
        ra = gap = np.inf
        _refresh(cloth, step, inertia, work, y)
        while True:
            contacts = encounter.find(y)
            law = carry(contacts, touch)
            prepare(contacts, inertia, step.held, self.yielding, linearisations == 0, law)
            depth, error, largest = misfit(contacts, law)
            relative = error / largest if largest > 0.0 else 0.0
            if linearisations > 0:
                ra, am = _residual(cloth, step, inertia, work, lam, contacts, law)
                gap = _gap(cloth, work, lam)
                lawful = relative < (o.friction if linearisations < SLOW else max(o.friction, ENOUGH))
                if lawful and depth < self.deepest and gap < o.strain_gap and ra < o.force * am + o.force_floor:
                    converged = True
                    break
                if not np.isfinite(ra) or linearisations >= o.max_iterations:
                    break
            if self.on_problem is not None and len(contacts.gap):
                friction = along_surface(contacts, law.force)
                self.on_problem(contact_problem(self.linearised, step, inertia, work, lam, contacts, friction))
            thoroughness = THOROUGHNESS[min(linearisations, len(THOROUGHNESS) - 1)]
            spent = self._descend(cloth, step, inertia, contacts, law, lam, *thoroughness)
            if spent < 0:
                self.couple(encounter.couplings(y), y.copy())
                cloth = cloth._replace(assembly=system.assembly)
                spent = self._descend(cloth, step, inertia, contacts, law, lam, *thoroughness)
                if spent < 0:
                    raise AssertionError("a coupling of contacts is missing from the pattern made for them")
            iterations += spent
            exhausted = spent == thoroughness[1] and thoroughness == THOROUGHNESS[-1]
            if exhausted and unsolved(contacts, law, work.solution) > thoroughness[0]:
                stuck += 1
                if stuck > PATIENCE:
                    self.fallbacks += fall_back(self.linearised, step, inertia, work, lam, contacts, law)
            linearisations += 1
            _linearise(cloth, work)
            lam[:] = work.linearised
            touch = Touch(contacts.key, law)
            if first:
                # no tension is known yet: learn it before moving, or the first step would swing freely
                first = False
                continue
            d = work.solution[: y.size].reshape(-1, 3)
            far = float(np.abs(d).max())
            y += d if far <= self.longest else self.longest / far * d
            _refresh(cloth, step, inertia, work, y)
        error = float(np.abs(work.values[cloth.enforced]).max(initial=0.0))
        outcome = Outcome(
            y, lam, work.residual.copy(), iterations, converged, error, gap, ra, int((law.status != OPEN).sum()),
            float(contacts.gap.min(initial=np.inf)), relative,
        )  # fmt: skip
        return ContactOutcome(outcome, contacts, law)

    def _descend(
        self, cloth: Cloth, step: StepProblem, inertia: FloatArray, contacts: ContactSet, law: Law, lam: FloatArray,
        tolerance: float, most: int,
    ) -> int:  # fmt: skip
        factor = self.system.factor
        spent: int = descend(
            cloth, step, inertia, factor.fronts, factor.lookup, self.newton._work, contacts, law, lam, tolerance, most
        )
        return spent


def carry(contacts: ContactSet, touch: Touch) -> Law:
    """What is known of contacts that were there before, by key; nothing of the others."""
    law = empty_law(len(contacts.gap))
    if len(touch.key):
        order = np.argsort(touch.key)
        at = order[np.minimum(np.searchsorted(touch.key, contacts.key, sorter=order), len(order) - 1)]
        known = touch.key[at] == contacts.key
        for new, old in zip(law, touch.law, strict=True):
            new[known] = old[at[known]]
    return law


@kernel
def _refresh(cloth: Cloth, step: StepProblem, inertia: FloatArray, work: Workspace, y: FloatArray) -> None:
    """C, J and A y - b at y."""
    evaluate(cloth.rows, y, work.values, work.jacobian)
    bending = cloth.bending
    for i in range(len(inertia)):
        for d in range(3):
            v = inertia[i] * y[i, d] - step.load[i, d]
            for p in range(bending.indptr[i], bending.indptr[i + 1]):
                v += step.bending_factor * bending.data[p] * y[bending.indices[p], d]
            work.force[i, d] = v


@kernel
def _gap(cloth: Cloth, work: Workspace, lam: FloatArray) -> float:
    gap = 0.0
    for k in range(len(lam)):
        if cloth.enforced[k]:
            gap = max(gap, abs(work.values[k] - lam[k] / cloth.assembly.weight[k]))
    return gap


@kernel
def _residual(
    cloth: Cloth, step: StepProblem, inertia: FloatArray, work: Workspace, lam: FloatArray, contacts: ContactSet,
    law: Law,
) -> tuple[float, float]:  # fmt: skip
    """rms over the free mass of the residual A y - b + J^T lambda - B^T r and of A y - b, m/s^2."""
    work.residual[:] = work.force
    add_forces(cloth.rows, work.jacobian, lam, work.residual)
    subtract_forces(contacts, law, work.residual)
    total = ra = am = 0.0
    for i in range(len(inertia)):
        if not step.held[i]:
            m = cloth.density * cloth.area[i]
            total += m
            for d in range(3):
                ra += work.residual[i, d] ** 2 / m
                am += work.force[i, d] ** 2 / m
    total = max(total, 1e-300)
    return np.sqrt(ra / total), np.sqrt(am / total)
