"""Checks of the arguments that the generators share."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

from isocloth.base.errors import InputError, InputTypeError

ELEMENTS = ("triangle", "quad")

#: more nodes or elements than this would not fit into memory: a slip of the keyboard
MOST_NODES = 1_000_000


def length(name: str, value: Any) -> float:
    """A positive finite length in m."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InputTypeError(f"{name} is {value!r}, expected a number of metres")
    number = float(value)
    if not (math.isfinite(number) and number > 0.0):
        raise InputError(f"{name} is {number}, expected a positive finite number of metres")
    return number


def count(name: str, value: Any, *, least: int, most: int | None = MOST_NODES) -> int:
    """An integer no smaller than `least`, and of things that need memory no larger than `most`."""
    try:
        if isinstance(value, bool):
            raise InputTypeError
        number = operator.index(value)
    except TypeError:
        raise InputTypeError(f"{name} is {value!r}, expected an integer") from None
    if number < least:
        raise InputError(f"{name} is {number}, expected at least {least}")
    if most is not None and number > most:
        raise InputError(f"{name} is {number}, expected at most {most}: more would not fit into memory")
    return number


def grid_shape(shape: Any, names: tuple[str, str], least: tuple[int, int]) -> tuple[int, int]:
    """Two node counts, each no smaller than its own least value."""
    try:
        first, second = shape
    except (TypeError, ValueError):
        raise InputTypeError(f"shape is {shape!r}, expected two node counts ({names[0]}, {names[1]})") from None
    counts = (
        count(f"shape[0] (nodes {names[0]})", first, least=least[0]),
        count(f"shape[1] (nodes {names[1]})", second, least=least[1]),
    )
    if counts[0] * counts[1] > MOST_NODES:
        raise InputError(
            f"shape is {counts}, {counts[0] * counts[1]} nodes: expected at most {MOST_NODES} in all, more would not "
            "fit into memory"
        )
    return counts


def element(value: Any, allowed: tuple[str, ...] = ELEMENTS) -> str:
    """The name of an element."""
    if not isinstance(value, str):
        raise InputTypeError(f"element is {value!r}, expected one of {', '.join(map(repr, allowed))}")
    if value not in allowed:
        raise InputError(f"element is {value!r}, expected one of {', '.join(map(repr, allowed))}")
    return value
