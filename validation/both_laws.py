"""Two solvers of Coulomb's law on the very same linearisations of a scene: the default one and Gauss-Seidel.

The springs of the default law give way a little; the method of multipliers takes that away: a spring that starts from
the force it bore in the round before, along the normal as along the surface, needs less displacement each time, and in
the end none.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.cloth.step import Step
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import ContactHistory, ContactState, chosen_history
from isocloth.contact.options import ContactOptions
from isocloth.friction.coulomb import prepare
from isocloth.friction.exact.contact_space import CoulombProblem, Touching
from isocloth.friction.exact.error import law_error
from isocloth.friction.exact.solve import GaussSeidelAnswer, GaussSeidelOptions, gauss_seidel
from isocloth.friction.exact.sweep import displacements
from isocloth.friction.linearised import nodal_forces
from isocloth.simulation import Simulation
from isocloth.simulation.steppers import ContactStepper
from isocloth.solvers.contact_newton import semismooth_from
from isocloth.solvers.coupling import pairs_of
from isocloth.solvers.gauss_seidel_newton import GaussSeidelNewton

#: springs of the default law here, relative to the inertia that a contact moves
STIFFNESS = 1e5
#: rounds of the method of multipliers, and the change of forces at which they end, relative to the largest
ROUNDS, SETTLED = 12, 1e-11
#: to which answers have to agree, relative to the largest force, and to the largest displacement, free or not
AGREEMENT = 1e-6
EXACT = GaussSeidelOptions(tolerance=1e-11, max_sweeps=3000)


class Compared(NamedTuple):
    """Both answers to one linearisation."""

    contacts: int  # that press
    smallest: (
        float  # eigenvalue of W among them, relative to the largest: errors of the law over it are errors of forces
    )
    forces: float  # largest difference of a contact force, relative to the largest
    nodal: float  # ... of the force of contacts on a node
    displacements: float  # largest difference of a displacement, relative to the largest, with contacts or without
    law: float  # error of Alart and Curnier of the default answer, relative to the largest force ...
    exact: GaussSeidelAnswer  # ... and all of the other
    settled: bool  # whether the default answer did not change any more
    kept: float  # how far Gauss-Seidel goes from a default answer that differs when it begins there; else 0


class BothLaws(GaussSeidelNewton):
    """Steps by Gauss-Seidel, each linearisation solved by the default law beside it."""

    def __init__(self, sim: Simulation, every: int) -> None:
        options = sim.method.options
        super().__init__(sim.cloth, options, sim.timestep, sim.method.contact_options, EXACT)
        self.compared: list[Compared] = []
        self.every, self.seen = every, 0
        self.springs = ContactOptions(stiffness=STIFFNESS, stiffest=1e12, threshold_updates=20).numbers

    def solve_linearised(
        self, step: Step, lam: FloatArray, contacts: ContactSet, law: ContactState, curvature: int
    ) -> GaussSeidelAnswer:
        """As Gauss-Seidel answers."""
        begin = chosen_history(ContactHistory(contacts.key, law), np.ones(len(contacts.key), dtype=bool)).law
        law.stiffness[:] = 1e30  # hard contacts: the other law has no such yielding
        problem, touching = self.problem(step, lam, contacts, law, curvature)
        free = float(np.abs(self.newton.work.solution[: 3 * len(step.held)]).max())
        answer = super().solve_linearised(step, lam, contacts, law, curvature)
        self.seen += 1
        if len(contacts.gap) and answer.force.any() and self.seen % self.every == 0:
            x = self.newton.work.solution.copy()
            settled = self._by_default(step, lam, contacts, begin, curvature)
            other = self.newton.work.solution.copy()
            scalars = 3 * len(step.held)
            apart = float(np.abs(x - other)[:scalars].max()) / max(free, float(np.abs(x[:scalars]).max()))
            self.compared.append(_compare(step, problem, touching, contacts, (law, begin), apart, answer, settled))
            self.newton.work.solution[:] = x
        return answer

    def _by_default(self, step: Step, lam: FloatArray, contacts: ContactSet, law: ContactState, curvature: int) -> bool:
        """The default law's answer in law and in the workspace; whether it settled."""
        shifted = contacts._replace(gap=contacts.gap.copy())
        prepare(shifted, step.inertia, step.held, self.springs, 1e30, 1.0, True, law)
        before = np.full_like(law.force, np.inf)
        for _ in range(ROUNDS):
            self._settle(step, lam, shifted, law, curvature)
            push = np.einsum("cd,cd->c", law.force, contacts.normal)
            if np.abs(law.force - before).max() <= SETTLED * np.abs(law.force).max():
                return True
            before = law.force.copy()
            shifted.gap[:] = contacts.gap - np.where(contacts.press > 0.0, push, np.maximum(push, 0.0)) / law.stiffness
            law.anchor[:] = law.force - push[:, None] * contacts.normal
        return False

    def _settle(self, step: Step, lam: FloatArray, contacts: ContactSet, law: ContactState, curvature: int) -> None:
        """Let the thresholds of friction follow the pressure, anchors and gaps as they are."""
        law.trial[:] = np.nan
        for _ in range(ROUNDS):
            threshold = law.threshold.copy()
            for _ in range(3):
                spent = semismooth_from(
                    self.args, step.arrays, lam, contacts, law, self.springs, curvature, 1e-13, 30, 1e-13
                )  # fmt: skip
                if spent >= 0:
                    break
                self.lay_out(pairs_of(contacts), step.start)
            prepare(contacts, step.inertia, step.held, self.springs, 1e30, 1.0, False, law)
            if np.abs(law.threshold - threshold).max() <= SETTLED * np.abs(law.force).max():
                return


