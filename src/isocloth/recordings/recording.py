"""A recorded motion of a real cloth: markers in time, with gaps, and what is known of the cloth they are on."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, cast

import numpy as np

from isocloth.base.errors import InputTypeError, RecordingError, UnknownNameError
from isocloth.base.numeric import as_array, as_float, shown
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.meshes.units import LARGEST
from isocloth.recordings.arrays import save_fields
from isocloth.recordings.bodies import Body, checked
from isocloth.recordings.fields import RecordingFields
from isocloth.recordings.load import load_fields
from isocloth.recordings.resample import resample, steps

#: s; frames farther apart than this show no motion of a cloth, nor do those half as far apart for so long
SLOWEST, LONGEST = 1.0, 300.0
#: markers all within this, m, are no cloth either
SMALLEST = 0.01


@dataclass(frozen=True, eq=False, kw_only=True)
class Recording:
    """Markers, or nodes of a grid, in time.

    times: (T,) s, strictly increasing, as in the file.
    positions: (T, k, 3) m, z up, NaN where a marker was not seen.
    labels: k names.
    mesh: the flat rest shape with one node per marker, in the order of the markers; None if it is not known.
    held: indices of the markers by which the cloth is held.
    held_path: (T, h, 3) m, where the held markers were by another source than the camera, e.g. a robot's tool; or None.
    fabric: what the cloth is made of, as far as the file says; None if it does not.
    others: label -> (T, 3) m, what was recorded beside the cloth (a stick, reflections).
    bodies: name -> what the cloth met: `TableTop`, or `StickMarkers` that name two of the others.
    units: length unit of the file.
    up: axis of the file that points up.
    name: of the recording.
    notes: what was mended when the file was read.
    metadata: anything JSON can hold.
    """

    times: FloatArray
    positions: FloatArray
    labels: Sequence[str] = ()
    mesh: Mesh | None = None
    held: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    held_path: FloatArray | None = None
    fabric: Fabric | None = None
    others: Mapping[str, FloatArray] = field(default_factory=dict)
    bodies: Mapping[str, Body] = field(default_factory=dict)
    units: str = "m"
    up: str = "z"
    name: str = ""
    notes: Sequence[str] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__  # the dataclass is frozen; this is where its fields become arrays
        put(self, "times", _times(self.times))
        put(self, "positions", _positions(self.positions, len(self.times)))
        k = self.positions.shape[1]
        if isinstance(self.labels, str) or not isinstance(self.labels, Iterable):
            raise InputTypeError(f"labels is {self.labels!r}: expected a list of names, one per marker")
        labels = [str(x) for x in (self.labels if len(self.labels) else range(1, k + 1))]
        if len(labels) != k or len(set(labels)) != k:
            raise RecordingError(
                f"{len(labels)} labels for {k} markers, {shown(labels)}: expected one name for each, all different"
            )
        put(self, "labels", tuple(labels))
        gone = ~np.isfinite(self.positions[:, :, 0]).any(axis=0)
        if gone.any():
            raise RecordingError(
                f"marker {labels[int(np.argmax(gone))]!r} is missing in all {len(self.times)} frames; leave it out, "
                "or check which column of the file it is"
            )
        _check_size(self.positions)
        for name, value, kind in (("mesh", self.mesh, Mesh), ("fabric", self.fabric, Fabric)):
            if value is not None and not isinstance(value, kind):
                raise InputTypeError(f"{name} is {value!r}: expected an isocloth.{kind.__name__}, or None")
        if not isinstance(self.others, Mapping) or not isinstance(self.metadata, Mapping):
            raise InputTypeError(
                f"others is {shown(self.others)} and metadata {shown(self.metadata)}: expected a dict each"
            )
        if self.mesh is not None and self.mesh.n_vertices != k:
            raise RecordingError(
                f"the mesh has {self.mesh.n_vertices} nodes for {k} markers ({self.mesh!r}); expected one node per "
                "marker, in their order"
            )
        put(self, "held", _held(self.held, k))
        if self.held_path is not None:
            path = as_array(self.held_path, "held_path", "(T, held, 3)")
            if path.shape != (len(self.times), len(self.held), 3):
                raise RecordingError(
                    f"held_path has shape {path.shape}: expected ({len(self.times)}, {len(self.held)}, 3), one "
                    "position per frame and held marker"
                )
            put(self, "held_path", path)
        others = {str(n): _other(n, x, len(self.times)) for n, x in self.others.items()}
        put(self, "others", others)
        put(self, "bodies", checked(self.bodies, others))
        put(self, "notes", tuple(str(x) for x in self.notes))
        try:
            put(self, "metadata", json.loads(json.dumps(dict(self.metadata))))
        except (TypeError, ValueError) as error:
            raise InputTypeError(
                f"metadata is {shown(self.metadata)}: expected what JSON can hold ({error}); convert arrays to lists"
            ) from None

    # -------------------------------------------------------------- what it is

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.times)

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name else ""
        return (
            f"<Recording{name}: {len(self)} frames, {self.times[0]:g} to {self.times[-1]:g} s, {len(self.labels)} "
            f"markers, {100 * self.missing_share:.1f} % missing>"
        )

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return float(self.times[-1] - self.times[0])

    @property
    def visible(self) -> BoolArray:
        """(T, k) which markers were seen."""
        return np.isfinite(self.positions[:, :, 0])

    @property
    def missing_share(self) -> float:
        """Part of all positions that is missing."""
        return float(1.0 - self.visible.mean())

    @property
    def rate(self) -> float:
        """Frames per second, by the median step."""
        return float(1.0 / np.median(np.diff(self.times)))

    @property
    def held_labels(self) -> tuple[str, ...]:
        """Names of the held markers."""
        return tuple(self.labels[i] for i in self.held)

    @property
    def size(self) -> tuple[float, float] | None:
        """Width and height of the flat cloth, m."""
        if self.mesh is None:
            return None
        low, high = self.mesh.bounds
        return float(high[0] - low[0]), float(high[1] - low[1])

    def marker(self, label: str) -> FloatArray:
        """(T, 3) m, one marker of the cloth or one recorded beside it."""
        if label in self.others:
            return self.others[label]
        if label not in self.labels:
            raise UnknownNameError(f"marker {label!r} is unknown; known are {', '.join((*self.labels, *self.others))}")
        return self.positions[:, self.labels.index(label)]

    # ------------------------------------------------------------ parts of it

    def segments(self, longest_step: float | None = None) -> list[slice]:
        """Runs of frames without a step longer than `longest_step` (s; five median steps by default)."""
        step = 5.0 / self.rate if longest_step is None else longest_step
        cuts = np.flatnonzero(np.diff(self.times) > step) + 1
        ends = [0, *(int(c) for c in cuts), len(self)]
        return [slice(a, b) for a, b in itertools.pairwise(ends)]

    def longest_segment(self, longest_step: float | None = None) -> Recording:
        """The longest run of frames without a gap in time, e.g. without a lone frame before the motion."""
        part = max(self.segments(longest_step), key=lambda s: self.times[s.stop - 1] - self.times[s.start])
        return self if part == slice(0, len(self)) else self.frames(part)

    def window(self, start: float, end: float) -> Recording:
        """The frames from `start` to `end`, s, both included."""
        if as_float(start) is None or as_float(end) is None:
            raise InputTypeError(f"the window from start = {start!r} to end = {end!r}: expected two times in s")
        inside = np.flatnonzero((self.times >= start - 1e-9) & (self.times <= end + 1e-9))
        if len(inside) < 2:
            raise RecordingError(
                f"there are {len(inside)} frames between {start:g} and {end:g} s; the recording runs from "
                f"{self.times[0]:g} to {self.times[-1]:g} s, and a motion needs two frames"
            )
        return self.frames(slice(int(inside[0]), int(inside[-1]) + 1))

    def frames(self, which: slice) -> Recording:
        """The frames of a slice."""
        return self._at(self.times[which], lambda x: x[which])

    def resampled(self, timestep: float, longest_gap: float = 0.1) -> Recording:
        """Frames every `timestep` seconds, by straight lines between what was seen.

        Where a marker was not seen for longer than `longest_gap` (s) it stays missing: nothing is made up.
        """
        times = steps(self.times, timestep)
        return self._at(times, lambda x: resample(self.times, x, times, longest_gap))

    def _at(self, times: FloatArray, change: Any) -> Recording:
        positions = change(self.positions)
        seen = np.isfinite(positions[:, :, 0]).any(axis=0)
        if not seen.all():
            lost = self.labels[int(np.argmax(~seen))]
            raise RecordingError(
                f"marker {lost!r} is never seen in the frames asked for; leave it out first: "
                f"recording.without([{lost!r}])"
            )
        return replace(
            self,
            times=times,
            positions=positions,
            held_path=None if self.held_path is None else change(self.held_path),
            others={n: change(x[:, None])[:, 0] for n, x in self.others.items()},
        )

    def without(self, labels: Sequence[str]) -> Recording:
        """Without some markers; the mesh, with a node for each, is left out too, so is a stick without its ends."""
        for label in labels:
            self.marker(label)
        gone = {name for name, body in self.bodies.items() if set(getattr(body, "ends", ())) & set(labels)}
        keep = [i for i, n in enumerate(self.labels) if n not in set(labels)]
        if not keep:
            raise RecordingError("no marker would be left; leave out fewer")
        now = {old: new for new, old in enumerate(keep)}
        held = np.array([now[int(i)] for i in self.held if int(i) in now], dtype=np.int64)
        stays = [j for j, i in enumerate(self.held) if int(i) in now]
        complete = len(keep) == len(self.labels)
        return replace(
            self,
            positions=self.positions[:, keep],
            labels=[self.labels[i] for i in keep],
            mesh=self.mesh if complete else None,
            held=held,
            held_path=None if self.held_path is None else self.held_path[:, stays],
            others={n: x for n, x in self.others.items() if n not in set(labels)},
            bodies={name: body for name, body in self.bodies.items() if name not in gone},
        )

    def with_(self, **changes: Any) -> Recording:
        """The same with other fields, e.g. `with_(fabric=ic.fabrics["denim"])`."""
        known = {f.name for f in fields(self)}
        if wrong := set(changes) - known:
            raise InputTypeError(f"a recording has no {sorted(wrong)[0]!r}; known are {', '.join(sorted(known))}")
        return replace(self, **changes)

    # ----------------------------------------------------------------- files

    @classmethod
    def load(cls, path: str | os.PathLike[str], **options: Any) -> Recording:
        """Read a recording: Motive or other CSV, NPZ, HDF5, a trajectory of isocloth, a robot run.

        Options (docs/recordings.md says more): `units`, `up`, `held` (labels), `size` (width, height in m), `grid`
        (rows, columns), `cloth` (labels of the markers on the cloth), `fabric`, `bodies` (what the cloth met),
        `time_units` ("s" or "ms"), and `clean=False` for the columns as they are in the file.
        """
        found = load_fields(path, **options)
        try:
            return cls(**found)
        except RecordingError as error:
            raise RecordingError(f"{os.fspath(path)}: {error}") from error

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write .npz or .h5, which `load` reads back."""
        save_fields(cast(RecordingFields, {f.name: getattr(self, f.name) for f in fields(self)}), path)


