"""Where hands take a folded cloth, and how they carry it over a line."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.states import Fold

#: of the direction in which a flap is widest, to both sides of the direction away from the line: more than a side is
#: turned against its line, and so little that the tip of a corner is the farthest point in both
ASKEW = np.deg2rad(15.0)
#: a corner of the cloth that is this share of the way of the farthest hand from the line has a hand of its own, so
#: that layers of a folded flap are carried together
FAR = 0.8
#: shares of the time: when the hands are down, and when they begin to draw outwards what trails behind them, from this
#: share of its length to that. A flap held at its full length would drag the rest of the cloth, because a crease is
#: round and takes some of it; one that is lowered from above would be pushed together
DOWN, DRAW, NEAR, TAUT = 0.75, 0.6, 0.8, 0.98
LOW = 0.02  # m over where they will let go, while they draw
#: m around a place in which a hand looks for what it has to lay its part on
AROUND = 0.08


def minimum_jerk(s: float) -> float:
    """Minimum-jerk profile: from 0 to 1 while s does, with no speed and acceleration at both ends."""
    s = min(max(s, 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def across(positions: FloatArray, fold: Fold) -> FloatArray:
    """Distances (n,) from the line of a fold in the view from above, in m, positive on the side that moves."""
    return np.asarray((positions[:, :2] - np.array(fold.point)) @ direction(fold))


def direction(fold: Fold) -> FloatArray:
    """Unit vector (2,) into the side that moves."""
    return np.array(fold.towards) / np.hypot(*fold.towards)


def grasped(mesh: Mesh, positions: FloatArray, fold: Fold) -> IntArray:
    """Nodes that hands take to fold a cloth as it lies: the tip of a corner, or both ends of a side."""
    away = across(positions, fold)
    moving = np.flatnonzero(away > 0.0)
    if not moving.size:
        raise InputError(
            f"nothing lies beyond the line of {fold}; give a point within the cloth and a direction towards its side"
        )
    corners = mesh.corners[away[mesh.corners] > FAR * away.max()]
    return np.unique(np.concatenate([_ends(positions, moving, direction(fold)), corners]))


def held(positions: FloatArray, fold: Fold) -> IntArray:
    """Nodes that other hands hold in place meanwhile: both ends of what lies, far from the line.

    A flap that is larger than what lies would push it off its place when it comes down.
    """
    lies = np.flatnonzero(across(positions, fold) <= 0.0)
    return _ends(positions, lies, -direction(fold)) if lies.size else lies


def _ends(positions: FloatArray, nodes: IntArray, n: FloatArray) -> IntArray:
    """The nodes farthest in the directions a little to the right and to the left of n (2,)."""
    aside = np.array([-n[1], n[0]])
    views = [np.cos(a) * n + np.sin(a) * aside for a in (-ASKEW, ASKEW)]
    return np.unique([nodes[np.argmax(positions[nodes, :2] @ v)] for v in views])


def fold_path(
    positions: FloatArray, nodes: IntArray, fold: Fold, start: float, duration: float, gap: float
) -> Callable[[float], FloatArray]:
    """Path of hands at nodes: about the line, nearer to it than the cloth is long, down, and outwards again.

    start, duration : s. gap : m over what lies where they arrive.
    """
    begin, away, n = positions[nodes].copy(), across(positions, fold)[nodes], direction(fold)
    landing = begin[:, :2] - 2.0 * away[:, None] * n
    lies = across(positions, fold) <= 0.0
    height = np.array([_top(positions[lies], place) for place in landing]) + gap

    def path(t: float) -> FloatArray:
        s = (t - start) / duration
        turned, drawn = minimum_jerk(s / DOWN), minimum_jerk((s - DRAW) / (1.0 - DRAW))
        reach = away * (1.0 - (1.0 - NEAR) * turned + (TAUT - NEAR) * drawn)
        at = begin.copy()
        at[:, :2] -= (away - reach * np.cos(np.pi * turned))[:, None] * n
        at[:, 2] += (height - begin[:, 2] + LOW) * turned - LOW * drawn + reach * np.sin(np.pi * turned)
        return at

    return path


def place_path(
    begin: FloatArray, end: FloatArray, high: float, start: float, duration: float
) -> Callable[[float], FloatArray]:
    """Path of hands (k, 3) m that lift what they hold, and put it down at `end`."""

    def path(t: float) -> FloatArray:
        s = minimum_jerk((t - start) / duration)
        at = begin + s * (end - begin)
        at[:, 2] += high * np.sin(np.pi * s)
        return at

    return path


def _top(positions: FloatArray, place: FloatArray) -> float:
    near = np.linalg.norm(positions[:, :2] - place, axis=1) < AROUND
    return float(positions[near, 2].max()) if near.any() else 0.0
