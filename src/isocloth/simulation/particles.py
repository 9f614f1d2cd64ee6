"""Steps of the nonconforming model: particles move, the nodes of the mesh follow them, and carry contact back to them.

The particles belong to the state. Nodes are x_c = B x.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Nonconforming
from isocloth.simulation.diagnosis import INFEASIBLE
from isocloth.simulation.particle_contact import NOTHING_TOUCHED, ParticleContact
from isocloth.simulation.state import State
from isocloth.simulation.surroundings import Encounter
from isocloth.solver.impulses import Impulses
from isocloth.solver.outcome import Outcome
from isocloth.terms.mass import lumped_areas
from isocloth.terms.midpoints import midpoints
from isocloth.typing import BoolArray, FloatArray


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
        self, state: State, held: BoolArray, start: FloatArray, timestep: float, encounter: Encounter | None,
        push: FloatArray | None = None,
    ) -> tuple[Outcome, State]:  # fmt: skip
        """One step; `start` (n, 3) has the held nodes where they are sent, `push` (n, 3) N acts on the nodes."""
        solver, to_nodes = self.impulses, self.midpoints.to_nodes
        nodes = np.flatnonzero(held)
        if not np.array_equal(nodes, solver.held):
            solver.hold(nodes)
        # by virtual work: x_c = B x moves the nodes, so B^T f acts on the particles
        pushed = None if push is None else to_nodes.T @ push
        found = solver.begin(state.particles, state.particle_velocities, timestep, start[nodes], pushed)
        touch = NOTHING_TOUCHED
        if encounter is not None:
            found, touch = self.contact.resolve(found, encounter, held, start[nodes], timestep)
        converged = bool(found.error <= solver.tolerance) and not touch.crossed
        velocities, force = solver.finish(found, timestep, (start[nodes] - state.positions[nodes]) / timestep)
        positions = to_nodes @ found.positions
        positions[nodes] = start[nodes]  # within the tolerance
        reactions = np.zeros_like(positions)
        reactions[nodes] = force
        outcome = Outcome(
            positions, state.multipliers, reactions, found.solves, converged, self._stretch(found.positions),
            found.error / float(self.midpoints.lengths.min()), 0.0, touch.contacts, touch.gap,
            touch.unmet,
        )  # fmt: skip
        touching = np.zeros(len(held), dtype=bool)
        touching[touch.nodes] = True
        return outcome, replace(
            state, positions=positions, velocities=to_nodes @ velocities, previous_positions=state.positions,
            previous_velocities=state.velocities, held=held, touching=touching, previous_timestep=timestep,
            time=state.time + timestep, steps=state.steps + 1, particles=found.positions,
            particle_velocities=velocities,
        )  # fmt: skip

    def keep(self, state: State, after: State, outcome: Outcome, encounter: Encounter | None) -> State:
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
