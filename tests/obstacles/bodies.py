"""Bodies of all shapes, and random points and poses for them."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import isocloth as ic
from isocloth.base.typing import FloatArray


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
