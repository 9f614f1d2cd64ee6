"""A recorded motion of a cloth: frames in time, with the solver's certificate of every frame."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from isocloth.base.archives import DAMAGED
from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.files import as_path, atomic_path, existing_file
from isocloth.base.numeric import as_array, as_float, shown
from isocloth.base.typing import FloatArray, IntArray
from isocloth.reports import Reports

FORMAT = "isocloth-trajectory-1"
SUFFIXES = (".npz", ".h5", ".hdf5")

#: a body beside the cloth: vertices (v, 3) in m that stand still or (T, v, 3) of every frame, and faces
Body = tuple[FloatArray, IntArray]

_REPORT = "reports/"
_OBSTACLE = "obstacles/"
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, eq=False, kw_only=True)
class Trajectory:
    """Frames of a cloth in time.

    times: (T,) seconds, strictly increasing.
    positions: (T, n, 3) metres, the vertices of every frame.
    faces: (m, 3) triangles or (m, 4) quadrilaterals, indices of vertices.
    rest: (n, 3) metres, the vertices of the undeformed cloth.
    reports: the solver's certificate of every frame; a mapping name -> (T,) array will do (`iterations`,
        `isometry_error`, `converged`, ...). NaN means "not computed for this frame".
    velocities: (T, n, 3) metres per second, or None.
    obstacles: bodies to be drawn beside the cloth, each a pair: vertices (v, 3) in metres that stand still, or
        (T, v, 3) of every frame; and faces (f, 3) or (f, 4).
    metadata: anything JSON can hold.
    """

    times: FloatArray
    positions: FloatArray
    faces: IntArray
    rest: FloatArray
    reports: Reports | Mapping[str, np.ndarray] = field(default_factory=lambda: Reports({}))
    velocities: FloatArray | None = None
    obstacles: Sequence[Body] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        put = object.__setattr__  # the dataclass is frozen; this is where its fields become arrays
        put(self, "times", _times(self.times))
        put(self, "rest", _floats("rest", self.rest, (None, 3)))
        shape = (len(self.times), len(self.rest), 3)
        put(self, "positions", _floats("positions", self.positions, shape))
        put(self, "faces", _faces(self.faces, len(self.rest)))
        if self.velocities is not None:
            put(self, "velocities", _floats("velocities", self.velocities, shape))
        if isinstance(self.obstacles, str) or not isinstance(self.obstacles, Iterable):
            raise InputTypeError(f"obstacles is {self.obstacles!r}: expected a list of pairs (vertices, faces)")
        if not isinstance(self.reports, Mapping | Reports):
            raise InputTypeError(f"reports is {self.reports!r}: expected a mapping of names to arrays (T,)")
        put(self, "obstacles", tuple(_body(i, body, shape[0]) for i, body in enumerate(self.obstacles)))
        columns = {name: _report(name, r, shape[0]) for name, r in self.reports.items()}
        put(self, "reports", Reports(columns))
        put(self, "metadata", json.loads(_json(self.metadata)))

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.times)

    def __getitem__(self, frames: slice) -> Trajectory:
        """The frames of a slice, as a trajectory that shares the arrays of this one."""
        if not isinstance(frames, slice):
            raise InputTypeError(
                f"a trajectory is sliced by frames, trajectory[a:b], but the index was {frames!r}: expected a "
                "slice; one frame's vertices are trajectory.positions[i]"
            )
        return Trajectory(
            times=self.times[frames],
            positions=self.positions[frames],
            faces=self.faces,
            rest=self.rest,
            reports=Reports({name: report[frames] for name, report in self.reports.items()}),
            velocities=None if self.velocities is None else self.velocities[frames],
            obstacles=[(p if p.ndim == 2 else p[frames], faces) for p, faces in self.obstacles],
            metadata=self.metadata,
        )

    def __repr__(self) -> str:
        kind = "triangles" if self.faces.shape[1] == 3 else "quads"
        return (
            f"<Trajectory: {len(self)} frames, {self.times[0]:g} to {self.times[-1]:g} s, "
            f"{len(self.rest)} vertices, {len(self.faces)} {kind}>"
        )

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return float(self.times[-1] - self.times[0])

    @property
    def triangles(self) -> IntArray:
        """(k, 3) triangles of the faces; a quadrilateral is split along its corners 0-2."""
        if self.faces.shape[1] == 3:
            return self.faces
        return self.faces[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)

    def at(self, t: float) -> FloatArray:
        """(n, 3) metres: the vertices at time t (s), interpolated linearly between frames."""
        before, weight = self._place(t)
        return _between(self.positions, before, weight)

    def obstacles_at(self, t: float) -> list[FloatArray]:
        """(v, 3) metres: the vertices of every obstacle at time t (s), interpolated linearly between frames."""
        before, weight = self._place(t)
        return [p if p.ndim == 2 else _between(p, before, weight) for p, _ in self.obstacles]

    def _place(self, t: float) -> tuple[int, float]:
        """The frame before a time (s), and how far (0 to 1) the time lies towards the next."""
        if as_float(t) is None:
            raise InputTypeError(f"time is {shown(t)}: expected a number of seconds within the trajectory")
        # A time computed as k * dt may miss the last frame by rounding.
        slack = 1e-9 * max(abs(self.times[0]), abs(self.times[-1]))
        if not self.times[0] - slack <= t <= self.times[-1] + slack:
            raise InputError(
                f"time {t} s is outside the trajectory, which runs from {self.times[0]:g} to "
                f"{self.times[-1]:g} s; give a time within it"
            )
        if len(self) == 1:
            return 0, 0.0
        after = int(np.clip(np.searchsorted(self.times, t), 1, len(self) - 1))
        t0, t1 = self.times[after - 1], self.times[after]
        return after - 1, float(np.clip((t - t0) / (t1 - t0), 0.0, 1.0))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write to `path`: .npz (zip of arrays) or .h5 (HDF5). Both are compressed without loss."""
        write = _write_npz if _suffix(path) == ".npz" else _write_h5
        with atomic_path(path) as temporary:
            write(temporary, self._arrays())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trajectory:
        """Read what `save` wrote; FileNotFoundError or ValueError says what is wrong with `path`."""
        suffix = _suffix(path)
        if os.path.isdir(path):
            raise InputError(f"{str(path)!r} is a folder and not a file; give a trajectory saved as {_known()}")
        file = existing_file(path, "trajectory", "no {what} at {path}")
        if file.stat().st_size == 0:
            raise InputError(f"{str(path)!r} is empty (0 bytes): expected a trajectory; save it again")
        with _explaining(path):
            arrays = _read_npz(file) if suffix == ".npz" else _read_h5(file)
        if (found := arrays.pop("format", None)) is None or str(found) != FORMAT:
            raise InputError(
                f"{str(path)!r} is not a trajectory of isocloth (its format mark is "
                f"{None if found is None else str(found)!r}, expected {FORMAT!r}); "
                "give a file written by Trajectory.save"
            )
        try:
            return cls(
                **{name: array for name, array in arrays.items() if not name.startswith((_REPORT, _OBSTACLE))}
                | {"metadata": json.loads(str(arrays["metadata"]))},
                obstacles=_bodies(arrays),
                reports=Reports({n.removeprefix(_REPORT): a for n, a in arrays.items() if n.startswith(_REPORT)}),
            )
        except (TypeError, KeyError, ValueError) as error:
            raise InputError(f"{str(path)!r} holds a damaged trajectory: {error}; make it again") from error

    def _arrays(self) -> dict[str, np.ndarray]:
        """Everything to store, by name; texts are arrays of shape ()."""
        arrays: dict[str, np.ndarray] = {
            "format": np.array(FORMAT),
            "metadata": np.array(_json(self.metadata)),
            "times": self.times,
            "positions": self.positions,
            "faces": self.faces,
            "rest": self.rest,
        }
        if self.velocities is not None:
            arrays["velocities"] = self.velocities
        for i, (vertices, faces) in enumerate(self.obstacles):
            arrays |= {f"{_OBSTACLE}{i}/vertices": vertices, f"{_OBSTACLE}{i}/faces": faces}
        return arrays | {_REPORT + name: report for name, report in self.reports.items()}


