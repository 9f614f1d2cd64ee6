"""Ideal folds: a flat sheet bent over half cylinders, without mechanics.

A fold is a line on the table and a side of it that moves. Across the line the sheet runs up a cylinder whose axis lies
over the line and goes on flat: an isometry of the plane for any angle. Layers on each other are bent on concentric
cylinders. Where a fold bends an earlier fold, the sheet between two layers is strained a little: by no more than the
height of the stack over the distance on which it turns.

Such states are not those of a cloth under gravity and friction. They are exact, fast, and have the topology of the real
ones: what lies on what, and which edges cross in the view from above.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray

#: free distance between the top of what lies and the bottom of what is laid on it, m
CLEARANCE = 2e-3


@dataclass(frozen=True)
class Fold:
    """A fold about a line on the table z = 0.

    point: (x, y) of a point of the line, in m.
    towards: (x, y) direction into the side that moves, normal to the line; any length.
    angle: how far the moving side is turned, in rad; pi is laid down.
    radius: of the innermost layer at the bend, in m.
    under: whether the moving side goes below the sheet. Laid down, it lies beneath it.
    """

    point: tuple[float, float]
    towards: tuple[float, float]
    angle: float = float(np.pi)
    radius: float = 0.005
    under: bool = False

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_flag(self.under, "under")
        numbers = (*self.point, *self.towards, self.angle, self.radius)
        if len(self.point) != 2 or len(self.towards) != 2 or not np.isfinite(numbers).all():
            raise InputError(f"a fold needs finite numbers, point (x, y) and towards (x, y), but is {self}")
        if np.hypot(*self.towards) == 0.0:
            raise InputError("towards is (0, 0), expected a direction into the side that moves")
        if not 0.0 <= self.angle <= np.pi + 1e-12:
            raise InputError(f"angle is {self.angle} rad, expected 0 to pi")
        if not self.radius > 0.0:
            raise InputError(f"radius is {self.radius} m, expected a positive number")


def fold(positions: ArrayLike, by: Fold) -> FloatArray:
    """Positions (n, 3) in m after a fold: what lies on the moving side of the line is bent over it.

    The sheet lies on the table z = 0 again afterwards, also after a fold under it.
    """
    x = np.asarray(positions, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
        raise InputError(f"positions have shape {x.shape}, expected (n, 3) finite coordinates in m")
    if by.under:
        # the same, upside down
        return _landed(_bend(x * [1.0, 1.0, -1.0], by) * [1.0, 1.0, -1.0])
    return _landed(_bend(x, by))


def folded(positions: ArrayLike, folds: Sequence[Fold]) -> FloatArray:
    """Positions (n, 3) in m after several folds, one after the other."""
    x = np.asarray(positions, dtype=np.float64)
    for by in folds:
        x = fold(x, by)
    return x


def sequence(positions: ArrayLike, folds: Sequence[Fold], frames: int) -> tuple[FloatArray, FloatArray]:
    """Positions (T, n, 3) while folds are made in turn, and how far: (T, number of folds) angles in rad.

    frames : pictures of every fold, from just begun to laid down; the unfolded sheet comes first.
    """
    if frames < 1:
        raise InputError(f"frames is {frames}, expected at least one for every fold")
    x = np.asarray(positions, dtype=np.float64)
    shapes, angles = [x], [np.zeros(len(folds))]
    for k, by in enumerate(folds):
        for step in range(1, frames + 1):
            angle = by.angle * step / frames
            shapes.append(fold(x, replace(by, angle=angle)))
            angles.append(np.array([f.angle for f in folds[:k]] + [angle] + [0.0] * (len(folds) - k - 1)))
        x = shapes[-1]
    return np.array(shapes), np.array(angles)


def _bend(x: FloatArray, by: Fold) -> FloatArray:
    n = np.array(by.towards) / np.hypot(*by.towards)
    across = (x[:, :2] - by.point) @ n
    moves = across > 0.0
    if not moves.any():
        return x.copy()
    top = x[moves, 2].max()
    below = x[~moves, 2].max() if not moves.all() else top
    # the axis is so high that the inner layer has its radius and all layers land on what lies there
    axis = max(top + by.radius, 0.5 * (top + below + CLEARANCE))
    u, radius = across[moves], axis - x[moves, 2]
    turned = np.minimum(u / radius, by.angle)
    straight = u - radius * turned
    new = radius * np.sin(turned) + straight * np.cos(turned)
    result = x.copy()
    result[moves, :2] += (new - u)[:, None] * n
    result[moves, 2] = axis - radius * np.cos(turned) + straight * np.sin(turned)
    return result


def _landed(x: FloatArray) -> FloatArray:
    x[:, 2] -= x[:, 2].min()
    return x
