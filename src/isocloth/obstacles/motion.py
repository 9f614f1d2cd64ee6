"""How an obstacle moves: the pose of its own frame, x = c(t) + R(t) X, at any time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.obstacles.arguments import array, finite, rotation
from isocloth.obstacles.paths import PathFunction, RotationOfTime, as_path, functions_of
from isocloth.obstacles.value import Value

#: rotation (3, 3) and centre (3,) m
Pose = tuple[FloatArray, FloatArray]

#: a path may start this far from the centre that is given, m: rounding, not a mistake
SAME_PLACE = 1e-6

#: poses kept: a solver asks for those of the begin and of the end of a step, many times each
KEPT = 8


class RigidMotion(Value):
    """Position and orientation of a frame over time: a value, that nothing changes.

    turns: whether its orientation changes. still: whether nothing does. A kind of motion gives `_pose(time)`, and calls
    `_begin` when it is complete.
    """

    turns: bool
    still: bool
    _at_start: Pose
    _known: dict[float, Pose]
    _transient = frozenset({"_known"})

    def _begin(self, *, turns: bool, still: bool) -> None:
        self.turns, self.still = turns, still
        self._known = {}
        self._at_start = self._pose(0.0)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._known = {}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def pose(self, time: float) -> Pose:
        """Rotation (3, 3) and centre (3,) m at a time in s; the arrays are not to be written into."""
        if self.still:
            return self._at_start
        found = self._known.get(time)
        if found is None:
            if len(self._known) >= KEPT:
                self._known.clear()
            found = self._known[time] = self._pose(time)
        return found

    def _pose(self, time: float) -> Pose:
        raise NotImplementedError

    def displacement(self, points: FloatArray, before: float, now: float) -> FloatArray:
        """(m, 3) m: how far what is at points (m, 3) at time `now` has moved since `before` (s)."""
        moved = np.empty_like(points)
        if self.still:
            moved[:] = 0.0
            return moved
        r0, c0 = self.pose(before)
        r1, c1 = self.pose(now)
        _displacement(points, r0, c0, r1, c1, self.turns, moved)
        return moved

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The users' functions in it, by the name of their option."""
        return {}


class Motion(RigidMotion):
    """The motion that options of an obstacle describe, of a frame that is at `centre` at time 0.

    velocity: (3,) m/s, or path: where the centre is. spin: (3,) rad/s, angular velocity about the centre; it acts on
    a constant rotation. rotation: (3, 3), or a function of time that returns it.
    """

    def __init__(
        self,
        centre: FloatArray | None,
        *,
        velocity: ArrayLike | None = None,
        spin: ArrayLike | None = None,
        path: Any = None,
        rotation: Any = None,
    ) -> None:
        if path is not None and velocity is not None:
            raise InputError("both velocity and path are given: expected one of them; put the velocity into the path")
        if callable(rotation) and spin is not None:
            raise InputError(
                "both spin and a rotation over time are given: expected one of them; put the spin into the rotation"
            )
        self._velocity = np.zeros(3) if velocity is None else array(velocity, "velocity", (3,), "m/s")
        self._spin = np.zeros(3) if spin is None else array(spin, "spin", (3,), "rad/s")
        self._path: PathFunction | None = None if path is None else as_path(path, (3,))
        self._turn: RotationOfTime | None = None
        if callable(rotation):
            self._turn = rotation if isinstance(rotation, RotationOfTime) else RotationOfTime(rotation)
        self._upright = self._upright_from(rotation)
        self._centre = self._start(centre)
        turns = self._turn is not None or bool(self._spin.any())
        self._begin(turns=turns, still=not turns and self._path is None and not self._velocity.any())

    def _upright_from(self, given: Any) -> FloatArray:
        """(3, 3): the rotation at time 0."""
        if self._turn is not None:
            return self._turn(0.0)
        return np.eye(3) if given is None else rotation(given, "rotation")

    def _start(self, centre: FloatArray | None) -> FloatArray:
        if self._path is None:
            return np.zeros(3) if centre is None else centre
        first = self._path(0.0)
        if centre is not None and np.abs(first - centre).max() > SAME_PLACE:
            raise InputError(
                f"the path is at {first.tolist()} at time 0, but the centre of the obstacle is {centre.tolist()}: "
                "expected the same, as both say where it starts; move one of them"
            )
        return first

    def _pose(self, time: float) -> Pose:
        centre = self._centre + time * self._velocity if self._path is None else self._path(time)
        if not self.turns:
            return self._upright, centre  # the same array every time: nothing is rounded
        if self._turn is None:
            return turned_about(self._spin * time) @ self._upright, centre
        return self._turn(time), centre

    def replace(self, **changes: Any) -> Motion:
        """The same motion with other options. A velocity takes the place of a path, a spin that of a function."""
        given: dict[str, Any] = {
            "centre": self._centre,
            "velocity": self._velocity if self._velocity.any() else None,
            "spin": self._spin if self._spin.any() else None,
            "path": self._path,
            "rotation": self._upright if self._turn is None else self._turn,
        }
        if changes.get("velocity") is not None:
            given["path"] = None
        if changes.get("path") is not None:
            given["velocity"] = None
        if changes.get("spin") is not None and self._turn is not None:
            given["rotation"] = self._upright
        if callable(changes.get("rotation")):
            given["spin"] = None
        return Motion(**{**given, **changes})

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The users' functions in it, by the name of their option."""
        return functions_of(path=self._path, rotation=self._turn)


