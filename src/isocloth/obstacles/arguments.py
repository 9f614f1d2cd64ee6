"""Checked arguments of obstacles. Every message says what was given, what was expected and what to do."""

from __future__ import annotations

import math
from typing import Any, TypeVar

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import FloatArray

Array = TypeVar("Array", bound="np.ndarray[Any, Any]")

#: a rotation matrix may be this far from orthogonal: rounding and text files, not mistakes
ORTHOGONAL = 1e-6


def number(value: Any, what: str, unit: str) -> float:
    """A finite, positive number."""
    found = _float(value, what, unit)
    if not math.isfinite(found) or found <= 0.0:
        raise InputError(f"{what} = {value!r} {unit}: expected a finite number, positive")
    return found


def finite(value: Any, what: str, unit: str) -> float:
    """A finite number."""
    found = _float(value, what, unit)
    if not math.isfinite(found):
        raise InputError(f"{what} = {value!r} {unit}: expected a finite number")
    return found


def coefficient(value: Any) -> float:
    """A coefficient of friction."""
    found = _float(value, "friction", "(no unit)")
    if math.isinf(found) and found > 0.0:
        raise InputError(
            f"friction = {value!r}: expected a finite coefficient; to hold the cloth whatever pulls at it, use a "
            "grasp, sim.grasp(nodes)"
        )
    if not math.isfinite(found) or found < 0.0:
        raise InputError(f"friction = {value!r}: expected a finite coefficient, zero (slippery) or positive")
    return found


def array(value: Any, what: str, shape: tuple[int | None, ...], unit: str = "m") -> FloatArray:
    """A copy of finite numbers of the given shape; None stands for any length of at least 1."""
    wanted = "(" + ", ".join("n" if n is None else str(n) for n in shape) + ("," if len(shape) == 1 else "") + ")"
    try:
        found = np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise InputTypeError(f"{what} = {shown(value)}: expected numbers of shape {wanted} in {unit}") from None
    fits = found.ndim == len(shape) and all(
        have == want or (want is None and have > 0) for have, want in zip(found.shape, shape, strict=True)
    )
    if not fits:
        given = f"has shape {found.shape}" if found.ndim else f"= {shown(value)}"
        raise InputError(f"{what} {given}: expected {wanted}, in {unit}")
    if not np.isfinite(found).all():
        where = [int(i) for i in np.argwhere(~np.isfinite(found))[0]]
        raise InputError(f"{what}{where} is {found[tuple(where)]}: expected finite numbers in {unit}")
    return found


def fixed(values: Array) -> Array:
    """The same array, which nothing can be written into any more."""
    values.flags.writeable = False
    return values


def direction(value: Any, what: str) -> FloatArray:
    """A unit vector (3,) along the given one."""
    found = array(value, what, (3,), "any unit")
    length = float(np.linalg.norm(found))
    if length == 0.0 or not math.isfinite(length):
        raise InputError(f"{what} = {found.tolist()}: expected a direction, a vector that is not zero")
    return found / length


def segment(a: Any, b: Any) -> tuple[FloatArray, FloatArray]:
    """Two different points (3,), m."""
    start, end = array(a, "a", (3,)), array(b, "b", (3,))
    if not float(np.linalg.norm(end - start)) > 1e-12 * max(1.0, float(np.abs(start).max())):
        raise InputError(f"a and b are the same point, {start.tolist()}: expected the two ends of an axis, apart")
    return start, end


def rotation(value: Any, what: str) -> FloatArray:
    """A rotation matrix (3, 3)."""
    matrix = array(value, what, (3, 3), "no unit")
    if np.abs(matrix @ matrix.T - np.eye(3)).max() > ORTHOGONAL:
        raise InputError(
            f"{what} is {matrix.tolist()}: expected a rotation matrix, whose columns are orthogonal and of length 1"
        )
    if np.linalg.det(matrix) < 0.0:
        raise InputError(
            f"{what} is a reflection (determinant -1), {matrix.tolist()}: expected a rotation; change the sign of a "
            "column"
        )
    return matrix


def _float(value: Any, what: str, unit: str) -> float:
    found = as_float(value)
    if found is None:
        raise InputTypeError(f"{what} = {shown(value)}: expected a number, {unit}")
    return found
