"""A step with contact by the independent solver of Coulomb's law, to check the default one with.

Each linearisation of the cloth leaves a problem in the space of its contacts (friction/exact): contacts are hard, and
who is open, sticks and slides is found by Gauss-Seidel over contacts. No spring, no threshold of friction from an
iterate before, no force from the step before but as a first guess. A contact yields by a hundred-millionth of what its
own inertia does (`ContactOptions.stiffest`), so that obstacles which leave no room make large forces, but no endless
ones.

The matrix in the space of contacts is dense: this is for hundreds of contacts, and time grows with their cube.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.kernel_args import KernelArgs
from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Step, StepArrays
from isocloth.cloth.system import BOUND, TENSION, assemble
from isocloth.cloth.tangent import right_hand_side, strain_gap
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.detector import ContactDetector
from isocloth.contact.history import OPEN, SLIDE, STICK, ContactHistory, ContactState, warm_start
from isocloth.contact.options import ContactOptions
from isocloth.friction.exact.contact_space import (
    CoulombProblem,
    Touching,
    add_load,
    delassus,
    frames_of,
    moved,
    without_held,
)
from isocloth.friction.exact.error import alart_curnier
from isocloth.friction.exact.solve import GaussSeidelAnswer, GaussSeidelOptions, gauss_seidel
from isocloth.solvers.contact_newton import (
    ContactNewton,
    ContactOutcome,
    contact_residual,
    gradient_at,
    move_to_solution,
)
from isocloth.solvers.newton import NewtonOptions
from isocloth.solvers.outcome import Outcome
from isocloth.sparse.cholesky import back_substitute, factorise, solve

#: force of friction, relative to what friction bears, from which a contact counts as sliding
_AT_ITS_LIMIT = 1.0 - 1e-9


class GaussSeidelNewton(ContactNewton):
    """Newton on the cloth, the law of Signorini and Coulomb solved exactly in each linearisation."""

    name = "gauss_seidel"

    def __init__(
        self,
        cloth: Cloth,
        options: NewtonOptions | None = None,
        timestep: float = np.inf,
        contact: ContactOptions | None = None,
        exact: GaussSeidelOptions | None = None,
    ) -> None:
        super().__init__(cloth, options, timestep, contact)
        self.exact = exact or GaussSeidelOptions()

    def solve(
        self, step: Step, multipliers: FloatArray, history: ContactHistory, detector: ContactDetector, *,
        first: bool = False, careful: bool = False,
    ) -> ContactOutcome:  # fmt: skip
        """Find the end of a step; see `ContactNewton.solve`."""
        o, work, y, lam = self.options, self.newton.work, step.start.copy(), multipliers.copy()
        linearisations = swept = 0
        converged, problem = False, ""
        gradient_at(self.args, step.arrays, y)
        self.newton.stencils.evaluate(step.stencils, y)
        while True:
            contacts = detector.find(y)
            law: ContactState = warm_start(contacts.key, history)
            depth, error, gap, isometry, residual, force = _judge(
                self.args, step.arrays, lam, contacts, law, self.contact.stiffest
            )  # fmt: skip
            if linearisations > 0:
                lawful = error < self.contact.friction_tolerance(linearisations)
                balanced = residual < o.force * force + o.force_floor
                if converged := lawful and balanced and depth < self.deepest and gap < o.strain_gap:
                    break
                if not np.isfinite(residual) or linearisations >= o.max_iterations or self.exhausted:
                    break
            curvature = TENSION if not careful and linearisations < self.contact.without_angles else BOUND
            self._tell(step, work, lam, contacts, law, curvature)
            answer = self.solve_linearised(step, lam, contacts, law, curvature)
            swept += answer.sweeps
            problem = "" if answer.converged else (
                f"Gauss-Seidel over {len(contacts.gap)} contacts ended after {answer.sweeps} sweeps with an error of "
                f"{answer.error:.1e} of the largest force: shorter steps or fewer contacts help"
            )  # fmt: skip
            linearisations += 1
            self.work += 1
            # no tension is known yet in the first: learn it before moving, or the first step would swing freely
            move_to_solution(self.args, step.arrays, lam, 0.0 if first else self.longest, y)
            self.newton.stencils.evaluate(step.stencils, y)
            first = False
            history = ContactHistory(contacts.key, law)
        closest = float(contacts.gap[contacts.press == 0.0].min(initial=np.inf))
        outcome = Outcome(
            y, lam, work.residual.copy(), linearisations, converged, isometry, gap, residual,
            int((law.status != OPEN).sum()), closest, error, "" if converged else problem, swept,
        )  # fmt: skip
        return ContactOutcome(outcome, contacts, law)

    def solve_linearised(
        self, step: Step, lam: FloatArray, contacts: ContactSet, law: ContactState, curvature: int
    ) -> GaussSeidelAnswer:
        """Displacement of the cloth in the workspace, forces and status in law; returns the certificate."""
        problem, touching = self.problem(step, lam, contacts, law, curvature)
        start = np.einsum("kid,kd->ki", touching.frames, law.force).ravel()
        answer = gauss_seidel(problem, start, self.exact)
        _displace(self.args, touching, answer.force)
        _write(contacts, touching, answer.force, law)
        return answer

    def problem(
        self, step: Step, lam: FloatArray, contacts: ContactSet, law: ContactState, curvature: int
    ) -> tuple[CoulombProblem, Touching]:
        """The problem of a linearisation, the cloth displaced as without contacts; compliance is in its W."""
        if self.coupling.pairs.size:
            self.lay_out(np.empty((0, 2), dtype=np.int64), step.start)  # W couples the nodes, the factor need not
        weights = without_held(contacts.nodes, contacts.weights, step.held)
        touching = Touching(contacts.nodes, weights, frames_of(contacts.normal))
        _fall_freely(self.args, step.arrays, lam, curvature)
        W, b = _in_contacts(self.args, contacts, touching)
        W[np.diag_indices_from(W)] += np.repeat(1.0 / law.stiffness, 3)
        bears = np.where(contacts.press > 0.0, 2.0 * contacts.friction * contacts.press, -1.0)
        return CoulombProblem(W, b, contacts.friction, bears), touching


@kernel
def _judge(
    args: KernelArgs, step: StepArrays, lam: FloatArray, c: ContactSet, law: ContactState, stiffest: float
) -> tuple[float, float, float, float, float, float]:
    """How good an iterate is: deepest penetration, m; error of Alart and Curnier, relative to the largest force; strain
    gap; isometry error; rms of the residual and of f, m/s^2. Writes the scale and stiffness of contacts."""
    cloth, _, _, work = args.content
    depth = worst = largest = 0.0
    frames = frames_of(c.normal)
    for k in range(len(c.gap)):
        mobility = rigid = 0.0
        for a in range(4):
            w, i = c.weights[k, a], c.nodes[k, a]
            if w != 0.0:
                rigid = max(rigid, step.inertia[i])
                if not step.held[i]:
                    mobility += w * w / step.inertia[i]
        rho = 1.0 / mobility if mobility > 0.0 else rigid
        law.scale[k], law.stiffness[k] = rho, stiffest * rho
        n, s, t = frames[k, 0], frames[k, 1], frames[k, 2]
        r, u = law.force[k], c.slip[k]
        r0 = r[0] * n[0] + r[1] * n[1] + r[2] * n[2]
        r1 = r[0] * s[0] + r[1] * s[1] + r[2] * s[2]
        r2 = r[0] * t[0] + r[1] * t[1] + r[2] * t[2]
        u1 = u[0] * s[0] + u[1] * s[1] + u[2] * s[2]
        u2 = u[0] * t[0] + u[1] * t[1] + u[2] * t[2]
        bears = 2.0 * c.friction[k] * c.press[k] if c.press[k] > 0.0 else -1.0
        worst = max(worst, alart_curnier(c.gap[k], u1, u2, r0, r1, r2, rho, c.friction[k], bears))
        largest = max(largest, np.sqrt(r0 * r0 + r1 * r1 + r2 * r2))
        depth = max(depth, abs(c.gap[k]) if c.press[k] > 0.0 else -c.gap[k])
    residual, force = contact_residual(cloth, step, work, lam, c, law)
    gap, isometry = strain_gap(cloth, work, lam)
    return depth, worst / max(largest, 1e-300), gap, isometry, residual, force


@kernel
def _fall_freely(args: KernelArgs, step: StepArrays, lam: FloatArray, curvature: int) -> None:
    """Factor the cloth's matrix, and displace it as if nothing touched it."""
    cloth, f, _, work = args.content
    assemble(
        cloth.assembly, f, cloth.rows, work.jacobian, lam, step.inertia, step.bending, work.hessian, cloth.bends,
        work.bent, step.held, curvature,
    )  # fmt: skip
    right_hand_side(cloth, step, work)
    factorise(f, work.solution)
    back_substitute(f, work.solution)