class Commanded(RigidMotion):
    """Rest at one pose until a time, an even way to another pose, and rest there.

    before, after: poses, rotation (3, 3) and centre (3,) m, which are kept without any rounding. begin, end: s, between
    which the centre moves along a straight line and the frame turns about one axis, both at constant speed.
    """

    def __init__(self, before: Pose, after: Pose, begin: float, end: float) -> None:
        self._before = rotation(before[0], "rotation before"), array(before[1], "centre before", (3,))
        self._after = rotation(after[0], "rotation after"), array(after[1], "centre after", (3,))
        self._begins, self._ends = finite(begin, "begin", "s"), finite(end, "end", "s")
        if not self._ends > self._begins:
            raise InputError(f"begin = {begin!r} s and end = {end!r} s: expected an end after the begin")
        (r0, c0), (r1, c1) = self._before, self._after
        turns = not np.array_equal(r0, r1)
        self._way = Rotation.from_matrix(r1 @ r0.T).as_rotvec() if turns else np.zeros(3)
        # what the turn misses of the last rotation by rounding: shared out evenly, so that nothing jumps at the end
        self._missing = r1 - turned_about(self._way) @ r0 if turns else np.zeros((3, 3))
        self._begin(turns=turns, still=not turns and np.array_equal(c0, c1))

    def _pose(self, time: float) -> Pose:
        if time <= self._begins or self.still:
            return self._before
        if time >= self._ends:
            return self._after
        (r0, c0), (_, c1) = self._before, self._after
        s = (time - self._begins) / (self._ends - self._begins)
        turn = turned_about(s * self._way) @ r0 + s * self._missing if self.turns else r0
        return turn, (1.0 - s) * c0 + s * c1


class Swing(RigidMotion):
    """The motion of a stick whose two ends follow paths, on which its length may change.

    ends: (2, 3) m at time 0. path: a function of time in s that returns both ends (2, 3) in m, or a pair (times, ends).
    The frame is in the middle. Its rotation is the smallest from the direction at time 0: a stick looks the same
    however it is turned about itself.
    """

    def __init__(self, ends: FloatArray, path: Any) -> None:
        self._path = as_path(path, (2, 3))
        self._ends = ends
        first = self._path(0.0)
        if np.abs(first - ends).max() > SAME_PLACE:
            raise InputError(
                f"the path is at {first.tolist()} at time 0, but the ends of the stick are {ends.tolist()}: "
                "expected the same, as both say where it starts; move one of them"
            )
        self._begin(turns=True, still=False)

    def ends(self, time: float) -> FloatArray:
        """(2, 3) m: where both ends are at a time in s."""
        found = self._path(time)
        if not float(np.linalg.norm(found[1] - found[0])) > 0.0:
            raise InputError(f"path({time:.6g}) puts both ends of the stick at {found[0].tolist()}: keep them apart")
        return found

    def _pose(self, time: float) -> Pose:
        now = self.ends(time)
        return _smallest_turn(self._ends[1] - self._ends[0], now[1] - now[0]), np.asarray(now.mean(axis=0))

    def functions(self) -> dict[str, Callable[..., Any]]:
        """The users' functions in it, by the name of their option."""
        return functions_of(path=self._path)


def turned_about(vector: FloatArray) -> FloatArray:
    """(3, 3) rotation by a rotation vector (3,), axis times angle in rad (Rodrigues' formula)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + 2.0 * np.sin(0.5 * angle) ** 2 * (cross @ cross)


def _smallest_turn(a: FloatArray, b: FloatArray) -> FloatArray:
    """(3, 3) rotation by the smallest angle that takes the direction of a (3,) to that of b (3,)."""
    across = np.cross(a, b)
    length = float(np.linalg.norm(across))
    if length > 0.0:
        return turned_about(across / length * float(np.arctan2(length, a @ b)))
    if a @ b > 0.0:
        return np.eye(3)
    side = np.cross(a, np.eye(3)[int(np.argmin(np.abs(a)))])  # opposite: any axis across will do
    return turned_about(np.pi * side / np.linalg.norm(side))


@kernel
def _displacement(
    points: FloatArray,
    r0: FloatArray,
    c0: FloatArray,
    r1: FloatArray,
    c1: FloatArray,
    turns: bool,
    moved: FloatArray,
) -> None:
    """points - (c0 + Q (points - c1)), with Q = R0 R1^T; without turning, the exact shift of the centre."""
    q = np.zeros((3, 3))
    if turns:
        for i in range(3):
            for j in range(3):
                for k in range(3):
                    q[i, j] -= r0[i, k] * r1[j, k]
            q[i, i] += 1.0
    for m in range(len(points)):
        x, y, z = points[m, 0] - c1[0], points[m, 1] - c1[1], points[m, 2] - c1[2]
        for i in range(3):
            moved[m, i] = (c1[i] - c0[i]) + (q[i, 0] * x + q[i, 1] * y + q[i, 2] * z)