def _compare(
    step: Step, problem: CoulombProblem, touching: Touching, c: ContactSet, laws: tuple[ContactState, ContactState],
    apart: float, answer: GaussSeidelAnswer, settled: bool,
) -> Compared:  # fmt: skip
    exact, default = laws
    largest = float(np.linalg.norm(exact.force, axis=1).max())
    pressing = np.flatnonzero((exact.force != 0.0).any(axis=1))
    rows = (3 * pressing[:, None] + np.arange(3)).ravel()
    values = np.linalg.eigvalsh(problem.W[np.ix_(rows, rows)])
    r = np.einsum("kid,kd->ki", touching.frames, default.force).ravel()
    u = np.empty_like(r)
    displacements(problem, r, u)
    nodal = [nodal_forces(c, step.held, law.force) for law in laws]
    return Compared(
        contacts=len(pressing),
        smallest=float(max(values[0] / values[-1], 0.0)),
        forces=float(np.abs(exact.force - default.force).max()) / largest,
        nodal=float(np.abs(nodal[0] - nodal[1]).max()) / float(np.abs(nodal[0]).max()),
        displacements=apart,
        law=law_error(problem, u, r)[1] / largest,
        exact=answer,
        settled=settled,
        kept=_moved(problem, u, gauss_seidel(problem, r, EXACT)) if apart >= AGREEMENT else 0.0,
    )


def _moved(problem: CoulombProblem, u: FloatArray, again: GaussSeidelAnswer) -> float:
    """How far displacements (3c,) of contacts are from those of another answer, of the largest; inf if it is none."""
    if not again.converged:
        return np.inf
    other = np.empty_like(u)
    displacements(problem, again.force, other)
    return float(np.abs(other - u).max() / max(np.abs(u).max(), np.abs(problem.b).max()))


def watched(sim: Simulation, every: int = 1) -> BothLaws:
    """Let a simulation with contact take its steps by Gauss-Seidel, and every so many-th linearisation by both."""
    assert isinstance(sim.stepper, ContactStepper)
    both = BothLaws(sim, every)
    sim.stepper.contact = both
    return both