@kernel
def _in_contacts(args: KernelArgs, c: ContactSet, touching: Touching) -> tuple[FloatArray, FloatArray]:
    """W and b: gaps and slips of contacts where the cloth goes without their forces."""
    _, f, _, work = args.content
    b = moved(touching, work.solution)
    for k in range(len(c.gap)):
        b[3 * k] += c.gap[k]
        for i in range(1, 3):
            e = touching.frames[k, i]
            b[3 * k + i] += e[0] * c.slip[k, 0] + e[1] * c.slip[k, 1] + e[2] * c.slip[k, 2]
    return delassus(f, touching, len(work.solution)), b


@kernel
def _displace(args: KernelArgs, touching: Touching, r: FloatArray) -> None:
    """Add to the displacement of the cloth what the forces (3c,) of contacts make of it."""
    _, f, _, work = args.content
    change = np.zeros(len(work.solution))
    add_load(touching, r, change)
    solve(f, change)
    for i in range(len(change)):
        work.solution[i] += change[i]


@kernel
def _write(c: ContactSet, touching: Touching, r: FloatArray, law: ContactState) -> None:
    """Forces (3c,) in frames to what is known of the contacts."""
    for k in range(len(c.gap)):
        i = 3 * k
        limit = 2.0 * c.friction[k] * c.press[k] if c.press[k] > 0.0 else c.friction[k] * r[i]
        pull = np.sqrt(r[i + 1] ** 2 + r[i + 2] ** 2)
        law.threshold[k] = limit
        law.status[k] = SLIDE if pull >= _AT_ITS_LIMIT * limit else STICK
        if c.press[k] == 0.0 and r[i] == 0.0:
            law.status[k] = OPEN
        for d in range(3):
            along = r[i + 1] * touching.frames[k, 1, d] + r[i + 2] * touching.frames[k, 2, d]
            law.anchor[k, d] = along
            law.force[k, d] = r[i] * touching.frames[k, 0, d] + along
