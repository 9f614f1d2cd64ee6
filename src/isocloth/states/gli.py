"""The Gauss linking integral of two segments.

    GLI(AB, CD) = 1/(4 pi) int int (y - x) . (y' x x') / |y - x|^3 ds dt        x on AB, y on CD        (thesis 7.1)

The differences y - x fill a flat parallelogram with the corners AC, BC, BD, AD (vectors), and the integral is its solid
angle seen from the origin, positive when det(AB, AC, AD) is. Cut along AC - BD it is two triangles, each with a solid
angle in closed form (van Oosterom and Strackee, 1983), which has no arcsines to lose digits in and needs no sign chosen
afterwards. Dimensionless, between -1/2 and 1/2.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.distance import Point, dot, minus
from isocloth.states.segments import Touching, corner, pairs, resolve_touching, touch


def gli(A: ArrayLike, B: ArrayLike, C: ArrayLike, D: ArrayLike, *, touching: Touching = "raise") -> FloatArray:
    """Gauss linking integral of the segments AB and CD, with the factor 1/(4 pi).

    A, B, C, D : ends (..., 3) in m; leading axes broadcast.
    touching : "raise" (default) refuses pairs that touch or cross, where the integral jumps; "nan" marks them.

    Returns an array of the broadcast leading shape. A segment without length links nothing: 0.
    """
    ends, shape = pairs(A, B, C, D)
    values, touched = _gli(ends)
    return resolve_touching(values, touched, shape, touching)


@kernel
def _gli(ends: FloatArray) -> tuple[FloatArray, BoolArray]:
    values = np.empty(len(ends))
    touched = np.zeros(len(ends), dtype=np.bool_)
    for i in range(len(ends)):
        a, b, c, d = corner(ends, i, 0), corner(ends, i, 1), corner(ends, i, 2), corner(ends, i, 3)
        ac, ad, bc, bd = minus(c, a), minus(d, a), minus(c, b), minus(d, b)
        values[i] = (solid_angle(ac, bc, bd) + solid_angle(ac, bd, ad)) / (4.0 * math.pi)
        touched[i] = touch(a, b, c, d)
    return values, touched


@kernel
def cross(a: Point, b: Point) -> Point:
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@kernel
def solid_angle(a: Point, b: Point, c: Point) -> float:
    """Solid angle of the triangle abc seen from the origin, in sr, with the sign of det(a, b, c)."""
    la, lb, lc = math.sqrt(dot(a, a)), math.sqrt(dot(b, b)), math.sqrt(dot(c, c))
    volume = dot(a, cross(b, c))
    return 2.0 * math.atan2(volume, la * lb * lc + dot(a, b) * lc + dot(b, c) * la + dot(c, a) * lb)
