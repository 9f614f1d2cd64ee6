"""Grippers on particles: nodes between jaws are held until friction does not bear it.

A pinched node is held like a grasped one, along the normal of the jaws and along their surface. If the force along the
surface is more than 2 mu times the press, the node slips in this step: it is let loose along the surface, and friction
acts on it with just that force, against where it was pulled, and as soon as it moves against where it slips. Others
then bear more, so the step is taken again until no force is too large. A node that friction would push backwards sticks
after all.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.jaws import Jaws
from isocloth.contact.options import ContactOptions


class Grips:
    """All jaws during one step of a cloth with n nodes; nodes `held` (n,) by grasps go to `start` (n, 3), m."""

    def __init__(
        self, jaws: Sequence[Jaws], held: BoolArray, start: FloatArray, tolerance: float, options: ContactOptions
    ) -> None:
        self._options = options
        self.jaws, self._tolerance = jaws, tolerance
        self.pinned, self.goal = held.copy(), start.copy()
        self._normal, self._limit = np.zeros_like(start), np.zeros(len(start))
        for pair in jaws:
            self.pinned[pair.nodes] = True
            self.goal[pair.nodes], self._normal[pair.nodes] = pair.goal, pair.normal
            self._limit[pair.nodes] = pair.limit
        self._pinched = self.pinned & ~held
        self._slips = np.zeros(len(start), dtype=bool)
        self._stubborn = np.zeros(len(start), dtype=bool)  # that stick after all
        self._turned = np.zeros(len(start), dtype=bool)  # whose friction was turned against their slip
        self.friction = np.zeros_like(start)  # N, on the nodes that slip, in the next try ...
        self._acting = self.friction.copy()  # ... and in the last
        self.residual = 0.0  # largest error of a force along jaws, relative to what friction bears

    def frames(self) -> FloatArray:
        """(k, 3, 3): directions along which pinned nodes are held, first the normal of jaws."""
        out = np.tile(np.eye(3), (int(self.pinned.sum()), 1, 1))
        for row in np.flatnonzero(self._pinched[self.pinned]):
            normal = self._normal[self.pinned][row]
            beside = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
            beside /= np.linalg.norm(beside)
            out[row] = np.stack([normal, beside, np.cross(normal, beside)])
        return out

    def loose(self) -> BoolArray:
        """(k, 3): those of the directions along which nodes slip."""
        return self._slips[self.pinned][:, None] & np.array([False, True, True])

    def judge(self, force: FloatArray, positions: FloatArray) -> bool:
        """Whether the forces (k, 3), N, that hold the pinned nodes, and their positions (n, 3) agree with friction."""
        self._acting = self.friction.copy()
        if not self._pinched.any():
            return True
        pull = np.zeros_like(self.friction)
        pull[self.pinned] = force
        pull -= np.einsum("nd,nd->n", pull, self._normal)[:, None] * self._normal
        size = np.linalg.norm(pull, axis=1)
        sticks = self._pinched & ~self._slips
        bears = np.maximum(self._limit, 1e-12)
        self.residual = float((size / bears - 1.0)[sticks].max(initial=0.0))
        slip = positions - self.goal
        slip -= np.einsum("nd,nd->n", slip, self._normal)[:, None] * self._normal
        length = np.linalg.norm(slip, axis=1)
        moves = self._slips & (length > self._tolerance)
        with_friction = np.einsum("nd,nd->n", slip, self.friction)
        backwards = moves & self._turned & (with_friction > 0.0)
        askew = moves & ~backwards & (with_friction > -self._options.jaw_straight * length * self._limit)
        against = -slip * (self._limit / np.maximum(length, 1e-300))[:, None]
        wrong = np.linalg.norm(self.friction - against, axis=1) / bears  # of those that slip, while it is not settled
        self.residual = max(self.residual, float(wrong[askew | backwards].max(initial=0.0)))
        over = sticks & ~self._stubborn & (size > (1.0 + self._options.jaw_excess) * self._limit)
        self._slips = (self._slips | over) & ~backwards
        self._stubborn |= backwards
        self._turned |= askew
        self.friction[over] = pull[over] * (self._limit[over] / size[over])[:, None]
        self.friction[askew] = against[askew]
        self.friction[backwards] = 0.0
        return not (over.any() or backwards.any() or askew.any())

    def wrenches(self, force: FloatArray, positions: FloatArray) -> list[FloatArray]:
        """(6,) N, N m about the origin for every pair of jaws: with what the cloth pulls at them.

        force: (k, 3) N that holds the pinned nodes; positions: (n, 3) m.
        """
        total = self._acting.copy()
        total[self.pinned] += force
        moments = np.cross(positions, total)
        return [-np.concatenate([total[p.nodes].sum(axis=0), moments[p.nodes].sum(axis=0)]) for p in self.jaws]
