"""Scenes with contact: a napkin folded in half, a napkin draped over a ball, a sheet on a slope.

The fold is that of `isocloth reproduce napkin`: two corners of a square of 1 m that lies on a table are carried over
and laid down on the opposite ones in 2 s. Here they stay held to the end, so that a simulator needs no way to let go.
Layers keep the fabric's thickness apart in all scenes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh, rectangle
from isocloth.obstacles import Plane, Sphere
from isocloth.simulation import Simulation
from validation import tilted_plane
from validation.napkin import DOWN, FABRIC, FLOOR, FOLD, PAUSE, SIZE, over

FOLD_NAME, DRAPE_NAME = "napkin folded in half", "napkin draped over a ball"
#: s, of the fold: carried over and laid down, then left alone
FOLD_SECONDS = FOLD + PAUSE
#: s, when parts of the fold begin: the corners rise, the upper half comes down on the lower one, everything lies
FOLD_PARTS = {"carried over": 0.0, "laid down": 0.6 * FOLD, "lying": DOWN * FOLD + 0.3}
#: m, radius of the ball
BALL = 0.25
BALL_FRICTION = 0.3
DRAPE_SECONDS = 1.5
#: rad, and the coefficient of friction in parts of its tangent, at which a sheet has to stay
SLOPE, STICKS = np.deg2rad(20.0), 1.5
#: s
SLOPE_SECONDS = 10.0


@dataclass
class Stage:
    """Where a cloth starts, and what carries some of its nodes."""

    mesh: Mesh  # the rest shape, flat
    start: FloatArray  # (n, 3) m
    fabric: Fabric
    friction: float  # of the plane it lies on; the cloth's on itself is the fabric's
    tilt: float  # rad, of the plane, about y
    held: IntArray
    path: Callable[[float], FloatArray]  # where the held nodes are at a time in s, (k, 3) m
    seconds: float

    @property
    def normal(self) -> FloatArray:
        """Of the plane through the origin on which the cloth lies, (3,)."""
        return np.array([np.sin(self.tilt), 0.0, np.cos(self.tilt)])

    def gaps(self, positions: FloatArray) -> FloatArray:
        """Distances (..., n) of nodes at positions (..., n, 3) from where they touch the plane, m."""
        return np.asarray(positions @ self.normal - 0.5 * self.fabric.thickness)


def fold(nodes: int, friction: bool = True) -> Stage:
    """The napkin of nodes x nodes that is folded in half; without friction to compare with what knows none."""
    flat = rectangle(SIZE, SIZE, (nodes, nodes))
    start = flat.vertices + np.array([0.0, 0.0, 0.5 * FABRIC.thickness])
    held = np.array([flat.nearest([SIZE, y, 0.0]) for y in (0.0, SIZE)])
    path = over(start[held].copy(), 0, -1.0, 0.0, 2.0 * FABRIC.thickness)
    fabric = FABRIC if friction else replace(FABRIC, friction=0.0)
    return Stage(flat, start, fabric, FLOOR if friction else 0.0, 0.0, held, path, FOLD_SECONDS)


def slope(nodes: int) -> Stage:
    """A sheet that lies on a plane on which friction is half as much again as it needs to hold it."""
    flat = rectangle(0.3, 0.3, (nodes, nodes))
    x, y, _ = flat.vertices.T
    down, normal = np.array([np.cos(SLOPE), 0.0, -np.sin(SLOPE)]), np.array([np.sin(SLOPE), 0.0, np.cos(SLOPE)])
    fabric = tilted_plane.FABRIC
    start = np.outer(x, down) + np.outer(y, [0.0, 1.0, 0.0]) + 0.5 * fabric.thickness * normal
    nobody = np.empty(0, dtype=np.int64)
    return Stage(
        flat, start, fabric, STICKS * float(np.tan(SLOPE)), SLOPE, nobody, lambda t: np.empty((0, 3)), SLOPE_SECONDS
    )


def simulation(stage: Stage, **options: Any) -> Simulation:
    """A stage in isocloth, with its defaults unless options say otherwise."""
    plane = Plane([0.0, 0.0, 0.0], stage.normal, friction=stage.friction)
    sim = Simulation(
        stage.mesh.with_vertices(stage.start),
        stage.fabric,
        rest=stage.mesh,
        obstacles=[plane],
        self_collision=True,
        **options,
    )
    if len(stage.held):
        sim.grasp(stage.held, stage.path)
    return sim


def drape(nodes: int) -> Simulation:
    """The napkin, let go where it lies on a ball: it hangs down in folds."""
    flat = rectangle(SIZE, SIZE, (nodes, nodes))
    top = np.array([0.5 * SIZE, 0.5 * SIZE, -0.5 * FABRIC.thickness])
    ball = Sphere(top - np.array([0.0, 0.0, BALL]), BALL, friction=BALL_FRICTION)
    return Simulation(flat, FABRIC, obstacles=[ball], self_collision=True)
