"""Arguments that protocols share, checked."""

from __future__ import annotations

from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import shown
from isocloth.base.typing import FloatArray

#: elements along a strip, at least
FEWEST = 4


def as_values(name: str, given: Any, low: float, high: float, what: str = "") -> FloatArray:
    """Numbers (k,) from low to high in rising order, at least one."""
    try:
        values = np.sort(np.asarray(given, dtype=np.float64).ravel())
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} = {shown(given)}: expected numbers from {low:.2g} to {high:.2g}{what}") from None
    if len(values) == 0 or not (values[0] >= low and values[-1] <= high):
        raise InputError(f"{name} = {shown(given)}: expected numbers from {low:.2g} to {high:.2g}{what}")
    return values
