"""Other CSV files: a column for the time, and three columns for every marker.

The header names them: `time` (or `t`), and `7_x`, `7.x`, `7 x`, `x7` or `x_7` for marker 7; units may follow in
brackets, as in `time (s), 7_x (mm)`. Lines that begin with # are comments; `# units: mm` and `# up: y` are read.
"""

from __future__ import annotations

import csv
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import RecordingError
from isocloth.base.typing import FloatArray
from isocloth.recordings.motive import delimiter_of, number
from isocloth.recordings.units import SECONDS, is_unit, metres

_UNIT = re.compile(r"\s*[\[(]\s*([^\])]+?)\s*[\])]\s*$")
_SUFFIXED = re.compile(r"^(.+?)[ _.:\-]+([xyz])$", re.IGNORECASE)
_PREFIXED = re.compile(r"^([xyz])[ _.:\-]*(.+)$", re.IGNORECASE)


class Table(NamedTuple):
    """What a file holds, in m and s, axes of the file."""

    times: FloatArray
    columns: FloatArray  # (T, c, 3)
    names: list[str]
    units: str
    up: str | None


def read_table(path: Path, text: str, units: str | None) -> Table:
    """Read a CSV file."""
    said = {}
    lines = []
    for line in text.splitlines():
        if line.lstrip().startswith("#"):
            if ":" in line:
                key, _, value = line.lstrip("# \t").partition(":")
                said[key.strip().lower()] = value.strip().strip(",;")
        elif line.strip():
            lines.append(line)
    if not lines:
        raise RecordingError(f"{path.name!r} is empty: it has no frames; a motion needs two")
    cut = delimiter_of(lines[0])
    titles = [c.strip() for c in next(csv.reader([lines[0]], delimiter=cut))]
    bare, marks = [], []
    for title in titles:
        found = _UNIT.search(title)
        bare.append(title[: found.start()].strip() if found else title)
        marks.append(found[1] if found else "")
    time_at = next((i for i, t in enumerate(bare) if t.lower() in ("time", "t", "seconds", "timestamp")), None)
    places = _places(bare, time_at)
    if time_at is None or not places:
        raise RecordingError(
            f"{path.name!r} has columns {', '.join(titles[:6])} ...: expected 'time' and three columns for every "
            "marker, e.g. 'time,1_x,1_y,1_z', or a Motive export"
        )
    lengths = {marks[c] for columns in places.values() for c in columns if is_unit(marks[c])}
    if len(lengths) > 1:
        raise RecordingError(f"{path.name!r} mixes the units {', '.join(sorted(lengths))}; use one of them")
    unit = units or (lengths.pop() if lengths else said.get("units", "m"))
    second = SECONDS.get(marks[time_at].lower(), 1.0)
    comma = cut == ";"
    rows = [row for row in csv.reader(lines[1:], delimiter=cut) if any(c.strip() for c in row)]
    width = len(titles)
    cells = np.array(
        [[number(c, comma) for c in (row + [""] * width)[:width]] for row in rows], dtype=np.float64
    ).reshape(-1, width)
    cells = cells[np.isfinite(cells[:, time_at])]
    columns = np.stack([cells[:, list(c)] for c in places.values()], axis=1) * metres(unit)
    columns[~np.isfinite(columns).all(axis=2)] = np.nan
    return Table(cells[:, time_at] * second, columns, list(places), unit, said.get("up"))


def _places(titles: list[str], time_at: int | None) -> dict[str, tuple[int, int, int]]:
    """Marker -> its columns of x, y and z."""
    found: dict[str, dict[str, int]] = {}
    for i, title in enumerate(titles):
        if i == time_at:
            continue
        if match := _SUFFIXED.match(title):
            found.setdefault(match[1], {})[match[2].lower()] = i
        elif match := _PREFIXED.match(title):
            found.setdefault(match[2], {})[match[1].lower()] = i
    return {n: (c["x"], c["y"], c["z"]) for n, c in found.items() if set(c) == {"x", "y", "z"}}
