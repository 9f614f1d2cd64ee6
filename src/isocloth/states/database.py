"""Labelled states of one cloth, and their file."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.archives import read_archive
from isocloth.base.errors import InputError
from isocloth.base.files import atomic_path
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.states.boundary import Boundary, boundary_of

FORMAT = "isocloth-states-1"
_ARRAYS = ("positions", "labels", "rest", "faces", "corners")


@dataclass(frozen=True, eq=False)
class Database:
    """States of a rectangular cloth with the names of their classes.

    mesh: the cloth at rest.
    positions: (s, n, 3) in m, the nodes of every state.
    labels: (s,) class of every state, an index into `classes`.
    classes: names.
    metadata: how they were made; anything JSON can hold.
    """

    mesh: Mesh
    positions: FloatArray
    labels: IntArray
    classes: tuple[str, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check and freeze the arrays."""
        put = object.__setattr__  # the dataclass is frozen; this is where its fields become arrays
        x = np.ascontiguousarray(self.positions, dtype=np.float64)
        labels = np.ascontiguousarray(self.labels, dtype=np.int64)
        classes = tuple(str(name) for name in self.classes)
        if x.ndim != 3 or x.shape[1:] != self.mesh.vertices.shape or not len(x):
            raise InputError(
                f"positions have shape {x.shape}, expected (s, {self.mesh.n_vertices}, 3): at least one state"
            )
        if not np.isfinite(x).all():
            raise InputError(f"state {int(np.argmin(np.isfinite(x).all(axis=(1, 2))))} is not finite; leave it out")
        if labels.shape != (len(x),):
            raise InputError(f"labels have shape {labels.shape}, expected ({len(x)},): one class for every state")
        if len(set(classes)) != len(classes):
            raise InputError(f"classes {classes} are not all different; give every class one name")
        if not np.array_equal(np.unique(labels), np.arange(len(classes))):
            raise InputError(f"labels are {np.unique(labels).tolist()}, expected each of 0 to {len(classes) - 1}")
        for array in (x, labels):
            array.setflags(write=False)
        put(self, "positions", x)
        put(self, "labels", labels)
        put(self, "classes", classes)
        put(self, "metadata", json.loads(json.dumps(dict(self.metadata))))

    def __len__(self) -> int:
        """Number of states."""
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<Database: {len(self)} states in {len(self.classes)} classes, {self.mesh.n_vertices} nodes>"

    @property
    def boundaries(self) -> list[Boundary]:
        """The boundary of every state."""
        return [boundary_of(self.mesh, x) for x in self.positions]

    def names(self) -> list[str]:
        """The class of every state, by name."""
        return [self.classes[k] for k in self.labels]

    def only(self, chosen: ArrayLike) -> Database:
        """The states of an index or mask; classes that lose all members go."""
        labels = self.labels[np.asarray(chosen)]
        kept, renumbered = np.unique(labels, return_inverse=True)
        classes = tuple(self.classes[k] for k in kept)
        return Database(self.mesh, self.positions[np.asarray(chosen)], renumbered, classes, self.metadata)

    def joined(self, other: Database) -> Database:
        """These states and those of another database of the same mesh; classes of the same name become one."""
        if not (
            np.array_equal(self.mesh.faces, other.mesh.faces)
            and np.allclose(self.mesh.vertices, other.mesh.vertices, atol=1e-9)
        ):
            raise InputError("the two databases are of different meshes; bring the states to one mesh first")
        classes = (*self.classes, *(name for name in other.classes if name not in self.classes))
        labels = [*self.labels.tolist(), *(classes.index(name) for name in other.names())]
        both = {"joined": [dict(self.metadata), dict(other.metadata)]}
        return Database(self.mesh, np.concatenate([self.positions, other.positions]), np.array(labels), classes, both)

    @property
    def checksum(self) -> str:
        """SHA-256 of classes, labels and positions rounded to 0.1 mm, which other machines reproduce."""
        digest = hashlib.sha256("\n".join(self.classes).encode())
        digest.update(np.ascontiguousarray(self.labels, dtype="<i8").tobytes())
        digest.update(np.ascontiguousarray(np.rint(self.positions * 1e4), dtype="<i8").tobytes())
        return digest.hexdigest()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a .npz file; never leaves half of one."""
        if Path(path).suffix.lower() != ".npz":
            raise InputError(f"a database file ends in .npz, but {os.fspath(path)!r} was given")
        arrays = {
            "positions": self.positions,
            "labels": self.labels,
            "rest": self.mesh.vertices,
            "faces": self.mesh.faces,
            "corners": self.mesh.corners,
            "classes": np.array(self.classes),
            "metadata": np.array(json.dumps(dict(self.metadata))),
        }
        with atomic_path(path) as temporary:
            np.savez_compressed(temporary, format=np.array(FORMAT), **arrays)  # type: ignore[arg-type]

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Database:
        """Read a .npz file."""
        found = read_archive(path, "database of states")
        name = os.fspath(path)
        if "format" not in found or str(found["format"]) != FORMAT:
            raise InputError(f"{name} is no database of states: expected the format {FORMAT!r}")
        try:
            arrays = {key: found[key] for key in (*_ARRAYS, "classes", "metadata")}
        except KeyError as error:
            raise InputError(
                f"{name} lacks a part of a database of states, {error.args[0]!r}: make it again"
            ) from error
        mesh = Mesh(arrays["rest"], arrays["faces"], corners=arrays["corners"])
        classes = tuple(str(c) for c in arrays["classes"])
        return cls(mesh, arrays["positions"], arrays["labels"], classes, json.loads(str(arrays["metadata"])))


def make(mesh: Mesh, states: Sequence[tuple[str, FloatArray]], metadata: Mapping[str, Any] | None = None) -> Database:
    """A database from pairs (class, positions (n, 3) in m); classes are numbered as they appear."""
    classes = tuple(dict.fromkeys(name for name, _ in states))
    labels = np.array([classes.index(name) for name, _ in states], dtype=np.int64)
    return Database(mesh, np.array([x for _, x in states]), labels, classes, metadata or {})
