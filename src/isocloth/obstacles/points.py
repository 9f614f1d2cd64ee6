"""Points, such as the tips of needles."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.typing import FloatArray
from isocloth.obstacles import shapes
from isocloth.obstacles.arguments import array, fixed, number
from isocloth.obstacles.obstacle import Features, Options, Surface


class Points(Features):
    """Points that do not pass through faces of the cloth.

    points: (k, 3) m, in the obstacle's own frame. centre: (3,) m, where the origin of that frame is at time 0; by
    default where the path starts, or the origin. drawn: size of the marks in pictures, m. Options are those of every
    `Obstacle`.
    """

    def __init__(
        self,
        points: ArrayLike,
        *,
        centre: ArrayLike | None = None,
        drawn: float = 0.004,
        **options: Unpack[Options],
    ) -> None:
        self._points = fixed(array(points, "points", (None, 3)))
        self.drawn = number(drawn, "drawn", "m")
        self.edges = fixed(np.zeros((0, 2), dtype=np.int64))
        self.faces = fixed(np.zeros((0, 3), dtype=np.int64))
        super().__init__(None if centre is None else array(centre, "centre", (3,)), **options)

    def vertices(self, time: float) -> FloatArray:
        """(k, 3) m: where the points are at a time in s."""
        turn, centre = self._motion.pose(time)
        return self._points @ turn.T + centre

    def surface(self, time: float) -> Surface:
        """A small octahedron at every point."""
        return shapes.marks(self.vertices(time), self.drawn)
