"""Surfaces with seams whose flat shapes are known."""

from __future__ import annotations

import numpy as np

import isocloth as ic
from isocloth.meshes.surfaces import grid


def tube(around: int = 16, up: int = 6, radius: float = 0.3, height: float = 0.5, top: float | None = None):
    """A tube around z, or a cone with another radius at its top; node (i, j) is i (up + 1) + j. Normals outwards."""
    end = radius if top is None else top

    def place(u, v):
        r = radius + (end - radius) * v
        return np.stack([r * np.cos(2 * np.pi * u), r * np.sin(2 * np.pi * u), height * v], axis=1)

    vertices, faces = grid(place, (around, up), closed=(True, False))
    return ic.Mesh(vertices, faces)


def up_the_side(up: int = 6, at: int = 0) -> list[int]:
    """The nodes of a tube at place `at` around it, from the bottom to the top."""
    return [at * (up + 1) + j for j in range(up + 1)]


def torus(shape: tuple[int, int] = (16, 10)):
    def place(u, v):
        s, t = 2 * np.pi * u, 2 * np.pi * v
        ring = 1 + 0.4 * np.cos(t)
        return np.stack([ring * np.cos(s), ring * np.sin(s), 0.4 * np.sin(t)], axis=1)

    return ic.Mesh(*grid(place, shape, closed=(True, True)))


def sphere(rings: int = 8, around: int = 12, radius: float = 0.2):
    """A sphere: the north pole is node 0, the south pole the last; node (i, j) of ring i is 1 + i around + j."""
    latitude = np.pi * np.arange(1, rings) / rings
    longitude = 2 * np.pi * np.arange(around) / around
    la, lo = np.meshgrid(latitude, longitude, indexing="ij")
    points = np.stack([np.sin(la) * np.cos(lo), np.sin(la) * np.sin(lo), np.cos(la)], axis=-1).reshape(-1, 3)
    last = len(points) + 1
    faces = []
    for j in range(around):
        k = (j + 1) % around
        faces.append((0, 1 + j, 1 + k))
        faces.append((last, last - around + k, last - around + j))
        for i in range(rings - 2):
            a, b = 1 + i * around + j, 1 + i * around + k
            faces += [(a, a + around, b), (b, a + around, b + around)]
    return ic.Mesh(radius * np.concatenate([[[0, 0, 1.0]], points, [[0, 0, -1.0]]]), np.array(faces))


def meridian(rings: int = 8, around: int = 12, at: int = 0) -> list[int]:
    return [0, *(1 + i * around + at for i in range(rings - 1)), (rings - 1) * around + 1]
