"""The motion of a [[grasp]] table."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.meshes.units import LARGEST
from isocloth.scenes.motions import Follow, Hold, Line, Motion, Oscillate
from isocloth.scenes.path_file import read_path_file
from isocloth.scenes.table import Table, as_number, as_vector

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}

#: fields of every motion
FIELDS = {
    "hold": (),
    "oscillate": ("amplitude", "axis", "frequency", "start", "stop", "ramp"),
    "line": ("to", "by", "start", "stop", "smooth"),
    "path": ("times", "positions", "file", "relative", "smooth"),
}


def read_motion(table: Table, folder: Path, timestep: float) -> Motion:
    """Read the fields of the motion that the table names."""
    name = table.choice("motion", tuple(FIELDS), "hold")
    readers: dict[str, Callable[[], Motion]] = {
        "hold": Hold,
        "oscillate": lambda: _oscillate(table, timestep),
        "line": lambda: _line(table),
        "path": lambda: _path(table, folder),
    }
    motion = readers[name]() if name else Hold()
    for key in table.data:
        owners = [owner for owner, keys in FIELDS.items() if key in keys]
        if owners and name not in owners:
            table.take(key)
            if name:
                table.complain(
                    key,
                    f"belongs to motion {' or '.join(map(repr, owners))}, not {name!r}; leave it out",
                )
    return motion


def _oscillate(table: Table, timestep: float) -> Oscillate:
    start, stop = _span(table, math.inf)
    # half a period must hold a step at least, or the samples show another motion
    frequency = table.number("frequency", unit="Hz", above=0.0)
    if frequency * timestep > 0.5:
        table.complain(
            "frequency",
            f"expected at most {0.5 / timestep:g} Hz, half the rate of steps of {timestep:g} s; "
            "is it in Hz? Or use a smaller timestep",
        )
    ramp = table.number("ramp", 0.0, unit="s", least=0.0)
    if 2.0 * ramp > stop - start:
        table.complain(
            "ramp", f"two ramps do not fit between start and stop, {stop - start:g} s; expected less than half of it"
        )
    return Oscillate(
        amplitude=_amplitude(table) or (0.0, 0.0, 0.0), frequency=frequency, start=start, stop=stop, ramp=ramp
    )


def _amplitude(table: Table) -> tuple[float, float, float] | None:
    """A vector, or a number along an axis."""
    value, axis = table.take("amplitude"), table.take("axis")
    if isinstance(value, list):
        if axis is not None:
            table.complain("axis", "amplitude is a vector already; drop one of them")
        vector = table.vector("amplitude", "m")
        size = 0.0 if vector is None else max(map(abs, vector))
    else:
        size = table.number("amplitude", unit="m (or a vector of three)")
        direction = AXES.get(axis) if isinstance(axis, str) else as_vector(axis)
        length = 0.0 if direction is None else math.hypot(*direction)
        if direction is None or not 0.0 < length < math.inf:
            if axis is None:
                table.complain("axis", 'is missing; give "x", "y", "z" or [x, y, z] as the amplitude is a number')
            else:
                table.complain("axis", 'expected "x", "y", "z" or a vector [x, y, z] that is not zero')
            return None
        x, y, z = (size * part / length for part in direction)
        vector = (x, y, z)
    if abs(size) > LARGEST:
        table.complain("amplitude", f"{size:g} m is larger than any cloth; is it in cm? Expected m")
    return vector


def _line(table: Table) -> Line:
    start, stop = _span(table, None)
    to, by = table.vector("to", "m"), table.vector("by", "m")
    if table.has("to") == table.has("by"):
        both = "both are" if table.has("to") else "none is"
        table.problems.add(f"{table.name}.to", f"a line needs one of `to` and `by`, but {both} given")
    return Line(to=to, by=by, start=start, stop=stop, smooth=table.flag("smooth", True))


def _span(table: Table, default_stop: float | None) -> tuple[float, float]:
    start = table.number("start", 0.0, unit="s", least=0.0)
    stop = table.number("stop", default_stop, unit="s")
    if stop <= start:
        table.complain("stop", f"expected later than start, {start:g} s")
    return start, stop


def _path(table: Table, folder: Path) -> Motion:
    smooth, relative = table.flag("smooth", False), table.flag("relative", False)
    inline = [key for key in ("times", "positions") if table.has(key)]
    for key in ("times", "positions", "file"):
        table.take(key)
    if table.has("file") == bool(inline):
        both = "both are" if inline else "none is"
        table.problems.add(
            f"{table.name}.positions", f"a path needs `times` and `positions`, or a `file`, but {both} given"
        )
        return Hold()
    if table.has("file"):
        name = table.text("file")
        if not name:
            return Hold()
        try:
            times, positions = read_path_file(folder / name)
        except (OSError, ValueError) as error:
            table.complain("file", str(error))
            return Hold()
        return Follow(times=times, positions=positions, smooth=smooth, relative=relative)
    found = _times(table), _positions(table)
    if found[0] is None or found[1] is None:
        return Hold()
    if len(found[0]) != len(found[1]):
        table.complain("positions", f"{len(found[1])} positions for {len(found[0])} times; expected as many")
        return Hold()
    return Follow(times=found[0], positions=found[1], smooth=smooth, relative=relative)


def _times(table: Table) -> FloatArray | None:
    value = table.take("times")
    numbers = [as_number(t) for t in value] if isinstance(value, list) else []
    times = np.array([t for t in numbers if t is not None])
    if len(numbers) < 2 or len(times) != len(numbers) or not (np.diff(times) > 0).all():
        table.complain("times", "expected two or more increasing times in s, such as [0.0, 0.5, 1.0]")
        return None
    return times


def _positions(table: Table) -> FloatArray | None:
    """(T, k, 3) from a list of points, or from a list of lists of points."""
    value = table.take("positions")
    rows: list[Any] = value if isinstance(value, list) else []
    groups = [[row] if as_vector(row) is not None else row for row in rows]
    points = [[as_vector(p) for p in group] if isinstance(group, list) else [None] for group in groups]
    counts = {len(group) for group in points}
    if len(counts) != 1 or 0 in counts or any(p is None for group in points for p in group):
        table.complain(
            "positions",
            "expected one point [x, y, z] in m for every time, or one list of points, a point per held node",
        )
        return None
    return np.array(points, dtype=np.float64)
