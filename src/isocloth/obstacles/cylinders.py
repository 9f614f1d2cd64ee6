"""Round bodies about an axis from a to b: cylinder and capsule."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.obstacles import shapes
from isocloth.obstacles.arguments import fixed, number, segment
from isocloth.obstacles.corners import SharpCorners, rim_corners
from isocloth.obstacles.obstacle import Options, Solid, Surface
from isocloth.obstacles.sharp import SharpEdges, rims


class _Round(Solid):
    """A body about an axis; its centre is in the middle of it."""

    def __init__(self, a: ArrayLike, b: ArrayLike, radius: float, **options: Unpack[Options]) -> None:
        start, end = segment(a, b)
        self.radius = number(radius, "radius", "m")
        self.length = float(np.linalg.norm(end - start))
        self._frame = fixed(shapes.frame((end - start) / self.length))
        self._axis = fixed(np.ascontiguousarray(self._frame[:, 2]))
        super().__init__(0.5 * (start + end), **options)


class Capsule(_Round):
    """All that lies within a radius of the segment from a to b, m: a cylinder with round ends.

    a, b: (3,) m; the centre is in the middle between them. Options are those of every `Obstacle`.
    """

    def gaps(self, points: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """Distances (m,) in m from the surface, negative inside, and unit normals (m, 3)."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        gap, normal = np.empty(len(points)), np.empty_like(points)
        turn, centre = self._motion.pose(time)
        _capsule(points, turn, centre, self._axis, 0.5 * self.length, self.radius, gap, normal)
        return gap, normal

    def _shape(self) -> Surface | None:
        vertices, faces = shapes.capsule(self.radius, self.length)
        return vertices @ self._frame.T, faces


class Cylinder(_Round):
    """A solid cylinder with flat ends at a and b and a radius, m.

    a, b: (3,) m; the centre is in the middle between them. Options are those of every `Obstacle`.
    """

    def gaps(self, points: FloatArray, time: float) -> tuple[FloatArray, FloatArray]:
        """Distances (m,) in m, negative inside, and unit normals (m, 3); inside, those of the nearest face."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        gap, normal = np.empty(len(points)), np.empty_like(points)
        turn, centre = self._motion.pose(time)
        _cylinder(points, turn, centre, self._axis, 0.5 * self.length, self.radius, gap, normal)
        return gap, normal

    def _edges(self) -> SharpEdges:
        return rims(self._axis, self.length, self.radius)

    def _corners(self) -> SharpCorners:
        return rim_corners(self._frame, self.length, self.radius)

    def _shape(self) -> Surface | None:
        vertices, faces = shapes.cylinder(self.radius, self.length)
        return vertices @ self._frame.T, faces


@kernel
def _across(x: float, y: float, z: float) -> tuple[float, float, float]:
    """A unit vector perpendicular to the unit vector (x, y, z): where a point on the axis is pushed."""
    if abs(z) < 0.9:  # as far up as possible
        length = np.sqrt(1.0 - z * z)
        return -z * x / length, -z * y / length, (1.0 - z * z) / length
    length = np.sqrt(1.0 - x * x)
    return (1.0 - x * x) / length, -x * y / length, -x * z / length


@kernel
def _capsule(
    points: FloatArray,
    turn: FloatArray,
    centre: FloatArray,
    axis: FloatArray,
    half: float,
    radius: float,
    gap: FloatArray,
    normal: FloatArray,
) -> None:
    ux = turn[0, 0] * axis[0] + turn[0, 1] * axis[1] + turn[0, 2] * axis[2]
    uy = turn[1, 0] * axis[0] + turn[1, 1] * axis[1] + turn[1, 2] * axis[2]
    uz = turn[2, 0] * axis[0] + turn[2, 1] * axis[1] + turn[2, 2] * axis[2]
    px, py, pz = _across(ux, uy, uz)
    for m in range(len(points)):
        x, y, z = points[m, 0] - centre[0], points[m, 1] - centre[1], points[m, 2] - centre[2]
        along = min(max(ux * x + uy * y + uz * z, -half), half)
        x, y, z = x - along * ux, y - along * uy, z - along * uz
        distance = np.sqrt(x * x + y * y + z * z)
        gap[m] = distance - radius
        if distance > 0.0:
            normal[m, 0], normal[m, 1], normal[m, 2] = x / distance, y / distance, z / distance
        else:
            normal[m, 0], normal[m, 1], normal[m, 2] = px, py, pz


@kernel
def _cylinder(
    points: FloatArray,
    turn: FloatArray,
    centre: FloatArray,
    axis: FloatArray,
    half: float,
    radius: float,
    gap: FloatArray,
    normal: FloatArray,
) -> None:
    ux = turn[0, 0] * axis[0] + turn[0, 1] * axis[1] + turn[0, 2] * axis[2]
    uy = turn[1, 0] * axis[0] + turn[1, 1] * axis[1] + turn[1, 2] * axis[2]
    uz = turn[2, 0] * axis[0] + turn[2, 1] * axis[1] + turn[2, 2] * axis[2]
    px, py, pz = _across(ux, uy, uz)
    for m in range(len(points)):
        x, y, z = points[m, 0] - centre[0], points[m, 1] - centre[1], points[m, 2] - centre[2]
        along = ux * x + uy * y + uz * z
        side = 1.0 if along >= 0.0 else -1.0
        x, y, z = x - along * ux, y - along * uy, z - along * uz
        distance = np.sqrt(x * x + y * y + z * z)
        if distance > 0.0:
            x, y, z = x / distance, y / distance, z / distance
        else:
            x, y, z = px, py, pz
        # distances from the mantle and from the nearer end; a point beyond both is nearest to the rim
        over, beyond = distance - radius, side * along - half
        if over > 0.0 and beyond > 0.0:
            gap[m] = np.sqrt(over * over + beyond * beyond)
            outwards, endwards = over / gap[m], side * beyond / gap[m]
        elif over >= beyond:
            gap[m], outwards, endwards = over, 1.0, 0.0
        else:
            gap[m], outwards, endwards = beyond, 0.0, side
        normal[m, 0] = outwards * x + endwards * ux
        normal[m, 1] = outwards * y + endwards * uy
        normal[m, 2] = outwards * z + endwards * uz
