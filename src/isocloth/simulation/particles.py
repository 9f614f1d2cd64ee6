"""Steps of the nonconforming model: particles move, the nodes of the mesh follow them, and carry contact back to them.

The particles belong to the state. Nodes are x_c = B x. What touches is found on the mesh of the nodes and pushed out
there by dx_c; the particles then move by B^T lambda with (B B^T) lambda = dx_c, the smallest displacement that moves
the nodes by just that. Velocities are treated in the same way: what touches does not go on into the obstacle, and
friction slows it down along the surface. An impact does not bounce.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Nonconforming
from isocloth.simulation.state import State
from isocloth.simulation.surroundings import Encounter
from isocloth.solver.coulomb import ContactSet
from isocloth.solver.impulses import AIM, Impulses, Impulsive
from isocloth.solver.outcome import Outcome
from isocloth.solver.push_out import push_out
from isocloth.terms.mass import lumped_areas
from isocloth.terms.midpoints import midpoints
from isocloth.typing import BoolArray, FloatArray, IntArray

#: repetitions over all contacts, and the change in m that ends them
SWEEPS, STILL = 30, 1e-7
#: how often what touches is pushed out in a step, with distances restored in between
TURNS = 2


class Touched(NamedTuple):
    """What came of contact in a step."""

    nodes: IntArray  # that touched
    contacts: int  # that pushed
    gap: float  # m, the smallest at the end


NOTHING_TOUCHED = Touched(np.empty(0, dtype=np.int64), 0, np.inf)


class Particles:
    """The particles of one cloth."""

    def __init__(self, rest: Mesh, fabric: Fabric, gravity: float, model: Nonconforming) -> None:
        self.midpoints = midpoints(rest)
        self.impulses = Impulses(self.midpoints, fabric, gravity, model.tolerance, model.max_solves)
        self.fabric = fabric
        self._node_mass = fabric.density * lumped_areas(rest.vertices, rest.faces)

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
            found, touch = self._among(found, encounter, state, held, start[nodes], timestep)
        converged = bool(found.error <= solver.tolerance)
        velocities, force = solver.finish(found, timestep, (start[nodes] - state.positions[nodes]) / timestep)
        positions = to_nodes @ found.positions
        positions[nodes] = start[nodes]  # within the tolerance
        reactions = np.zeros_like(positions)
        reactions[nodes] = force
        outcome = Outcome(
            positions, state.multipliers, reactions, found.solves, converged, self._stretch(found.positions),
            found.error / float(self.midpoints.lengths.min()), 0.0, touch.contacts, touch.gap,
            np.nan if touch.contacts else 0.0,
        )  # fmt: skip
        touching = np.zeros(len(held), dtype=bool)
        touching[touch.nodes] = True
        return outcome, replace(
            state, positions=positions, velocities=to_nodes @ velocities, previous_positions=state.positions,
            previous_velocities=state.velocities, held=held, touching=touching, previous_timestep=timestep,
            time=state.time + timestep, steps=state.steps + 1, particles=found.positions,
            particle_velocities=velocities,
        )  # fmt: skip

    def stay(self, state: State, after: State) -> State:
        """In place of a step that has no solution: the cloth stops where it was."""
        still = np.zeros_like(state.particles)
        return replace(
            after, positions=state.positions, velocities=np.zeros_like(state.positions), particles=state.particles,
            particle_velocities=still,
        )  # fmt: skip

    def _stretch(self, x: FloatArray) -> float:
        """Largest relative error of a squared distance."""
        a, b = self.midpoints.pairs.T
        square = np.sum((x[a] - x[b]) ** 2, axis=1)
        return float(np.abs(square / self.midpoints.lengths**2 - 1.0).max())

    @cached_property
    def _lifting(self) -> Any:
        """Factor of B B^T."""
        from scipy.sparse.linalg import splu

        to_nodes = self.midpoints.to_nodes
        return splu(sp.csc_matrix(to_nodes @ to_nodes.T), permc_spec="MMD_AT_PLUS_A")

    def lift(self, nodal: FloatArray) -> FloatArray:
        """The smallest displacement (m, 3) of particles that displaces nodes by (n, 3)."""
        return np.asarray(self.midpoints.to_nodes.T @ self._lifting.solve(nodal))

    def _among(
        self, found: Impulsive, encounter: Encounter, state: State, held: BoolArray, target: FloatArray, h: float
    ) -> tuple[Impulsive, Touched]:
        """Push out what touches and restore the distances, in turns; distances have the last word."""
        around, to_nodes = encounter.around, self.midpoints.to_nodes
        pressing = [np.zeros(3) for _ in around.obstacles]
        nodes, contacts, gap = np.empty(0, dtype=np.int64), 0, np.inf
        for _ in range(TURNS):
            if not found.error <= self.impulses.tolerance:
                break
            y = to_nodes @ found.positions
            c = encounter.find(y)
            moved, push = np.zeros_like(y), np.zeros((len(c.gap), 3))
            if len(c.gap):
                push_out(c, self._node_mass, held, SWEEPS, STILL, moved, push)
            pushing = np.einsum("cd,cd->c", push, c.normal) > 0.0
            if not pushing.any():
                gap = min(gap, float(c.gap.min(initial=np.inf)))
                break
            change, force = self._stopped(found, c, y, state.positions, pushing, held, h)
            found = found._replace(
                positions=found.positions + self.lift(moved), velocities=found.velocities + self.lift(change)
            )
            around.record(c, force)
            pressing = [total + o.force for total, o in zip(pressing, around.obstacles, strict=True)]
            nodes = np.union1d(nodes, c.nodes[pushing][c.weights[pushing] != 0.0])
            contacts = int(pushing.sum())
            found = self.impulses.restore(found, h, target, AIM)
            left = to_nodes @ found.positions - y
            gap = float((c.gap + np.einsum("ck,ckd,cd->c", c.weights, left[c.nodes], c.normal)).min())
        for obstacle, force_on_it in zip(around.obstacles, pressing, strict=True):
            obstacle._record(force_on_it)
        return found, Touched(nodes, contacts, gap)

    def _stopped(
        self, found: Impulsive, c: ContactSet, y: FloatArray, before: FloatArray, pushing: BoolArray, held: BoolArray,
        h: float,
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Change of the nodes' velocities (n, 3) by the contacts that push, and the forces of these (c, 3), N."""
        columns: list[Any] = [column[pushing] for column in c]
        chosen = ContactSet(*columns)
        nodal = self.midpoints.to_nodes @ found.velocities
        moved = np.einsum("ck,ckd->cd", chosen.weights, (y - before)[chosen.nodes])
        # where the contact point of the obstacle went is what the slip lacks of the displacement
        speed = np.einsum("ck,ckd->cd", chosen.weights, nodal[chosen.nodes]) - (moved - chosen.slip) / h
        chosen = chosen._replace(gap=np.einsum("cd,cd->c", speed, chosen.normal), slip=speed)
        change, push = np.zeros_like(y), np.zeros_like(speed)
        push_out(chosen, self._node_mass, held, SWEEPS, STILL / h, change, push)
        force = np.zeros((len(c.gap), 3))
        force[pushing] = push / h
        return change, force
