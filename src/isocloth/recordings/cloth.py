"""From the columns of a file to the markers of a cloth: which belong to it, and where on it they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import InputError, RecordingError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.recordings.axes import infer_up, turned
from isocloth.recordings.bodies import stick_among
from isocloth.recordings.fields import Columns, LoadOptions, RecordingFields
from isocloth.recordings.grid import Grid, find_grid, measured_size, sheet
from isocloth.recordings.names import fabric_of, from_name, size_of
from isocloth.recordings.tracks import follow, without_torn

#: a distance between two markers of the cloth may exceed that in the first frame by this factor, not more
RIGID = 1.25
#: frames that are tried as the first complete one
ATTEMPTS = 40
#: a file's cloth may be larger or smaller than its name says by this share, by how markers are put on it
MISFIT = 0.1


def cloth_fields(columns: Columns, file: Path, options: LoadOptions) -> RecordingFields:
    """Fields of a recording from the columns of a file: the axes turned, labels mended, the grid found."""
    name, held, cloth = file.stem, options.held, options.cloth
    listed = [str(n) for n in columns.names]
    for wanted in (*(held or ()), *(cloth or ())):
        if str(wanted) not in listed:
            raise RecordingError(f"there is no marker {wanted!r} in {name!r}; there are {', '.join(listed)}")
    times = columns.times
    if len(times) < 2:
        raise RecordingError(
            f"{name!r} {'is empty: it has no frames' if len(times) == 0 else 'has one frame'}; a motion needs two"
        )
    said = from_name(str(file))
    told = list(columns.notes)
    seen = _seen_columns(columns.positions, listed, name, cloth)
    points, listed = columns.positions[:, seen], [n for n, s in zip(listed, seen, strict=True) if s]
    up = columns.up
    if up is None:
        candidates = _cloth_columns(points, listed, cloth)
        inside = [
            int(np.flatnonzero(candidates == listed.index(h))[0]) for h in held or () if listed.index(h) in candidates
        ]
        up = infer_up(points[:, candidates], inside or None)
        told.append(f"{up} of the file points up (inferred)")
    points = turned(points, up)
    start = _first_grid(points, listed, cloth, options.grid) if options.clean else None
    if start is None:
        found = _without_grid(times, points, listed, name, options, told)
    else:
        found = _on_grid(_Grid(*start, times, points, listed), name, said, options, told)
    if said.get("motion") == "hit" and options.bodies is None:
        labelled = {n: x for n, x in found["others"].items() if not _unlabelled(n)}
        if (stick := stick_among(labelled)) is not None:
            found["bodies"] = {"stick": stick}
            told.append(f"markers {stick.ends[0]!r} and {stick.ends[1]!r} are the ends of a stick (inferred)")
    found |= {
        "notes": told, "units": columns.units, "up": up, "name": name,
        "metadata": {**said, **columns.metadata},
        "fabric": options.fabric if options.fabric is not None else fabric_of(said),
    }  # fmt: skip
    return found


def _seen_columns(points: FloatArray, names: list[str], name: str, cloth: Sequence[str] | None) -> BoolArray:
    """(c,) columns with a point in some frame; raises if a labelled marker has none."""
    seen: BoolArray = np.asarray(np.isfinite(points[:, :, 0]).any(axis=0))
    if not seen.any():
        raise RecordingError(f"no marker is seen in any frame of {name!r}; check its columns")
    for c in np.flatnonzero(~seen):
        if not _unlabelled(names[c]) or (cloth is not None and names[c] in cloth):
            raise RecordingError(
                f"marker {names[c]!r} is missing in all {len(points)} frames of {name!r}; it cannot be part of the "
                "cloth: take its column out of the file"
            )
    return seen


def _without_grid(
    times: FloatArray, points: FloatArray, names: list[str], name: str, options: LoadOptions, told: list[str]
) -> RecordingFields:
    """Fields of markers without a mesh, because no grid was found or looked for; adds to the notes `told`."""
    if options.grid is not None:
        raise RecordingError(
            f"no frame of {name!r} shows a grid of {options.grid[0]} x {options.grid[1]} markers; the mesh does not "
            "fit them: say which markers are on the cloth (cloth=[...]), or leave the grid out"
        )
    if options.clean:
        told.append("no grid of markers was found: there is no mesh")
    keep = list(range(len(names))) if options.cloth is None else [names.index(str(c)) for c in options.cloth]
    labels = [names[c] for c in keep]
    hold = [labels.index(str(h)) for h in options.held or ()]
    return {
        "times": times, "positions": points[:, keep], "labels": labels, "held": np.array(hold, dtype=np.int64),
        "others": {names[c]: points[:, c] for c in range(len(names)) if c not in keep},
    }  # fmt: skip


class _Grid(NamedTuple):
    """Columns of a file with a frame that shows a grid, and the columns in its rows and columns."""

    frame: int
    order: IntArray  # (rows, columns)
    times: FloatArray
    points: FloatArray
    names: list[str]


def _on_grid(grid: _Grid, name: str, said: dict[str, Any], options: LoadOptions, told: list[str]) -> RecordingFields:
    """Fields of the markers of a grid, followed through all frames, with the mesh between them; adds to `told`."""
    frame, order, times, points, names = grid
    shape = (int(order.shape[0]), int(order.shape[1]))
    chosen = order.ravel()
    flat = points[frame][order]
    spacing = float(
        min(np.linalg.norm(np.diff(flat, axis=0), axis=2).min(), np.linalg.norm(np.diff(flat, axis=1), axis=2).min())
    )
    tracks = follow(times, points, names, frame, chosen, spacing)
    told += tracks.notes
    measured = measured_size(tracks.positions.reshape(len(times), *shape, 3))
    given = options.size if options.size is not None else size_of(said, shape, measured)
    if given is None:
        given = measured
        told.append(f"size {given[0]:.3f} x {given[1]:.3f} m measured between markers")
    else:
        _check_fit(name, given, measured)
    mesh = sheet(shape, given)
    positions, torn = without_torn(tracks.positions, mesh.edges, mesh.edge_lengths)
    if torn:
        told.append(f"{torn} points too far from their neighbours are left out")
    labels = [names[c] for c in chosen]
    held = options.held
    hold = [0, shape[1] - 1] if held is None else [_index(labels, h, name) for h in held]
    return {
        "times": times, "positions": positions, "labels": labels, "mesh": mesh,
        "held": np.array(hold, dtype=np.int64),
        "others": {names[c]: points[:, c] for c in range(len(names)) if c not in tracks.used},
    }  # fmt: skip


def _index(labels: list[str], label: str, name: str) -> int:
    if str(label) not in labels:
        raise RecordingError(f"held marker {label!r} of {name!r} is not on the cloth; there are {', '.join(labels)}")
    return labels.index(str(label))


def _unlabelled(label: str) -> bool:
    return label == "" or label.lower().startswith("unlabel")


def _check_fit(name: str, given: tuple[float, float], measured: tuple[float, float]) -> None:
    if len(given) != 2 or not all(np.isfinite(x) and x > 0 for x in given):
        raise InputError(f"size = {given!r}: expected (width, height) of the cloth in m")
    for side, want, got in zip(("width", "height"), given, measured, strict=True):
        if abs(got / want - 1.0) > MISFIT:
            raise RecordingError(
                f"the {side} of {name!r} is {got:.3g} m between its markers, but {want:.3g} m was given: the mesh does "
                "not fit the markers; give the distance between the outermost markers as size=(width, height), or "
                "check the units"
            )


def _cloth_columns(columns: FloatArray, names: list[str], cloth: Sequence[str] | None) -> IntArray:
    """Columns that may be markers of the cloth: the most that do not get farther apart than they were."""
    if cloth is not None:
        return np.array([names.index(str(c)) for c in cloth], dtype=np.int64)
    often = np.flatnonzero(np.isfinite(columns[:, :, 0]).mean(axis=0) > 0.2)
    frame = columns[int(np.argmax(np.isfinite(columns[:, often, 0]).sum(axis=1)))]
    return _together(columns, often[np.isfinite(frame[often, 0])], frame)


def _together(columns: FloatArray, candidates: IntArray, frame: FloatArray) -> IntArray:
    """Of candidates seen in a frame, the largest group that an inextensible sheet could join.

    Two markers are joined if they are near, compared with all others, and their distance hardly ever exceeds that in
    the frame, in which the sheet is taken to be flat.
    """
    k = len(candidates)
    if k < 3:
        return candidates
    apart = np.linalg.norm(frame[candidates][:, None] - frame[candidates][None], axis=2)
    nearest = np.sort(apart + np.where(np.eye(k, dtype=bool), np.inf, 0.0), axis=1)
    reach = 1.7 * np.median(nearest[:, 1])  # rows and columns, and most diagonals
    label = np.arange(k)
    some = columns[:: max(1, len(columns) // 400)]
    for i in range(k):
        for j in range(i + 1, k):
            if apart[i, j] > reach:
                continue
            ratio = np.linalg.norm(some[:, candidates[i]] - some[:, candidates[j]], axis=1) / apart[i, j]
            ratio = ratio[np.isfinite(ratio)]
            # exchanged labels break a pair for part of the time: the lower half must still hold
            if len(ratio) and np.median(ratio) < RIGID:
                label[label == label[j]] = label[i]
    values, counts = np.unique(label, return_counts=True)
    return candidates[label == values[int(np.argmax(counts))]]


def _first_grid(
    points: FloatArray, names: list[str], cloth: Sequence[str] | None, shape: tuple[int, int] | None
) -> tuple[int, IntArray] | None:
    """The first frame that shows the largest grid, and the columns in its rows and columns."""
    seen = np.isfinite(points[:, :, 0])
    allowed = np.array([cloth is None or n in {str(c) for c in cloth} for n in names])
    patterns: dict[bytes, int] = {}
    for f in range(len(points)):
        patterns.setdefault((seen[f] & allowed).tobytes(), f)
    frames = sorted(patterns.values(), key=lambda f: (-int((seen[f] & allowed).sum()), f))[:ATTEMPTS]
    best: tuple[int, int, IntArray] | None = None
    for f in frames:
        visible = np.flatnonzero(seen[f] & allowed)
        if best is not None and best[0] >= len(visible):
            break  # a larger grid cannot come any more
        for group in _groups(points, visible, names, points[f]):
            found: Grid | None = find_grid(points[f, group], shape) if len(group) >= 4 else None
            if found is None:
                continue
            size = found.order.size
            if best is None or (size, -f) > (best[0], -best[1]):
                best = (size, f, group[found.order])
    return None if best is None else (best[1], best[2])


def _groups(points: FloatArray, visible: IntArray, names: list[str], frame: FloatArray) -> list[IntArray]:
    """Sets of columns that may be the cloth: what an inextensible sheet joins, then the labelled ones, then all."""
    labelled = np.array([c for c in visible if not _unlabelled(names[c])], dtype=np.int64)
    groups = [_together(points, visible, frame)]
    if len(labelled) >= 4:
        groups += [_together(points, labelled, frame), labelled]
    # numbered labels as in the published set: 1 to 20 or 1 to 12 are on the cloth, further ones on a stick
    for count in (20, 12):
        numbered = [c for c in visible if names[c].isdigit() and 1 <= int(names[c]) <= count]
        if len(numbered) == count:
            groups.append(np.array(numbered, dtype=np.int64))
    return groups
