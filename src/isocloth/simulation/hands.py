"""All that holds the cloth or is moved at run time, and where it is sent in a step: grasps, grippers, obstacles."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.obstacles import Obstacle
from isocloth.obstacles.arguments import array
from isocloth.obstacles.arguments import rotation as rotation_matrix
from isocloth.simulation.grasp import Grasp, prescribe
from isocloth.simulation.gripper import Gripper, between, sent
from isocloth.simulation.state import State
from isocloth.simulation.steppers.stepper import NOBODY, Limit


class Hands:
    """Grasps and grippers of a cloth of n nodes, and targets of obstacles; nothing may jump further than `limit`, m."""

    def __init__(self, n: int, limit: float) -> None:
        # replaced, not written into, as all that reports refer to
        self.grasps: tuple[Grasp, ...] = ()
        self.grippers: tuple[Gripper, ...] = ()
        self.held: BoolArray = np.zeros(n, dtype=bool)
        self.obstacles: FloatArray = np.zeros((0, 4, 3))  # where those go that are moved; NaN: along their own motion
        self.limits: tuple[Limit, ...] = ()  # what those grasps may bear that give way
        self._limit = limit

    # --------------------------------------------------------------- who holds

    def hold(self, nodes: IntArray, held: bool) -> None:
        """Hold nodes from now on, or no more."""
        # replaced, not written into: states keep the one they were computed with
        self.held = self.held.copy()
        self.held[nodes] = held
        self.limits = tuple(Limit(g.nodes, g.max_force) for g in self.grasps if g.max_force is not None)

    def taken(self, state: State) -> BoolArray:
        """(n,) nodes that something holds."""
        return np.asarray(self.held | np.isfinite(state.pinched[:, 0]))

    def free_nodes(self, nodes: ArrayLike, state: State) -> IntArray:
        """Checked indices (k,) of nodes that nobody holds yet."""
        try:
            chosen = np.atleast_1d(np.asarray(nodes))
        except ValueError:  # rows of different length
            chosen = np.empty(0)
        if chosen.ndim != 1 or len(chosen) == 0 or not np.issubdtype(chosen.dtype, np.integer):
            raise InputTypeError(f"nodes = {nodes!r}: expected node indices (integers), e.g. mesh.nearest([x, y, z])")
        n = len(self.held)
        outside = (chosen < 0) | (chosen >= n)
        if outside.any():
            raise InputError(f"node {int(chosen[outside][0])} does not exist: expected indices from 0 to {n - 1}")
        if len(np.unique(chosen)) != len(chosen):
            raise InputError(f"nodes = {chosen.tolist()}: a node is named twice; give each once")
        taken = self.taken(state)[chosen]
        if taken.any():
            raise InputError(f"node {int(chosen[taken][0])} is held already; release that grasp before a new one")
        return chosen.astype(np.int64)

    def stay(self, state: State) -> None:
        """Whatever follows no path holds, or remains, where the state has it."""
        for grasp in self.grasps:
            grasp.stay(state.positions)
            grasp.begin_at(state.steps)
        self.obstacles = state.placed

    def targets(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Where `move_to` sends nodes (n, 3), grippers (g, 4, 3) and obstacles (o, 4, 3) next; NaN: nowhere."""
        nodes = np.full((len(self.held), 3), np.nan)
        for grasp in self.grasps:
            if grasp.path is None:
                nodes[grasp.nodes] = grasp.target
        return nodes, np.array([g.target for g in self.grippers]).reshape(-1, 4, 3), self.obstacles

    def aim(self, nodes: FloatArray, grippers: FloatArray, obstacles: FloatArray) -> None:
        """Send all to targets that `targets` returned."""
        for grasp in self.grasps:
            if np.isfinite(nodes[grasp.nodes]).all():
                grasp.aim(nodes)
        for gripper, pose in zip(self.grippers, grippers, strict=True):
            gripper.stay(pose)
        self.obstacles = obstacles

    # ------------------------------------------------------------ where they go

    def prescribe(self, start: FloatArray, state: State, time: float, share: float, before: State) -> None:
        """Write where held nodes are at a time into start (n, 3); a share of the step that began with `before` is over.

        Nodes sent by `move_to` travel evenly through the parts of a step.
        """
        for grasp in self.grasps:
            target = grasp.position(time)
            if share < 1.0 and grasp.path is None:
                begin = before.positions[grasp.nodes]
                target = begin + share * (target - begin)
            far = prescribe(start, grasp.nodes, target, state.positions, self._limit)
            if far >= 0 and not (grasp.max_force is not None or grasp.arrives(state, time, self._limit)):
                _refuse(grasp, int(far), target, state.positions)

    def late(self, state: State, by: float, force: float) -> IntArray:
        """Held nodes further than `by`, m, from where a path has sent them, or, without one, that bear a force, N."""
        late = [grasp.late(state, by, force) for grasp in self.grasps]
        return np.concatenate(late) if late else NOBODY

    def poses(self, before: State, time: float, share: float) -> FloatArray:
        """(g, 4, 3): where the grippers are then."""
        return sent(self.grippers, before.poses, time, share, self._limit) if self.grippers else before.poses

    def placed(self, before: State, share: float, obstacles: tuple[Obstacle, ...]) -> FloatArray:
        """(o, 4, 3): where obstacles are then that are moved at run time."""
        if self.obstacles is before.placed:
            return before.placed
        placed = self.obstacles.copy()
        for k in np.flatnonzero(np.isfinite(placed[:, 0, 0])):
            start = before.placed[k]
            start = start if np.isfinite(start[0, 0]) else np.vstack(obstacles[k].pose(before.time))
            jump = float(np.linalg.norm(placed[k, 3] - start[3]))
            if jump > self._limit:
                raise InputError(
                    f"{obstacles[k]!r} is sent {jump:.3g} m away within one step, further than the cloth is long; move "
                    "it in smaller steps"
                )
            if share < 1.0:
                placed[k] = between(start, placed[k], share)
        return placed

    def send(self, index: int, obstacle: Obstacle, state: State, position: ArrayLike, rotation: Any) -> None:
        """Send an obstacle to a position (3,) m and a rotation (3, 3), if given, at the end of the next step."""
        if not obstacle.still:
            raise InputError(f"{obstacle!r} follows a motion of its own; move_to() is for obstacles without one")
        now = state.placed[index]
        now = now if np.isfinite(now[0, 0]) else np.vstack(obstacle.pose(state.time))
        turn = now[:3] if rotation is None else rotation_matrix(rotation, "rotation")
        self.obstacles = self.obstacles.copy()
        self.obstacles[index] = np.concatenate([turn, array(position, "position", (3,))[None]])


def _refuse(grasp: Grasp, index: int, target: FloatArray, positions: FloatArray) -> None:
    """Say why a prescribed position cannot be."""
    node = int(grasp.nodes[index])
    if not np.isfinite(target[index]).all():
        raise InputError(f"the path sends node {node} to {target[index]}: expected finite positions in m")
    jump = np.linalg.norm(target[index] - positions[node])
    raise InputError(
        f"node {node} is sent {jump:.3g} m away within one step, further than the cloth is long; move it in smaller "
        "steps"
    )
