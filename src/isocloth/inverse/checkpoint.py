"""Checkpoints of a search: where the growth of gravity is, in a file, so that a killed search goes on.

The file holds the state of the loop after its last step, and marks of the problem that it belongs to. A step of the
loop depends on that state alone, so that what is resumed ends in the same bits.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.archives import read_archive
from isocloth.base.compiled import PACKAGE, sources
from isocloth.base.errors import InputError, MissingFileError
from isocloth.base.files import as_path, atomic_path
from isocloth.base.locks import locked
from isocloth.base.memo import digest
from isocloth.inverse.force_first import ForceFirst, Found, Loop, Progress
from isocloth.simulation.run import identities
from isocloth.statics.problem import Problem

#: of the file; another number where it holds other arrays
FORMAT = 1

#: how messages name what is marked
NAMES = {
    "target": "target", "fabric": "fabric", "model": "model", "obstacles": "obstacles", "held": "held nodes",
    "contacts": "contacts", "self_collision": "self_collision", "margin": "margin", "gravity": "gravity",
    "method": "method", "code": "version of isocloth",
}  # fmt: skip

#: parts of the loop that are found at a load
FOUND = ("found", "before", "best")

Marks = dict[str, str]


class Checkpoint:
    """The file of one search, and the marks of its problem."""

    def __init__(self, path: Path, marks: Marks) -> None:
        self.path, self._marks = path, marks

    def load(self) -> Loop | None:
        """What an interrupted search has left; None if there is nothing. That of another problem is refused."""
        if not self.path.exists():
            return None
        kept, marks = read_state(self.path)
        refuse_other(self.path, marks, self._marks, NAMES)
        return kept

    def save(self, loop: Loop) -> None:
        """Write the state, whole or not at all."""
        arrays = {"format": np.array(FORMAT), "marks": np.array(json.dumps(self._marks))}
        numbers = [loop.stage, loop.step, loop.easy, loop.iterations, loop.over]
        arrays["loop"] = np.array(numbers, dtype=np.float64)
        for name in FOUND:
            found: Found = getattr(loop, name)
            arrays |= {f"{name}_points": found.points, f"{name}_forces": found.forces}
            numbers = [found.load, found.iterations, found.carried, found.residual]
            arrays[f"{name}_numbers"] = np.array(numbers, dtype=np.float64)
        # an open file keeps NumPy from adding a suffix of its own
        with atomic_path(self.path) as temporary, open(temporary, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

    def remove(self) -> None:
        """Forget the search."""
        self.path.unlink(missing_ok=True)


def read_state(path: Path) -> tuple[Loop, Marks]:
    """What a checkpoint holds, and the marks of its problem."""
    try:
        kept = read_archive(path, "checkpoint")
        if int(kept["format"]) != FORMAT:
            raise InputError(f"its format is {int(kept['format'])}, this is {FORMAT}")
        stage, step, easy, iterations, over = (float(x) for x in kept["loop"])
        marks = json.loads(str(kept["marks"]))
        found, before, best = (_found(kept, name) for name in FOUND)
    except (KeyError, ValueError, TypeError) as error:
        raise InputError(
            f"{str(path)!r} is no checkpoint of an inversion ({error}): expected one; delete it or name another file"
        ) from None
    return Loop(int(stage), found, before, step, bool(easy), best, int(iterations), bool(over)), marks


def _found(kept: dict[str, Any], name: str) -> Found:
    load, iterations, carried, residual = (float(x) for x in kept[f"{name}_numbers"])
    return Found(kept[f"{name}_points"], load, kept[f"{name}_forces"], int(iterations), bool(carried), residual)


@contextmanager
def kept_in(path: Any, marks: Marks) -> Iterator[Checkpoint | None]:
    """The checkpoint of a search; nobody else writes it meanwhile, and it is removed when all is done."""
    if path is None:
        yield None
        return
    with locked_file(path, "an inversion") as file:
        checkpoint = Checkpoint(file, marks)
        yield checkpoint
        checkpoint.remove()


@contextmanager
def locked_file(path: Any, what: str) -> Iterator[Path]:
    """The file of a checkpoint, whose folder exists, and which nobody else writes meanwhile."""
    file = as_path(path, "checkpoint")
    if not file.absolute().parent.is_dir():
        raise MissingFileError(
            f"the folder of the checkpoint {str(path)!r} does not exist: expected one; create it first"
        )
    with locked(file, f"{what} with the checkpoint {str(path)!r}"):
        yield file


def refuse_other(path: Path, found: Marks, expected: Marks, names: dict[str, str]) -> None:
    """Raise where a checkpoint is that of another problem; names: how messages name what is marked."""
    if different := [names[name] for name in names if found.get(name) != expected[name]]:
        raise InputError(
            f"checkpoint {str(path)!r} belongs to another problem (other {', '.join(different)}): expected one of this "
            "problem; delete it or name another file"
        )


def marks_of(problem: Problem, contacts: Any, margin: float, method: str) -> Marks:
    """What has to be the same for a search to be the same search, as texts."""
    named = None if contacts is None else np.unique(np.asarray(contacts))
    code = hashlib.sha256()
    for source in sources():
        code.update(f"{source.relative_to(PACKAGE).as_posix()}\0".encode() + source.read_bytes())
    mesh = problem.mesh
    return {
        "target": digest(mesh.vertices, mesh.faces).hex(),
        "fabric": digest(problem.fabrics).hex(),
        "model": digest(problem.model).hex(),
        "obstacles": digest(tuple(identities(problem.obstacles))).hex(),
        "held": digest(problem.nodes, problem.places).hex(),
        "contacts": digest(named).hex(),
        "self_collision": repr(problem.self_collision),
        "margin": repr(margin),
        "gravity": repr(problem.gravity),
        "method": method,
        "code": code.hexdigest(),
    }


def resumed(search: ForceFirst, progress: Progress, checkpoint: Checkpoint | None) -> Found:
    """Run a search from where its checkpoint is, or from the start; kept after every step of the load."""
    if checkpoint is None:
        return search.run(progress, search.start())
    loop = checkpoint.load()
    if loop is None:
        loop = search.start()
        checkpoint.save(loop)
    return search.run(progress, loop, checkpoint.save)
