"""From the columns of a file to the markers of a cloth: which belong to it, and where on it they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, RecordingError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.recordings.axes import infer_up, turned
from isocloth.recordings.grid import Grid, find_grid, measured_size, sheet
from isocloth.recordings.names import fabric_of, from_name, size_of
from isocloth.recordings.recording import Recording
from isocloth.recordings.tracks import follow, without_torn

#: a distance between two markers of the cloth may exceed that in the first frame by this factor, not more
RIGID = 1.25
#: frames that are tried as the first complete one
ATTEMPTS = 40
#: a file's cloth may be larger or smaller than its name says by this share, by how markers are put on it
MISFIT = 0.1


def cloth_of(
    times: FloatArray,
    columns: FloatArray,
    names: Sequence[str],
    *,
    name: str,
    units: str,
    up: str | None,
    path: str = "",
    held: Sequence[str] | None = None,
    size: tuple[float, float] | None = None,
    grid: tuple[int, int] | None = None,
    cloth: Sequence[str] | None = None,
    fabric: Fabric | None = None,
    clean: bool = True,
    notes: Sequence[str] = (),
    metadata: dict[str, Any] | None = None,
) -> Recording:
    """A recording from columns (T, c, 3) in m: the axes turned, labels mended, the grid found."""
    listed = [str(n) for n in names]
    for wanted in (*(held or ()), *(cloth or ())):
        if str(wanted) not in listed:
            raise RecordingError(f"there is no marker {wanted!r} in {name!r}; there are {', '.join(listed)}")
    if len(times) < 2:
        raise RecordingError(
            f"{name!r} is empty: it has no frames" if len(times) == 0 else f"{name!r} has one frame; a motion needs two"
        )
    said = from_name(path or name)
    about = {**said, **(metadata or {})}
    told = list(notes)
    seen: BoolArray = np.asarray(np.isfinite(columns[:, :, 0]).any(axis=0))
    if not seen.any():
        raise RecordingError(f"no marker is seen in any frame of {name!r}")
    for c in np.flatnonzero(~seen):
        if not _unlabelled(listed[c]) or (cloth is not None and listed[c] in cloth):
            raise RecordingError(
                f"marker {listed[c]!r} is missing in all {len(times)} frames of {name!r}; it cannot be part of the "
                "cloth: take its column out of the file"
            )
    columns, listed = columns[:, seen], [n for n, s in zip(listed, seen, strict=True) if s]
    if up is None:
        candidates = _cloth_columns(columns, listed, cloth)
        inside = [
            int(np.flatnonzero(candidates == listed.index(h))[0]) for h in held or () if listed.index(h) in candidates
        ]
        up = infer_up(columns[:, candidates], inside or None)
        told.append(f"{up} of the file points up (inferred)")
    points = turned(columns, up)
    common: dict[str, Any] = {"units": units, "up": up, "name": name, "metadata": about}
    common["fabric"] = fabric if fabric is not None else fabric_of(said)
    start = _first_grid(points, listed, cloth, grid) if clean else None
    if start is None:
        if grid is not None:
            raise RecordingError(
                f"no frame of {name!r} shows a grid of {grid[0]} x {grid[1]} markers; the mesh does not fit them: say "
                "which markers are on the cloth (cloth=[...]), or leave the grid out"
            )
        if clean:
            told.append("no grid of markers was found: there is no mesh")
        keep = list(range(len(listed))) if cloth is None else [listed.index(str(c)) for c in cloth]
        labels = [listed[c] for c in keep]
        rest = {listed[c]: points[:, c] for c in range(len(listed)) if c not in keep}
        hold = [labels.index(str(h)) for h in held or ()]
        return Recording(
            times=times, positions=points[:, keep], labels=labels, held=np.array(hold, dtype=np.int64), notes=told,
            others=rest, **common,
        )  # fmt: skip
    frame, order = start
    shape = (int(order.shape[0]), int(order.shape[1]))
    chosen = order.ravel()
    flat = points[frame][order]
    spacing = float(
        min(np.linalg.norm(np.diff(flat, axis=0), axis=2).min(), np.linalg.norm(np.diff(flat, axis=1), axis=2).min())
    )
    tracks = follow(times, points, listed, frame, chosen, spacing)
    told += tracks.notes
    measured = measured_size(tracks.positions.reshape(len(times), *shape, 3))
    given = size if size is not None else size_of(said, shape, measured)
    if given is None:
        given = measured
        told.append(f"size {given[0]:.3f} x {given[1]:.3f} m measured between markers")
    else:
        _check_fit(name, given, measured)
    mesh = sheet(shape, given)
    positions, torn = without_torn(tracks.positions, mesh.edges, mesh.edge_lengths)
    if torn:
        told.append(f"{torn} points too far from their neighbours are left out")
    labels = [listed[c] for c in chosen]
    hold = [0, shape[1] - 1] if held is None else [_index(labels, h, name) for h in held]
    rest = {listed[c]: points[:, c] for c in range(len(listed)) if c not in tracks.used}
    return Recording(
        times=times, positions=positions, labels=labels, mesh=mesh, held=np.array(hold, dtype=np.int64), notes=told,
        others=rest, **common,
    )  # fmt: skip


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
