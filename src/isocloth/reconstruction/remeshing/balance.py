"""Opposite sides of grids get equally many nodes, where this can be had by moving nodes along the boundary.

The corners of the best rectangle of a patch are moved to ends of arcs close by. What the two sides of a pair differ by
is then taken from or given to arcs on the boundary of the surface, which no other patch shares.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from isocloth.base.typing import IntArray
from isocloth.reconstruction.remeshing.grids import Grid
from isocloth.reconstruction.remeshing.patches import Skeleton
from isocloth.reconstruction.remeshing.seams import Seams

#: a corner moves at most so far, in quarters of the length around the patch
MOVED = 0.2
#: two sides are made equal if they differ by at most so much of the longer one
DIFFERENT = 0.3


def balanced(skeleton: Skeleton, seams: Seams, grids: dict[int, Grid]) -> tuple[IntArray, dict[int, list[int]]]:
    """Segments (na,) of the arcs, and of every patch whose sides are equal now the four sides that begin at corners."""
    segments = np.array([len(on) - 1 for on in seams.on])
    times = Counter(arc for patch in skeleton.patches for arc, _ in patch.sides)
    corners = {}
    for k, grid in grids.items():
        arcs = [arc for arc, _ in skeleton.patches[k].sides]
        found = _moved_corners(segments[arcs], grid)
        if found is None:
            continue
        trial = segments.copy()
        turned = [*found[1:], found[0] + len(arcs)]
        groups = [[arcs[i % len(arcs)] for i in range(a, b)] for a, b in zip(found, turned, strict=True)]
        if all(_equalise(trial, groups[s], groups[s + 2], skeleton, times) for s in range(2)):
            segments = trial
            corners[k] = found
    return segments, corners


def _moved_corners(segments: IntArray, grid: Grid) -> list[int] | None:
    """The four sides, of all with so many segments (d,), that begin next to the corners of a grid; None without."""
    count = int(segments.sum())
    starts = np.cumsum(segments) - segments
    found = []
    for corner in (0, grid.width, count // 2, count // 2 + grid.width):
        away = np.abs((starts - grid.corner - corner + count // 2) % count - count // 2)
        away[segments == 0] = count  # an arc that has shrunk to a node begins no side
        if away.min() > MOVED * count / 4:
            return None
        found.append(int(away.argmin()))
    return sorted(found) if len(set(found)) == 4 else None


def _equalise(segments: IntArray, one: list[int], other: list[int], skeleton: Skeleton, times: Counter[int]) -> bool:
    """Give two groups of arcs equally many segments, in place, two by two; whether that was possible."""
    while True:
        more = int(segments[one].sum() - segments[other].sum())
        if more == 0:
            return True
        larger, smaller = (one, other) if more > 0 else (other, one)
        if abs(more) > DIFFERENT * segments[larger].sum():
            return False
        choices = [(arc, -2) for arc in larger if times[arc] == 1 and segments[arc] >= 6]
        choices += [(arc, 2) for arc in smaller if times[arc] == 1 and segments[arc] >= 2]
        if not choices:
            return False
        mean = skeleton.lengths.sum() / segments.sum()
        arc, change = min(choices, key=lambda c: abs(np.log(skeleton.lengths[c[0]] / (mean * (segments[c[0]] + c[1])))))
        segments[arc] += change
