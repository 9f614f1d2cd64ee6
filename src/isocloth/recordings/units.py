"""Length units by name."""

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


def is_unit(text: str) -> bool:
    """Whether a text names a length unit."""
    try:
        metres(text)
    except RecordingError:
        return False
    return True
