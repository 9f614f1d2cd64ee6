"""Newton's method for a step with contact: isometry, contact and friction in one linear system per iteration.

Each iteration finds the contacts at the iterate, linearises their law (coulomb.py) and the membrane together, and takes
the full step. The contacts of the last step, with their forces, are the first guess: a cloth at rest needs one
iteration.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from isocloth.compiled import kernel
from isocloth.problem import Problem, StepProblem
from isocloth.solver.cholesky import back_substitute, factorise
from isocloth.solver.coulomb import (
    OPEN,
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
from isocloth.typing import FloatArray, IntArray


class Encounter(Protocol):
    """Where a step's contacts come from."""

    def find(self, y: FloatArray) -> ContactSet:
        """Contacts at the iterate y (n, 3)."""
        ...

    def couplings(self, y: FloatArray) -> IntArray:
        """Pairs of nodes (p, 2) that contacts may couple at y and near it."""
        ...


#: iterations after which contacts are held by springs that only brake
CALM = 4

#: iterations after which this distance from Coulomb's law will do
SLOW, ENOUGH = 6, 1e-2


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
        np.zeros((count, 3)), np.zeros(count), np.zeros(count, dtype=np.int64), np.zeros(count), np.zeros((count, 3)),
        np.zeros((count, 3)), np.zeros(count),
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
        self.longest = 4.0 * float(np.sqrt(problem.area.mean()))
        self.coupled = np.zeros((0, 2), dtype=np.int64)  # pairs of nodes that contacts may couple ...
        self.coupled_at = np.zeros((0, 3))  # ... ordered when the cloth was here
        self.rebuilt = 0  # how often the pattern had to follow the contacts

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
        iterations, converged = 0, False
        ra = gap = np.inf
        _refresh(cloth, step, inertia, work, y)
        self.trace: list[tuple[float, ...]] = []
        closed_before: IntArray | None = None
        while True:
            contacts = encounter.find(y)
            law = carry(contacts, touch)
            scales(contacts, inertia, step.held, law)
            depth, error = classify(contacts, law, iterations == 0 or iterations > CALM, iterations == 0)
            closed = np.sort(contacts.key[law.status != OPEN])
            if closed_before is not None and (iterations > CALM or np.array_equal(closed, closed_before)):
                normal = np.einsum("cd,cd->c", law.force, contacts.normal)
                law.threshold[:] = contacts.friction * np.maximum(normal, 0.0)
                depth, error = classify(contacts, law, iterations == 0 or iterations > CALM, iterations == 0)
            closed_before = closed
            largest = float(np.abs(law.force).max(initial=0.0))
            relative = error / largest if largest > 0.0 else 0.0
            if iterations > 0:
                ra, am = _residual(cloth, step, inertia, work, lam, contacts, law)
                gap = _gap(cloth, work, lam)
                self.trace.append(
                    (len(law.status), *np.bincount(law.status, minlength=3), depth, relative, gap, ra, am)
                )
                balanced = gap < o.strain_gap and ra < o.force * am + o.force_floor
                if (
                    balanced
                    and depth < self.deepest
                    and relative < (o.friction if iterations < SLOW else max(o.friction, ENOUGH))
                ):
                    converged = True
                    break
                if not np.isfinite(ra) or iterations >= o.max_iterations:
                    break
            if not _iterate(cloth, step, inertia, system.factor.fronts, system.factor.lookup, work, contacts, law, lam):
                self.couple(encounter.couplings(y), y.copy())
                cloth = cloth._replace(assembly=system.assembly)
                if not _iterate(
                    cloth, step, inertia, system.factor.fronts, system.factor.lookup, work, contacts, law, lam
                ):
                    raise AssertionError("a coupling of contacts is missing from the pattern made for them")
            iterations += 1
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
def _iterate(
    cloth: Cloth, step: StepProblem, inertia: FloatArray, f: Fronts, look: Lookup, work: Workspace,
    contacts: ContactSet, law: Law, lam: FloatArray,
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
