"""What would pass through a solid within a step: where it enters, and that it has to stay on that side.

A point inside a body is pushed out on the nearer side, which is the wrong one if it has come through more than half of
it, and nobody pushes what has come through. So points are followed in the frame of the body, whichever of the two
moves: in steps as long as the distance from it, in which they cannot enter (conservative advancement). Only points are
that begin on one side and end on another that looks the other way; around a corner a straight way through the body is
none that anything takes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.obstacles import Solid

#: m: as near as that a point has entered
ENTERED = 1e-6

#: after so many advances a point counts as entering where it is: early, never late
ADVANCES = 64


class Entries(NamedTuple):
    """Points that enter a body on their way."""

    point: IntArray  #: (k,) which of the points
    normal: FloatArray  #: (k, 3) of the body where they enter
    gap: FloatArray  #: (k,) m: height over the plane across that, at the end of the way; negative


class Way:
    """Points of the cloth from `start` (m, 3), seen in the frame of a solid at the end of a step, s, on their way."""

    def __init__(self, solid: Solid, start: FloatArray, begin: float, end: float) -> None:
        self.solid, self.end = solid, end
        self.start = start
        if not solid.still:
            (turn, centre), (later, there) = solid.pose(begin), solid.pose(end)
            self.start = (start - centre) @ (turn @ later.T) + there
        self.gap, self.normal = solid.gaps(self.start, end)

    def entries(self, y: FloatArray, normal: FloatArray) -> Entries | None:
        """Those that come through on the straight way to y (m, 3), where the normals of the body are (m, 3)."""
        way = y - self.start
        away = np.flatnonzero(np.einsum("md,md->m", self.normal, normal) < 0.0)
        if len(away) == 0:
            return None
        long = np.sqrt(np.einsum("md,md->m", way[away], way[away]))
        chosen = (self.gap[away] > 0.0) & (long > self.gap[away])
        which, long = away[chosen], long[chosen]
        if len(which) == 0:
            return None
        share, gap, at = np.zeros(len(which)), self.gap[which].copy(), self.start[which].copy()
        side = self.normal[which].copy()
        for _ in range(ADVANCES):
            going = np.flatnonzero((gap > ENTERED) & (share < 1.0))
            if len(going) == 0:
                break
            share[going] = np.minimum(share[going] + gap[going] / long[going], 1.0)
            at[going] = self.start[which[going]] + share[going, None] * way[which[going]]
            gap[going], side[going] = self.solid.gaps(at[going], self.end)
        entered = share < 1.0
        if not entered.any():
            return None
        which, side = which[entered], side[entered]
        return Entries(which, side, np.einsum("kd,kd->k", side, y[which] - at[entered]))
