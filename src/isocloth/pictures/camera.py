"""A perspective camera with z up, and its automatic placement before a whole trajectory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Camera:
    """A pinhole camera.

    eye: (3,) metres. right, down, ahead: (3,) orthonormal axes of the picture and the viewing direction.
    focal: focal length in pixels. width, height: pixels.
    """

    eye: FloatArray
    right: FloatArray
    down: FloatArray
    ahead: FloatArray
    focal: float
    width: int
    height: int

    def project(self, points: FloatArray) -> FloatArray:
        """(n, 3) metres -> (n, 3): x and y in pixels from the top left corner, and 1/distance (1/m).

        The inverse distance is affine across the picture of a flat triangle, and larger means nearer. It is
        not positive for points behind the eye, whose x and y mean nothing.
        """
        relative = points - self.eye
        distance = relative @ self.ahead
        safe = np.where(distance > 0.0, distance, np.inf)
        x = 0.5 * self.width + self.focal * (relative @ self.right) / safe
        y = 0.5 * self.height + self.focal * (relative @ self.down) / safe
        return np.column_stack([x, y, np.where(distance > 0.0, 1.0 / safe, -1.0)])

    def scaled(self, factor: int) -> Camera:
        """The same view with `factor` times as many pixels each way."""
        return Camera(
            self.eye,
            self.right,
            self.down,
            self.ahead,
            self.focal * factor,
            self.width * factor,
            self.height * factor,
        )


def axes(azimuth: float, elevation: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Right, down and ahead of an eye that stands at the given angles (rad) and looks at the origin."""
    ahead = -np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.cross(ahead, UP)
    right /= np.linalg.norm(right)
    return right, np.cross(ahead, right), ahead


def look_at(eye: FloatArray, target: FloatArray, *, width: int, height: int, view_angle: float) -> Camera:
    """A camera at `eye` that looks at `target`; view_angle (rad) is that of the shorter side."""
    offset = np.asarray(eye, dtype=np.float64) - np.asarray(target, dtype=np.float64)
    horizontal = float(np.hypot(offset[0], offset[1]))
    if horizontal <= 1e-9 * abs(float(offset[2])):
        raise InputError(
            f"a camera at {list(eye)} looks along z to {list(target)}, which leaves no up; move the eye aside"
        )
    right, down, ahead = axes(float(np.arctan2(offset[1], offset[0])), float(np.arctan2(offset[2], horizontal)))
    focal = 0.5 * min(width, height) / np.tan(0.5 * view_angle)
    return Camera(np.asarray(eye, dtype=np.float64), right, down, ahead, float(focal), width, height)


def fit(
    points: FloatArray,
    *,
    width: int,
    height: int,
    azimuth: float,
    elevation: float,
    view_angle: float = 0.5,
    margin: tuple[float, float] = (0.1, 0.1),
) -> Camera:
    """The nearest camera of the given angles (rad) that sees every point (n, 3).

    margin: the part of the half width and half height left free. With x, z the coordinates of the points
    to the right and towards the eye, x is seen from (c, d) if |x - c| <= k (d - z); the smallest d of both
    inequalities over all points is the mean of max(z + x/k) and max(z - x/k).
    """
    right, down, ahead = axes(azimuth, elevation)
    focal = 0.5 * min(width, height) / np.tan(0.5 * view_angle)
    near = points @ -ahead
    centre, distance = np.zeros(3), -np.inf
    for axis, size, free in ((right, width, margin[0]), (down, height, margin[1])):
        k = (1.0 - free) * 0.5 * size / focal
        along = points @ axis
        plus, minus = np.max(near + along / k), np.max(near - along / k)
        centre = centre + 0.5 * k * (plus - minus) * axis
        distance = max(distance, 0.5 * float(plus + minus))
    # A single point would put the eye on it.
    extent = float(np.ptp(points, axis=0).max())
    distance = max(distance, float(near.max()) + max(0.05 * extent, 1e-6))
    return Camera(centre - distance * ahead, right, down, ahead, float(focal), width, height)


def pleasant_angles(positions: FloatArray, triangles: IntArray) -> tuple[float, float]:
    """Azimuth and elevation (rad) of a three-quarter view of the frames (T, n, 3).

    A hanging cloth is seen from the side it faces, turned by a third of a right angle; a flat one from
    higher up than a tall one.
    """
    corners = positions[:, triangles]
    normals = np.cross(corners[..., 1, :] - corners[..., 0, :], corners[..., 2, :] - corners[..., 0, :])
    normals = normals.reshape(-1, 3)
    spread = normals[:, :2].T @ normals[:, :2]
    values, vectors = np.linalg.eigh(spread)
    facing = -0.5 * np.pi
    if values[1] > 1.5 * values[0] and values[1] > 0.05 * np.sum(normals[:, 2] ** 2):
        direction = vectors[:, 1]
        # Of the two sides, the one nearer to the reader of a usual plot: towards -y, then +x.
        if direction @ np.array([0.2, -1.0]) < 0:
            direction = -direction
        facing = float(np.arctan2(direction[1], direction[0]))
    size = np.ptp(positions.reshape(-1, 3), axis=0)
    flat = 1.0 - min(1.0, float(size[2]) / max(float(size[:2].max()), 1e-12))
    return facing + np.pi / 6, np.radians(16.0 + 20.0 * flat)
