"""Steps with contact: isometry, contact and friction solved together, and what is done where no solution is found.

Where nothing touched before, most often nothing does now: the step is first taken as that of a free cloth, and again
with contacts if anything is met on the way.
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Scheme, Step, build_step
from isocloth.contact.contact_set import wrenches_on_bodies
from isocloth.contact.detector import ContactDetector
from isocloth.contact.history import pressing, sticking, unknown_state
from isocloth.contact.world import CollisionWorld
from isocloth.simulation.announce import announce_compilation
from isocloth.simulation.diagnosis import HEALED, INFEASIBLE, errors, limit_speed, overstretched, relaxed_targets
from isocloth.simulation.gripper import jaws_of, slid_out
from isocloth.simulation.integrators import euler
from isocloth.simulation.memory import Memory, NewtonMemory
from isocloth.simulation.state import State
from isocloth.simulation.steppers.first_guess import TREMBLE, first_guess
from isocloth.simulation.steppers.free import FreeStepper, after, past
from isocloth.simulation.steppers.impacts import TRIES, add_unsteady
from isocloth.simulation.steppers.stepper import Part, Targets
from isocloth.solvers.contact_newton import ContactNewton, ContactOutcome
from isocloth.solvers.outcome import Outcome


class ContactStepper(FreeStepper):
    """Steps of a cloth among obstacles, layers and jaws."""

    def __init__(self, cloth: Cloth, contact: ContactNewton, integrator: str, world: CollisionWorld) -> None:
        super().__init__(cloth, contact.newton, integrator)
        self.contact, self.world = contact, world

    @property
    def name(self) -> str:
        """Of the solver."""
        return self.contact.newton.name

    @property
    def fallbacks(self) -> int:
        """Convex problems that a library solved so far."""
        return self.contact.fallbacks

    def restore(self, memory: Memory) -> None:
        """Lay the factor out as it was."""
        assert isinstance(memory, NewtonMemory)
        self.contact.restore(memory.coupling)

    def advance(self, state: State, targets: Targets, h: float) -> Part:
        """One (sub)step."""
        memory = state.memory
        assert isinstance(memory, NewtonMemory)
        if self.world.empty and not targets.grippers:
            return super().advance(state, targets, h)
        self.world.place(state.placed, targets.placed, state.time, state.time + h)
        detector = ContactDetector(self.world, state.positions, targets.held, state.time, state.time + h)
        if len(memory.history.key) or targets.grippers:
            return self._advance_among(state, targets, h, detector)
        solved = self.solve_free(state, targets, h)
        outcome = solved.outcome
        self.contact.work += outcome.iterations
        # the first step goes both ways, so that all kernels are loaded
        if state.steps == 0 or not (outcome.converged and detector.clear(outcome.positions)):
            part = self._advance_among(state, targets, h, detector)
            spent = outcome.iterations + part.outcome.iterations
            return part._replace(outcome=part.outcome._replace(iterations=spent))
        return self.accept_free(state, targets, h, solved, self.contact.coupling)  # of a try that failed, maybe

    def _advance_among(self, state: State, targets: Targets, h: float, detector: ContactDetector) -> Part:
        """A (sub)step in contact with obstacles, between layers or jaws."""
        memory = state.memory
        assert isinstance(memory, NewtonMemory)
        first, count = state.steps == 0, len(self.world.obstacles)
        detector.jaws = jaws_of(targets.grippers, state, targets.poses, self.cloth.area, count + 1)
        for pair in detector.jaws:
            pair.carry(targets.start, memory.history)
        with announce_compilation() if first else nullcontext():
            if first:
                detector.precompile()
            scheme = self.scheme(state, targets, h)
            step, (outcome, contacts, law) = self._solve_impacts(state, targets, h, scheme, detector)
        if not outcome.converged and not targets.last:
            return Part(outcome, None)
        relaxed = False
        if not outcome.converged:
            spent = outcome.iterations
            (outcome, contacts, law), relaxed = self._retry(state, step, memory, detector)
            outcome = outcome._replace(iterations=spent + outcome.iterations)
        lost = not outcome.converged and not self._sound(outcome)
        positions = outcome.positions
        if lost:
            # rather than overstretch, the cloth stays where it is, with the hands that hold it
            positions = state.positions.copy()
            error, _ = errors(self.cloth, positions, memory.multipliers)
            still = np.zeros_like(positions)  # no force of a solve that failed can be trusted
            outcome = outcome._replace(multipliers=memory.multipliers, isometry_error=error, reactions=still)
            law = unknown_state(len(contacts.key))
        elif not outcome.converged:
            positions = detector.stop_short(positions)
        if relaxed:  # it was asked for less than all lengths
            error, gap = errors(self.cloth, positions, outcome.multipliers)
            outcome = outcome._replace(converged=False, isometry_error=error, strain_gap=gap)
        touched, history = pressing(contacts, law, len(positions))
        velocities = step.velocities(positions)
        _, _, early = self.struck(state, targets, h, positions, velocities, touched, step.early)
        add_unsteady(
            velocities, state.velocities, state.previous_velocities, touched, sticking(contacts, law, len(positions)),
            h, early,
        )  # fmt: skip
        self.average(state, targets, h, step, scheme, outcome.reactions)
        if lost:
            velocities[:] = 0.0
        elif not outcome.converged or overstretched(self.cloth, outcome.isometry_error):
            velocities = limit_speed(velocities, self._fastest(state, targets, h, detector, positions))
        return Part(outcome, after(
            state, targets, h, positions, velocities, outcome.reactions,
            NewtonMemory(outcome.multipliers, touched, early, history, self.contact.coupling),
            wrenches_on_bodies(contacts, law.force, positions, count + len(targets.grippers)),
            slid_out(targets.grippers, state.pinched, positions, targets.poses),
        ))  # fmt: skip

    def _solve_impacts(
        self, state: State, targets: Targets, h: float, scheme: Scheme, detector: ContactDetector
    ) -> tuple[Step, ContactOutcome]:
        """A (sub)step, and where something is struck, again with the first-order scheme for it."""
        memory, first, force = state.memory, state.steps == 0, targets.extra()
        assert isinstance(memory, NewtonMemory)
        early, spent = memory.first_order, 0
        start = first_guess(
            targets.start, state.positions, state.velocities, state.previous_velocities, targets.held,
            TREMBLE * self.cloth.fabric.thickness / h,
        )  # fmt: skip
        for _ in range(TRIES):
            step = build_step(
                self.cloth, scheme, past(state), start, targets.held, early=early, first_order=euler(h, 0.0),
                force=force,
            )  # fmt: skip
            if targets.springs is not None:
                step = step.with_springs(*targets.springs)
            found = self._solve(step, memory, detector, first=first)
            spent += found.outcome.iterations
            if scheme.far == 0.0 or not found.outcome.converged:
                break
            start, first = found.outcome.positions, False
            touched, history = pressing(found.contacts, found.law, len(start))
            _, late, jumped = self.struck(state, targets, h, start, step.velocities(start), touched, early)
            if not late:
                break
            early = early | jumped
            memory = memory._replace(multipliers=found.outcome.multipliers, history=history)
            detector.begin_again()
        return step, found._replace(outcome=found.outcome._replace(iterations=spent))

    def _fastest(
        self, state: State, targets: Targets, h: float, detector: ContactDetector, positions: FloatArray
    ) -> float:
        """Speed of whatever moves the cloth, m/s: what overstretched it, or was not solved, must not throw it."""
        hands = (targets.start - state.positions)[targets.held] / h
        moving = np.concatenate([targets.before.velocities, hands])
        return max(float(np.linalg.norm(moving, axis=1).max()), detector.pace(positions))

    def _solve(
        self, step: Step, memory: NewtonMemory, detector: ContactDetector, *, first: bool = False, careful: bool = False
    ) -> ContactOutcome:
        """A (sub)step with contacts; not converged if something was passed through."""
        found = self.contact.solve(
            step, memory.multipliers, memory.history, detector, first=first, careful=careful
        )  # fmt: skip
        if found.outcome.converged and detector.crossings(found.outcome.positions):
            found = found._replace(outcome=found.outcome._replace(converged=False))
        return found

    def _retry(
        self, state: State, step: Step, memory: NewtonMemory, detector: ContactDetector
    ) -> tuple[ContactOutcome, bool]:
        """A part of a step that must not be cut further once more, carefully; and if that overstretches a cloth that
        was overstretched already, with targets that ask for a part of its lengths back. Says whether they did."""
        detector.begin_again()
        found = self._solve(step, memory, detector, careful=True)
        if found.outcome.converged or self._sound(found.outcome):
            return found, False
        spent, relaxed = found.outcome.iterations, False
        for healed in HEALED:
            if (targets := relaxed_targets(self.cloth, state.positions, healed)) is None:
                break
            detector.begin_again()
            again = self._solve(step.with_targets(targets), memory, detector, careful=True)
            spent += again.outcome.iterations
            if relaxed := again.outcome.converged:
                found = again
                break
        return found._replace(outcome=found.outcome._replace(iterations=spent)), relaxed

    def _sound(self, outcome: Outcome) -> bool:
        """Whether what did not converge can be taken all the same."""
        # a model that stretches is torn at twice its length, the isometric one soon
        most = INFEASIBLE if self.cloth.model.inextensible else 2.0
        return bool(np.isfinite(outcome.positions).all() and outcome.isometry_error < most)
