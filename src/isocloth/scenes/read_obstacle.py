"""An [[obstacle]] table: a body, how rough it is and how it moves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from isocloth.meshes.units import LARGEST
from isocloth.scenes.model import ObstaclePlan, Vector
from isocloth.scenes.motions import Hold
from isocloth.scenes.read_motion import read_motion
from isocloth.scenes.read_rotation import read_rotation
from isocloth.scenes.table import Table, as_vector

#: fields of every kind and what they are; a * marks a required one
KINDS: dict[str, dict[str, str]] = {
    "floor": {"height": "height", "extent": "length"},
    "plane": {"point": "point*", "normal": "direction*", "extent": "length"},
    "sphere": {"centre": "point*", "radius": "length*"},
    "cylinder": {"a": "point*", "b": "point*", "radius": "length*"},
    "capsule": {"a": "point*", "b": "point*", "radius": "length*"},
    "box": {"centre": "point*", "size": "size*"},
    "points": {"points": "points*", "centre": "point"},
    "stick": {"a": "point*", "b": "point*", "radius": "length*", "pieces": "count"},
    "mesh": {"path": "path", "scale": "scale", "centre": "point"},
}


def read_obstacle(table: Table, folder: Path, timestep: float) -> ObstaclePlan:
    """Read the table; paths in it are relative to `folder`."""
    kind = table.choice("kind", tuple(KINDS), None)
    if not kind:  # the other fields depend on it: reading them would only add noise
        return ObstaclePlan(kind="floor")
    sizes = {key: value for key, what in KINDS[kind].items() if (value := _size(table, key, what)) is not None}
    path, scale = sizes.pop("path", None), sizes.pop("scale", 1.0)
    plan = ObstaclePlan(
        kind=kind,
        sizes=sizes,
        file=folder / path if path else None,
        scale=scale,
        friction=table.number(
            "friction", 0.3, unit="(no unit)", least=0.0, hint="0 is slippery, 0.3 is cloth on smooth wood"
        ),
        velocity=table.vector("velocity", "m/s"),
        spin=table.vector("spin", "degrees/s"),
        rotation=read_rotation(table),
        motion=read_motion(table, folder, timestep),
        name=table.text("name", ""),
    )
    if plan.velocity is not None and not isinstance(plan.motion, Hold):
        table.complain("velocity", "a motion is given already; drop one of them")
    _foreign_sizes(table, kind)
    table.close()
    return plan


def _size(table: Table, key: str, what: str) -> Any:
    """The value of a field, or None where the file leaves it to the default."""
    if not table.has(key) and not what.endswith("*") and what != "path":
        table.take(key)
        return None
    what = what.rstrip("*")
    if what == "path":
        return table.text(key)
    if what == "scale":
        return table.number(key, 1.0, unit="m per unit of the file", above=0.0)
    if what == "length":
        return table.length(key)
    if what == "height":
        return table.number(key, 0.0, unit="m", least=-LARGEST, most=LARGEST)
    if what == "count":
        return table.integer(key, 10, least=1)
    if what == "points":
        return _points(table, key)
    return read_vector(table, key, what)


def read_vector(table: Table, key: str, what: str) -> Vector | None:
    """A required point, direction or size, or None where it is missing or wrong."""
    if not table.has(key):
        table.take(key)
        table.complain(key, f"is missing; give [x, y, z]{'' if what == 'direction' else ' in m'}")
        return None
    vector = table.vector(key, "any unit" if what == "direction" else "m")
    if vector is None:
        return None
    if what == "size" and min(vector) <= 0.0:
        table.complain(key, "expected three positive lengths in m")
    elif what == "direction" and not any(vector):
        table.complain(key, "expected a vector that is not zero")
    elif what != "direction" and max(map(abs, vector)) > LARGEST:
        table.complain(key, f"is more than {LARGEST:g} m away or large; is it in cm? Expected m")
    return vector


def _points(table: Table, key: str) -> list[Vector] | None:
    value = table.take(key)
    points = [as_vector(row) for row in value] if isinstance(value, list) else []
    found = [point for point in points if point is not None]
    if not points or len(found) != len(points):
        table.complain(key, "expected points in m, such as [[0, 0, 1], [0.5, 0, 1]]")
        return None
    return found


def _foreign_sizes(table: Table, kind: str) -> None:
    """A field of another kind deserves a better message than "unknown"."""
    for key in table.data:
        owners = [name for name, fields in KINDS.items() if key in fields]
        if owners and kind not in owners:
            table.take(key)
            mine = ", ".join(KINDS[kind])
            table.complain(key, f"belongs to kind {' or '.join(map(repr, owners))}; {kind!r} has {mine}: leave it out")
