"""Boxes side by side on a sheet, in rows from the bottom left."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray

#: width over height of a sheet that is aimed at
ASPECT = 1.5


def in_rows(sizes: FloatArray, gap: float) -> FloatArray:
    """(k, 2) lower left corners of boxes (k, 2), in their order, at least `gap` apart; the first at (0, 0)."""
    outer = sizes + gap
    width = max(float(outer[:, 0].max()), float(np.sqrt(ASPECT * outer.prod(axis=1).sum())))
    corners = np.zeros_like(sizes)
    x = y = top = 0.0
    for k, (wide, high) in enumerate(outer):
        if x > 0.0 and x + wide > width * (1.0 + 1e-9):
            x, y = 0.0, y + top
            top = 0.0
        corners[k] = x, y
        x, top = x + wide, max(top, high)
    return corners
