"""Recordings as arrays in .npz and .h5 files: our own, other people's, and trajectories of simulations."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from isocloth.base.archives import DAMAGED
from isocloth.base.errors import InputError, RecordingError
from isocloth.base.files import as_path, atomic_path
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.recordings.bodies import from_plain, to_plain
from isocloth.recordings.fields import RecordingFields

FORMAT = "isocloth-recording-1"
SUFFIXES = (".npz", ".h5", ".hdf5")

TIMES = ("times", "time", "t")
POSITIONS = ("positions", "nodes", "markers", "points")


def save_fields(recording: RecordingFields, path: str | os.PathLike[str]) -> None:
    """Write the fields of a recording, all of them, whole or not at all."""
    suffix = as_path(path, "recording").suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"a recording is saved as {' or '.join(SUFFIXES)}, but {str(path)!r} was given; rename it")
    texts = {
        "format": FORMAT, "units": recording["units"], "up": recording["up"], "name": recording["name"],
        "labels": json.dumps(list(recording["labels"])), "notes": json.dumps(list(recording["notes"])),
        "metadata": json.dumps(dict(recording["metadata"])),
    }  # fmt: skip
    if (fabric := recording["fabric"]) is not None:
        texts["fabric"] = json.dumps(asdict(fabric))
    if recording["bodies"]:
        texts["bodies"] = json.dumps(to_plain(recording["bodies"]))
    arrays: dict[str, Any] = {
        "times": recording["times"],
        "positions": recording["positions"],
        "held": recording["held"],
    }
    if (mesh := recording["mesh"]) is not None:
        arrays |= {"rest": mesh.vertices, "faces": mesh.faces}
    if recording["held_path"] is not None:
        arrays["held_path"] = recording["held_path"]
    if recording["others"]:
        texts["other_labels"] = json.dumps(list(recording["others"]))
        arrays["others"] = np.stack(list(recording["others"].values()), axis=1)
    with atomic_path(path) as temporary:
        if suffix == ".npz":
            with open(temporary, "wb") as file:
                np.savez_compressed(file, **dict[str, Any](arrays | texts))
            return
        with h5py.File(temporary, "w") as h5:
            for name, text in texts.items():
                h5.create_dataset(name, data=text, dtype=h5py.string_dtype())
            for name, array in arrays.items():
                h5.create_dataset(name, data=array, compression="gzip" if np.size(array) else None)


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file, by name; texts have shape ()."""
    try:
        if path.suffix.lower() == ".npz":
            with np.load(path, allow_pickle=False) as file:
                if not isinstance(file, np.lib.npyio.NpzFile):
                    raise InputError("it holds one array, not an archive of arrays")
                return {k: file[k] for k in file.files}
        found: dict[str, np.ndarray] = {}

        def visit(name: str, item: Any) -> None:
            if isinstance(item, h5py.Dataset):
                text = h5py.check_string_dtype(item.dtype) is not None
                found[name] = np.array(item.asstr()[()] if text else item[()])

        with h5py.File(path, "r") as h5:
            h5.visititems(visit)
        return found
    except DAMAGED as error:
        if isinstance(error, PermissionError):
            raise
        raise RecordingError(
            f"{path.name!r} cannot be read: it is truncated, damaged or of another format ({error}): expected "
            "times and positions in an .npz or .h5 file; export it again"
        ) from error


def saved_fields(arrays: dict[str, np.ndarray], name: str) -> RecordingFields:
    """Fields of a recording that `save_fields` wrote."""
    try:
        mesh = Mesh(arrays["rest"], arrays["faces"]) if "rest" in arrays else None
        fabric = Fabric(**json.loads(str(arrays["fabric"]))) if "fabric" in arrays else None
        labels = json.loads(str(arrays["other_labels"])) if "other_labels" in arrays else []
        bodies = from_plain(json.loads(str(arrays["bodies"]))) if "bodies" in arrays else {}
        return RecordingFields(
            times=arrays["times"], positions=arrays["positions"], labels=list(json.loads(str(arrays["labels"]))),
            mesh=mesh, held=arrays["held"], held_path=arrays.get("held_path"), fabric=fabric,
            others={n: arrays["others"][:, i] for i, n in enumerate(labels)}, bodies=bodies, units=str(arrays["units"]),
            up=str(arrays["up"]), name=str(arrays["name"]), notes=list(json.loads(str(arrays["notes"]))),
            metadata=dict(json.loads(str(arrays["metadata"]))),
        )  # fmt: skip
    except (KeyError, TypeError, json.JSONDecodeError) as error:
        raise RecordingError(f"{name!r} holds a damaged recording: {error}") from error


def text_of(arrays: dict[str, np.ndarray], key: str) -> str | None:
    """A text of a file, or None."""
    value = arrays.get(key)
    if value is None or np.ndim(value) != 0 or value.dtype.kind not in "USO":
        return None
    return str(value)


def pick(arrays: dict[str, np.ndarray], names: tuple[str, ...], file: str, what: str) -> np.ndarray:
    """The first array that has one of these names."""
    for name in names:
        if name in arrays:
            return arrays[name]
    raise RecordingError(
        f"{file!r} holds {', '.join(sorted(arrays)) or 'nothing'}: no {what}; expected ({' or '.join(names)})"
    )
