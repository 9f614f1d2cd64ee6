"""Steps of the nonconforming model: particles move, the nodes of the mesh follow them, and carry contact back to them.

The particles belong to the state. Nodes are x_c = B x.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.detector import ContactDetector
from isocloth.contact.jaws import Jaws
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Nonconforming
from isocloth.simulation.diagnosis import INFEASIBLE
from isocloth.simulation.particle_contact import NOTHING_TOUCHED, ParticleContact, Touched
from isocloth.simulation.particle_grip import TRIES, Grips
from isocloth.simulation.state import State
from isocloth.solvers.impulses import Impulses, Impulsive
from isocloth.solvers.outcome import Outcome
from isocloth.terms.mass import lumped_areas
from isocloth.terms.midpoints import midpoints


class Particles:
    """The particles of one cloth."""

    def __init__(self, rest: Mesh, fabric: Fabric, gravity: float, model: Nonconforming) -> None:
        self.midpoints = midpoints(rest)
        self.impulses = Impulses(self.midpoints, fabric, gravity, model.tolerance, model.max_solves)
        self.fabric = fabric
        self.contact = ParticleContact(self.impulses, fabric.density * lumped_areas(rest.vertices, rest.faces))

    def follow(self, state: State) -> State:
        """The state with the particles in the middle of the edges."""
        to = self.midpoints.to_particles
        return replace(state, particles=to @ state.positions, particle_velocities=to @ state.velocities)

    def energy(self, state: State) -> Mapping[str, float]:
        """Kinetic and potential energy, J, of the particles."""
        x, v, solver = state.particles, state.particle_velocities, self.impulses
        bent = self.fabric.bending * float(np.sum(x * (self.midpoints.stiffness @ x))) / 2
        return {
            "kinetic": float(np.sum(solver.mass[:, None] * v**2)) / 2,
            "potential": bent - float(np.sum(solver.weight * x)),
        }

    def advance(
        self, state: State, held: BoolArray, start: FloatArray, timestep: float, encounter: ContactDetector | None,
        push: FloatArray | None = None, jaws: Sequence[Jaws] = (),
    ) -> tuple[Outcome, State, list[FloatArray]]:  # fmt: skip
        """One step, and the forces (3,) N of the cloth on jaws.

        `start` (n, 3) has the held nodes where they are sent, `push` (n, 3) N acts on the nodes.
        """
        grips = Grips(jaws, held, start, self.impulses.tolerance)
        pushed = np.zeros_like(start) if push is None else push
        solves = 0
        for _ in range(TRIES if jaws else 1):
            found, touch, velocities, force = self._attempt(state, held, grips, timestep, encounter, pushed)
            solves += found.solves
            positions = self.midpoints.to_nodes @ found.positions
            if not found.error <= self.impulses.tolerance or grips.judge(force, positions):
                break
        solved = bool(found.error <= self.impulses.tolerance)
        if solved:
            positions[held] = start[held]  # within the tolerance
        converged = solved and not touch.crossed
        force = np.where(np.isfinite(force), force, 0.0)  # of a step that is given up
        reactions = np.zeros_like(positions)
        reactions[grips.pinned] = force
        outcome = Outcome(
            positions, state.multipliers, reactions, solves, converged, self._stretch(found.positions),
            found.error / float(self.midpoints.lengths.min()), 0.0, touch.contacts, touch.gap,
            max(touch.unmet, grips.residual),
        )  # fmt: skip
        touching = np.zeros(len(held), dtype=bool)
        touching[touch.nodes] = True
        after = replace(
            state, positions=positions, velocities=self.midpoints.to_nodes @ velocities,
            previous_positions=state.positions, previous_velocities=state.velocities, held=held, touching=touching,
            previous_timestep=timestep, time=state.time + timestep, steps=state.steps + 1, particles=found.positions,
            particle_velocities=velocities,
        )  # fmt: skip
        return outcome, after, grips.forces(force)

    def _attempt(
        self, state: State, held: BoolArray, grips: Grips, h: float, encounter: ContactDetector | None, push: FloatArray
    ) -> tuple[Impulsive, Touched, FloatArray, FloatArray]:
        """A step in which the nodes slip that slip now; also its velocities and the forces that hold pinned nodes."""
        solver = self.impulses
        nodes = np.flatnonzero(grips.pinned)
        if not np.array_equal(nodes, solver.held):
            solver.hold(nodes)
        solver.turn(grips.frames(), grips.loose())
        # by virtual work: x_c = B x moves the nodes, so B^T f acts on the particles
        pushed = np.asarray(self.midpoints.to_nodes.T @ (push + grips.friction))
        found = solver.begin(state.particles, state.particle_velocities, h, grips.goal[nodes], pushed)
        touch = NOTHING_TOUCHED
        if encounter is not None:
            found, touch = self.contact.resolve(found, encounter, held, grips.pinned, grips.goal, h)
        velocities, force = solver.finish(found, h, (grips.goal[nodes] - state.positions[nodes]) / h)
        return found, touch, velocities, force

    def keep(self, state: State, after: State, outcome: Outcome, encounter: ContactDetector | None) -> State:
        """In place of a step that has no solution: as much of what was found as neither tears the cloth nor lets it
        pass through anything, and if that is nothing, the cloth stops where it was.

        A start whose distances are off is repaired in several steps in this way.
        """
        share = 1.0 if outcome.isometry_error < max(INFEASIBLE, self._stretch(state.particles)) else 0.0
        way = after.positions - state.positions
        while share > 0.0 and encounter is not None and encounter.crossings(state.positions + share * way):
            share = share / 2 if share > 1e-3 else 0.0
        if share == 1.0:
            return after
        moved = share * (after.particles - state.particles) if share > 0.0 else np.zeros_like(state.particles)
        velocities, to_nodes = moved / after.previous_timestep, self.midpoints.to_nodes
        return replace(
            after, positions=state.positions + share * way if share > 0.0 else state.positions,
            velocities=to_nodes @ velocities, particles=state.particles + moved, particle_velocities=velocities,
        )  # fmt: skip

    def _stretch(self, x: FloatArray) -> float:
        """Largest relative error of a squared distance."""
        a, b = self.midpoints.pairs.T
        square = np.sum((x[a] - x[b]) ** 2, axis=1)
        return float(np.abs(square / self.midpoints.lengths**2 - 1.0).max())
