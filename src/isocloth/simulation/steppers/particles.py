"""Steps of the nonconforming model: particles move, the nodes of the mesh follow them, and carry contact back to them.

Nodes are x_c = B x. The particles are the memory of the stepper.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.contact.detector import ContactDetector
from isocloth.contact.options import ContactOptions
from isocloth.contact.world import CollisionWorld
from isocloth.models import Nonconforming
from isocloth.simulation.announce import announce_compilation
from isocloth.simulation.diagnosis import INFEASIBLE
from isocloth.simulation.gripper import jaws_of, slid_out
from isocloth.simulation.memory import Memory, ParticleMemory
from isocloth.simulation.state import State
from isocloth.simulation.steppers.free import after
from isocloth.simulation.steppers.particle_contact import NOTHING_TOUCHED, ParticleContact, Touched
from isocloth.simulation.steppers.particle_grip import Grips
from isocloth.simulation.steppers.stepper import Part, Targets
from isocloth.solvers.impulses import Impulses, Impulsive
from isocloth.solvers.outcome import Outcome
from isocloth.terms.midpoints import midpoints


class ParticleStepper:
    """The particles of one cloth, in a world or in none."""

    integrator = "impulses"

    def __init__(
        self,
        cloth: Cloth,
        gravity: float,
        world: CollisionWorld | None = None,
        options: ContactOptions | None = None,
    ) -> None:
        self.options = options or ContactOptions()
        model, fabric, rest = cloth.model, cloth.fabric, cloth.mesh
        assert isinstance(model, Nonconforming)
        self.cloth, self.world = cloth, world
        self.midpoints = midpoints(rest)
        self.impulses = Impulses(self.midpoints, fabric, gravity, model.tolerance, model.max_solves)
        self.contact = ParticleContact(self.impulses, fabric.density * cloth.area, self.options)

    @property
    def solver(self) -> Impulses:
        """What restores the distances."""
        return self.impulses

    @property
    def name(self) -> str:
        """Of the solver."""
        return self.impulses.name

    def remember(self, positions: FloatArray, velocities: FloatArray) -> ParticleMemory:
        """Particles in the middle of the edges."""
        to = self.midpoints.to_particles
        return ParticleMemory(to @ positions, to @ velocities, np.zeros(len(positions), dtype=bool))

    def moved(self, memory: Memory, positions: FloatArray | None, velocities: FloatArray) -> Memory:
        """The particles follow the nodes that were set; where only velocities were, they stay."""
        assert isinstance(memory, ParticleMemory)
        if positions is None:
            return memory._replace(velocities=self.midpoints.to_particles @ velocities)
        return self.remember(positions, velocities)._replace(touching=memory.touching)

    def restore(self, memory: Memory) -> None:
        """Particles are all that it knows."""

    @property
    def fallbacks(self) -> int:
        """No library is asked."""
        return 0

    def suits(self, timestep: float) -> bool:
        """Steps of any length are alike."""
        return True

    def energy(self, state: State) -> Mapping[str, float]:
        """Kinetic and potential energy, J, of the particles."""
        memory, solver = _particles(state), self.impulses
        x, v = memory.particles, memory.velocities
        bent = self.cloth.fabric.bending * float(np.sum(x * (self.midpoints.stiffness @ x))) / 2
        return {
            "kinetic": float(np.sum(solver.mass[:, None] * v**2)) / 2,
            "potential": bent - float(np.sum(solver.weight * x)),
        }

    def advance(self, state: State, targets: Targets, h: float) -> Part:
        """One (sub)step."""
        count = 0 if self.world is None else len(self.world.obstacles)
        jaws = jaws_of(targets.grippers, state, targets.poses, self.cloth.area, count + 1)
        detector = None
        if self.world is not None and not self.world.empty:
            self.world.place(state.placed, targets.placed, state.time, state.time + h)
            detector = ContactDetector(self.world, state.positions, targets.held, state.time, state.time + h)
        grips = Grips(jaws, targets.held, targets.start, self.impulses.tolerance, self.options)
        with announce_compilation() if state.steps == 0 else nullcontext():
            push = targets.extra()
            if state.steps == 0 and detector is not None:
                detector.precompile()
            outcome, memory, velocities, wrenches = self._move(state, targets, h, detector, grips, push)
        if not outcome.converged and not targets.last:
            return Part(outcome, None)
        for pair, row in zip(jaws, grips.wrenches(outcome.reactions[grips.pinned], outcome.positions), strict=True):
            wrenches[pair.body] = row
        positions = outcome.positions
        if not outcome.converged:
            positions, velocities, memory = self._keep(state, outcome, memory, velocities, h, detector)
        pinched = slid_out(targets.grippers, state.pinched, positions, targets.poses)
        return Part(outcome, after(
            state, targets, h, positions, velocities, outcome.reactions, memory, wrenches, pinched
        ))  # fmt: skip

    def _move(
        self, state: State, targets: Targets, h: float, detector: ContactDetector | None, grips: Grips,
        push: FloatArray | None,
    ) -> tuple[Outcome, ParticleMemory, FloatArray, FloatArray]:  # fmt: skip
        """What is found, as an outcome; the particles, the nodes' velocities and the wrenches of all bodies."""
        held, start = targets.held, targets.start
        pushed = np.zeros_like(start) if push is None else push
        solves = 0
        for _ in range(self.options.jaw_tries if grips.jaws else 1):
            found, touch, velocities, force = self._attempt(state, held, grips, h, detector, pushed)
            solves += found.solves
            positions = self.midpoints.to_nodes @ found.positions
            if not found.error <= self.impulses.tolerance or grips.judge(force, positions):
                break
        solved = bool(found.error <= self.impulses.tolerance)
        if solved:
            positions[held] = start[held]  # within the tolerance
        force = np.where(np.isfinite(force), force, 0.0)  # of a step that is given up
        reactions = np.zeros_like(positions)
        reactions[grips.pinned] = force
        outcome = Outcome(
            positions, NO_MULTIPLIERS, reactions, solves, solved and not touch.crossed, self._stretch(found.positions),
            found.error / float(self.midpoints.lengths.min()), 0.0, touch.contacts, touch.gap,
            max(touch.unmet, grips.residual),
        )  # fmt: skip
        touching = np.zeros(len(held), dtype=bool)
        touching[touch.nodes] = True
        bodies = 1 + len(state.placed) + len(targets.grippers)
        wrenches = np.zeros((bodies, 6))
        wrenches[: len(touch.wrenches)] = touch.wrenches
        memory = ParticleMemory(found.positions, velocities, touching)
        return outcome, memory, np.asarray(self.midpoints.to_nodes @ velocities), wrenches

    def _attempt(
        self, state: State, held: BoolArray, grips: Grips, h: float, detector: ContactDetector | None, push: FloatArray
    ) -> tuple[Impulsive, Touched, FloatArray, FloatArray]:
        """A step in which the nodes slip that slip now; also its velocities and the forces that hold pinned nodes."""
        solver, memory = self.impulses, _particles(state)
        nodes = np.flatnonzero(grips.pinned)
        if not np.array_equal(nodes, solver.held):
            solver.hold(nodes)
        solver.turn(grips.frames(), grips.loose())
        # by virtual work: x_c = B x moves the nodes, so B^T f acts on the particles
        pushed = np.asarray(self.midpoints.to_nodes.T @ (push + grips.friction))
        found = solver.begin(memory.particles, memory.velocities, h, grips.goal[nodes], pushed)
        touch = NOTHING_TOUCHED
        if detector is not None:
            found, touch = self.contact.resolve(found, detector, held, grips.pinned, grips.goal, h)
        velocities, force = solver.finish(found, h, (grips.goal[nodes] - state.positions[nodes]) / h)
        return found, touch, velocities, force

    def _keep(
        self, state: State, outcome: Outcome, memory: ParticleMemory, velocities: FloatArray, h: float,
        detector: ContactDetector | None,
    ) -> tuple[FloatArray, FloatArray, ParticleMemory]:  # fmt: skip
        """Positions, velocities and particles in place of a step that has no solution: as much of what was found as
        neither tears the cloth nor lets it pass through anything, and if that is nothing, the cloth stops where it was.

        A start whose distances are off is repaired in several steps in this way.
        """
        before = _particles(state)
        share = 1.0 if outcome.isometry_error < max(INFEASIBLE, self._stretch(before.particles)) else 0.0
        way = outcome.positions - state.positions
        while share > 0.0 and detector is not None and detector.crossings(state.positions + share * way):
            share = share / 2 if share > 1e-3 else 0.0
        if share == 1.0:
            return outcome.positions, velocities, memory
        moved = share * (memory.particles - before.particles) if share > 0.0 else np.zeros_like(before.particles)
        speeds = moved / h
        kept = memory._replace(particles=before.particles + moved, velocities=speeds)
        positions = state.positions + share * way if share > 0.0 else state.positions
        return positions, np.asarray(self.midpoints.to_nodes @ speeds), kept

    def _stretch(self, x: FloatArray) -> float:
        """Largest relative error of a squared distance."""
        a, b = self.midpoints.pairs.T
        square = np.sum((x[a] - x[b]) ** 2, axis=1)
        return float(np.abs(square / self.midpoints.lengths**2 - 1.0).max())


NO_MULTIPLIERS = np.zeros(0)


def _particles(state: State) -> ParticleMemory:
    memory = state.memory
    assert isinstance(memory, ParticleMemory)
    return memory
