"""What the recorded cloth met, as data: a table known by its height, a stick known by the markers at its ends."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from isocloth.base.errors import RecordingError
from isocloth.base.typing import FloatArray

#: m, of the stick of the published recordings
PUBLISHED_RADIUS = 0.0075
#: two markers are the ends of a stick if their distance changes by less than this share of it
RIGID = 0.02
#: m, between which the lengths of sticks lie
SHORTEST, LONGEST = 0.2, 2.0


@dataclass(frozen=True, kw_only=True)
class TableTop:
    """A horizontal table.

    height: m, z of its top. extent: m, (least x, largest x, least y, largest y); None = it ends nowhere near the cloth.
    friction: coefficient mu with the cloth, where it is not fitted.
    """

    height: float
    extent: tuple[float, float, float, float] | None = None
    friction: float = 0.3

    def __post_init__(self) -> None:
        object.__setattr__(self, "height", _number("height", self.height, "m"))
        object.__setattr__(self, "friction", _coefficient(self.friction))
        if self.extent is None:
            return
        try:
            extent = tuple(float(x) for x in self.extent)
        except (TypeError, ValueError):
            extent = ()
        if len(extent) != 4 or not np.isfinite(extent).all() or extent[0] >= extent[1] or extent[2] >= extent[3]:
            raise RecordingError(
                f"extent = {self.extent!r} of a table: expected (least x, largest x, least y, largest y) in m"
            )
        object.__setattr__(self, "extent", extent)


@dataclass(frozen=True, kw_only=True)
class StickMarkers:
    """A stick with a marker at each end.

    ends: labels of the two markers, recorded beside the cloth. radius: m. friction: coefficient mu with the cloth,
    where it is not fitted; the stick of the published recordings is polished.
    """

    ends: tuple[str, str]
    radius: float = PUBLISHED_RADIUS
    friction: float = 0.0

    def __post_init__(self) -> None:
        ends = (self.ends,) if isinstance(self.ends, str) else tuple(str(x) for x in self.ends)
        if len(ends) != 2 or ends[0] == ends[1]:
            raise RecordingError(f"ends = {self.ends!r} of a stick: expected the labels of its two end markers")
        object.__setattr__(self, "ends", ends)
        radius = _number("radius", self.radius, "m")
        if radius <= 0.0:
            raise RecordingError(f"radius = {radius:g} m of a stick: expected a positive length")
        object.__setattr__(self, "radius", radius)
        object.__setattr__(self, "friction", _coefficient(self.friction))


Body = TableTop | StickMarkers
KINDS: dict[str, Callable[..., Body]] = {"table": TableTop, "stick": StickMarkers}


def _number(name: str, value: Any, unit: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = float("nan")
    if not np.isfinite(number):
        raise RecordingError(f"{name} = {value!r}: expected a finite number in {unit}")
    return number


def _coefficient(value: Any) -> float:
    number = _number("friction", value, "1")
    if number < 0.0:
        raise RecordingError(f"friction = {number:g}: expected a coefficient, zero or positive")
    return number


def checked(bodies: Mapping[str, Body], others: Mapping[str, FloatArray]) -> dict[str, Body]:
    """Bodies by name, whose markers are among those recorded beside the cloth."""
    found: dict[str, Body] = {}
    for name, body in bodies.items():
        if not isinstance(body, TableTop | StickMarkers):
            raise RecordingError(
                f"body {name!r} is {type(body).__name__}: expected ic.recordings.TableTop(height=...) or "
                "ic.recordings.StickMarkers(ends=(label, label))"
            )
        for label in body.ends if isinstance(body, StickMarkers) else ():
            if label not in others:
                raise RecordingError(
                    f"the end {label!r} of the stick {name!r} was not recorded beside the cloth; there are "
                    f"{', '.join(others) or 'no markers'} beside it"
                )
        found[str(name)] = body
    return found


def stick_among(others: Mapping[str, FloatArray]) -> StickMarkers | None:
    """The stick among markers (T, 3) m recorded beside the cloth: the only two whose distance stays the same."""
    found = []
    for a, b in itertools.combinations(others, 2):
        length = np.linalg.norm(others[a] - others[b], axis=1)
        length = length[np.isfinite(length)]
        if 2 * len(length) < len(others[a]):
            continue
        middle = float(np.median(length))
        moved = min(float(np.nanmax(np.nanstd(others[x], axis=0))) for x in (a, b))
        if SHORTEST < middle < LONGEST and np.std(length) < RIGID * middle < moved:
            found.append(StickMarkers(ends=(a, b)))
    return found[0] if len(found) == 1 else None


def to_plain(bodies: Mapping[str, Body]) -> dict[str, Any]:
    """Plain data for JSON."""
    return {
        name: {"kind": "table" if isinstance(body, TableTop) else "stick", **asdict(body)}
        for name, body in bodies.items()
    }


def from_plain(data: Mapping[str, Any]) -> dict[str, Body]:
    """Bodies of plain data that `to_plain` made."""
    found: dict[str, Body] = {}
    for name, plain in data.items():
        given = dict(plain)
        kind = given.pop("kind")
        found[name] = KINDS[kind](**{k: tuple(v) if isinstance(v, list) else v for k, v in given.items()})
    return found
