"""Targets of the thesis' chapter 6, beside the sheets of `pattern_targets`: tubes that remember their shape, a grid
that was shifted, and a sheet on two beams."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isocloth import Cylinder, Mesh
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.models import Shell
from validation.pattern_targets import corners_of, hung_square, rested, square

#: of the spacing, by which three rows of a grid are shifted
SHIFTED = 0.3
#: m, radius and length of a tube; radius and distance of beams, and the sheet on them
RADIUS, LENGTH = 0.25, 0.8
BEAM, APART, SMALL = 0.03, 0.2, 0.4


class Hung(NamedTuple):
    """target: how it hangs from nodes `held`; rest: (n, 3) m, its true rest shape; density: kg/m^2, the true one."""

    target: Mesh
    rest: FloatArray
    held: IntArray
    model: Shell
    density: float
    quads: Mesh | None = None


def hung_grid(side: int, model: Shell, density: float, *, shifted: bool = False) -> Hung:
    """A square metre that hangs from its corners, three rows of its nodes shifted or not, with its quads."""
    mesh, held = square(side), corners_of(side)
    points = mesh.vertices.copy()
    a = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).ravel()
    quads = np.stack([a, a + side, a + side + 1, a + 1], axis=1)
    if shifted:
        middle = side // 2
        for row in (middle - side // 4, middle, middle + side // 4):
            points[row * side + 1 : (row + 1) * side - 1, 1] += SHIFTED / (side - 1)
    mesh = mesh.with_vertices(points)
    return Hung(mesh.with_vertices(hung_square(mesh, held, model, density)), points, held, model, density,
                Mesh(points, quads))  # fmt: skip


def coarser(fine: Hung, by: int) -> Hung:
    """Every `by`-th node of a grid, where it hangs."""
    side = round(np.sqrt(fine.target.n_vertices))
    own = np.arange(side * side).reshape(side, side)[::by, ::by]
    mesh = square(len(own))
    at = fine.target.vertices[own.ravel()]
    return fine._replace(target=mesh.with_vertices(at), rest=fine.rest[own.ravel()], held=corners_of(len(own)),
                         quads=None)  # fmt: skip


def tube(around: int, along: int, model: Shell, density: float, *, circles: bool = False) -> Hung:
    """A level tube that remembers its shape and hangs from two nodes of each end, or from both circles."""
    turn = 2.0 * np.pi * np.arange(around) / around
    points = np.array([
        [x, RADIUS * np.sin(t), RADIUS * np.cos(t)] for x in np.linspace(0.0, LENGTH, along) for t in turn
    ])  # fmt: skip
    faces = []
    for i in range(along - 1):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            c, d = a + around, b + around
            faces += [(a, c, d), (a, d, b)] if (i + j) % 2 else [(a, c, b), (b, c, d)]
    mesh = Mesh(points, np.array(faces))
    ends = [0, along - 1]
    kept = range(around) if circles else (around // 8, around - around // 8)
    held = np.array([row * around + j for row in ends for j in kept])
    at = rested("tube", mesh, Fabric(density=density), model=model, held=held)
    return Hung(mesh.with_vertices(at), points, held, model, density)


def on_beams(side: int, model: Shell, density: float, fabric: Fabric) -> tuple[Hung, list[Cylinder]]:
    """A small square that lies on two level cylinders, and these; fabric: friction and thickness."""
    mesh = square(side)
    mesh = mesh.with_vertices(SMALL * mesh.vertices)
    below = -BEAM - fabric.thickness / 2
    beams = [Cylinder([x, -SMALL, below], [x, SMALL, below], BEAM, friction=fabric.friction)
             for x in (-APART / 2, APART / 2)]  # fmt: skip
    at = rested("sheet on beams", mesh, replace(fabric, density=density), model=model, obstacles=beams)
    none = np.zeros(0, dtype=np.int64)
    return Hung(mesh.with_vertices(at), mesh.vertices, none, model, density), beams
