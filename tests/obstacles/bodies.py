"""Bodies of all shapes, and random points and poses for them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import isocloth as ic
from isocloth.base.typing import FloatArray
from isocloth.obstacles import Features, Solid


def needles(p: FloatArray) -> FloatArray:
    """The surface of the paper: h = c1 c2 z - sin(c1 x) sin(c1 y), c1 20, c2 0.075."""
    return 1.5 * p[:, 2] - np.sin(20.0 * p[:, 0]) * np.sin(20.0 * p[:, 1])


def needles_gradient(p: FloatArray) -> FloatArray:
    x, y = 20.0 * p[:, 0], 20.0 * p[:, 1]
    return np.stack([-20.0 * np.cos(x) * np.sin(y), -20.0 * np.sin(x) * np.cos(y), np.full(len(p), 1.5)], axis=1)


seeds = st.integers(0, 2**32 - 1)


def random_rotation(rng: np.random.Generator) -> FloatArray:
    return Rotation.random(random_state=int(rng.integers(2**31))).as_matrix()


def primitives(rng: np.random.Generator) -> list[ic.Obstacle]:
    """One of every primitive, of random size and pose, that moves and turns."""

    def point() -> FloatArray:
        return rng.normal(size=3)

    def options() -> dict[str, FloatArray]:
        return {"velocity": point(), "spin": point(), "rotation": random_rotation(rng)}

    return [
        ic.Floor(float(rng.normal()), **options()),
        ic.Plane(point(), point(), **options()),
        ic.Sphere(point(), rng.uniform(0.1, 1.0), **options()),
        ic.Cylinder(point(), point(), rng.uniform(0.1, 1.0), **options()),
        ic.Capsule(point(), point(), rng.uniform(0.1, 1.0), **options()),
        ic.Box(point(), rng.uniform(0.1, 2.0, 3), **options()),
    ]


def shifted(t: float) -> FloatArray:
    """A path that can be pickled."""
    return np.array([0.2 * np.sin(t), 0.1 * t, 0.0])


def turning(t: float) -> FloatArray:
    """A rotation over time that can be pickled."""
    return Rotation.from_rotvec([0.0, 0.3 * t, 0.0]).as_matrix()


CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[1, 0, 2], [0, 1, 3], [0, 3, 2], [1, 2, 3]])


def around_the_origin(**options: Any) -> list[ic.Obstacle]:
    """One of every shape, with its own frame at the origin at time 0; the same whenever it is called."""
    return [
        ic.Floor(0.0, **options),
        ic.Plane([0, 0, 0], [0.6, 0, 0.8], **options),
        ic.Sphere([0, 0, 0], 0.3, **options),
        ic.Cylinder([-0.5, -0.2, 0.1], [0.5, 0.2, -0.1], 0.2, **options),
        ic.Capsule([-0.5, -0.2, 0.1], [0.5, 0.2, -0.1], 0.2, **options),
        ic.Box([0, 0, 0], [0.3, 0.5, 0.7], **options),
        ic.Implicit(needles, needles_gradient, **options),
        ic.TriangleMesh(CORNERS - 0.2, FACES, **options),
        ic.Points([[0.1, 0.2, 0.3], [0, 0, 0.2]], **options),
        ic.Stick([-0.5, -0.2, 0.1], [0.5, 0.2, -0.1], 0.02, **options),
    ]


def what_the_cloth_meets(body: ic.Obstacle, points: FloatArray, time: float) -> list[FloatArray]:
    """All that a simulation asks an obstacle for at a time in s."""
    if isinstance(body, Solid):
        return [*body.gaps(points, time), body.displacement(points, time - 0.01, time), body.centre(time)]
    assert isinstance(body, Features)
    return [body.vertices(time), body.edges, body.faces, np.array(body.radius), body.centre(time)]
