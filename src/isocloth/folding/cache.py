"""The cache of simulated states on disk, because making them takes minutes."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.folding.library import labels_from_above, simulated_sequence
from isocloth.folding.make import Say, settings, states_file
from isocloth.meshes import Mesh
from isocloth.states import Database

#: names the folder of the cache
VARIABLE = "ISOCLOTH_CACHE"


def cache_folder() -> Path:
    """The folder of the cache: $ISOCLOTH_CACHE, or isocloth in $XDG_CACHE_HOME or ~/.cache."""
    if given := os.environ.get(VARIABLE):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "isocloth"


def cached_states(
    samples: int = 10,
    *,
    seed: int = 0,
    shape: tuple[int, int] = (20, 20),
    folder: str | os.PathLike[str] | None = None,
    classes: Sequence[str] | None = None,
    say: Say | None = None,
    **options: Any,
) -> Database:
    """`simulated_states` from a file in a folder (None = the cache), or made and put there; an interrupted one goes on.

    A file that was made with other numbers or by other code is made again.
    """
    which = "" if classes is None else "-" + "+".join(classes).replace(" ", "-")
    path = _place(folder, f"folded-{samples}-per-class-{shape[0]}x{shape[1]}-seed-{seed}{which}.npz")
    found = _found(path)
    if found is not None:
        return found
    if say is not None:
        say(f"making {path}")
    return states_file(path, samples, seed=seed, shape=shape, classes=classes, say=say, **options)


def cached_sequence(
    name: str,
    *,
    seed: int = 0,
    shape: tuple[int, int] = (20, 20),
    folder: str | os.PathLike[str] | None = None,
) -> tuple[Mesh, FloatArray, IntArray]:
    """`simulated_sequence` from a file in a folder (None = the cache), or made and put there."""
    path = _place(folder, f"sequence-{name.replace(' ', '-')}-{shape[0]}x{shape[1]}-seed-{seed}.npz")
    found = _found(path)
    if found is None:
        mesh, positions, labels = simulated_sequence(name, seed=seed, shape=shape)
        classes = tuple(f"{name}, {k}" for k in range(int(labels.max()) + 1))
        found = Database(mesh, positions, labels, classes, {"made with": settings(), "sequence": name, "seed": seed})
        found.save(path)
    return found.mesh, np.asarray(found.positions), labels_from_above(found.mesh, found.positions)


def _place(folder: str | os.PathLike[str] | None, name: str) -> Path:
    place = cache_folder() if folder is None else Path(folder)
    place.mkdir(parents=True, exist_ok=True)
    return place / name


def _found(path: Path) -> Database | None:
    """The database in a file, if it is there and made with the present numbers."""
    if not path.is_file():
        return None
    try:
        found = Database.load(path)
    except ValueError:  # damaged: made again
        return None
    return found if up_to_date(found) else None


def up_to_date(found: Database) -> bool:
    """Whether a database was made with the present numbers and code."""
    return bool(found.metadata.get("made with") == json.loads(json.dumps(settings())))
