"""Folded napkins by simulation: the folds of `isocloth.states.napkin`, made by hands on a table.

A simulated state and the ideal one of the same seed, class and number are, unless it had to be drawn again, the same
folds of the same rumpled sheet: what differs between them is mechanics.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from isocloth.base.errors import FailedRunError, UnknownNameError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.folding.stage import REST, Stage
from isocloth.meshes import Mesh, rectangle
from isocloth.meshes.polygons import along
from isocloth.simulation import Simulation
from isocloth.states import Boundary, Fold, boundary_of, folded
from isocloth.states.boundary import sides
from isocloth.states.napkin import CLASSES, CORNERS, SEQUENCES, rumpled, turned_and_shifted, view_from_above

RUMPLE = 0.004  # m, height of waves of the sheet before it is folded, as of the ideal ones
DURATION = (1.0, 1.4)  # s, of a fold
#: a flat napkin had a corner lifted so high and put down so far from where it was (m), at least and at most
LIFT, BACK = (0.05, 0.15), (0.005, 0.02)
#: m: how far a corner may lie from where the ideal folds put it. A state with one that is farther has slipped, or come
#: undone: it is left out for another draw, as it would be sorted out by hand
ASTRAY = 0.15
#: s, for a flap that still moves after the last fold: it may be coming undone. One that then does not rest is left out
LONGER = 4.0
DRAWS = 5  # of which one has to succeed


@dataclass(frozen=True)
class Made:
    """A simulated state.

    positions: (n, 3) m. draw: how many draws were left out before. astray: m, of the corner farthest from where the
    ideal folds put it. report: what the steps reported.
    """

    positions: FloatArray
    draw: int
    astray: float
    report: dict[str, Any]


def simulated_state(name: str, number: int = 0, *, seed: int = 0, shape: tuple[int, int] = (20, 20)) -> Made:
    """Sample `number` of a class; depends on nothing else than the arguments."""
    if name not in CLASSES:
        raise UnknownNameError(f"class {name!r} is unknown; choose one of {', '.join(map(repr, CLASSES))}")
    mesh = rectangle(1.0, 1.0, shape)
    for draw in range(DRAWS):
        key = [seed, list(CLASSES).index(name), number]
        rng = np.random.default_rng([*key, draw] if draw else key)
        start, folds = rumpled(mesh.vertices, rng, RUMPLE), CLASSES[name](rng)
        stage = Stage(mesh, start)
        durations = rng.uniform(*DURATION, size=len(folds))
        if not folds:
            _lay(stage, rng)
        for fold, duration in zip(folds, durations, strict=True):
            stage.fold(fold, round(float(duration), 2))
        rests = stage.record.speed <= REST or stage.settle(LONGER)
        astray = corner_error(mesh, stage.positions, folds)
        if rests and astray <= ASTRAY:
            return Made(turned_and_shifted(stage.positions, rng), draw, astray, stage.record.as_dict())
    raise FailedRunError(_failed(f"{name!r}, number {number}", seed, shape))


def corner_error(mesh: Mesh, positions: FloatArray, folds: list[Fold]) -> float:
    """How far (m) the corner farthest from where ideal folds put it lies, in the view from above."""
    ideal = folded(mesh.vertices, folds)
    apart = np.asarray(positions)[mesh.corners, :2] - ideal[mesh.corners, :2]
    return float(np.linalg.norm(apart, axis=1).max())


def _lay(stage: Stage, rng: np.random.Generator) -> None:
    """Nothing that hands have laid down is perfectly flat."""
    corner = int(rng.integers(4))
    inwards = (0.5 - CORNERS[corner]) * np.sqrt(2.0) * rng.uniform(*BACK)
    stage.lift(corner, (float(inwards[0]), float(inwards[1])), float(rng.uniform(*LIFT)))


def simulated_sequence(
    name: str, *, frames: int = 13, seed: int = 0, shape: tuple[int, int] = (20, 20)
) -> tuple[Mesh, FloatArray, IntArray]:
    """Mesh, positions (T, n, 3) in m and labels (T,) while a napkin is folded, `frames` pictures of every fold.

    The label changes with what a hand that has to grasp next would see from above: a corner has turned its other side
    up, two sides cross or cross no longer, or a corner has passed a side not its own. A sequence that comes undone is
    drawn again, as a state is.
    """
    if name not in SEQUENCES:
        raise UnknownNameError(f"sequence {name!r} is unknown; choose one of {', '.join(map(repr, SEQUENCES))}")
    mesh = rectangle(1.0, 1.0, shape)
    for draw in range(DRAWS):
        key = [seed, list(SEQUENCES).index(name)]
        rng = np.random.default_rng([*key, draw] if draw else key)
        folds = SEQUENCES[name](rng)
        positions, rests = _filmed(mesh, rumpled(mesh.vertices, rng, RUMPLE), folds, frames)
        if rests and corner_error(mesh, positions[-1], folds) <= ASTRAY:
            return mesh, positions, labels_from_above(mesh, positions)
    raise FailedRunError(_failed(f"the sequence {name!r}", seed, shape))


def _filmed(mesh: Mesh, start: FloatArray, folds: list[Fold], frames: int) -> tuple[FloatArray, bool]:
    """Frames (T, n, 3) in m of a sheet while it is folded, and whether it rests at the end."""
    film: list[FloatArray] = []

    def look(sim: Simulation) -> None:
        film.append(sim.positions.copy())

    stage = Stage(mesh, start, look=look)
    stage.settle()
    chosen = [film[-1]]
    for fold in folds:
        film.clear()
        stage.fold(fold)
        chosen += [film[round(k * (len(film) - 1) / frames)] for k in range(1, frames + 1)]
    return np.array(chosen), stage.record.speed <= REST


def _failed(what: str, seed: int, shape: tuple[int, int]) -> str:
    return (
        f"in none of {DRAWS} draws did the corners of {what}, seed {seed}, come to rest within {ASTRAY} m of where "
        f"they were put; take another seed or a finer mesh than {shape}"
    )


def labels_from_above(mesh: Mesh, positions: FloatArray) -> IntArray:
    """Labels (T,) of frames (T, n, 3) in m, counting changes of what is seen from above that last.

    A view that lasts for a single frame, when hands are not quite in step, is counted with what was before; if what
    was before comes back after it, nothing has changed.
    """
    seen = [from_above(boundary_of(mesh, x)) for x in positions]
    known = list(dict.fromkeys(seen))
    return without_transients(np.array([known.index(view) for view in seen], dtype=np.int64))


def from_above(boundary: Boundary) -> tuple[tuple[bool, ...], ...]:
    """What is seen from above: corners that show their other side, sides that cross, corners past a side.

    Of simulated cloth, whose hems curl and whose sides waver: a corner is looked at up to a quarter of its sides, and
    it does not count how often two sides cross, nor whether one crosses itself, which folded in half lies on itself.
    """
    return turned_corners(boundary), crossed_sides(boundary), view_from_above(boundary)[1]


def without_transients(labels: IntArray) -> IntArray:
    """Labels (T,) of frames, counted anew by their changes; those of a single frame go to the one before."""
    numbered, now, number = np.zeros(len(labels), dtype=np.int64), labels[0], 0
    for k in range(1, len(labels)):
        lasts = labels[k] == labels[k - 1] or (k + 1 < len(labels) and labels[k] == labels[k + 1])
        if lasts and labels[k] != now:
            now, number = labels[k], number + 1
        numbered[k] = number
    return numbered


def turned_corners(boundary: Boundary) -> tuple[bool, ...]:
    """Which corners show their other side: the boundary turns right around them, not left."""
    parts = sides(boundary)
    turned = []
    for k in range(4):
        before, here, after = along(parts[k - 1], 0.75), parts[k][0], along(parts[k], 0.25)
        turned.append(_right(before, here, after))
    return tuple(turned)


def crossed_sides(boundary: Boundary) -> tuple[bool, ...]:
    """Which two sides cross, of the six pairs in order; neighbours but for the fifth next to their common corner."""
    parts = sides(boundary)
    whole, start, end = np.linspace(0.0, 1.0, 21), np.linspace(0.0, 0.8, 17), np.linspace(0.2, 1.0, 17)
    crossed = []
    for i, j in combinations(range(4), 2):
        here, there = {1: (start, end), 2: (whole, whole), 3: (end, start)}[j - i]
        crossed.append(_cross(along(parts[i], here), along(parts[j], there)))
    return tuple(crossed)


def _right(a: FloatArray, b: FloatArray, c: FloatArray) -> bool:
    u, v = b - a, c - b
    return bool(u[0] * v[1] - u[1] * v[0] < 0.0)


def _cross(one: FloatArray, other: FloatArray) -> bool:
    """Whether two open polygons (k, 3) and (l, 3) cross in the view from above."""
    a, b = one[:-1, None, :2], one[1:, None, :2]
    c, d = other[None, :-1, :2], other[None, 1:, :2]

    def area(p: FloatArray, q: FloatArray, r: FloatArray) -> FloatArray:
        return np.asarray((q - p)[..., 0] * (r - p)[..., 1] - (q - p)[..., 1] * (r - p)[..., 0])

    return bool(((area(a, b, c) * area(a, b, d) < 0.0) & (area(c, d, a) * area(c, d, b) < 0.0)).any())
