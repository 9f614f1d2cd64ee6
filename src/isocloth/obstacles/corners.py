"""Sharp convex corners of bodies, which faces of the cloth do not pass: of boxes, and points all around rims.

A body that is known by its distance from points does not see a face of the cloth that is larger than itself: it goes
through between the nodes, beside the lines that bend over its edges. So bodies name their corners. Meshes need not: all
their vertices meet the faces of the cloth.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray

#: points of a rim: between two of them it rises over the chord by 3 % of its radius
AROUND = 12


class SharpCorners(NamedTuple):
    """Corners of a body."""

    place: FloatArray  #: (k, 3) m
    inward: FloatArray  #: (k, 3, 3) unit vectors along the edges that end there, into the body; of rims two are alike
    depth: FloatArray  #: (k,) m: how deep the body is behind a corner; what is further in is nearer to another side

    def placed(self, turn: FloatArray, centre: FloatArray) -> SharpCorners:
        """The same corners of a body that was turned by (3, 3) and moved by (3,) m."""
        return SharpCorners(self.place @ turn.T + centre, self.inward @ turn.T, self.depth)


NO_CORNERS = SharpCorners(np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros(0))


def box_corners(size: FloatArray) -> SharpCorners:
    """The eight corners of a cuboid with edge lengths size (3,), m."""
    sign = np.array([[a, b, c] for a in (-1.0, 1.0) for b in (-1.0, 1.0) for c in (-1.0, 1.0)])
    return SharpCorners(0.5 * sign * size, -sign[:, :, None] * np.eye(3), np.full(8, 0.5 * size.min()))


def rim_corners(frame: FloatArray, length: float, radius: float) -> SharpCorners:
    """Points of the two rims of a cylinder about the origin, along the last column of the rotation `frame` (3, 3)."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    out = np.cos(angle)[:, None] * frame[:, 0] + np.sin(angle)[:, None] * frame[:, 1]
    ends = [sign * frame[:, 2] for sign in (-1.0, 1.0)]
    place = np.concatenate([radius * out + 0.5 * length * end for end in ends])
    inward = [np.stack([-out, -out, np.broadcast_to(-end, out.shape)], axis=1) for end in ends]
    return SharpCorners(place, np.concatenate(inward), np.full(2 * AROUND, min(0.5 * length, radius)))
