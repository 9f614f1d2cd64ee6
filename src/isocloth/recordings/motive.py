"""OptiTrack Motive's CSV export: several header rows, then a row per frame.

The first line holds pairs of names and values (`Length Units,Meters`); then come rows for type, name, ID, perhaps
parent, and what the columns hold, before the row that begins with `Frame`. Cells may be separated by commas, semicolons
or tabs, numbers have points or commas, and an empty cell is a marker that was not seen.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import RecordingError
from isocloth.base.typing import FloatArray
from isocloth.recordings.units import is_unit, metres


class Export(NamedTuple):
    """What a file holds, in m, as it stands there."""

    times: FloatArray
    columns: FloatArray  # (T, c, 3) m, axes of the file
    names: list[str]
    units: str
    take: dict[str, str]
    notes: list[str]


def looks_like_motive(text: str) -> bool:
    """Whether a CSV file was exported by Motive."""
    head = text[:4000]
    return head.startswith("Format Version") or ("Time (Seconds)" in head and "Position" in head)


def read_text(path: Path) -> str:
    """The text of a CSV file, in whatever encoding programs write them."""
    data = path.read_bytes()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def delimiter_of(line: str) -> str:
    """The character between the cells of a line."""
    return max(";\t,", key=line.count) if any(c in line for c in ";\t,") else ","


def number(cell: str, decimal_comma: bool) -> float:
    """A cell as a number; NaN if it is empty or no number."""
    text = cell.strip()
    if not text:
        return float("nan")
    try:
        return float(text.replace(",", ".") if decimal_comma else text)
    except ValueError:
        return float("nan")


def read_motive(path: Path, text: str, units: str | None) -> Export:
    """Read an export."""
    lines = text.splitlines()
    top = next((i for i, line in enumerate(lines) if "Time (Seconds)" in line), None)
    if top is None:
        raise RecordingError(
            f"{path.name!r} has no line with 'Frame' and 'Time (Seconds)': expected a Motive export of trajectories; "
            "export it again as CSV"
        )
    cut = delimiter_of(lines[top])
    decimal_comma = cut == ";"
    head = list(csv.reader(io.StringIO("\n".join(lines[:top])), delimiter=cut))
    take = _take(head[0] if head else [])
    titles = [c.strip() for c in next(csv.reader([lines[top]], delimiter=cut))]
    try:
        time_at = titles.index("Time (Seconds)")
    except ValueError:
        raise RecordingError(f"{path.name!r} has no column 'Time (Seconds)'; export it again as CSV") from None
    axes = titles[time_at + 1 :]
    rows = [[c.strip() for c in row] for row in head[1:] if any(c.strip() for c in row)]
    kinds, names, quantities = _header(rows, time_at + 1, len(axes))
    triples = _triples(axes, kinds, names, quantities)
    if not triples:
        raise RecordingError(f"{path.name!r} has no columns with positions of markers; export markers from Motive")
    body = list(csv.reader(lines[top + 1 :], delimiter=cut))
    times, points, notes = [], [], []
    unnumbered = 0
    for row in body:
        t = number(row[time_at], decimal_comma) if len(row) > time_at else float("nan")
        if not np.isfinite(t):
            continue
        unnumbered += not row[0].strip()
        cells = [number(c, decimal_comma) for c in row[time_at + 1 :]]
        cells += [float("nan")] * (len(axes) - len(cells))
        times.append(t)
        points.append([[cells[c] for c in triple] for _, triple in triples])
    if unnumbered:
        notes.append(f"{unnumbered} frames have no number and are kept")
    unit = units or take.get("Length Units") or ""
    if not unit or not is_unit(unit):
        raise RecordingError(
            f"the header of {path.name!r} does not say its length units ({unit!r}); give them: units='mm'"
        )
    columns = np.array(points, dtype=np.float64).reshape(len(times), len(triples), 3) * metres(unit)
    columns[~np.isfinite(columns).all(axis=2)] = np.nan
    return Export(np.array(times), columns, _different([n for n, _ in triples]), unit, take, notes)


def _take(cells: list[str]) -> dict[str, str]:
    named = [c.strip() for c in cells]
    return dict(zip(named[0::2], named[1::2], strict=False))


def _header(rows: list[list[str]], first: int, count: int) -> tuple[list[str], list[str], list[str]]:
    """Type, name and quantity of every column. Rows have titles before the data, or come in Motive's order."""

    def cells(row: list[str]) -> list[str]:
        return (row[first:] + [""] * count)[:count]

    titled = {row[i].lower(): cells(row) for row in rows for i in range(min(first, len(row))) if row[i]}
    quantities = next((cells(r) for r in rows if "Position" in r or "Rotation" in r), ["Position"] * count)
    plain = [cells(r) for r in rows if not ({"Position", "Rotation"} & set(r))]
    kinds = titled.get("type", plain[0] if plain and any("Marker" in c for c in plain[0]) else ["Marker"] * count)
    names = titled.get("name", plain[1] if len(plain) > 1 else [""] * count)
    return kinds, names, quantities


def _triples(axes: list[str], kinds: list[str], names: list[str], quantities: list[str]) -> list[Any]:
    """(name, (column of X, of Y, of Z)) of every marker; rigid bodies, bones and rotations are left out."""
    found = []
    for c in range(len(axes) - 2):
        same = names[c] == names[c + 1] == names[c + 2]
        if [a.upper() for a in axes[c : c + 3]] != ["X", "Y", "Z"] or not same:
            continue
        if "marker" not in kinds[c].lower() or "position" not in quantities[c].lower():
            continue
        found.append((_short(names[c]) or f"column {c // 3 + 1}", (c, c + 1, c + 2)))
    return found


def _short(name: str) -> str:
    """`cloth:Marker 7` and `cloth:7` are called 7: Motive puts the asset before the colon."""
    last = name.split(":")[-1].strip()
    if last.lower().startswith("marker") and last[6:].strip(" _").isdigit():
        return last[6:].strip(" _").lstrip("0") or "0"
    return last


def _different(names: list[str]) -> list[str]:
    """Names that are all different: a second `7` is called `7 (2)`."""
    count: dict[str, int] = {}
    out = []
    for name in names:
        count[name] = count.get(name, 0) + 1
        out.append(name if count[name] == 1 else f"{name} ({count[name]})")
    return out
