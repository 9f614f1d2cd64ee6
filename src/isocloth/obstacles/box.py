"""A box."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.obstacles import shapes
from isocloth.obstacles.arguments import array, fixed
from isocloth.obstacles.corners import SharpCorners, box_corners
from isocloth.obstacles.obstacle import Options, Solid, Surface
from isocloth.obstacles.sharp import SharpEdges, box_edges


class Box(Solid):
    """A cuboid: centre (3,) and size (3,), its full edge lengths along x, y and z before any rotation, m.

    Options are those of every `Obstacle`.
    """

    def __init__(self, centre: ArrayLike, size: ArrayLike, **options: Unpack[Options]) -> None:
        self.size = fixed(array(size, "size", (3,)))
        if not (self.size > 0.0).all():
            raise InputError(f"size = {self.size.tolist()} m: expected three positive lengths")
        super().__init__(array(centre, "centre", (3,)), **options)

    def gaps(self, points: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """Distances (m,) in m, negative inside, and unit normals (m, 3); inside, those of the nearest face."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        gap, normal = np.empty(len(points)), np.empty_like(points)
        turn, centre = self._motion.pose(time)
        _box(points, turn, centre, self.size, gap, normal)
        return gap, normal

    def _edges(self) -> SharpEdges:
        return box_edges(self.size)

    def _corners(self) -> SharpCorners:
        return box_corners(self.size)

    def _shape(self) -> Surface | None:
        return shapes.box(self.size)


@kernel
def _box(
    points: FloatArray, turn: FloatArray, centre: FloatArray, size: FloatArray, gap: FloatArray, normal: FloatArray
) -> None:
    over, side, local = np.empty(3), np.empty(3), np.empty(3)
    for m in range(len(points)):
        x, y, z = points[m, 0] - centre[0], points[m, 1] - centre[1], points[m, 2] - centre[2]
        square, nearest = 0.0, 0
        for i in range(3):
            along = turn[0, i] * x + turn[1, i] * y + turn[2, i] * z
            side[i] = 1.0 if along >= 0.0 else -1.0
            over[i] = side[i] * along - 0.5 * size[i]
            square += max(over[i], 0.0) ** 2
            if over[i] > over[nearest]:
                nearest = i
        if square > 0.0:
            gap[m] = np.sqrt(square)
            for i in range(3):
                local[i] = side[i] * max(over[i], 0.0) / gap[m]
        else:
            gap[m] = over[nearest]
            for i in range(3):
                local[i] = side[i] if i == nearest else 0.0
        for i in range(3):
            normal[m, i] = turn[i, 0] * local[0] + turn[i, 1] * local[1] + turn[i, 2] * local[2]
