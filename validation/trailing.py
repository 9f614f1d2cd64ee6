"""A sheet that trails behind its corners over a table on which they lower it, until half of it lies.

Were it put down upright, as in the paper, how it folds would be decided by less than a micrometre, and nothing could be
learnt from it: simulated twice, once along the recorded path, it ends 37 mm apart.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh, rectangle
from validation.scenes import hanging, smooth_ramp

SHEET = (0.42, 0.594)  # m
SPEED, LOW = 0.5, 0.25  # m/s of the corners; m, their height over the table at the end
ABOVE = 0.1  # m, of the lower edge over the table at the start


class Trailing(NamedTuple):
    """The sheet at rest and where it starts, its corners, and where they are at a time in s: (2, 3) m."""

    flat: Mesh
    sheet: Mesh
    held: IntArray
    path: Callable[[float], FloatArray]


def trailing(shape: tuple[int, int], lowered: float, stopped: float) -> Trailing:
    """A sheet of so many nodes, whose corners are down after `lowered` and stand still after `stopped` seconds."""
    flat = rectangle(*SHEET, shape)
    sheet = hanging(flat)
    sheet = sheet.with_vertices(sheet.vertices + np.array([0.0, 0.0, SHEET[1] + ABOVE]))
    held = np.array([sheet.nearest([x, 0.0, SHEET[1] + ABOVE]) for x in (0.0, SHEET[0])])
    start = sheet.vertices[held]

    def path(t: float) -> FloatArray:
        moving = max(min(t, stopped) - 0.3, 0.0)
        gone = SPEED * (0.5 * moving**2 if moving < 1.0 else moving - 0.5)
        down = (SHEET[1] + ABOVE - LOW) * smooth_ramp(t - 1.0, lowered - 1.0)
        return start + np.array([0.0, -gone, -down])

    return Trailing(flat, sheet, held, path)