def _times(values: Any) -> FloatArray:
    times = as_array(values, "times of the recording", "(T,)", RecordingError)
    if times.ndim != 1:
        raise RecordingError(f"times of the recording are {shown(values)}, shape {times.shape}: expected (T,), in s")
    if len(times) == 0:
        raise RecordingError("the recording is empty: it has no frames, times []; a motion needs at least two")
    if len(times) == 1:
        raise RecordingError(f"the recording has one frame, at {times[0]} s; a motion needs at least two")
    if not np.isfinite(times).all():
        wrong = int(np.argmax(~np.isfinite(times)))
        raise RecordingError(f"the time of frame {wrong} is {times[wrong]}: expected a number of seconds")
    back = np.flatnonzero(np.diff(times) <= 0)
    if len(back):
        i = int(back[0])
        raise RecordingError(
            f"time runs backwards or stands still: frame {i} is at {times[i]} s, frame {i + 1} at {times[i + 1]} s; "
            "sort the frames, or cut the file there"
        )
    step, duration = float(np.median(np.diff(times))), float(times[-1] - times[0])
    if step > SLOWEST or (step > 0.5 * SLOWEST and duration > LONGEST):
        raise RecordingError(
            f"frames are {step:g} s apart, {duration:g} s in all: no motion of a cloth is seen so; times "
            "have to be in s. Are they in ms? Then load the file with time_units='ms', or divide them by 1000"
        )
    return times


