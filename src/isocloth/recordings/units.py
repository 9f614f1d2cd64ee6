"""Units of length and time by name."""

from __future__ import annotations

from isocloth.base.errors import RecordingError

_METRES = {
    "m": 1.0, "meter": 1.0, "metre": 1.0, "cm": 0.01, "centimeter": 0.01, "centimetre": 0.01, "mm": 1e-3,
    "millimeter": 1e-3, "millimetre": 1e-3, "in": 0.0254, "inch": 0.0254, "inche": 0.0254, "ft": 0.3048,
    "foot": 0.3048, "feet": 0.3048,
}  # fmt: skip


def metres(unit: str) -> float:
    """Metres in a unit: "mm", "Millimeters", ..."""
    key = str(unit).strip().lower()
    for name in (key, key.rstrip("s")):
        if name in _METRES:
            return _METRES[name]
    raise RecordingError(f"length unit {unit!r} is unknown; give units='m', 'cm', 'mm', 'in' or 'ft'")


#: seconds in a unit of time
SECONDS = {"s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "milliseconds": 1e-3}


def seconds(unit: str) -> float:
    """Seconds in a unit: "s", "ms", ..."""
    key = str(unit).strip().lower()
    if key not in SECONDS:
        raise RecordingError(f"unit of time {unit!r} is unknown; give time_units='s' or 'ms'")
    return SECONDS[key]


def is_unit(text: str) -> bool:
    """Whether a text names a length unit."""
    try:
        metres(text)
    except RecordingError:
        return False
    return True
