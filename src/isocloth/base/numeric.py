"""What counts as a number where one is asked for, in one place for all rooms."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.typing import FloatArray


def as_float(value: Any) -> float | None:
    """A number as a float; None for anything else.

    float() alone also takes texts ("0.1"), truth values and arrays with one entry, which are mistakes more often than
    numbers.
    """
    if isinstance(value, str | bytes | bytearray | bool | np.bool_) or getattr(value, "ndim", 0) > 0:
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def shown(value: Any, longest: int = 60) -> str:
    """A value for a message, short enough to read."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # an integer of thousands of digits has no repr
        text = f"a very large {type(value).__name__}"
    return text if len(text) <= longest else text[: longest - 4] + " ..."


def as_array(value: Any, what: str, wanted: str, error: type[InputError] | None = None) -> FloatArray:
    """A copy as float64, C-ordered; `what` it is and which shape is `wanted` are for the message.

    Raises InputTypeError, or another kind of error, where there is a None or something else that is no number.
    """
    try:
        if value is not None:
            return np.array(value, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        pass
    raise (error or InputTypeError)(f"{what} is {shown(value)}: expected numbers of shape {wanted}")


def is_one_of(value: Any, names: Collection[str]) -> bool:
    """Whether it is one of some names; comparing names with an array would compare its entries."""
    return isinstance(value, str) and value in names


def check_count(value: Any, what: str, least: int = 0) -> None:
    """Raise unless it is a whole number, not less than `least`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputTypeError(f"{what} is {shown(value)}: expected a whole number, at least {least}")
    if value < least:
        raise InputError(f"{what} is {value}: expected a whole number, at least {least}")


def check_flag(value: Any, what: str) -> None:
    """Raise unless it is True or False; any other value, "no" say, would count as one of them."""
    if not isinstance(value, bool | np.bool_):
        raise InputTypeError(f"{what} is {shown(value)}: expected True or False")
