"""Pairs of segments AB and CD: their broadcast arrays, and where they touch."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.distance import Point, minus, segment_segment

Touching = Literal["raise", "nan"]

#: distance, relative to the largest coordinate, at which two segments touch: what rounding makes of a common point
TOUCHING = 1e-13


def pairs(A: ArrayLike, B: ArrayLike, C: ArrayLike, D: ArrayLike) -> tuple[FloatArray, tuple[int, ...]]:
    """The four ends of all pairs (n, 4, 3), in m, and the shape of the leading axes they were broadcast from."""
    ends = []
    for name, value in zip("ABCD", (A, B, C, D), strict=True):
        array = np.asarray(value, dtype=np.float64)
        if array.ndim == 0 or array.shape[-1] != 3:
            raise InputError(f"{name} has shape {array.shape}, expected (..., 3): points in space, in m")
        if not np.isfinite(array).all():
            where = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"{name}{list(where)} is {array[where]}, expected finite coordinates in m")
        ends.append(array)
    try:
        shape = np.broadcast_shapes(*(end.shape[:-1] for end in ends))
    except ValueError:
        shapes = ", ".join(f"{name} {end.shape}" for name, end in zip("ABCD", ends, strict=True))
        raise InputError(
            f"the shapes {shapes} do not broadcast; give equal leading axes, or axes of length 1"
        ) from None
    stacked = np.empty((*shape, 4, 3))
    for k, end in enumerate(ends):
        stacked[..., k, :] = end
    return stacked.reshape(-1, 4, 3), shape


def resolve_touching(values: FloatArray, touching: BoolArray, shape: tuple[int, ...], how: Touching) -> FloatArray:
    """The values (n,) in their shape, with an error or NaN where segments touch."""
    if how not in ("raise", "nan"):
        raise InputError(f"touching is {how!r}, expected 'raise' or 'nan'")
    if touching.any():
        if how == "raise":
            first = [int(i) for i in np.unravel_index(int(np.argmax(touching)), shape)] if shape else []
            raise InputError(
                f"{int(touching.sum())} of {touching.size} pairs of segments touch or cross (first at index {first}), "
                "where the integral has no value; leave them out, or give touching='nan' to get NaN there"
            )
        values[touching] = np.nan
    return values.reshape(shape)


@kernel
def corner(x: FloatArray, i: int, k: int) -> Point:
    """End k of pair i."""
    return x[i, k, 0], x[i, k, 1], x[i, k, 2]


@kernel
def touch(a: Point, b: Point, c: Point, d: Point) -> bool:
    """Whether the segments ab and cd have a common point, to rounding."""
    largest = 0.0
    for k in range(3):
        largest = max(largest, abs(a[k]), abs(b[k]), abs(c[k]), abs(d[k]))
    # from an end of cd, to lose no digits far from the origin
    zero = (0.0, 0.0, 0.0)
    square, _, _ = segment_segment(minus(a, c), minus(b, c), zero, minus(d, c))
    return bool(square <= (TOUCHING * largest) ** 2)
