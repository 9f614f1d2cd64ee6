"""Steps of projective dynamics: contacts are found once, where inertia leads, and never is a step cut in parts.

The constant matrix belongs to one length of step; a step that has not converged within its iterations is returned as it
is, and says so.
"""

from __future__ import annotations

from contextlib import nullcontext
from time import perf_counter

import numpy as np

from isocloth.base.errors import ConvergenceError, InputError
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import build_step
from isocloth.contact.contact_set import empty_contacts, wrenches_on_bodies
from isocloth.contact.detector import ContactDetector
from isocloth.contact.world import CollisionWorld
from isocloth.simulation.announce import announce_compilation
from isocloth.simulation.integrators import euler
from isocloth.simulation.memory import NewtonMemory
from isocloth.simulation.state import State
from isocloth.simulation.steppers.free import FreeStepper, after, past
from isocloth.simulation.steppers.stepper import Part, Targets
from isocloth.solvers.projective import Projective

#: m, within a step: what moves further has been thrown, not moved
FURTHEST = 100.0


class ProjectiveStepper(FreeStepper):
    """Steps of a cloth of springs, in a world or in none, by projective dynamics and projective friction."""

    def __init__(self, cloth: Cloth, solver: Projective, world: CollisionWorld | None) -> None:
        super().__init__(cloth, solver, "euler")
        self.projective, self.world = solver, world
        #: in which the contacts of the last step were found
        self.seconds = 0.0

    def suits(self, timestep: float) -> bool:
        """The matrix of another length is another one, and found when it is needed."""
        return True

    def advance(self, state: State, targets: Targets, h: float) -> Part:
        """One step."""
        if targets.grippers:
            raise InputError(
                "a gripper is closed, and solver='projective' knows none: hold nodes with sim.grasp, or leave the "
                "solver out"
            )
        first, world = state.steps == 0, self.world
        with announce_compilation() if first else nullcontext():
            step = build_step(
                self.cloth, euler(h, 0.0), past(state), targets.start, targets.held, force=targets.extra()
            )
            if targets.springs is not None:
                step = step.with_springs(*targets.springs)
            led = np.where(step.held[:, None], step.start, step.load / step.inertia[:, None])
            step = step._replace(arrays=step.arrays._replace(start=led))
            detector, contacts, begin = None, empty_contacts(0), perf_counter()
            if world is not None and not world.empty:
                world.place(state.placed, targets.placed, state.time, state.time + h)
                detector = ContactDetector(world, state.positions, targets.held, state.time, state.time + h)
                contacts = detector.find(led)
            self.seconds = perf_counter() - begin
            outcome, contacts, force = self.projective.solve_among(step, contacts)
        positions = outcome.positions
        if float(np.abs(positions - state.positions).max()) > FURTHEST or not np.isfinite(positions).all():
            raise ConvergenceError(
                f"the step from t = {state.time:.6g} s leads nowhere: a node would move by more than {FURTHEST:g} m. "
                "Projective friction is not stable with ordered=False and stacks of layers; else use a smaller "
                "timestep, softer springs or gentler paths"
            )
        if detector is not None:
            outcome = outcome._replace(min_gap=detector.smallest_gap(positions))
        touched = np.zeros(self.cloth.n, dtype=bool)
        pressed = (force != 0.0).any(axis=1)
        touched[contacts.nodes[pressed][contacts.weights[pressed] != 0.0]] = True
        memory = NewtonMemory(outcome.multipliers, touched, self.cloth.nobody)
        wrenches = wrenches_on_bodies(contacts, force, positions, len(state.placed))
        velocities = step.velocities(positions)
        return Part(outcome, after(
            state, targets, h, positions, velocities, outcome.reactions, memory, wrenches
        ))  # fmt: skip
