"""Grippers: two jaws that press on cloth and hold it by friction, as far as friction goes.

A pose is an array (4, 3), the rotation R on top of the centre c: a point X of the gripper is at c + R X.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from isocloth.base.errors import InputError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.history import chosen_history
from isocloth.contact.jaws import KEY, Jaws
from isocloth.obstacles.arguments import array, coefficient, direction, number
from isocloth.obstacles.arguments import rotation as rotation_matrix
from isocloth.obstacles.motion import SAME_PLACE
from isocloth.obstacles.paths import as_path
from isocloth.simulation.memory import NewtonMemory
from isocloth.simulation.state import State

if TYPE_CHECKING:
    from isocloth.simulation.holding import Holding


class Gripper:
    """Cloth between two jaws. Made by `Simulation.pinch`; ended by `release()`."""

    def __init__(
        self, simulation: Holding, centre: ArrayLike | None, size: ArrayLike, *, normal: ArrayLike, force: float,
        friction: float, path: Any, rotation: Any,
    ) -> None:  # fmt: skip
        self._simulation = simulation
        self.size = array(size, "size", (3,))
        if self.size.min() <= 0.0:
            raise InputError(
                f"size = {self.size.tolist()} m: expected three positive lengths, the box between the jaws"
            )
        self._press = number(force, "force", "N")
        self.friction = coefficient(friction)
        self._path = None if path is None else as_path(path, (3,))
        self._turn = rotation if callable(rotation) else None
        turn = np.eye(3) if rotation is None or self._turn else rotation_matrix(rotation, "rotation")
        self._pose = np.concatenate([turn, self._first(centre)[None]])
        self._pose = self.pose_at(simulation.time)
        self._normal = direction(normal, "normal") @ self._pose[:3]  # in the frame of the gripper
        self._force = np.zeros(3)  # when it was opened
        self.chosen: IntArray = np.empty(0, dtype=np.int64)  # the nodes on which it closed
        self.active = True

    def _first(self, centre: ArrayLike | None) -> FloatArray:
        if centre is None and self._path is None:
            raise InputError("centre is None and there is no path: expected one that says where the jaws are")
        given = None if centre is None else array(centre, "centre", (3,))
        if self._path is None:
            return np.zeros(3) if given is None else given
        first = self._path(self._simulation.time)
        if given is not None and np.abs(first - given).max() > SAME_PLACE:
            raise InputError(
                f"the path is at {first.tolist()} now, but the centre of the gripper is {given.tolist()}: expected the "
                "same, as both say where it closes; give None for the centre, or move one of them"
            )
        return first

    # --------------------------------------------------------------- what a user asks

    @property
    def nodes(self) -> IntArray:
        """(k,) nodes between the jaws now; those that slid out are no more among them."""
        return self.between(self._simulation.state.pinched) if self.active else self.chosen[:0]

    @property
    def holding(self) -> bool:
        """Whether there is cloth between the jaws."""
        return len(self.nodes) > 0

    @property
    def lost(self) -> int:
        """How many nodes have slid out of the jaws."""
        return len(self.chosen) - len(self.nodes) if self.active else 0

    @property
    def force(self) -> FloatArray:
        """(3,) N: total force of the cloth on the gripper in the last step, or in its last one; zero before any."""
        sim = self._simulation
        if self not in sim.grippers:
            return self._force.copy()
        return np.array(sim.state.gripper_wrenches[sim.grippers.index(self), :3])

    @property
    def press(self) -> float:
        """N, with which each jaw presses; may be changed while it holds."""
        return self._press

    @press.setter
    def press(self, value: float) -> None:
        self._press = number(value, "press", "N")

    @property
    def slip(self) -> FloatArray:
        """(k,) m: how far each of `nodes` is, along the jaws, from where it was pinched."""
        state, nodes = self._simulation.state, self.nodes
        moved = self.frame(state.positions[nodes], self.pose) - state.pinched[nodes]
        return np.linalg.norm(moved - np.outer(moved @ self._normal, self._normal), axis=1)

    @property
    def pose(self) -> FloatArray:
        """(4, 3): where the gripper is, its rotation (3, 3) and below it its centre (3,) in m."""
        sim = self._simulation
        return (sim.state.poses[sim.grippers.index(self)] if self in sim.grippers else self._pose).copy()

    @property
    def target(self) -> FloatArray:
        """(4, 3): the pose to which `move_to` sends it."""
        return self._pose.copy()

    def move_to(self, centre: ArrayLike, rotation: ArrayLike | None = None) -> None:
        """Send the centre to a point (3,) m and the box to a rotation (3, 3), if given, at the end of the next step."""
        if self.follows:
            raise InputError("this gripper follows a path; move_to() is for grippers without one")
        if not self.active:
            raise InputError("this gripper was released; make a new one with sim.pinch(...)")
        turn = self._pose[:3] if rotation is None else rotation_matrix(rotation, "rotation")
        self._pose = np.concatenate([turn, array(centre, "centre", (3,))[None]])

    def release(self) -> None:
        """Open the jaws; the cloth keeps its velocity."""
        self._simulation._open(self)

    # --------------------------------------------------------------- what a simulation asks

    def pose_at(self, time: float) -> FloatArray:
        """(4, 3): where it is sent at a time in s."""
        if not self.follows:
            return self._pose
        turn = self._pose[:3] if self._turn is None else rotation_matrix(self._turn(time), f"rotation({time:.6g})")
        return np.concatenate([turn, (self._pose[3] if self._path is None else self._path(time))[None]])

    @property
    def follows(self) -> bool:
        """Whether it goes where a path says, and not where `move_to` sends it."""
        return self._path is not None or self._turn is not None

    def stay(self, pose: FloatArray) -> None:
        """Without a path: remain at a pose (4, 3)."""
        if not self.follows:
            self._pose = pose.copy()

    def frame(self, points: FloatArray, pose: FloatArray) -> FloatArray:
        """Points (k, 3) of space in the frame of the gripper, m."""
        return np.asarray((points - pose[3]) @ pose[:3])

    def inside(self, points: FloatArray, pose: FloatArray) -> BoolArray:
        """Which points (k, 3) are in the box between the jaws."""
        return np.asarray((np.abs(self.frame(points, pose)) <= 0.5 * self.size).all(axis=1))

    def close(self, positions: FloatArray, taken: BoolArray) -> None:
        """Choose the nodes in the box; none of them may be taken (n,) already."""
        found = np.flatnonzero(self.inside(positions, self._pose))
        if len(found) == 0:
            away = np.maximum(np.abs(self.frame(positions, self._pose)) - 0.5 * self.size, 0.0)
            raise InputError(
                f"no node is between the jaws, a box of {self.size.tolist()} m around {self._pose[3].tolist()}; the "
                f"nearest is {np.linalg.norm(away, axis=1).min():.3g} m away from it: move the gripper, or use a finer "
                "mesh or larger jaws"
            )
        if taken[found].any():
            raise InputError(
                f"node {int(found[taken[found]][0])} between the jaws is held already; release it first, or use "
                "smaller jaws"
            )
        self.chosen = found

    def jaws(self, body: int, state: State, start: FloatArray, end: FloatArray, area: FloatArray) -> Jaws:
        """The contacts of a step from pose to pose (4, 3), with the area (n,) of every node.

        Soft pads press alike on every part of the cloth, so nodes share the force by their areas; those that are left
        bear all of it.
        """
        nodes = self.between(state.pinched)
        press = self._press / area[nodes].sum() * area[nodes]
        return Jaws(
            body, nodes, state.pinched[nodes], self._normal, state.positions[nodes], start, end, self.friction, press
        )

    def opened(self, force: FloatArray) -> None:
        """Hold no more; the last force (3,) N of the cloth on it stays to be asked for."""
        self.active, self._force = False, force.copy()

    def between(self, pinched: FloatArray) -> IntArray:
        """Nodes between the jaws, of those on which it closed, by `pinched` (n, 3) of a state."""
        return self.chosen[np.isfinite(pinched[self.chosen, 0])]


def sent(grippers: Sequence[Gripper], before: FloatArray, time: float, share: float, limit: float) -> FloatArray:
    """Poses (g, 4, 3) at a time (s), after this share of a step that began with poses `before`.

    Grippers sent by `move_to` travel evenly through the parts of a step. None may go further than `limit`, m.
    """
    poses = before.copy()
    for k, gripper in enumerate(grippers):
        pose = gripper.pose_at(time)
        arrived = share > 1.0 - 1e-9 or gripper.follows  # parts of a step add up to it but for rounding
        poses[k] = pose if arrived else between(before[k], pose, share)
        jump = float(np.linalg.norm(poses[k, 3] - before[k, 3]))
        if jump > limit:
            raise InputError(
                f"a gripper is sent {jump:.3g} m away within one step, further than the cloth is long; move it in "
                "smaller steps"
            )
    return poses


def between(start: FloatArray, end: FloatArray, share: float) -> FloatArray:
    """A pose between two."""
    pose = start + share * (end - start)
    turn = Rotation.from_matrix(end[:3] @ start[:3].T).as_rotvec()
    pose[:3] = Rotation.from_rotvec(share * turn).as_matrix() @ start[:3]
    return np.asarray(pose)


def jaws_of(grippers: Sequence[Gripper], state: State, poses: FloatArray, area: FloatArray, first: int) -> list[Jaws]:
    """Jaws of the step that ends with poses (g, 4, 3); `first` is the number of the first gripper as a body."""
    ends = zip(grippers, state.poses, poses, strict=True)
    return [g.jaws(first + k, state, a, b, area) for k, (g, a, b) in enumerate(ends) if len(g.between(state.pinched))]


def slid_out(grippers: Sequence[Gripper], pinched: FloatArray, positions: FloatArray, poses: FloatArray) -> FloatArray:
    """`pinched` of a state, without the nodes that are no longer between their jaws."""
    for gripper, pose in zip(grippers, poses, strict=True):
        gone = gripper.chosen[~gripper.inside(positions[gripper.chosen], pose)]
        if np.isfinite(pinched[gone]).any():
            pinched = pinched.copy()
            pinched[gone] = np.nan
    return pinched


def repinch(grippers: Sequence[Gripper], state: State) -> State:
    """Grippers hold their nodes where the nodes are now."""
    if not grippers:
        return state
    pinched = state.pinched.copy()
    for gripper, pose in zip(grippers, state.poses, strict=True):
        nodes = gripper.between(pinched)
        pinched[nodes] = gripper.frame(state.positions[nodes], pose)
    return replace(state, pinched=slid_out(grippers, pinched, state.positions, state.poses))


def remember(gripper: Gripper, state: State) -> State:
    """The state after a further gripper has closed: forces jump, so the history starts anew."""
    pose, pinched = gripper.pose_at(state.time), state.pinched.copy()
    pinched[gripper.chosen] = gripper.frame(state.positions[gripper.chosen], pose)
    poses = np.concatenate([state.poses, pose[None]])
    wrenches = np.concatenate([state.gripper_wrenches, np.zeros((1, 6))])
    return replace(state, pinched=pinched, poses=poses, gripper_wrenches=wrenches, previous_timestep=0.0)


def forget(gripper: Gripper, number: int, state: State) -> State:
    """The state after the jaws of a gripper, the `number`th, have opened; its history starts anew too."""
    pinched, memory = state.pinched.copy(), state.memory
    pinched[gripper.chosen] = np.nan
    if isinstance(memory, NewtonMemory):
        left = ~np.isin(memory.history.key, KEY + gripper.chosen)
        memory = memory._replace(history=chosen_history(memory.history, left))
    else:
        touching = memory.touching.copy()
        touching[gripper.chosen] = False
        memory = memory._replace(touching=touching)
    poses, wrenches = np.delete(state.poses, number, axis=0), np.delete(state.gripper_wrenches, number, axis=0)
    return replace(
        state, pinched=pinched, memory=memory, poses=poses, gripper_wrenches=wrenches, previous_timestep=0.0
    )  # fmt: skip


def as_gripped(grippers: Sequence[Gripper], state: State) -> State:
    """A state that is to be assigned, with the grippers that there are."""
    chosen = np.zeros(len(state.positions), dtype=bool)
    for gripper in grippers:
        chosen[gripper.chosen] = True
    if len(state.poses) == len(grippers) and chosen[np.isfinite(state.pinched[:, 0])].all():
        for gripper, pose in zip(grippers, state.poses, strict=True):
            gripper.stay(pose)
        return state
    warnings.warn(
        "the state was saved with other grippers than now: a state holds none; pinch or release to continue as before",
        stacklevel=4,
    )
    poses = np.array([g.pose for g in grippers]).reshape(-1, 4, 3)
    pinched = np.where(chosen[:, None], 0.0, np.full(3, np.nan))
    return repinch(grippers, replace(state, pinched=pinched, poses=poses, gripper_wrenches=np.zeros((len(poses), 6))))
