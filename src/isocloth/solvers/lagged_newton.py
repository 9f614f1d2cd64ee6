"""The papers' way through a step with contact, to compare with: hard contacts, and friction one iterate behind.

Iterate j + 1 solves (collision model, eq. 5) a problem with inequalities only,

    minimise  1/2 d^T A d + (g - F)^T d   subject to   H + J d >= 0,

by the active-set method of active_set.py, or by a solver from a library. Its multipliers gamma are the contact forces,
and the friction F grows from iterate to iterate by mu |gamma_j - gamma_{j-1}| against the sliding direction of iterate
j, from nothing at the start of every step. This is sliding friction: it knows the velocity of the last iterate and
nothing of rest, so that what should stick is pushed to and fro. The distance from Coulomb's law is reported all the
same.

A step has converged when the cloth and the gaps are as they have to be and the last displacement was small, which in
the papers stands for a friction that has settled.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Step, StepArrays
from isocloth.cloth.system import BOUND, assemble
from isocloth.cloth.tangent import ClothArrays, Workspace, gradient, linearise, right_hand_side
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.detector import ContactDetector
from isocloth.contact.history import OPEN, SLIDE, ContactHistory, warm_start
from isocloth.contact.options import ContactOptions
from isocloth.friction.active_set import ActiveSetOptions, solve_contact
from isocloth.friction.contact_space import ContactRows
from isocloth.friction.coulomb import law_residual, prepare
from isocloth.friction.library_qp import SOLVERS, require
from isocloth.friction.linearised import along_surface, contact_problem, nodal_forces, normal_rows
from isocloth.solvers.contact_newton import ContactNewton, ContactOutcome, contact_residual
from isocloth.solvers.newton import NewtonOptions
from isocloth.solvers.outcome import Outcome
from isocloth.sparse.cholesky import back_substitute, factorise
from isocloth.sparse.fronts import Fronts


class Lag(NamedTuple):
    """What the next iterate knows of the contacts of the last."""

    key: IntArray  # (c,)
    push: FloatArray  # (c,) N, gamma_j
    change: FloatArray  # (c,) N, gamma_j - gamma_{j-1}
    friction: FloatArray  # (c, 3) N


NO_LAG = Lag(np.empty(0, dtype=np.int64), np.empty(0), np.empty(0), np.empty((0, 3)))


class LaggedNewton(ContactNewton):
    """The papers' iteration on the system of a `Newton`; `contact_solver` is one of `library_qp.SOLVERS`."""

    name = "lagged"

    def __init__(
        self,
        cloth: Cloth,
        options: NewtonOptions | None = None,
        contact_solver: str = "active_set",
        contact: ContactOptions | None = None,
    ) -> None:
        super().__init__(cloth, options, contact=contact)
        require(contact_solver)
        self.contact_solver = contact_solver
        self.settled = self.contact.settled * self.thickness
        self._limits = ActiveSetOptions()

    def solve(
        self, step: Step, multipliers: FloatArray, history: ContactHistory, detector: ContactDetector, *,
        first: bool = False, careful: bool = False,
    ) -> ContactOutcome:  # fmt: skip
        """Find the end of a step; see `ContactNewton.solve`. It is always careful."""
        o, work = self.options, self.newton.work
        cloth = self.newton.arrays
        y, lam, lag = step.start.copy(), multipliers.copy(), NO_LAG
        iterations = 0
        converged = False
        ra = gap = moved = np.inf
        gradient(cloth, step.arrays, work, y)
        self.newton.stencils.evaluate(step.stencils, y)
        while True:
            contacts = detector.find(y)
            law = warm_start(contacts.key, history)
            # for the scale of each
            prepare(
                contacts, step.inertia, step.held, self.contact.numbers, self.yielding, 1.0, iterations == 0, law
            )  # fmt: skip
            before = np.einsum("cd,cd->c", law.force, contacts.normal)  # where the last step pressed
            lag = _follow(contacts, lag)
            law.force[:] = lag.push[:, None] * contacts.normal + lag.friction
            law.status[:] = np.where(lag.push > 0.0, SLIDE, OPEN)
            depth, error, largest, _, _ = law_residual(contacts, law, self.contact.forgiven)
            relative = error / largest if largest > 0.0 else 0.0
            if iterations > 0:
                ra, am = contact_residual(cloth, step.arrays, work, lam, contacts, law)
                gap = float(np.abs(work.values - lam / cloth.assembly.weight)[cloth.enforced].max(initial=0.0))
                met = gap < o.strain_gap and ra < o.force * am + o.force_floor and depth < self.deepest
                if met and moved < self.settled:
                    converged = True
                    break
                if not np.isfinite(ra) or iterations >= o.max_iterations or self.exhausted:
                    break
            lag = _slide(contacts, lag)
            start = np.flatnonzero((lag.push if iterations > 0 else before) > 0.0)
            push = self._push(cloth, step, work, lam, contacts, lag.friction, start)
            lag = Lag(contacts.key, push, push - lag.push, lag.friction)
            history = ContactHistory(contacts.key, law)
            iterations += 1
            self.work += 1
            linearise(cloth, work)
            lam[:] = work.linearised
            if first:
                # no tension is known yet: learn it before moving, or the first step would swing freely
                first, lag = False, NO_LAG
                continue
            d = work.solution[: y.size].reshape(-1, 3)
            moved = float(np.abs(d).max())
            y += d if moved <= self.longest else self.longest / moved * d
            gradient(cloth, step.arrays, work, y)
            self.newton.stencils.evaluate(step.stencils, y)
        isometry = float(np.abs(work.values[cloth.enforced]).max(initial=0.0))
        outcome = Outcome(
            y, lam, work.residual.copy(), iterations, converged, isometry, gap, ra, int((law.status != OPEN).sum()),
            float(contacts.gap.min(initial=np.inf)), relative,
        )  # fmt: skip
        return ContactOutcome(outcome, contacts, law)

    def _push(
        self, cloth: ClothArrays, step: Step, work: Workspace, lam: FloatArray, c: ContactSet,
        friction: FloatArray, start: IntArray,
    ) -> FloatArray:  # fmt: skip
        """Displacement in work.solution; returns gamma (c,) N."""
        if self.contact_solver != "active_set" or (self.on_problem is not None and len(c.gap)):
            problem = contact_problem(self.linearised, step, work, lam, c, friction, BOUND)
            if self.on_problem is not None and len(c.gap):
                self.on_problem(problem)
            if self.contact_solver != "active_set":
                answer = SOLVERS[self.contact_solver](problem)
                work.solution[: 3 * len(step.held)] = answer.displacement
                return answer.multipliers
        f = self.newton.fronts
        _move_freely(cloth, step.arrays, f, work, lam, nodal_forces(c, step.held, friction))
        J = normal_rows(c, step.held)
        rows = ContactRows(J.indptr.astype(np.int64), J.indices.astype(np.int64), J.data, c.gap)
        m, o = len(c.gap), self._limits
        gamma, conflict = np.zeros(m), np.zeros(m)
        solve_contact(f, rows, work.solution, gamma, start, conflict, o.tolerance, o.dependence, 10 * m + 100, None)
        return gamma


