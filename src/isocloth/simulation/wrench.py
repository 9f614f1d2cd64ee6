"""Forces as results: what the cloth did to every body during a step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import UnknownNameError
from isocloth.base.typing import FloatArray


class Wrench(NamedTuple):
    """Force and torque of the cloth on a body: the impulse of a whole step over its length.

    With implicit Euler, in all steps that were cut and where something is struck, that is the change of momentum. BDF2
    solves a step for the force at its end, part of which acts on the velocities of the steps after: over a smooth
    motion, and summed over an impact, both agree.

    force: (3,) N.
    torque: (3,) N m; of an obstacle or a gripper about its centre at the end of the step, of a grasp about the mean of
        the nodes it holds.
    """

    force: FloatArray
    torque: FloatArray


class Forces(Mapping[Any, Wrench]):
    """Body -> `Wrench`, by identity: bodies that compare equal have forces of their own."""

    def __init__(self, bodies: Sequence[Any], wrenches: Sequence[Wrench]) -> None:
        self._bodies, self._wrenches = tuple(bodies), tuple(wrenches)

    def __getitem__(self, body: Any) -> Wrench:
        for known, wrench in zip(self._bodies, self._wrenches, strict=True):
            if known is body:
                return wrench
        raise UnknownNameError(
            f"{body!r} took no part in this step; there are forces of {[repr(known) for known in self._bodies]}"
        )

    def __contains__(self, body: object) -> bool:
        return any(known is body for known in self._bodies)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._bodies)

    def __len__(self) -> int:
        return len(self._bodies)


def about(row: FloatArray, centre: FloatArray) -> Wrench:
    """A wrench (6,), its torque about the origin, as one about a centre (3,) m."""
    return Wrench(row[:3].copy(), row[3:] - np.cross(centre, row[:3]))


def of_reactions(positions: FloatArray, reactions: FloatArray, moments: FloatArray) -> Wrench:
    """The wrench on what holds nodes at positions (k, 3) m with reactions (k, 3) N, about the mean of the nodes.

    moments: (k, 3) N m of the reactions about the origin, or (0, 3) if they act where the nodes are now.
    """
    force = -reactions.sum(axis=0)
    moments = moments if len(moments) else np.cross(positions, reactions)
    return about(np.concatenate([force, -moments.sum(axis=0)]), positions.mean(axis=0))
