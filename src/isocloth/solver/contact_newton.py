"""Newton's method for a step with contact: isometry, contact and friction in one linear system per iteration.

Each iteration finds the contacts at the iterate, linearises their law (coulomb.py) and the membrane together, and takes
the full step. The contacts of the last step, with their forces, are the first guess: a cloth at rest needs one
iteration.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isocloth.compiled import kernel
from isocloth.problem import Problem, StepProblem
from isocloth.solver.cholesky import back_substitute, factorise
from isocloth.solver.coulomb import (
    ContactSet,
    Law,
    add_contacts,
    classify,
    contact_forces,
    scales,
    subtract_forces,
)
from isocloth.solver.fronts import Fronts, Lookup
from isocloth.solver.newton import Cloth, Newton, NewtonOptions, Workspace, _linearise
from isocloth.solver.outcome import Outcome
from isocloth.solver.system import assemble
from isocloth.terms.rows import add_forces, evaluate
from isocloth.typing import BoolArray, FloatArray, IntArray

Finder = Callable[[FloatArray], ContactSet]


class Touch(NamedTuple):
    """The contacts of a step that carry force: what the next step starts from."""

    key: IntArray  # (c,) sorted
    force: FloatArray  # (c, 3) N


NO_TOUCH = Touch(np.empty(0, dtype=np.int64), np.empty((0, 3)))


class ContactOutcome(NamedTuple):
    """Outcome of a step with contacts."""

    outcome: Outcome
    contacts: ContactSet
    law: Law
    depth: float  # m, deepest violation of a gap
    friction_residual: float  # distance of a contact force from Coulomb's law, relative to the largest force


def empty_law(count: int) -> Law:
    """Arrays for `count` contacts."""
    return Law(
        np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=np.int64), np.zeros((count, 3)),
        np.zeros((count, 3)), np.zeros(count),
    )  # fmt: skip


class ContactNewton:
    """Newton with contacts, on the system of a `Newton`."""

    def __init__(self, problem: Problem, options: NewtonOptions | None = None) -> None:
        self.problem = problem
        self.newton = Newton(problem, options)
        self.options = self.newton.options
        factor = self.newton.system.factor
        self._look = factor.lookup

    def solve(
        self, step: StepProblem, inertia: FloatArray, multipliers: FloatArray, touch: Touch, find: Finder,
        *, first: bool = False,
    ) -> ContactOutcome:  # fmt: skip
        o, newton = self.options, self.newton
        cloth, work = newton._cloth, newton._work
        y, lam = step.start.copy(), multipliers.copy()
        iterations, converged = 0, False
        ra = gap = np.inf
        _refresh(cloth, step, inertia, work, y)
        trace = []
        while True:
            contacts = find(y)
            law, fresh = carry(contacts, touch)
            scales(contacts, inertia, step.held, law)
            depth, error = classify(contacts, law, fresh)
            largest = float(np.abs(law.force).max(initial=0.0))
            relative = error / largest if largest > 0.0 else 0.0
            trace.append((len(contacts.gap), int((law.status > 0).sum()), int((law.status == 2).sum()), depth, relative, gap, ra))
            if iterations > 0:
                am = _residual(cloth, step, inertia, work, lam, contacts, law)
                ra, am = am
                gap = _gap(cloth, work, lam)
                trace[-1] = (*trace[-1][:5], gap, ra)
                if gap < o.strain_gap and ra < o.force * am + o.force_floor and depth < 1e-5 and relative < 1e-3:
                    converged = True
                    break
                if not np.isfinite(ra) or iterations >= o.max_iterations:
                    break
            placed = _iterate(cloth, step, inertia, newton.system.factor.fronts, self._look, work, contacts, law, lam)
            if not placed:
                raise RuntimeError("pattern")
            iterations += 1
            if first:
                lam[:] = work.linearised
                touch = Touch(contacts.key, law.force)
                first = False
                continue
            y += work.solution[: y.size].reshape(-1, 3)
            lam[:] = work.linearised
            touch = Touch(contacts.key, law.force)
            _refresh(cloth, step, inertia, work, y)
        self.trace = trace
        error = float(np.abs(work.values[cloth.enforced]).max(initial=0.0))
        outcome = Outcome(y, lam, work.residual.copy(), iterations, converged, error, gap, ra)
        return ContactOutcome(outcome, contacts, law, depth, relative)


def carry(contacts: ContactSet, touch: Touch) -> tuple[Law, BoolArray]:
    """Forces of contacts that were there before, by key; the others are fresh."""
    law = empty_law(len(contacts.gap))
    if len(touch.key) == 0:
        return law, np.ones(len(contacts.gap), dtype=bool)
    at = np.minimum(np.searchsorted(touch.key, contacts.key), len(touch.key) - 1)
    known = touch.key[at] == contacts.key
    law.force[known] = touch.force[at[known]]
    return law, ~known


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
def _iterate(
    cloth: Cloth, step: StepProblem, inertia: FloatArray, f: Fronts, look: Lookup, work: Workspace, contacts: ContactSet,
    law: Law, lam: FloatArray,
) -> bool:  # fmt: skip
    """One linear solve: displacement in work.solution, multipliers in work.linearised, forces in law."""
    rows, s, x = cloth.rows, cloth.assembly, work.solution
    assemble(s, f, rows, work.jacobian, lam, inertia, 1.0, step.bending_factor, step.held, False)
    for i in range(len(inertia)):
        for d in range(3):
            x[3 * i + d] = -work.force[i, d]
    for k in range(len(work.values)):
        if s.kept[k, 0] >= 0:
            x[s.kept[k, 0]] = -work.values[k]
            continue
        v = s.weight[k] * work.values[k]
        for a in range(rows.ptr[k], rows.ptr[k + 1]):
            p = 3 * rows.nodes[a]
            for d in range(3):
                x[p + d] -= v * work.jacobian[a, d]
    if not add_contacts(s, look, f, contacts, law, step.held, x):
        return False
    for i in range(len(inertia)):
        if step.held[i]:
            x[3 * i] = x[3 * i + 1] = x[3 * i + 2] = 0.0
    factorise(f, x)
    back_substitute(f, x)
    _linearise(cloth, work)
    contact_forces(contacts, law, x)
    return True


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
