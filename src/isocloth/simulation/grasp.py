"""Grasps: nodes that follow a prescribed path, and the force that this takes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.simulation.state import State

if TYPE_CHECKING:
    from isocloth.simulation.holding import Holding

Path = Callable[[float], Any]


class Grasp:
    """Some nodes held by a gripper. Made by `Simulation.grasp`; ended by `release()`."""

    def __init__(
        self, simulation: Holding, nodes: IntArray, path: Any, start: FloatArray, max_force: float | None = None
    ) -> None:
        self._simulation = simulation
        self.nodes = nodes
        self._target = start.copy()
        self.path = _as_path(path, len(nodes), simulation.time)
        self._since = simulation.state.steps  # forces of steps before are not its own
        self.active = True
        self.max_force = None if max_force is None else _as_force(max_force)
        self._sent: tuple[float, FloatArray] | None = None  # where its path sent the nodes last, and when

    @property
    def force(self) -> FloatArray:
        """Force (k, 3) in N with which the gripper acts on each held node, of the last step."""
        return self.reactions_in(self._simulation.state) if self.active else np.zeros((len(self.nodes), 3))

    def reactions_in(self, state: State) -> FloatArray:
        """(k, 3) N: with what the gripper acted on each node in the step that led to a state; zero if it did not."""
        return state.reactions[self.nodes] if self.acted_in(state) else np.zeros((len(self.nodes), 3))

    def acted_in(self, state: State) -> bool:
        """Whether it held its nodes in the step that led to a state."""
        return state.steps > self._since and bool(state.held[self.nodes].all())

    @property
    def lag(self) -> float:
        """m: how far the node that lags most is behind where it is sent, after the last step; 0 once released."""
        if not self.active:
            return 0.0
        state = self._simulation.state
        return float(np.linalg.norm(self.position(state.time) - state.positions[self.nodes], axis=1).max())

    @property
    def target(self) -> FloatArray:
        """Where the nodes are sent (k, 3), m."""
        return self._target.copy()

    def move_to(self, positions: ArrayLike) -> None:
        """Send the nodes to positions (k, 3) m (or (3,) for a single node) at the end of the next step."""
        if self.path is not None:
            raise InputError("this grasp follows a path; move_to() is for grasps made with path=None")
        if not self.active:
            raise InputError("this grasp was released; make a new one with sim.grasp(nodes)")
        self._target = _positions(positions, len(self.nodes), "move_to")

    def aim(self, targets: FloatArray) -> None:
        """Without a path: send the nodes to their targets, of all nodes (n, 3)."""
        if self.path is None:
            self._target = targets[self.nodes].copy()

    def stay(self, positions: FloatArray) -> None:
        """Without a path: hold the nodes where they are in positions (n, 3)."""
        if self.path is None:
            self._target = positions[self.nodes].copy()

    def begin_at(self, steps: int) -> None:
        """A state of so many steps was assigned: if it is older than the grasp, this acts from its next step on."""
        self._since = min(self._since, steps)

    def release(self) -> None:
        """Let the nodes go; they keep their velocity."""
        self._simulation._release(self)

    def position(self, time: float) -> FloatArray:
        """Prescribed positions (k, 3) m at a time in s."""
        if self.path is None:
            return self._target
        points = self.path(time)
        if not isinstance(points, np.ndarray) or points.shape != (len(self.nodes), 3):
            points = _positions(points, len(self.nodes), f"path({time:.6g})")
        points = np.array(points, dtype=np.float64, order="C")
        self._sent = (time, points)
        return points

    def late(self, state: State, by: float, force: float) -> IntArray:
        """Nodes that are further than `by`, m, from where its path sends them; without a path, that bear a force, N."""
        if state.steps <= self._since:
            return self.nodes[:0]
        if self.path is None:
            return self.nodes[np.linalg.norm(state.reactions[self.nodes], axis=1) > force]
        known = self._sent is not None and self._sent[0] == state.time
        there = self._sent[1] if known and self._sent is not None else self.position(state.time)
        return self.nodes[np.linalg.norm(there - state.positions[self.nodes], axis=1) > by]

    def arrives(self, state: State, end: float, limit: float) -> bool:
        """Whether its path alone is no longer than `limit`, m, from a state to a time: then its nodes lag, no more."""
        if self.path is None or state.steps <= self._since:
            return False
        way = self.position(end) - self.position(state.time)
        return bool(np.linalg.norm(way, axis=1).max() <= limit)  # not where it is not finite


def _as_force(value: Any) -> float:
    """A largest force, N."""
    force = as_float(value)
    if force is None:
        raise InputTypeError(f"max_force = {shown(value)}: expected a number in N, or None for no limit")
    if not 0.0 < force < np.inf:
        raise InputError(f"max_force = {shown(value)} N: expected a positive, finite force, or None for no limit")
    return force


@kernel
def prescribe(start: FloatArray, nodes: IntArray, target: FloatArray, now: FloatArray, limit: float) -> int:
    """Write targets (k, 3) into start; returns the first that is not within `limit` of where its node is, or -1."""
    bad = -1
    for k in range(len(nodes)):
        square = 0.0
        for d in range(3):
            start[nodes[k], d] = target[k, d]
            square += (target[k, d] - now[nodes[k], d]) ** 2
        if bad < 0 and not square <= limit**2:
            bad = k
    return bad


@dataclass(frozen=True)
class Samples:
    """A path through positions (T, k, 3) m at times (T,) s: straight in between, at rest before and after."""

    times: FloatArray
    positions: FloatArray

    def __call__(self, t: float) -> FloatArray:
        """Positions (k, 3) m at a time in s."""
        times, points = self.times, self.positions
        k = int(np.clip(np.searchsorted(times, t) - 1, 0, len(times) - 2))
        s = float(np.clip((t - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0))
        return np.asarray((1 - s) * points[k] + s * points[k + 1])


def sampled(path: ArrayLike, start: FloatArray, time: float, timestep: float) -> tuple[FloatArray, FloatArray]:
    """Times (T + 1,) s and positions from (T, k, 3), samples at the ends of the coming steps; begins at start (k, 3).

    The last position is held afterwards.
    """
    count = len(start)
    try:
        points = np.asarray(path, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(
            f"path = {path!r}: expected a function of time, an array (steps, {count}, 3), a pair (times, positions), "
            "or None"
        ) from None
    if count == 1 and points.ndim == 2:
        points = points[:, None, :]
    if points.ndim != 3 or points.shape[1:] != (count, 3) or len(points) < 1:
        raise InputError(
            f"path has shape {points.shape}: expected (steps, {count}, 3), or a function of time, or a pair "
            "(times, positions)"
        )
    points = np.concatenate([start[None], points])
    return np.asarray(time + timestep * np.arange(len(points)), dtype=np.float64), points


def _as_path(path: Any, count: int, now: float) -> Path | None:
    """A callable of time from a callable or a pair (times (T,), positions (T, k, 3)); None stays None."""
    if path is None:
        return None
    if callable(path):
        _positions(path(now), count, f"path({now:.6g})")
        return path
    if isinstance(path, tuple) and len(path) == 2:
        try:
            times, points = np.asarray(path[0], dtype=np.float64), np.asarray(path[1], dtype=np.float64)
        except (TypeError, ValueError):
            raise InputTypeError(f"path = {shown(path)}: expected numbers, (times, positions)") from None
        if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0):
            raise InputError(
                f"path times have shape {times.shape}: expected at least two, increasing, in s: (times, positions)"
            )
        if points.shape != (len(times), count, 3):
            raise InputError(
                f"path positions have shape {points.shape}: expected ({len(times)}, {count}, 3), one row per time and "
                "held node"
            )
        _finite(points, "path")
        return Samples(times, points)
    raise InputTypeError(
        f"path is {type(path).__name__}: expected a function of time in s that returns ({count}, 3) positions in m, a "
        f"pair (times, positions (T, {count}, 3)), or None"
    )


def _positions(value: Any, count: int, what: str) -> FloatArray:
    try:
        points = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputTypeError(f"{what} gave {shown(value)}: expected ({count}, 3), x y z in m of every node") from None
    if count == 1 and points.shape == (3,):
        points = points[None]
    if points.shape != (count, 3):
        given = f"shape {points.shape}" if points.ndim else shown(value)
        raise InputError(f"{what} gave {given}: expected ({count}, 3), x y z in m for every held node")
    _finite(points, what)
    return points.copy()


def _finite(points: FloatArray, what: str) -> None:
    if not np.isfinite(points).all():
        where = tuple(int(i) for i in np.argwhere(~np.isfinite(points))[0])
        raise InputError(
            f"{what} gave {points[where]}, a number that is not finite, at index {where}: expected positions in m"
        )
