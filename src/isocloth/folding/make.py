"""A database of simulated states: made by several processes, and taken up again where it was left."""

from __future__ import annotations

import json
import os
import shutil
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import FailedRunError, UnknownNameError
from isocloth.base.files import atomic_path
from isocloth.base.processes import end_with, without_main
from isocloth.folding import hands, library, stage
from isocloth.folding.code import code_of_states
from isocloth.folding.library import Made, simulated_state
from isocloth.meshes import arguments, rectangle
from isocloth.states import napkin
from isocloth.states.database import Database, make
from isocloth.states.napkin import CLASSES

Say = Callable[[str], None]


class Task(NamedTuple):
    """One state to be made, and the file in which it is kept; None keeps it nowhere."""

    name: str
    number: int
    seed: int
    shape: tuple[int, int]
    file: Path | None

    @property
    def key(self) -> str:
        """All that the state depends on: a file with another key is of another state."""
        return json.dumps([self.name, self.number, self.seed, self.shape, settings()])


def settings() -> dict[str, Any]:
    """All that a state depends on beside its name and seed: fabric, table, how hands move, how folds vary, the code."""
    numbers = {
        name: value
        for room in (hands, library, napkin, stage)
        for name, value in sorted(vars(room).items())
        if name.isupper() and isinstance(value, (int, float, tuple))
    }
    return {"fabric": asdict(stage.FABRIC), "settings": numbers, "code": code_of_states()}


def simulated_states(
    samples: int = 10,
    *,
    seed: int = 0,
    shape: tuple[int, int] = (20, 20),
    classes: Iterable[str] | None = None,
    workers: int = 1,
    folder: str | os.PathLike[str] | None = None,
    say: Say | None = None,
) -> Database:
    """Database of napkins of 1 x 1 m that were folded on a table by simulation, the same for the same seed.

    samples : per class. shape : nodes along the sides. classes : names; None = all twelve.
    workers : processes; the result does not depend on them.
    folder : where finished states are kept, each in a file of its own; those that it holds already are not made again.
    say : called with a line after every state.

    A state depends on the seed, its class and its number only. `metadata["reports"]` says of every state how many
    draws were left out before it, how far its corners lie from those of the ideal folds (m), how many steps it took
    and what they reported.
    """
    samples = arguments.count("samples", samples, least=1)
    workers = arguments.count("workers", workers, least=1)
    seed = arguments.count("seed", seed, least=0, most=None)
    shape = arguments.grid_shape(shape, ("along x", "along y"), (2, 2))  # before a folder is made for states
    names = list(CLASSES) if classes is None else list(classes)
    unknown = [name for name in names if name not in CLASSES]
    if unknown or not names:
        what = f"class {unknown[0]!r} is unknown" if unknown else "no class is given"
        raise UnknownNameError(f"{what}; choose from {', '.join(map(repr, CLASSES))}")
    if folder is not None:
        Path(folder).mkdir(parents=True, exist_ok=True)
    tasks = [
        Task(name, k, seed, shape, None if folder is None else Path(folder) / f"{name.replace(' ', '-')}-{k:03d}.npz")
        for k in range(samples)
        for name in names
    ]
    made: dict[tuple[str, int], Made] = {}
    for task in tasks:
        if (kept := _kept(task)) is not None:
            made[task.name, task.number] = kept
    if made and say is not None:
        say(f"{len(made)} of {len(tasks)} states are there already")
    begin = time.monotonic()
    left = [task for task in tasks if (task.name, task.number) not in made]
    for task, state in _all(left, workers):
        made[task.name, task.number] = state
        if say is not None:
            say(f"{len(made)} of {len(tasks)}: {task.name} {task.number}, after {time.monotonic() - begin:.0f} s")
    order = [(name, k) for name in names for k in range(samples)]
    reports = [{"draw": made[o].draw, "astray": made[o].astray, **made[o].report} for o in order]
    told = {
        "generator": "simulated folds", "seed": seed, "samples": samples, "made with": settings(), "reports": reports,
    }  # fmt: skip
    return make(rectangle(1.0, 1.0, shape), [(o[0], made[o].positions) for o in order], told)


def states_file(path: str | os.PathLike[str], samples: int = 10, **options: Any) -> Database:
    """`simulated_states` to a file (.npz); finished states are kept in a folder beside it until it is complete."""
    parts = parts_folder(path)
    database = simulated_states(samples, folder=parts, **options)
    database.save(path)
    shutil.rmtree(parts)
    return database


def parts_folder(path: str | os.PathLike[str]) -> Path:
    """The folder beside a database in which finished states are kept while it is made."""
    return Path(path).with_suffix(".parts")


def _all(tasks: Sequence[Task], workers: int) -> Iterator[tuple[Task, Made]]:
    """Make states, in any order."""
    if workers == 1 or len(tasks) < 2:
        for task in tasks:
            yield task, _make(task)
        return
    pool = ProcessPoolExecutor(
        min(workers, len(tasks)), mp_context=get_context("spawn"), initializer=end_with, initargs=(os.getpid(),)
    )
    try:
        with without_main():  # processes are started by the first pieces they are given
            wait([pool.submit(os.getpid) for _ in range(workers)])
        waiting = {pool.submit(_make, task): task for task in tasks}
        for future in as_completed(waiting):
            try:
                yield waiting[future], future.result()
            except BrokenProcessPool as error:
                raise FailedRunError(
                    "a process that made states died; is there enough memory? Go on with fewer workers: finished "
                    "states are kept if a folder was given"
                ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _make(task: Task) -> Made:
    begin = time.process_time()
    made = simulated_state(task.name, task.number, seed=task.seed, shape=task.shape)
    made.report["seconds"] = round(time.process_time() - begin, 2)
    if task.file is not None:  # by the process that made it: what is finished is safe, whoever is stopped
        told = {"draw": made.draw, "astray": made.astray, "report": made.report}
        with atomic_path(task.file) as temporary:
            np.savez(temporary, positions=made.positions, key=np.array(task.key), told=np.array(json.dumps(told)))
    return made


def _kept(task: Task) -> Made | None:
    """What the file of a task holds, if it is that task's."""
    if task.file is None or not task.file.is_file():
        return None
    try:
        with np.load(task.file, allow_pickle=False) as file:
            if str(file["key"]) != task.key:
                return None
            told: dict[str, Any] = json.loads(str(file["told"]))
            return Made(file["positions"], told["draw"], told["astray"], told["report"])
    except (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile):
        return None  # damaged: made again
