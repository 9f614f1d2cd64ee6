"""What all obstacles have in common, and the two kinds in which the cloth meets them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.typing import FloatArray, IntArray
from isocloth.obstacles.arguments import array, coefficient
from isocloth.obstacles.motion import Motion

#: vertices (v, 3) m, and faces (f, 3) or (f, 4)
Surface = tuple[FloatArray, IntArray]


class Options(TypedDict, total=False):
    """Keywords of every obstacle; see `Obstacle`."""

    friction: float
    velocity: ArrayLike | None
    spin: ArrayLike | None
    path: Any
    rotation: ArrayLike | Callable[[float], ArrayLike] | None
    name: str | None


class Obstacle:
    """Something that the cloth cannot pass. Where it is, is known for all times; the cloth does not move it.

    friction: coefficient mu of Coulomb friction with the cloth.
    velocity: (3,) m/s, constant.
    spin: (3,) rad/s, constant angular velocity about the centre.
    path: instead of a velocity: a function of time in s that returns the position (3,) of the centre in m, or a pair
        (times (T,), positions (T, 3)).
    rotation: (3, 3) matrix that turns the shape about its centre; or instead of a spin a function of time that
        returns it.
    name: what messages call it.

    The other parameters of an obstacle say where it is at time 0.
    """

    def __init__(
        self,
        centre: FloatArray | None,
        *,
        friction: float = 0.3,
        velocity: ArrayLike | None = None,
        spin: ArrayLike | None = None,
        path: Any = None,
        rotation: Any = None,
        name: str | None = None,
    ) -> None:
        self.friction = friction
        self._motion = Motion(centre, velocity=velocity, spin=spin, path=path, rotation=rotation)
        self.name = type(self).__name__.lower() if name is None else str(name)
        self._force = np.zeros(3)

    @property
    def friction(self) -> float:
        """Coefficient of friction with the cloth."""
        return self._friction

    @friction.setter
    def friction(self, value: float) -> None:
        self._friction = coefficient(value)

    @property
    def force(self) -> FloatArray:
        """(3,) N: total force of the cloth on the obstacle in the last step; zero before any."""
        return self._force.copy()

    def _record(self, force: FloatArray) -> None:
        """Keep the force (3,) N of a step."""
        self._force = array(force, "force", (3,), "N")

    @property
    def still(self) -> bool:
        """Whether it never moves."""
        return self._motion.still

    def centre(self, time: float = 0.0) -> FloatArray:
        """(3,) m: where its centre is at a time in s."""
        return self._motion.pose(time)[1].copy()

    def surface(self, time: float) -> Surface | None:
        """What to draw at a time in s, the same faces at all times; None if there is nothing to show."""
        raise NotImplementedError

    def __repr__(self) -> str:
        start = ", ".join(f"{x:g}" for x in self.centre())
        moves = "" if self.still else ", moving"
        return f"<{type(self).__name__} {self.name!r} at [{start}] m, friction {self.friction:g}{moves}>"


class Solid(Obstacle):
    """A body known by its signed distance: nodes of the cloth stay outside."""

    def gaps(self, points: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """Signed distances (m,) in m, negative inside, and unit normals (m, 3) out of the body.

        points: (m, 3) m. The normal is the gradient of the gap.
        """
        raise NotImplementedError

    def displacement(self, points: FloatArray, before: float, now: float) -> FloatArray:
        """(m, 3) m: how far the matter of the body that is at points (m, 3) at `now` has moved since `before` (s)."""
        return self._motion.displacement(np.ascontiguousarray(points, dtype=np.float64), before, now)

    def surface(self, time: float) -> Surface | None:
        """What to draw at a time in s; None if there is nothing to show."""
        if self._drawn is None:
            return None
        vertices, faces = self._drawn
        turn, centre = self._motion.pose(time)
        return vertices @ turn.T + centre, faces

    @cached_property
    def _drawn(self) -> Surface | None:
        return self._shape()

    def _shape(self) -> Surface | None:
        """The surface in the frame of the body."""
        raise NotImplementedError


class Features(Obstacle):
    """A body known by points, edges and faces, which faces, edges and nodes of the cloth do not pass.

    edges: (e, 2) and faces: (f, 3), indices of its vertices. radius: distance kept from them beside the thickness of
    the cloth, m.
    """

    edges: IntArray
    faces: IntArray
    radius: float = 0.0

    def vertices(self, time: float) -> FloatArray:
        """(k, 3) m: where its points are at a time in s; not to be written into."""
        raise NotImplementedError
