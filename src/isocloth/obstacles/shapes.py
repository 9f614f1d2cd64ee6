"""Surfaces to draw: vertices (v, 3) in m about the origin and faces that look outwards."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray

Surface = tuple[FloatArray, IntArray]

SEGMENTS = 36  # around; divisible by 4
COLUMNS = 120


def frame(axis: FloatArray) -> FloatArray:
    """(3, 3) rotation that takes z to the unit vector `axis` (3,)."""
    other = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = np.cross(other, axis)
    x /= np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=1)


def square(side: float) -> Surface:
    """A square in the plane z = 0 that looks up."""
    corners = 0.5 * side * np.array([[-1.0, -1.0, 0.0], [1.0, -1.0, 0.0], [1.0, 1.0, 0.0], [-1.0, 1.0, 0.0]])
    return corners, np.array([[0, 1, 2], [0, 2, 3]], dtype=np.int64)


def box(size: FloatArray) -> Surface:
    """A cuboid with edge lengths size (3,)."""
    corners = 0.5 * size * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return corners, quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3).astype(np.int64)


def ball(radius: float) -> Surface:
    """A sphere."""
    return capsule(radius, 0.0)


def capsule(radius: float, length: float) -> Surface:
    """All at a distance `radius` from the segment of the given length along z."""
    angles = np.linspace(-0.5 * np.pi, 0.5 * np.pi, SEGMENTS // 2 + 1)
    low, high = angles[: SEGMENTS // 4 + 1], angles[SEGMENTS // 4 if length > 0.0 else SEGMENTS // 4 + 1 :]
    radii = radius * np.cos(np.concatenate([low, high]))
    radii[[0, -1]] = 0.0
    lift = np.concatenate([np.full(len(low), -0.5 * length), np.full(len(high), 0.5 * length)])
    return lathe(radii, lift + radius * np.sin(np.concatenate([low, high])))


def cylinder(radius: float, length: float) -> Surface:
    """A cylinder along z. Its ends and its mantle share no vertices, so that the rims are drawn sharp."""
    half = 0.5 * length
    return lathe(radius * np.array([0, 1, 1, 1, 1, 0]), half * np.array([-1, -1, -1, 1, 1, 1]))


def lathe(radii: FloatArray, heights: FloatArray) -> Surface:
    """The profile (p,), from the bottom up, turned about z. Equal neighbours are not joined."""
    angles = 2.0 * np.pi * np.arange(SEGMENTS) / SEGMENTS
    circle = np.stack([np.cos(angles), np.sin(angles), np.zeros(SEGMENTS)], axis=1)
    vertices: list[FloatArray] = []
    rings: list[IntArray] = []
    count = 0
    for radius, height in zip(radii, heights, strict=True):
        ring = radius * circle[: SEGMENTS if radius > 0.0 else 1] + np.array([0.0, 0.0, height])
        rings.append(np.resize(np.arange(count, count + len(ring)), SEGMENTS))  # a pole is every point of its ring
        vertices.append(ring)
        count += len(ring)
    faces: list[IntArray] = []
    for k in range(len(radii) - 1):
        if radii[k] == radii[k + 1] and heights[k] == heights[k + 1]:
            continue
        low, high = rings[k], rings[k + 1]
        if radii[k] > 0.0:
            faces.append(np.stack([low, np.roll(low, -1), high], axis=1))
        if radii[k + 1] > 0.0:
            faces.append(np.stack([np.roll(low, -1), np.roll(high, -1), high], axis=1))
    return np.concatenate(vertices), np.concatenate(faces).astype(np.int64)


def marks(points: FloatArray, size: float) -> Surface:
    """An octahedron with a diagonal of `size` at every point (k, 3)."""
    star = 0.5 * size * np.array([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])
    sides = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [1, 0, 5], [2, 1, 5], [3, 2, 5], [0, 3, 5]])
    vertices = (points[:, None] + star).reshape(-1, 3)
    return vertices, (sides + 6 * np.arange(len(points))[:, None, None]).reshape(-1, 3).astype(np.int64)


def seen_from_above(h: Callable[[FloatArray], FloatArray], extent: FloatArray) -> Surface | None:
    """The part of h = 0 that is seen from above, within ranges (3, 2) of x, y and z, as a field of heights.

    Along each of many vertical lines the first change from h > 0 to h <= 0 is searched from the top, and bisected.
    None if there is none.
    """
    (x0, x1), (y0, y1), (bottom, top) = extent
    x, y = np.meshgrid(np.linspace(x0, x1, COLUMNS + 1), np.linspace(y0, y1, COLUMNS + 1), indexing="ij")

    def outside(z: FloatArray) -> BoolArray:
        return h(np.stack([x.ravel(), y.ravel(), z], axis=1)) > 0.0

    levels = np.linspace(top, bottom, COLUMNS + 1)
    high, low = np.full(x.size, np.nan), np.full(x.size, np.nan)
    above = outside(np.full(x.size, top))
    for upper, lower in pairwise(levels):
        here = outside(np.full(x.size, lower))
        found = np.isnan(low) & above & ~here
        high[found], low[found] = upper, lower
        above = here
    hit = ~np.isnan(low)
    for _ in range(30):
        middle = np.where(hit, 0.5 * (low + high), bottom)
        free = outside(middle)
        high, low = np.where(free, middle, high), np.where(free, low, middle)
    index = np.arange(x.size).reshape(x.shape)
    corners = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], axis=-1).reshape(-1, 4)
    quads = corners[hit[corners].all(axis=1)]
    if len(quads) == 0:
        return None
    used, numbers = np.unique(quads, return_inverse=True)
    vertices = np.stack([x.ravel(), y.ravel(), high], axis=1)[used]
    faces = numbers.reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    return vertices, faces.astype(np.int64)
