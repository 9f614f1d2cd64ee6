"""Twelve ways to fold a square napkin, and three sequences of folds, made of ideal folds with random variation.

A stand-in for simulated folding: the classes are those a table setter would name. Corners are numbered as on
`meshes.rectangle`: 0 at (0, 0), then counter-clockwise 1, 2, 3.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from isocloth.base.errors import UnknownNameError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh, arguments, rectangle
from isocloth.states.boundary import Boundary, boundary_of
from isocloth.states.database import Database, make
from isocloth.states.folds import Fold, folded, sequence

CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])  # m, of a napkin of 1 m

Recipe = Callable[[np.random.Generator], list[Fold]]

#: how far from its place a corner is put (m along x and y), a side is put (m), and how much it is turned (rad), at most
PLACE = 0.08
SHIFT = 0.06
TURN = np.deg2rad(4.0)


def corner_to(rng: np.random.Generator, corner: int, place: tuple[float, float], *, under: bool = False) -> Fold:
    """Lay a corner at about a place, in m."""
    start = CORNERS[corner]
    end = np.array(place) + rng.uniform(-PLACE, PLACE, 2)
    return _about(0.5 * (start + end), start - end, rng, under=under)


def side_to(rng: np.random.Generator, side: int, distance: float) -> Fold:
    """Lay the side that begins at a corner at about a distance (m) from where it was, across the napkin."""
    a, b = CORNERS[side], CORNERS[(side + 1) % 4]
    outwards = np.array([b[1] - a[1], a[0] - b[0]])
    half = 0.5 * (distance + rng.uniform(-SHIFT, SHIFT))
    return _about(0.5 * (a + b) - half * outwards, _turned(outwards, rng.uniform(-TURN, TURN)), rng)


def _about(point: FloatArray, towards: FloatArray, rng: np.random.Generator, *, under: bool = False) -> Fold:
    radius = float(rng.uniform(0.003, 0.008))
    return Fold((float(point[0]), float(point[1])), (float(towards[0]), float(towards[1])), radius=radius, under=under)


def _turned(v: FloatArray, angle: float) -> FloatArray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([c * v[0] - s * v[1], s * v[0] + c * v[1]])


#: class -> folds
CLASSES: dict[str, Recipe] = {
    "flat": lambda rng: [],
    "corner in": lambda rng: [corner_to(rng, 0, (0.45, 0.45))],
    "corner under": lambda rng: [corner_to(rng, 3, (0.45, 0.55), under=True)],
    "neighbours in": lambda rng: [corner_to(rng, 0, (0.33, 0.38)), corner_to(rng, 1, (0.67, 0.38))],
    "neighbours crossed": lambda rng: [corner_to(rng, 0, (0.62, 0.42)), corner_to(rng, 1, (0.38, 0.42))],
    "opposite in": lambda rng: [corner_to(rng, 0, (0.36, 0.36)), corner_to(rng, 2, (0.64, 0.64))],
    "opposite crossed": lambda rng: [corner_to(rng, 0, (0.65, 0.65)), corner_to(rng, 2, (0.35, 0.35))],
    "three corners in": lambda rng: [corner_to(rng, k, tuple(0.5 + 0.28 * (CORNERS[k] - 0.5))) for k in (0, 1, 2)],
    "four corners in": lambda rng: [corner_to(rng, k, tuple(0.5 + 0.28 * (CORNERS[k] - 0.5))) for k in range(4)],
    "half": lambda rng: [side_to(rng, 0, 0.78)],
    "half past the edge": lambda rng: [side_to(rng, 0, 1.18)],
    "quarter": lambda rng: [side_to(rng, 0, 0.78), side_to(rng, 3, 0.78)],
}


def two_opposite_corners(rng: np.random.Generator) -> list[Fold]:
    """First sequence: one corner and then the opposite one past it."""
    return [corner_to(rng, 0, (0.6, 0.6)), corner_to(rng, 2, (0.35, 0.35))]


def four_corners_inwards(rng: np.random.Generator) -> list[Fold]:
    """Second sequence: all corners to the middle."""
    return CLASSES["four corners in"](rng)


def in_half(rng: np.random.Generator) -> list[Fold]:
    """Third sequence: one side past the opposite one."""
    return CLASSES["half past the edge"](rng)


SEQUENCES: dict[str, Recipe] = {
    "two opposite corners": two_opposite_corners,
    "four corners inwards": four_corners_inwards,
    "in half": in_half,
}


def rumpled(positions: FloatArray, rng: np.random.Generator, height: float) -> FloatArray:
    """The flat sheet (n, 3) with three gentle waves, together about `height` (m) high; nothing lies perfectly flat."""
    waves = np.zeros(len(positions))
    for _ in range(3):
        k = 2.0 * np.pi * rng.uniform(0.5, 1.5) * _turned(np.array([1.0, 0.0]), rng.uniform(0.0, 2.0 * np.pi))
        waves += np.sin(positions[:, :2] @ k + rng.uniform(0.0, 2.0 * np.pi))
    result = positions.copy()
    result[:, 2] += height * waves / 6.0
    return result


def turned_and_shifted(positions: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Somewhere else on the table: turned about the vertical by any angle, and shifted by up to a metre."""
    a = rng.uniform(0.0, 2.0 * np.pi)
    turn = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(positions @ turn.T + [*rng.uniform(-1.0, 1.0, 2), 0.0])


