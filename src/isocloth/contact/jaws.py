"""Two jaws with cloth between them during one step: a contact for every pinched node."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import STICK, ContactHistory

#: a node is pinched by one gripper at most, so its number will do as a key, far below those of obstacles
KEY = -(1 << 62)


class Jaws:
    """Pinched nodes from the begin of a step to its end.

    Along the normal of the jaws a node stays where it was pinched. Along their surface friction holds it: it slips
    against the place to which the jaws have carried where it was at the begin of the step.
    """

    def __init__(
        self, body: int, nodes: IntArray, place: FloatArray, normal: FloatArray, before: FloatArray, start: FloatArray,
        end: FloatArray, friction: float, press: FloatArray,
    ) -> None:  # fmt: skip
        """See `Gripper` for poses.

        Args:
            body: number of the gripper among all that the cloth touches.
            nodes: (k,) pinched nodes.
            place: (k, 3) m, where they were pinched, and normal: (3,), both in the frame of the gripper.
            before: (k, 3) m, where they are at the begin of the step, in space.
            start, end: (4, 3), poses of the gripper.
            friction: coefficient.
            press: (k,) N, with which each jaw presses on each node.
        """
        count = len(nodes)
        turn, centre = end[:3], end[3]
        self.body, self.nodes = body, nodes
        self._normal = np.tile(turn @ normal, (count, 1))
        self._level = (centre + place @ turn.T) @ self._normal[0]
        if np.array_equal(turn, start[:3]):
            self._carried = before + (centre - start[3])  # nothing is rounded that does not turn
        else:
            self._carried = centre + (before - start[3]) @ (turn @ start[:3].T).T
        self._nodes, self._weights = np.zeros((count, 4), dtype=np.int64), np.zeros((count, 4))
        self._nodes[:, 0], self._weights[:, 0] = nodes, 1.0
        self._friction, self._press = np.full(count, friction), press
        self._key, self._body = KEY + nodes, np.full(count, body, dtype=np.int64)

    def carry(self, start: FloatArray, history: ContactHistory) -> None:
        """Take the nodes that stuck in the step before along, as a first guess of positions (n, 3)."""
        stuck = np.isin(self._key, history.key[history.law.status == STICK])
        start[self.nodes[stuck]] = self._carried[stuck]

    def contacts(self, y: FloatArray) -> ContactSet:
        """One contact per pinched node at positions y (n, 3)."""
        now = y[self.nodes]
        return ContactSet(
            self._nodes, self._weights, self._normal, now @ self._normal[0] - self._level, now - self._carried,
            self._friction, self._key, self._body, self._press,
        )  # fmt: skip

    @property
    def normal(self) -> FloatArray:
        """(k, 3): along which jaws hold a node, whatever pulls at it."""
        return self._normal

    @property
    def goal(self) -> FloatArray:
        """(k, 3) m: where the nodes end the step if they stick."""
        return np.asarray(self._carried - (self._carried @ self._normal[0] - self._level)[:, None] * self._normal)

    @property
    def limit(self) -> FloatArray:
        """(k,) N: what friction of both jaws bears at each node."""
        return 2.0 * self._friction * self._press
