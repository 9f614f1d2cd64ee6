"""Checkpoints of a pattern: the stage of its search in a file, so that a killed search goes on.

The file holds where the search is after its last step, and marks of the problem that it belongs to. A step depends on
that alone, so that what is resumed ends in the same bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.archives import read_archive
from isocloth.base.errors import InputError
from isocloth.base.files import atomic_path
from isocloth.base.memo import digest
from isocloth.base.typing import FloatArray
from isocloth.inverse.checkpoint import NAMES, Marks, locked_file, refuse_other
from isocloth.inverse.checkpoint import marks_of as marks_of_problem
from isocloth.inverse.joint import Fit, Loop
from isocloth.patterns.cut import Cut
from isocloth.patterns.fit import Stage, Trial
from isocloth.statics.problem import Problem

#: of the file; another number where it holds other arrays
FORMAT = 1
#: how messages name what is marked
MARKED = {**NAMES, "seams": "seams", "unknown": "unknown", "noise": "noise"}
#: loops of a stage, and fits of a loop, that may be there
LOOPS, FITS = ("loop", "best"), ("fit", "begin")


class Checkpoint:
    """The file of one search, and the marks of its problem."""

    def __init__(self, path: Path, marks: Marks) -> None:
        self.path, self._marks = path, marks

    def load(self) -> Stage | None:
        """What an interrupted search has left; None if there is nothing. That of another problem is refused."""
        if not self.path.exists():
            return None
        stage, marks = read_stage(self.path)
        refuse_other(self.path, marks, self._marks, MARKED)
        return stage

    def save(self, stage: Stage) -> None:
        """Write the stage, whole or not at all."""
        arrays: dict[str, Any] = {
            "format": np.array(FORMAT), "marks": np.array(json.dumps(self._marks)),
            "stage": np.array([stage.jump, stage.iterations]),
            "trials": np.array([[*t[:4], t.ended, *t.logs] for t in stage.trials]),
        }  # fmt: skip
        for name in LOOPS:
            loop: Loop | None = getattr(stage, name)
            if loop is None:
                continue
            arrays[name] = np.array([loop.coned, loop.best, loop.idle, loop.steps], dtype=np.float64)
            for kind in FITS:
                fit: Fit | None = getattr(loop, kind)
                if fit is not None:
                    own = (fit.points, fit.logs, fit.positions[0], fit.pushes[0])
                    arrays |= {f"{name}_{kind}_{field}": part for field, part in zip(Fit._fields, own, strict=True)}
        # an open file keeps NumPy from adding a suffix of its own
        with atomic_path(self.path) as temporary, open(temporary, "wb") as file:
            np.savez(file, allow_pickle=False, **arrays)

    def remove(self) -> None:
        """Forget the search."""
        self.path.unlink(missing_ok=True)


def read_stage(path: Path) -> tuple[Stage, Marks]:
    """What a checkpoint holds, and the marks of its problem."""
    try:
        kept = read_archive(path, "checkpoint")
        if int(kept["format"]) != FORMAT:
            raise InputError(f"its format is {int(kept['format'])}, this is {FORMAT}")
        jump, iterations = (float(x) for x in kept["stage"])
        trials = tuple(_trial(row) for row in kept["trials"])
        loop, best = (_loop(kept, name) for name in LOOPS)
        assert loop is not None
        marks = json.loads(str(kept["marks"]))
    except (KeyError, ValueError, TypeError, AssertionError) as error:
        raise InputError(
            f"{str(path)!r} is no checkpoint of a pattern ({error}): expected one; delete it or name another file"
        ) from None
    return Stage(jump, loop, trials, best, int(iterations)), marks


def _trial(row: FloatArray) -> Trial:
    jump, error, followed, score = (float(x) for x in row[:4])
    return Trial(jump, error, followed, score, np.array(row[5:]), bool(row[4]))


def _loop(kept: dict[str, Any], name: str) -> Loop | None:
    if name not in kept:
        return None
    coned, best, idle, steps = kept[name]
    first, begin = (_fit(kept, f"{name}_{kind}") for kind in FITS)
    if first is None:
        raise InputError(f"it has no {name}_{FITS[0]}")
    return Loop(first, bool(coned), float(best), int(idle), int(steps), begin)


def _fit(kept: dict[str, Any], name: str) -> Fit | None:
    if f"{name}_{Fit._fields[0]}" not in kept:
        return None
    points, logs, positions, pushes = (kept[f"{name}_{field}"] for field in Fit._fields)
    return Fit(points, logs, (positions,), (pushes,))


@contextmanager
def kept_in(path: Any, marks: Marks) -> Iterator[Checkpoint | None]:
    """The checkpoint of a search; nobody else writes it meanwhile, and it is removed when all is done."""
    if path is None:
        yield None
        return
    with locked_file(path, "a pattern") as file:
        checkpoint = Checkpoint(file, marks)
        yield checkpoint
        checkpoint.remove()


def marks_of(problem: Problem, cut: Cut, contacts: Any, names: tuple[str, ...], noise: float | None) -> Marks:
    """What has to be the same for a search to be the same search, as texts."""
    own = {"seams": digest(cut.corners, cut.pairs).hex(), "unknown": repr(names), "noise": repr(noise)}
    return {**marks_of_problem(problem, contacts, 0.0, "pattern"), **own}
