"""How an obstacle moves: the pose of its own frame, x = c(t) + R(t) X, at any time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.obstacles.arguments import array, rotation
from isocloth.obstacles.paths import PathFunction, as_path

#: rotation (3, 3) and centre (3,) m
Pose = tuple[FloatArray, FloatArray]

#: a path may start this far from the centre that is given, m: rounding, not a mistake
SAME_PLACE = 1e-6

#: poses kept: a solver asks for those of the begin and of the end of a step, many times each
KEPT = 8


class Motion:
    """Position and orientation over time of a frame that is at `centre` at time 0.

    velocity: (3,) m/s, or path: where the centre is. spin: (3,) rad/s, angular velocity about the centre; it acts on
    a constant rotation. rotation: (3, 3), or a function of time that returns it.
    """

    def __init__(
        self,
        centre: FloatArray | None,
        *,
        velocity: ArrayLike | None,
        spin: ArrayLike | None,
        path: Any,
        rotation: Any,
    ) -> None:
        if path is not None and velocity is not None:
            raise ValueError("both velocity and path are given: expected one of them; put the velocity into the path")
        if callable(rotation) and spin is not None:
            raise ValueError(
                "both spin and a rotation over time are given: expected one of them; put the spin into the rotation"
            )
        self._velocity = np.zeros(3) if velocity is None else array(velocity, "velocity", (3,), "m/s")
        self._spin = np.zeros(3) if spin is None else array(spin, "spin", (3,), "rad/s")
        self._path: PathFunction | None = None if path is None else as_path(path, (3,))
        self._turn = _as_rotation(rotation)
        self._centre = self._start(centre)
        #: whether its orientation changes, and whether nothing does
        self.turns = callable(rotation) or bool(self._spin.any())
        self.still = not self.turns and self._path is None and not self._velocity.any()
        self._upright = self._turn(0.0)
        self._known: dict[float, Pose] = {}
        self._at_start = self._pose(0.0)

    def _start(self, centre: FloatArray | None) -> FloatArray:
        if self._path is None:
            return np.zeros(3) if centre is None else centre
        first = self._path(0.0)
        if centre is not None and np.abs(first - centre).max() > SAME_PLACE:
            raise ValueError(
                f"the path is at {first.tolist()} at time 0, but the centre of the obstacle is {centre.tolist()}: "
                "expected the same, as both say where it starts; move one of them"
            )
        return first

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
        centre = self._centre + time * self._velocity if self._path is None else self._path(time)
        if not self.turns:
            return self._upright, centre  # the same array every time: nothing is rounded
        if self._spin.any():
            return turned_about(self._spin * time) @ self._upright, centre
        return self._turn(time), centre

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


def turned_about(vector: FloatArray) -> FloatArray:
    """(3, 3) rotation by a rotation vector (3,), axis times angle in rad (Rodrigues' formula)."""
    angle = float(np.linalg.norm(vector))
    if angle == 0.0:
        return np.eye(3)
    x, y, z = vector / angle
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * cross + 2.0 * np.sin(0.5 * angle) ** 2 * (cross @ cross)


def _as_rotation(value: Any) -> Callable[[float], FloatArray]:
    """A checked function of time from a matrix, a function that returns one, or None."""
    if not callable(value):
        constant = np.eye(3) if value is None else rotation(value, "rotation")
        return lambda _: constant

    def checked(t: float) -> FloatArray:
        return rotation(value(t), f"rotation({t:.6g})")

    return checked


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
