"""What counts as a number where one is asked for, in one place for all rooms."""

from __future__ import annotations

from typing import Any

import numpy as np


def as_float(value: Any) -> float | None:
    """A number as a float; None for anything else.

    float() alone also takes texts ("0.1"), truth values and arrays with one entry, which are mistakes more often than
    numbers.
    """
    if isinstance(value, str | bytes | bytearray | bool | np.bool_) or np.ndim(value) > 0:
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
