"""The derivative of the Gauss linking integral of two segments when their ends B and D are lifted.

    dGLI(AB, CD) = d/de GLI(A(B + e n), C(D + e n)) at e = 0        (thesis 7.7, n = e3)

Two segments in one plane have GLI = 0; their dGLI still tells how they lie to each other. It is even under reflection
in a plane normal to n: what is folded over and what is folded under in the same way have the same dGLI.

The integral is the solid angle of a parallelogram (`gli`). Moving a corner q of it by v changes the solid angle by what
the two sides at q sweep. Along the side from p to q the motion is u v, 0 <= u <= 1, and

    int_0^1 u du v . (p x q) / |p + u (q - p)|^3 = v . (p x q) / (|q| (|p| |q| + p . q))

exactly. Lifting B and D moves AD by n, BC by -n, and leaves AC and BD alone: four such terms are the whole derivative,
coplanar or not. It is singular only where an end of a segment lies on the other one. Unit 1/m.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.distance import Point, dot, minus
from isocloth.states.gli import cross
from isocloth.states.segments import Touching, corner, pairs, resolve_touching, touch

UP = (0.0, 0.0, 1.0)


def dgli(
    A: ArrayLike,
    B: ArrayLike,
    C: ArrayLike,
    D: ArrayLike,
    direction: ArrayLike = UP,
    *,
    touching: Touching = "raise",
) -> FloatArray:
    """Derivative of the Gauss linking integral of AB and CD when B and D move along a unit vector, in 1/m.

    A, B, C, D : ends (..., 3) in m; leading axes broadcast.
    direction : (3,), of any length but zero: the normal of the table.
    touching : "raise" (default) refuses pairs that touch or cross, where there is no derivative; "nan" marks them.

    Returns an array of the broadcast leading shape. Symmetric: dgli(A, B, C, D) = dgli(C, D, A, B); reversing
    both segments changes the sign.
    """
    n = unit(direction)
    ends, shape = pairs(A, B, C, D)
    values, touched = _dgli(ends, (float(n[0]), float(n[1]), float(n[2])))
    return resolve_touching(values, touched, shape, touching)


def unit(direction: ArrayLike) -> FloatArray:
    """A direction (3,) at unit length."""
    v = np.asarray(direction, dtype=np.float64)
    if v.shape != (3,) or not np.isfinite(v).all() or not v.any():
        raise InputError(f"direction is {v.tolist()}, expected 3 finite numbers, not all zero")
    v = v / np.abs(v).max()  # squares of very small or large numbers would be lost
    return np.asarray(v / np.linalg.norm(v))


@kernel
def _dgli(ends: FloatArray, n: Point) -> tuple[FloatArray, BoolArray]:
    values = np.empty(len(ends))
    touched = np.zeros(len(ends), dtype=np.bool_)
    for i in range(len(ends)):
        a, b, c, d = corner(ends, i, 0), corner(ends, i, 1), corner(ends, i, 2), corner(ends, i, 3)
        ac, ad, bc, bd = minus(c, a), minus(d, a), minus(c, b), minus(d, b)
        # sides AC -> BC -> BD -> AD -> AC; a side that ends in q and one that begins there have opposite signs
        lifted = _swept(ac, ad, n) - _swept(bd, ad, n)
        lowered = _swept(bd, bc, n) - _swept(ac, bc, n)
        values[i] = (lifted - lowered) / (4.0 * math.pi)
        touched[i] = touch(a, b, c, d)
    return values, touched


@kernel
def _swept(p: Point, q: Point, n: Point) -> float:
    """Solid angle per length that the side from p to q sweeps when q moves along n, in 1/m."""
    lp, lq = math.sqrt(dot(p, p)), math.sqrt(dot(q, q))
    # |p| |q| + p . q cancels when the angle between p and q is near pi; its other form does not
    scalar = dot(p, q)
    normal = cross(p, q)
    if scalar < 0.0:
        square = dot(normal, normal)
        if square == 0.0:  # the origin lies on the side
            return math.nan
        return dot(n, normal) * (lp * lq - scalar) / (lq * square)
    if lp == 0.0 or lq == 0.0:
        return math.nan
    return dot(n, normal) / (lq * (lp * lq + scalar))