def _follow(c: ContactSet, lag: Lag) -> Lag:
    """What is known of the contacts that were there at the last iterate, by key; nothing of the others."""
    found = Lag(c.key, np.zeros(len(c.key)), np.zeros(len(c.key)), np.zeros((len(c.key), 3)))
    _, now, then = np.intersect1d(c.key, lag.key, assume_unique=True, return_indices=True)
    for new, old in zip(found[1:], lag[1:], strict=True):
        new[now] = old[then]
    return found


def _slide(c: ContactSet, lag: Lag) -> Lag:
    """Friction grown by mu |gamma_j - gamma_{j-1}| against the slip of this iterate; none where nothing slips."""
    slip = along_surface(c, c.slip)
    size = np.linalg.norm(slip, axis=1)
    direction = slip / np.where(size > 0.0, size, 1.0)[:, None]
    return lag._replace(friction=lag.friction - (c.friction * np.abs(lag.change))[:, None] * direction)


@kernel
def _move_freely(
    cloth: ClothArrays, step: StepArrays, f: Fronts, work: Workspace, lam: FloatArray, load: FloatArray
) -> None:
    """Factor the cloth's matrix, and displace it as without contacts under its forces and a load (n, 3) N."""
    x = work.solution
    assemble(
        cloth.assembly, f, cloth.rows, work.jacobian, lam, step.inertia, step.bending, work.hessian, cloth.bends,
        work.bent, step.held, BOUND,
    )  # fmt: skip
    right_hand_side(cloth, step, work)
    for i in range(len(load)):
        for d in range(3):
            x[3 * i + d] += load[i, d]
    factorise(f, x)
    back_substitute(f, x)
