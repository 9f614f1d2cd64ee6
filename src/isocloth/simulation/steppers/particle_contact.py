"""Contact of particles: found on the mesh of the nodes that follow them, undone there, and carried back to them.

Nodes are x_c = B x. What touches, an obstacle or another layer of the cloth, is pushed apart by dx_c, with friction;
the particles then move by B^T lambda with (B B^T) lambda = dx_c, the smallest displacement that moves the nodes by just
that. Velocities are treated in the same way: what touches does not go on into what it touches, and friction slows it
down along the surface. An impact does not bounce. Distances are restored afterwards and spoil some of it, so both take
turns. Distances have the last word; what passed through something on the straight way from the begin of the step is no
solution, and what is left of gaps and slips is told.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.contact_set import ContactSet, chosen_contacts, wrenches_on_bodies
from isocloth.contact.detector import ContactDetector
from isocloth.contact.options import ContactOptions
from isocloth.friction.gauss_seidel import projected_gauss_seidel, unmet
from isocloth.solvers.impulses import AIM, Impulses, Impulsive


class Touched(NamedTuple):
    """What came of contact in a step."""

    nodes: IntArray  # that touched
    contacts: int  # that pushed
    gap: float  # m, the smallest at the end
    unmet: float  # how far the pushes are from Coulomb's law, relative to the largest
    crossed: bool  # whether something passed through something
    wrenches: FloatArray  # (1 + o, 6) N, N m about the origin, of the cloth on every body, itself first


NOTHING_TOUCHED = Touched(np.empty(0, dtype=np.int64), 0, np.inf, 0.0, False, np.zeros((0, 6)))


class ParticleContact:
    """Pushes the nodes of one cloth, of masses (n,) kg, out of what they touch."""

    def __init__(self, impulses: Impulses, node_mass: FloatArray, options: ContactOptions) -> None:
        self._options = options
        self._impulses, self._node_mass = impulses, node_mass
        self._to_nodes = impulses.midpoints.to_nodes

    @cached_property
    def _lifting(self) -> Any:
        """Factor of B B^T."""
        from scipy.sparse.linalg import splu

        return splu(sp.csc_matrix(self._to_nodes @ self._to_nodes.T), permc_spec="MMD_AT_PLUS_A")

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_lifting"}  # SuperLU cannot be copied

    def lift(self, nodal: FloatArray) -> FloatArray:
        """The smallest displacement (m, 3) of particles that displaces nodes by (n, 3)."""
        return np.asarray(self._to_nodes.T @ self._lifting.solve(nodal))

    def _impart(self, change: FloatArray) -> FloatArray:
        """Changes of velocities (m, 3) of particles by those of nodes (n, 3), with the same momentum.

        Moving the nodes by just what is asked gives the particles a momentum that is off by some thousandths, which
        layers that touch each other must not gain: all share it.
        """
        mass, lifted = self._impulses.mass, self.lift(change)
        return np.asarray(lifted + (self._node_mass @ change - mass @ lifted) / mass.sum())

    def resolve(
        self,
        found: Impulsive,
        detector: ContactDetector,
        held: BoolArray,
        pinned: BoolArray,
        goal: FloatArray,
        h: float,
    ) -> tuple[Impulsive, Touched]:
        """Push out what touches and restore the distances, in turns.

        goal: (n, 3) m, where nodes go that are held, exactly, and those that are pinned, in some directions at least;
        contact moves none of these.
        """
        detector.begin_again()
        world = detector.world
        wrenches = np.zeros((1 + len(world.obstacles), 6))
        touch = NOTHING_TOUCHED._replace(wrenches=wrenches)
        for turn in range(self._options.turns[1]):
            if not found.error <= self._impulses.tolerance:
                break
            y = self._nodes(found, held, goal)
            c = detector.find(y)
            if turn >= self._options.turns[0] and not self._too_near(c, detector):
                break
            moved, push = np.zeros_like(y), np.zeros((len(c.gap), 3))
            if len(c.gap):
                projected_gauss_seidel(c, self._node_mass, pinned, *self._options.sweeps, moved, push)
            pushing = np.einsum("cd,cd->c", push, c.normal) > 0.0
            if not pushing.any():
                touch = touch._replace(gap=min(touch.gap, float(c.gap.min(initial=np.inf))))
                break
            change, force = self._stopped(found, c, y, detector.before, pushing, pinned, h)
            found = found._replace(
                positions=found.positions + self.lift(moved), velocities=found.velocities + self._impart(change)
            )
            wrenches += wrenches_on_bodies(c, force, y, len(world.obstacles))
            found = self._impulses.restore(found, h, goal[self._impulses.held], AIM)
            left = self._nodes(found, held, goal) - y
            touch = Touched(
                np.union1d(touch.nodes, c.nodes[pushing][c.weights[pushing] != 0.0]), int(pushing.sum()),
                float((c.gap + np.einsum("ck,ckd,cd->c", c.weights, left[c.nodes], c.normal)).min()),
                unmet(c, self._node_mass, pinned, left, push), False, wrenches,
            )  # fmt: skip
        if world.has_pairs and np.isfinite(found.error):
            y = self._nodes(found, held, goal)
            touch = touch._replace(gap=min(touch.gap, detector.smallest_gap(y)), crossed=detector.crossings(y) > 0)
        return found, touch

    def _nodes(self, found: Impulsive, held: BoolArray, goal: FloatArray) -> FloatArray:
        """Where the nodes are, the held ones exactly."""
        y = np.asarray(self._to_nodes @ found.positions)
        y[held] = goal[held]
        return y

    def _too_near(self, c: ContactSet, detector: ContactDetector) -> bool:
        world = detector.world
        return world.has_pairs and bool((c.gap < -(1.0 - self._options.near_enough) * world.fabric.thickness).any())

    def _stopped(
        self, found: Impulsive, c: ContactSet, y: FloatArray, before: FloatArray, pushing: BoolArray, pinned: BoolArray,
        h: float,
    ) -> tuple[FloatArray, FloatArray]:  # fmt: skip
        """Change of the nodes' velocities (n, 3) by the contacts that push, and the forces of these (c, 3), N."""
        chosen = chosen_contacts(c, pushing)
        nodal = self._to_nodes @ found.velocities
        moved = np.einsum("ck,ckd->cd", chosen.weights, (y - before)[chosen.nodes])
        # where the contact point of the obstacle went is what the slip lacks of the displacement
        speed = np.einsum("ck,ckd->cd", chosen.weights, nodal[chosen.nodes]) - (moved - chosen.slip) / h
        chosen = chosen._replace(gap=np.einsum("cd,cd->c", speed, chosen.normal), slip=speed)
        change, push = np.zeros_like(y), np.zeros_like(speed)
        most, still = self._options.sweeps
        projected_gauss_seidel(chosen, self._node_mass, pinned, most, still / h, change, push)
        force = np.zeros((len(c.gap), 3))
        force[pushing] = push / h
        return change, force
