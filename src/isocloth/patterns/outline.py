"""The outlines of panels in mm: loops, the sides between corners and ends of seams, notches and grain lines.

Notches are where both sides of a seam come together when it is sewn: one at a quarter and at half of its length, two
at three quarters, so that it cannot be sewn the wrong way round; one at half of a dart or of a short seam.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.mesh import CORNER_TURN
from isocloth.meshes.polygons import polygon_area, reach
from isocloth.patterns.cut import Cut, Seam

#: mm in a m
MM = 1000.0
#: parts of a seam at which notches are, and how many; of a dart, and of a seam shorter than SHORT mm
NOTCHES, FEW_NOTCHES, SHORT = ((0.25, 1), (0.5, 1), (0.75, 2)), ((0.5, 1),), 80.0
#: of the length of a seam: over which the direction of a notch is averaged
AROUND = 0.01
#: of the height of a panel: the grain line, and vertical lines that are tried for it
GRAIN, TRIED = 0.7, 41
#: of the width of a panel: from the grain line to the outline beside it, where there is room
CLEAR = 0.1
#: of the square of the size: areas that are rounding
CLOSE = 1e-10


class Notch(NamedTuple):
    """at: (2,) mm on the outline. outward: (2,) unit vector off the panel. marks: how many."""

    at: FloatArray
    outward: FloatArray
    marks: int


class Side(NamedTuple):
    """Part of an outline. points: (k, 2) mm, the panel to the left. seam: its name, or "". letter: "a", "b" or "".

    other: number of the panel that is sewn to it, or 0.
    """

    points: FloatArray
    seam: str
    letter: str
    other: int
    notches: tuple[Notch, ...]


class Piece(NamedTuple):
    """A panel to be cut out. number: from 1. loops: (k, 2) mm, the outer one first; the panel is to their left.

    sides: of all loops. size: (2,) mm, across and along the grain. grain: (2, 2) mm, from below to above.
    """

    number: int
    loops: tuple[FloatArray, ...]
    sides: tuple[Side, ...]
    size: FloatArray
    grain: FloatArray

    @property
    def area(self) -> float:
        """In mm^2."""
        return float(sum(polygon_area(loop) for loop in self.loops))


def outlines(cut: Cut, flat: FloatArray) -> tuple[Piece, ...]:
    """Pieces of panels (p, 2) in m, where they lie."""
    points = MM * flat
    sewn = {}
    for k, seam in enumerate(cut.seams):
        for e, (i, j) in enumerate(pairwise(seam.a.tolist())):
            sewn[i, j] = (k, 0, e)
        for e, (i, j) in enumerate(pairwise(seam.b.tolist())):
            sewn[j, i] = (k, 1, e)
    found = []
    for panel, loops in enumerate(cut.loops):
        ordered = sorted(loops, key=lambda loop: -abs(polygon_area(points[loop])))
        places = tuple(points[loop] for loop in ordered)
        sides = [side for loop in ordered for side in _sides(loop, points, cut, sewn)]
        own = points[cut.panel == panel]
        found.append(Piece(panel + 1, places, tuple(sides), np.ptp(own, axis=0), grain_line(places)))
    return tuple(found)


def _sides(
    loop: IntArray, points: FloatArray, cut: Cut, sewn: dict[tuple[int, int], tuple[int, int, int]]
) -> list[Side]:
    """A loop in parts: a side of a seam each, or from corner to corner of the border."""
    n = len(loop)
    after = np.roll(loop, -1)
    label = [sewn.get((int(i), int(j))) for i, j in zip(loop, after, strict=True)]
    step = points[after] - points[loop]
    before = np.roll(step, 1, axis=0)
    turn = np.arctan2(before[:, 0] * step[:, 1] - before[:, 1] * step[:, 0], (before * step).sum(axis=1))
    starts = [i for i in range(n) if _breaks(label[i - 1], label[i], cut, float(turn[i]))] or [0]
    found = []
    for i, j in zip(starts, [*starts[1:], starts[0] + n], strict=True):
        run = np.append(loop, loop)[i : j + 1]
        where = label[i]
        if where is None:
            found.append(Side(points[run], "", "", 0, ()))
            continue
        seam = cut.seams[where[0]]
        other = int(cut.panel[(seam.b if where[1] == 0 else seam.a)[0]]) + 1
        found.append(Side(points[run], seam.name, "ab"[where[1]], other, _notches(seam, points, where[1])))
    return found


def _breaks(before: tuple[int, int, int] | None, here: tuple[int, int, int] | None, cut: Cut, turn: float) -> bool:
    """Whether a side ends between two edges of a loop."""
    if before is None or here is None:
        return before is not here or abs(turn) > CORNER_TURN
    if before[:2] != here[:2]:
        return True
    count, forward = len(cut.seams[here[0]].nodes) - 1, 1 if here[1] == 0 else -1
    following = before[2] + forward
    return here[2] not in (following, following % count if cut.seams[here[0]].closed else following)


def _notches(seam: Seam, points: FloatArray, side: int) -> tuple[Notch, ...]:
    """Where sides are sewn together is known by the edges of the seam; how far along, by the mean of both sides."""
    a, b = points[seam.a], points[seam.b]
    along = 0.5 * (reach(a) + reach(b))
    own, sign = (a, 1.0) if side == 0 else (b, -1.0)

    def place(part: float) -> FloatArray:
        return np.array([np.interp(part * along[-1], along, own[:, c]) for c in range(2)])

    dart = seam.a[0] == seam.b[0] or seam.a[-1] == seam.b[-1]  # its ends cannot be exchanged
    found = []
    for part, count in FEW_NOTCHES if dart or along[-1] < SHORT else NOTCHES:
        way = sign * (place(part + AROUND) - place(part - AROUND))
        found.append(Notch(place(part), np.array([way[1], -way[0]]) / np.linalg.norm(way), count))
    return tuple(found)


def spans(loops: tuple[FloatArray, ...], x: float) -> FloatArray:
    """(k, 2) mm, from where to where a vertical line is inside an outline, from below."""
    heights = []
    for loop in loops:
        after = np.roll(loop, -1, axis=0)
        crossed = (loop[:, 0] <= x) != (after[:, 0] <= x)
        p, q = loop[crossed], after[crossed]
        heights.append(p[:, 1] + (x - p[:, 0]) / (q[:, 0] - p[:, 0]) * (q[:, 1] - p[:, 1]))
    every = np.sort(np.concatenate(heights))
    return every[: 2 * (len(every) // 2)].reshape(-1, 2)


def grain_line(loops: tuple[FloatArray, ...]) -> FloatArray:
    """(2, 2) mm, a vertical line well inside an outline, from below to above: long, and not far from the middle."""
    low, high = loops[0].min(axis=0), loops[0].max(axis=0)
    middle, width = 0.5 * (low[0] + high[0]), high[0] - low[0]
    every = np.concatenate(loops)
    best, score = np.array([loops[0][0], loops[0][0]]), -np.inf
    for x in np.linspace(low[0], high[0], TRIED + 2)[1:-1]:
        for bottom, top in spans(loops, float(x)):
            inset = 0.5 * (1.0 - GRAIN) * (top - bottom)
            beside = every[(every[:, 1] > bottom + inset) & (every[:, 1] < top - inset), 0]
            room = float(np.abs(beside - x).min(initial=width)) / (CLEAR * width)
            now = (top - bottom) * (1.0 - abs(x - middle) / width) * min(room, 1.0)
            if now > score:
                best, score = np.array([[x, bottom + inset], [x, top - inset]]), now
    return best


def crossings(loops: tuple[FloatArray, ...]) -> int:
    """How often the edges of an outline cross each other: 0 of a panel that can be cut out."""
    start = np.concatenate(loops)
    end = np.concatenate([np.roll(loop, -1, axis=0) for loop in loops])

    least = CLOSE * float(np.ptp(start, axis=0).max()) ** 2

    def turns(p: FloatArray, q: FloatArray, r: FloatArray) -> FloatArray:
        u, v = q - p, r - p
        twice = u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0]
        return np.where(np.abs(twice) > least, np.sign(twice), 0.0)

    found = 0
    for p, q in zip(start, end, strict=True):
        apart = turns(p, q, start) * turns(p, q, end) < 0.0
        apart &= turns(start, end, p[None]) * turns(start, end, q[None]) < 0.0
        found += int(apart.sum())
    return found // 2