def ideal_states(
    samples: int = 10, *, seed: int = 0, shape: tuple[int, int] = (20, 20), rumple: float = 0.004
) -> Database:
    """Database of ideally folded napkins of 1 x 1 m: `samples` of each class, the same for the same seed.

    samples : per class. shape : nodes along the sides. rumple : height of waves of the unfolded sheet, in m.
    A state depends on the seed, its class and its number only, so that more samples leave the first ones alone, and
    another mesh shows the same folds.
    """
    samples = arguments.count("samples", samples, least=1)
    mesh = rectangle(1.0, 1.0, shape)
    states = []
    for number, (name, recipe) in enumerate(CLASSES.items()):
        for k in range(samples):
            rng = np.random.default_rng([seed, number, k])
            start = rumpled(mesh.vertices, rng, rumple)
            states.append((name, turned_and_shifted(folded(start, recipe(rng)), rng)))
    made = {"generator": "ideal folds", "seed": seed, "samples": samples, "rumple": rumple}
    return make(mesh, states, made)


def ideal_sequence(
    name: str, *, frames: int = 13, seed: int = 0, shape: tuple[int, int] = (20, 20)
) -> tuple[Mesh, FloatArray, IntArray]:
    """Mesh, positions (T, n, 3) in m and labels (T,) while a napkin is folded, `frames` pictures of every fold.

    The label changes with what a hand that has to grasp next would see from above: a flap has turned past the
    vertical, the boundary crosses itself at another number of places, or a corner has passed a side not its own.
    (An odd number of frames has none in which a flap stands vertical and its label is a matter of rounding.)
    """
    if name not in SEQUENCES:
        raise UnknownNameError(f"sequence {name!r} is unknown; choose one of {', '.join(map(repr, SEQUENCES))}")
    mesh = rectangle(1.0, 1.0, shape)
    rng = np.random.default_rng([seed, list(SEQUENCES).index(name)])
    positions, angles = sequence(mesh.vertices, SEQUENCES[name](rng), frames)
    seen = [
        (int((turned > 0.5 * np.pi).sum()), *view_from_above(boundary_of(mesh, x)))
        for x, turned in zip(positions, angles, strict=True)
    ]
    changes = [now != before for before, now in pairwise(seen)]
    return mesh, positions, np.concatenate([[0], np.cumsum(changes)]).astype(np.int64)


def view_from_above(boundary: Boundary) -> tuple[int, tuple[bool, ...]]:
    """How often the boundary crosses itself, and on which side of the lines of the other sides each corner lies."""
    corners = boundary.points[boundary.corners, :2]
    sides = []
    for k in range(4):
        for start in (k + 1, k + 2):  # the sides that do not end in corner k
            u, v = corners[(start + 1) % 4] - corners[start % 4], corners[k] - corners[start % 4]
            sides.append(bool(u[0] * v[1] - u[1] * v[0] > 0.0))
    return crossings(boundary.points), tuple(sides)


def crossings(points: FloatArray) -> int:
    """How often a closed polygon (n, 3) crosses itself in the view from above."""
    a, b = points[:, :2], np.roll(points[:, :2], -1, axis=0)
    i, j = np.triu_indices(len(a), 2)
    i, j = i[(j - i) % len(a) != len(a) - 1], j[(j - i) % len(a) != len(a) - 1]

    def side(p: FloatArray, q: FloatArray, r: FloatArray) -> FloatArray:
        u, v = q - p, r - p
        return np.asarray(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])

    first = side(a[i], b[i], a[j]) * side(a[i], b[i], b[j]) < 0.0
    second = side(a[j], b[j], a[i]) * side(a[j], b[j], b[i]) < 0.0
    return int((first & second).sum())
