"""States in files: a frame of a trajectory, or arrays in an .npz file."""

from __future__ import annotations

import os
from typing import NamedTuple

import numpy as np

from isocloth.base.archives import read_archive
from isocloth.base.errors import InputError
from isocloth.base.files import as_path, existing_file
from isocloth.base.numeric import as_array
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.trajectory import FORMAT, SUFFIXES, Trajectory

#: arrays an .npz file may hold instead of a trajectory
HELD = "'positions' (n, 3), 'boundary' (b, 3) or 'segments' (8, 2, 3)"


class StoredState(NamedTuple):
    """What a file says of a state: the arguments of `classify`."""

    state: FloatArray
    mesh: Mesh | None
    corners: IntArray | None


def read_state(path: str | os.PathLike[str], frame: int = -1) -> StoredState:
    """A state from a file: one frame of a trajectory (.npz, .h5), or arrays in an .npz file.

    The array is one of: positions (n, 3), with `rest` (n, 3) and `faces` unless they are of the database's mesh;
    boundary (b, 3), with `corners` (4,) unless all sides have equally many points;
    segments (8, 2, 3), NaN where hidden.
    """
    source = as_path(path, "state")
    name, suffix = str(source), source.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{name!r} is no file with a state; expected {', '.join(SUFFIXES)}")
    existing_file(path, "state", "no {what} at {path}")
    if suffix != ".npz":
        return _frame(Trajectory.load(path), frame, name)
    arrays = read_archive(path, "state")
    if str(arrays.get("format", "")) == FORMAT:
        return _frame(Trajectory.load(path), frame, name)
    given = [key for key in ("positions", "boundary", "segments") if key in arrays]
    if len(given) != 1:
        raise InputError(f"{name!r} holds {', '.join(sorted(arrays)) or 'nothing'}; expected one of {HELD}")
    mesh = Mesh(arrays["rest"], arrays["faces"]) if given == ["positions"] and "rest" in arrays else None
    corners = arrays["corners"].astype(np.int64) if given == ["boundary"] and "corners" in arrays else None
    state = as_array(arrays[given[0]], f"{given[0]} of {name!r}", HELD)
    if state.ndim != (3 if given == ["segments"] else 2):
        raise InputError(f"{given[0]} of {name!r} have shape {state.shape}: expected {HELD}")
    return StoredState(state, mesh, corners)


def _frame(trajectory: Trajectory, frame: int, name: str) -> StoredState:
    if not -len(trajectory) <= frame < len(trajectory):
        last = len(trajectory) - 1
        raise InputError(f"frame is {frame}, but {name!r} has frames 0 to {last} (-1 is the last): expected one")
    return StoredState(trajectory.positions[frame], Mesh(trajectory.rest, trajectory.faces), None)
