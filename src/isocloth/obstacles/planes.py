"""Half-spaces: the floor, and planes of any direction."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.obstacles import shapes
from isocloth.obstacles.arguments import array, direction, finite, fixed, number
from isocloth.obstacles.obstacle import Options, Solid, Surface


class Plane(Solid):
    """All that lies behind a plane.

    point: (3,) m, a point of the plane, its centre. normal: (3,), towards the cloth, of any length. extent: side of
    the square that is drawn, m. A velocity in the plane makes it a conveyor belt. Options are those of every
    `Obstacle`.
    """

    def __init__(self, point: ArrayLike, normal: ArrayLike, *, extent: float = 2.0, **options: Unpack[Options]) -> None:
        self.normal = fixed(direction(normal, "normal"))
        self.extent = number(extent, "extent", "m")
        super().__init__(array(point, "point", (3,)), **options)

    def gaps(self, points: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """Heights (m,) in m over the plane, and its normal (m, 3)."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        gap, normal = np.empty(len(points)), np.empty_like(points)
        turn, centre = self._motion.pose(time)
        _plane(points, turn, centre, self.normal, gap, normal)
        return gap, normal

    def _shape(self) -> Surface | None:
        vertices, faces = shapes.square(self.extent)
        return vertices @ shapes.frame(self.normal).T, faces


class Floor(Plane):
    """All that lies below a height (m). It is drawn as a square with sides of `extent` m around the origin."""

    def __init__(self, height: float = 0.0, *, extent: float = 10.0, **options: Unpack[Options]) -> None:
        super().__init__([0.0, 0.0, finite(height, "height", "m")], [0.0, 0.0, 1.0], extent=extent, **options)


@kernel
def _plane(
    points: FloatArray, turn: FloatArray, centre: FloatArray, axis: FloatArray, gap: FloatArray, normal: FloatArray
) -> None:
    x = turn[0, 0] * axis[0] + turn[0, 1] * axis[1] + turn[0, 2] * axis[2]
    y = turn[1, 0] * axis[0] + turn[1, 1] * axis[1] + turn[1, 2] * axis[2]
    z = turn[2, 0] * axis[0] + turn[2, 1] * axis[1] + turn[2, 2] * axis[2]
    for m in range(len(points)):
        gap[m] = x * (points[m, 0] - centre[0]) + y * (points[m, 1] - centre[1]) + z * (points[m, 2] - centre[2])
        normal[m, 0], normal[m, 1], normal[m, 2] = x, y, z
