"""Developable surfaces without flat patches in closed form (Ushakov; thesis 6.2 - 6.4).

    x = g(u) - v f'(u)        y = v        z = u g(u) - int_0^u g + v (f(u) - u f'(u))

is developable over every region in which x grows or falls with u, for any f and g; its rulings are the lines of
constant u. Every developable graph z(x, y) without flat patches has this form.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike

from isocloth.base.errors import InputTypeError
from isocloth.base.typing import FloatArray


def ushakov(f: Polynomial, g: Polynomial) -> Callable[[ArrayLike, ArrayLike], FloatArray]:
    """The surface of two polynomials, as a function of (u, v) to points (..., 3)."""
    if not (isinstance(f, Polynomial) and isinstance(g, Polynomial)):
        raise InputTypeError(
            f"f and g are {type(f).__name__} and {type(g).__name__}, expected numpy.polynomial.Polynomial"
        )
    slope, whole = f.deriv(), g.integ()

    def surface(u: ArrayLike, v: ArrayLike) -> FloatArray:
        a, b = np.asarray(u, dtype=np.float64), np.asarray(v, dtype=np.float64)
        x = g(a) - b * slope(a)
        z = a * g(a) - whole(a) + whole(0.0) + b * (f(a) - a * slope(a))
        return np.stack(np.broadcast_arrays(x, b, z), axis=-1)

    return surface