def _positions(values: Any, frames: int) -> FloatArray:
    points = as_array(values, "positions", f"({frames}, markers, 3)", RecordingError)
    if points.ndim != 3 or points.shape[0] != frames or points.shape[1] < 1 or points.shape[2] != 3:
        raise RecordingError(f"positions have shape {points.shape}: expected ({frames}, markers, 3)")
    points[~np.isfinite(points).all(axis=2)] = np.nan  # a point with a coordinate missing is missing
    if not np.isfinite(points).any():
        raise RecordingError(
            f"no marker is seen in any frame: all positions {points.shape} are nan; check which columns they are"
        )
    return points


def _check_size(points: FloatArray) -> None:
    spans = np.nanmax(points, axis=1, initial=-np.inf, where=np.isfinite(points)) - np.nanmin(
        points, axis=1, initial=np.inf, where=np.isfinite(points)
    )
    spans = np.linalg.norm(spans[np.isfinite(spans).all(axis=1)], axis=1)
    extent = float(np.median(spans)) if len(spans) else 0.0
    if extent > LARGEST:
        raise RecordingError(
            f"the cloth would be {extent:.4g} m wide: the units are wrong; say which they are, e.g. units='mm'"
        )
    if points.shape[1] > 2 and extent < SMALLEST:
        raise RecordingError(
            f"all markers lie within {1e3 * extent:.3g} mm: the units are wrong; say which they are, e.g. units='m'"
        )


def _held(values: Any, k: int) -> IntArray:
    given = np.asarray(values)
    if given.size and given.dtype.kind not in "iu":
        raise InputTypeError(f"held markers are {shown(values)}: expected different indices from 0 to {k - 1}")
    held: IntArray = given.astype(np.int64).reshape(-1)
    if len(held) and (held.min() < 0 or held.max() >= k or len(np.unique(held)) != len(held)):
        raise RecordingError(f"held markers are {held.tolist()}: expected different indices from 0 to {k - 1}")
    return held


def _other(name: str, values: Any, frames: int) -> FloatArray:
    points = as_array(values, f"{name!r} beside the cloth (others)", f"({frames}, 3)", RecordingError)
    if points.shape != (frames, 3):
        raise RecordingError(f"others: {name!r} beside the cloth has shape {points.shape}: expected ({frames}, 3)")
    return points
