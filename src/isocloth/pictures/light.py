"""The key light: a distant lamp, and what it sees of the scene (the shadow map)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from isocloth.base.typing import FloatArray, IntArray
from isocloth.pictures.raster import rasterise

SIZE = 512  # samples of the shadow map each way


@dataclass(frozen=True)
class Light:
    """A distant lamp that covers a ball.

    towards: (3,) unit vector to the lamp. right, up: (3,) axes of its map. centre: (3,) and radius: the
    ball that is lit, metres.
    """

    towards: FloatArray
    right: FloatArray
    up: FloatArray
    centre: FloatArray
    radius: float

    @property
    def texel(self) -> float:
        """Metres between two samples of the shadow map."""
        return 2.0 * self.radius / SIZE

    def matrix(self) -> FloatArray:
        """(3, 4): a point (x, y, z, 1) -> column and row in the map, and nearness to the lamp (m, > 0)."""
        linear = np.array([self.right / self.texel, self.up / self.texel, self.towards])
        offset = np.array([0.5 * SIZE, 0.5 * SIZE, 2.0 * self.radius]) - linear @ self.centre
        return np.column_stack([linear, offset])

    def project(self, points: FloatArray) -> FloatArray:
        """(..., 3) metres -> (..., 3) column, row and nearness."""
        matrix = self.matrix()
        return points @ matrix[:, :3].T + matrix[:, 3]


def light_over(points: FloatArray, camera_right: FloatArray, camera_ahead: FloatArray) -> Light:
    """A lamp high up on the left of the reader, that covers the points (n, 3)."""
    level = np.array([camera_ahead[0], camera_ahead[1], 0.0])
    level /= np.linalg.norm(level)
    towards = np.array([0.0, 0.0, 1.0]) - 0.95 * camera_right - 0.50 * level
    towards /= np.linalg.norm(towards)
    right = np.cross(towards, level)
    right /= np.linalg.norm(right)
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    radius = 1.05 * float(np.sqrt(np.max(np.sum((points - centre) ** 2, axis=1))))
    return Light(towards, right, np.cross(towards, right), centre, max(radius, 1e-9))


def cast(light: Light, vertices: FloatArray, triangles: IntArray) -> tuple[np.ndarray, np.ndarray]:
    """(SIZE, SIZE) float32 nearness seen by the lamp, and the soft shadow it throws far below, 0 to 1."""
    nearness = np.empty((SIZE, SIZE), dtype=np.float32)
    owner = np.empty((SIZE, SIZE), dtype=np.int32)
    rasterise(light.project(vertices), triangles, nearness, owner)
    # Blurred on a coarser grid: a soft shadow has no detail.
    dark = (owner >= 0).astype(np.float32).reshape(SIZE // 4, 4, SIZE // 4, 4).mean(axis=(1, 3))
    return nearness, gaussian_filter(dark, 2.2, mode="constant")