def _between(frames: FloatArray, before: int, weight: float) -> FloatArray:
    """(n, 3) between two of the frames (T, n, 3)."""
    if weight == 0.0:
        return frames[before].copy()
    return (1.0 - weight) * frames[before] + weight * frames[before + 1]


def _bodies(arrays: Mapping[str, np.ndarray]) -> list[Body]:
    """The obstacles among the arrays of a file; those written before there were any have none."""
    count = len({name.split("/")[1] for name in arrays if name.startswith(_OBSTACLE)})
    return [(arrays[f"{_OBSTACLE}{i}/vertices"], arrays[f"{_OBSTACLE}{i}/faces"]) for i in range(count)]


def _write_npz(path: Path, arrays: dict[str, Any]) -> None:
    with open(path, "wb") as file:  # given a name, numpy would append .npz to run.NPZ
        np.savez_compressed(file, **arrays)


def _read_npz(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as archive:
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise InputError("it holds one array, not an archive of arrays")
        return dict(archive)


def _write_h5(path: Path, arrays: dict[str, np.ndarray]) -> None:
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            if array.ndim == 0:
                file.create_dataset(name, data=str(array), dtype=h5py.string_dtype())
                continue
            # Chunks of whole rows (frames), so that reading one frame does not inflate the whole file.
            rows = max(1, min(len(array), _CHUNK_BYTES // max(1, array.nbytes // len(array))))
            file.create_dataset(
                name,
                data=array,
                chunks=(rows, *array.shape[1:]),
                compression="gzip",
                compression_opts=4,
                shuffle=True,
            )


def _read_h5(path: Path) -> dict[str, np.ndarray]:
    arrays: dict[str, np.ndarray] = {}

    def visit(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset):
            is_text = h5py.check_string_dtype(item.dtype) is not None
            arrays[name] = np.array(item.asstr()[()] if is_text else item[()])

    with h5py.File(path, "r") as file:
        if "format" not in file:
            return {}  # a foreign file may be huge: do not read it
        file.visititems(visit)
    return arrays


@contextmanager
def _explaining(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn what the zip and HDF5 readers raise on damaged files into one clear ValueError."""
    try:
        yield
    except DAMAGED as error:
        if isinstance(error, PermissionError):
            raise
        raise InputError(
            f"{str(path)!r} cannot be read as a trajectory: it is truncated, damaged or of another format "
            f"({error}); give a file written by Trajectory.save"
        ) from error


def _suffix(path: str | os.PathLike[str]) -> str:
    suffix = as_path(path, "trajectory").suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a trajectory file ends in {_known()}, but {str(path)!r} was given; rename it")
    return suffix


def _known() -> str:
    return ", ".join(SUFFIXES[:-1]) + " or " + SUFFIXES[-1]


def _json(metadata: Mapping[str, Any]) -> str:
    try:
        return json.dumps(dict(metadata))
    except (TypeError, ValueError) as error:
        raise InputError(
            f"metadata must be a dict that JSON can hold, but {error}; convert arrays with .tolist()"
        ) from error


def _floats(name: str, values: Any, shape: tuple[int | None, ...]) -> FloatArray:
    """`values` as float64 of the given shape (None: any length of at least 1), without NaN."""
    array = as_array(values, f"{name} of a trajectory", str(shape))
    wanted = "(" + ", ".join("n" if length is None else str(length) for length in shape) + ")"
    fits = array.ndim == len(shape) and all(
        got == want or (want is None and got > 0) for got, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        times = "" if shape[0] is None else f" (for {shape[0]} times)"
        raise InputError(
            f"{name} of a trajectory must have shape {wanted}{times}, but its shape is {array.shape}: {shown(values)}"
        )
    if not np.isfinite(array).all():
        first = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise InputError(
            f"{name} of a trajectory must be finite, but {name}{list(first)} is {array[first]}; "
            "record only the frames before the simulation failed"
        )
    return array


def _times(values: Any) -> FloatArray:
    times = as_array(values, "times of a trajectory", "(T,)")
    if times.ndim != 1 or len(times) == 0:
        given = f"it is {times.shape}" if times.ndim else f"they are {shown(values)}"
        raise InputError(f"times of a trajectory must have shape (T,) with T >= 1, but {given}")
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise InputError(
            f"times of a trajectory must be finite and strictly increasing, but they are {times}; "
            "record every instant once"
        )
    return times


def _body(number: int, body: Any, frames: int) -> Body:
    try:
        vertices, faces = body
    except (TypeError, ValueError):
        raise InputError(
            f"obstacle {number} of a trajectory must be a pair (vertices, faces), but it is {shown(body)}"
        ) from None
    name = f"vertices of obstacle {number}"
    points = _floats(name, vertices, (frames, None, 3) if np.ndim(vertices) == 3 else (None, 3))
    try:
        return points, _faces(faces, points.shape[-2])
    except ValueError as error:
        raise InputError(f"obstacle {number}: {error}") from None


def _faces(values: Any, n: int) -> IntArray:
    given = np.asarray(values)
    if given.ndim != 2 or given.shape[1] not in (3, 4) or len(given) == 0 or given.dtype.kind not in "iu":
        raise InputError(
            f"faces of a trajectory must be integers of shape (m, 3) or (m, 4) with m >= 1, "
            f"but they are {given.dtype} of shape {given.shape}: {shown(values)}"
        )
    faces: IntArray = np.ascontiguousarray(given, dtype=np.int64)
    if faces.min() < 0 or faces.max() >= n:
        raise InputError(
            f"faces of a trajectory must index its {n} vertices (0 to {n - 1}), "
            f"but their indices run from {faces.min()} to {faces.max()}"
        )
    return faces


def _report(name: str, values: Any, frames: int) -> np.ndarray:
    if not isinstance(name, str) or not name or "/" in name:
        raise InputError(f"the name of a report must be a non-empty text without '/', but it is {name!r}")
    report = np.asarray(values)
    if report.shape != (frames,) or report.dtype.kind not in "biuf":
        raise InputError(
            f"report {name!r} must hold one number or truth value per frame, shape ({frames},), "
            f"but it is {report.dtype} of shape {report.shape}"
        )
    return report
