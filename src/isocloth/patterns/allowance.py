"""An outline with an allowance around it: what is cut, where the outline is sewn.

Every edge is moved outwards by the width; where the outline bulges, moved edges are joined in a point, or by an arc
where that would be a long spike; where it dents, by way of its own corner. What is inside is where the curve winds
around more than not at all; the other parts of it, loops in dents and holes that are filled, are left out.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.meshes.polygons import polygon_area

#: rad, of a turn beyond which a corner is rounded; of a step of an arc
SHARPEST, ARC = np.deg2rad(100.0), np.deg2rad(15.0)
#: of the shorter edge at a dent: what its moved edges may lose to be joined in a point
DENT = 0.4
#: of the width: distance at which it is asked on which side of the curve the inside is; points that are the same
BESIDE, SAME = 1e-5, 1e-7
#: points for which it is asked at a time
AT_ONCE = 256


def with_allowance(loops: tuple[FloatArray, ...], width: float) -> tuple[FloatArray, ...]:
    """Loops (k, 2) as far outside as the width says, all in the same unit; the panel is to the left of its loops."""
    if width == 0.0:
        return loops
    moved = [_moved(_clean(loop, SAME * width), width) for loop in loops]
    start = np.concatenate(moved)
    end = np.concatenate([np.roll(loop, -1, axis=0) for loop in moved])
    pieces = _split(start, end)
    way = pieces[:, 1] - pieces[:, 0]
    length = np.linalg.norm(way, axis=1)
    pieces, way, length = (part[length > SAME * width] for part in (pieces, way, length))
    normal = np.stack([-way[:, 1], way[:, 0]], axis=1) / length[:, None]
    middle = pieces.mean(axis=1)
    inside = _winding(start, end, middle + BESIDE * width * normal) > 0
    outside = _winding(start, end, middle - BESIDE * width * normal) <= 0
    chained = _chained(pieces[inside & outside], SAME * width)
    return tuple(sorted(chained, key=lambda loop: -abs(polygon_area(loop))))


def _clean(loop: FloatArray, least: float) -> FloatArray:
    """A loop without points that are the same as the next."""
    return loop[np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1) > least]


def _moved(loop: FloatArray, width: float) -> FloatArray:
    """The closed curve of moved edges and what joins them."""
    way = np.roll(loop, -1, axis=0) - loop
    length = np.linalg.norm(way, axis=1)
    out = np.stack([way[:, 1], -way[:, 0]], axis=1) / length[:, None]
    points = []
    for i, corner in enumerate(loop):
        a, b = out[i - 1], out[i]
        turn = float(np.arctan2(a[0] * b[1] - a[1] * b[0], a @ b))
        shortened = width * np.tan(0.5 * abs(turn))
        if (0.0 <= turn <= SHARPEST) or (turn < 0.0 and shortened < DENT * min(length[i - 1], length[i])):
            points.append(corner + width * (a + b) / (1.0 + a @ b))
        elif turn > 0.0:
            step = turn / int(np.ceil(turn / ARC))
            angle = np.arctan2(a[1], a[0]) + np.arange(0.5 * step, turn, step)
            around = np.stack([np.cos(angle), np.sin(angle)], axis=1) / np.cos(0.5 * step)  # outside of the arc
            points.extend([corner + width * a, *(corner + width * around), corner + width * b])
        else:
            points.extend([corner + width * a, corner, corner + width * b])
    return np.array(points)


def _split(start: FloatArray, end: FloatArray) -> FloatArray:
    """(m, 2, 2) edges cut where they cross each other."""
    way = end - start
    cuts: list[list[float]] = [[0.0, 1.0] for _ in start]
    for i in range(len(start)):
        r, s = way[i], way[i + 1 :]
        apart = start[i + 1 :] - start[i]
        cross = r[0] * s[:, 1] - r[1] * s[:, 0]
        with np.errstate(divide="ignore", invalid="ignore"):
            t = (apart[:, 0] * s[:, 1] - apart[:, 1] * s[:, 0]) / cross
            u = (apart[:, 0] * r[1] - apart[:, 1] * r[0]) / cross
        for j in np.flatnonzero((t >= 0.0) & (t <= 1.0) & (u >= 0.0) & (u <= 1.0)):
            cuts[i].append(float(t[j]))
            cuts[i + 1 + int(j)].append(float(u[j]))
    found = []
    for p, w, at in zip(start, way, cuts, strict=True):
        marks = p + np.unique(at)[:, None] * w
        found.append(np.stack([marks[:-1], marks[1:]], axis=1))
    return np.concatenate(found)


def _winding(start: FloatArray, end: FloatArray, points: FloatArray) -> FloatArray:
    """(k,) how often closed curves wind around points (k, 2), counter-clockwise."""
    found = np.zeros(len(points))
    way = end - start
    for first in range(0, len(points), AT_ONCE):
        p = points[first : first + AT_ONCE, None]
        left = way[:, 0] * (p[..., 1] - start[:, 1]) - way[:, 1] * (p[..., 0] - start[:, 0])
        up: BoolArray = (start[:, 1] <= p[..., 1]) & (end[:, 1] > p[..., 1]) & (left > 0.0)
        down: BoolArray = (start[:, 1] > p[..., 1]) & (end[:, 1] <= p[..., 1]) & (left < 0.0)
        found[first : first + AT_ONCE] = up.sum(axis=1) - down.sum(axis=1)
    return found


def _chained(pieces: FloatArray, least: float) -> list[FloatArray]:
    """Loops of edges (m, 2, 2), each of which begins where another ends; the nearest, where they differ by rounding."""
    left = list(range(len(pieces)))
    loops = []
    while left:
        chain = [left.pop(0)]
        while left:
            gap = np.linalg.norm(pieces[left, 0] - pieces[chain[-1], 1], axis=1)
            home = float(np.linalg.norm(pieces[chain[0], 0] - pieces[chain[-1], 1]))
            k = int(np.argmin(gap))
            if home <= gap[k]:
                break
            chain.append(left.pop(k))
        loop = _clean(pieces[chain, 0], least)
        if len(loop) > 2:
            loops.append(loop)
    return loops
