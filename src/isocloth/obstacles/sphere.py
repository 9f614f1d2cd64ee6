"""A ball."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.obstacles import shapes
from isocloth.obstacles.arguments import array, number
from isocloth.obstacles.obstacle import Options, Solid, Surface


class Sphere(Solid):
    """A ball with a centre (3,) and a radius, m. Options are those of every `Obstacle`."""

    def __init__(self, centre: ArrayLike, radius: float, **options: Unpack[Options]) -> None:
        self.radius = number(radius, "radius", "m")
        super().__init__(array(centre, "centre", (3,)), **options)

    def gaps(self, points: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """Distances (m,) in m from the surface, negative inside, and unit normals (m, 3); upwards at the centre."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        gap, normal = np.empty(len(points)), np.empty_like(points)
        _sphere(points, self._motion.pose(time)[1], self.radius, gap, normal)
        return gap, normal

    def _shape(self) -> Surface | None:
        return shapes.ball(self.radius)


@kernel
def _sphere(points: FloatArray, centre: FloatArray, radius: float, gap: FloatArray, normal: FloatArray) -> None:
    for m in range(len(points)):
        x, y, z = points[m, 0] - centre[0], points[m, 1] - centre[1], points[m, 2] - centre[2]
        distance = np.sqrt(x * x + y * y + z * z)
        gap[m] = distance - radius
        if distance > 0.0:
            normal[m, 0], normal[m, 1], normal[m, 2] = x / distance, y / distance, z / distance
        else:
            normal[m, 0], normal[m, 1], normal[m, 2] = 0.0, 0.0, 1.0
