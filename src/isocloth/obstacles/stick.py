"""A stick: a segment with a radius, that may be swung."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.obstacles import shapes
from isocloth.obstacles.arguments import fixed, number, segment
from isocloth.obstacles.motion import Motion, RigidMotion, Swing
from isocloth.obstacles.obstacle import Features, Options, Surface

#: the paper cuts its stick into edges about as long as those of its cloths
PIECES = 10


class Stick(Features):
    """The segment from a to b, that keeps a distance of `radius` from edges and nodes of the cloth.

    a, b: (3,) m, its ends at time 0. radius: m. path: a function of time in s that returns both ends (2, 3) in m, or a
    pair (times (T,), ends (T, 2, 3)). pieces: number of edges that the stick is cut into. Other options are those of
    every `Obstacle`; a velocity, spin or rotation is for sticks without a path.
    """

    def __init__(
        self,
        a: ArrayLike,
        b: ArrayLike,
        radius: float,
        *,
        pieces: int = PIECES,
        **options: Unpack[Options],
    ) -> None:
        path = options.pop("path", None)  # of both ends: not the path of a centre
        start, end = segment(a, b)
        self.radius = number(radius, "radius", "m")
        if isinstance(pieces, bool) or not isinstance(pieces, int | np.integer) or pieces < 1:
            raise InputError(f"pieces = {pieces!r}: expected a whole number of edges, at least 1")
        spare = [key for key in ("velocity", "spin", "rotation") if options.get(key) is not None]
        if path is not None and spare:
            raise InputError(f"both path and {' and '.join(spare)} are given: expected one; put it into the path")
        share = np.linspace(0.0, 1.0, int(pieces) + 1)[:, None]
        self._weights = fixed(np.hstack([1.0 - share, share]))
        self._ends = fixed(np.stack([start, end]))
        first_nodes = np.arange(int(pieces), dtype=np.int64)
        self.edges = fixed(np.stack([first_nodes, first_nodes + 1], axis=1))
        self.faces = fixed(np.zeros((0, 3), dtype=np.int64))
        super().__init__(0.5 * (start + end), **options)
        if path is not None:
            self._motion = Swing(self._ends, path)

    def _moving(self, changes: dict[str, Any]) -> RigidMotion:
        path = changes.get("path")
        rigid = {key: value for key, value in changes.items() if key != "path"}
        if path is not None:
            if rigid:
                raise InputError(f"both path and {' and '.join(rigid)} are given: expected one; put it into the path")
            return Swing(self._ends, path)
        own = self.placed(Motion(self._ends.mean(axis=0))) if isinstance(self._motion, Swing) else self
        return super(Stick, own)._moving(rigid)

    def centre(self, time: float = 0.0) -> FloatArray:
        """(3,) m: its middle at a time in s."""
        return np.asarray(self.ends(time).mean(axis=0))

    def ends(self, time: float) -> FloatArray:
        """(2, 3) m: where its ends are at a time in s."""
        if isinstance(self._motion, Swing):
            return self._motion.ends(time)
        turn, centre = self._motion.pose(time)
        return (self._ends - self._ends.mean(axis=0)) @ turn.T + centre

    def vertices(self, time: float) -> FloatArray:
        """(pieces + 1, 3) m: points along the stick at a time in s."""
        return self._weights @ self.ends(time)

    def surface(self, time: float) -> Surface:
        """A capsule about the segment."""
        a, b = self.ends(time)
        length = float(np.linalg.norm(b - a))
        vertices, faces = shapes.capsule(self.radius, length)
        return vertices @ shapes.frame((b - a) / length).T + 0.5 * (a + b), faces
