"""The reader that a file needs, and the fields of a recording that it finds."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.errors import RecordingError
from isocloth.base.files import existing_file
from isocloth.base.numeric import as_array, check_flag, shown
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.recordings import arrays as files
from isocloth.recordings.axes import infer_up, turned
from isocloth.recordings.bodies import Body
from isocloth.recordings.cloth import cloth_fields
from isocloth.recordings.fields import Columns, LoadOptions, RecordingFields
from isocloth.recordings.grid import sheet
from isocloth.recordings.motive import looks_like_motive, read_motive, read_text
from isocloth.recordings.robot import is_robot_run, robot_fields
from isocloth.recordings.simulated import simulated_fields
from isocloth.recordings.tables import read_table
from isocloth.recordings.units import metres, seconds
from isocloth.trajectory import FORMAT as TRAJECTORY
from isocloth.trajectory import Trajectory


def load_fields(
    path: str | os.PathLike[str],
    *,
    units: str | None = None,
    up: str | None = None,
    held: Sequence[str] | None = None,
    size: tuple[float, float] | None = None,
    grid: tuple[int, int] | None = None,
    cloth: Sequence[str] | None = None,
    fabric: Fabric | None = None,
    bodies: Mapping[str, Body] | None = None,
    time_units: str = "s",
    clean: bool = True,
) -> RecordingFields:
    """Fields of the recording in a file; arguments as of `Recording.load`."""
    check_flag(clean, "clean")
    options = LoadOptions(held, size, grid, cloth, fabric, bodies, clean)
    found = _read(path, units, up, options)
    if bodies is not None:
        found["bodies"] = bodies
    if (second := seconds(time_units)) != 1.0:
        found["times"] = second * np.asarray(found["times"], dtype=np.float64)
    return found


def _read(path: str | os.PathLike[str], units: str | None, up: str | None, options: LoadOptions) -> RecordingFields:
    """Fields of the recording in a file, by the reader that it needs."""
    file = existing_file(path, "recording", "no {what} at {path}")
    if file.stat().st_size == 0:
        raise RecordingError(f"{str(path)!r} is empty (0 bytes): expected a recording; export it again")
    suffix = file.suffix.lower()
    if suffix in (".csv", ".txt", ".tsv"):
        text = read_text(file)
        if looks_like_motive(text):
            export = read_motive(file, text, units)
            about = {k: v for k, v in export.take.items() if k and v}
            columns = Columns(
                export.times, export.columns, export.names, export.units, up, export.notes, {"take": about}
            )
        else:
            table = read_table(file, text, units)
            columns = Columns(table.times, table.columns, table.names, table.units, up or table.up)
        return cloth_fields(columns, file, options)
    if suffix not in files.SUFFIXES:
        raise RecordingError(
            f"{str(path)!r} is no recording: expected .csv (Motive or plain), {', '.join(files.SUFFIXES)}"
        )
    found = files.read_arrays(file)
    mark = files.text_of(found, "format")
    if mark not in (files.FORMAT, TRAJECTORY) and not is_robot_run(found):
        return _arrays(found, file, units, up, options)
    _check_known(file, {"units": units, "up": up, **options._asdict()})
    if mark == files.FORMAT:
        fields = files.saved_fields(found, file.stem)
    elif mark == TRAJECTORY:
        fields = simulated_fields(Trajectory.load(file), name=file.stem)
    else:
        return robot_fields(found, file.stem, options.fabric)
    if options.fabric is not None:
        fields["fabric"] = options.fabric
    return fields


def _check_known(file: Path, given: Mapping[str, Any]) -> None:
    """Raise if something else is said about a recording than what its file knows: it would be left out, silently."""
    other = given["units"] is not None and metres(given["units"]) != 1.0
    for name, value, words in (("units", "m", "in metres"), ("up", "z", "with z up")):
        if other if name == "units" else given[name] not in (None, value):
            raise RecordingError(
                f"{name} = {given[name]!r} for {file.name!r}, a file whose format is {words}, whatever it was made "
                f"from: expected {value!r}; leave it out, and scale or turn the positions before they are saved"
            )
    for name in ("held", "size", "grid", "cloth"):
        if given[name] is not None:
            raise RecordingError(
                f"{name} = {shown(given[name])} for {file.name!r}, a file that knows its own {name}: expected none; "
                "leave it out, or save the recording anew with another"
            )


def _arrays(
    found: dict[str, np.ndarray], file: Path, units: str | None, up: str | None, options: LoadOptions
) -> RecordingFields:
    """Fields from arrays of others: times, positions (T, k, 3) or (T, rows, columns, 3), perhaps labels and rest."""
    times = as_array(files.pick(found, files.TIMES, file.name, "times"), f"times of {file.name!r}", "(T,)")
    points = as_array(
        files.pick(found, files.POSITIONS, file.name, "positions"), f"positions of {file.name!r}", "(T, markers, 3)"
    )
    unit = units or files.text_of(found, "units") or "m"
    shape = points.shape
    if points.ndim not in (3, 4) or shape[-1] != 3 or shape[0] != len(times):
        raise RecordingError(
            f"positions of {file.name!r} have shape {shape} for {len(times)} times: expected (T, markers, 3) or "
            "(T, rows, columns, 3)"
        )
    points = points.reshape(shape[0], -1, 3) * metres(unit)
    labels = _labels(found, points.shape[1])
    axis = up or files.text_of(found, "up")
    if "rest" in found and "faces" in found:
        mesh: Mesh | None = Mesh(
            np.asarray(found["rest"], dtype=np.float64) * metres(unit), found["faces"], orient=True
        )
    elif len(shape) == 4:
        width_height = options.size or (found["size"].tolist() if "size" in found else None)
        if width_height is None:
            raise RecordingError(f"{file.name!r} holds a grid of nodes, but not its size; give size=(width, height)")
        mesh = sheet((shape[1], shape[2]), (float(width_height[0]), float(width_height[1])))
    else:
        mesh = None
    given = options.held
    if mesh is None and given is None and "held" in found:
        given = [labels[int(i)] for i in np.ravel(found["held"])]
    if mesh is None:
        return cloth_fields(Columns(times, points, labels, unit, axis), file, options._replace(held=given))
    if given is not None:
        held = [labels.index(str(h)) for h in given]
    elif "held" in found:
        held = [int(i) for i in np.ravel(found["held"])]
    else:
        held = [0, shape[2] - 1] if len(shape) == 4 else []
    axis = axis or infer_up(points, held or None)
    return RecordingFields(
        times=times, positions=turned(points, axis), labels=labels, mesh=mesh, held=np.array(held, dtype=np.int64),
        fabric=options.fabric, units=unit, up=axis, name=file.stem,
    )  # fmt: skip


def _labels(found: dict[str, np.ndarray], count: int) -> list[str]:
    stored = found.get("labels")
    if stored is None:
        return [str(i + 1) for i in range(count)]
    if stored.ndim == 0:
        return [str(x) for x in json.loads(str(stored))]
    return [str(x) for x in stored.ravel()]
