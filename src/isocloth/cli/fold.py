"""`isocloth fold`: a database of folded states, or a folding sequence, by simulation."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np

from isocloth.base.errors import InputError, IsFolderError, MissingFileError, UnknownNameError
from isocloth.base.locks import locked
from isocloth.cli.columns import columns


def fold(options: argparse.Namespace) -> int:
    """Make the file, keeping finished states beside it until it is complete."""
    path = Path(options.output)
    if options.sequence is not None:
        return _sequence(options, path)
    per_class = 10 if options.per_class is None else options.per_class
    if path.suffix.lower() != ".npz":
        raise InputError(f"a database file ends in .npz, but {options.output!r} was given; rename it")
    _check_place(path)
    with locked(path, f"writing {options.output!r}"):
        return _database(options, path, per_class)


def _database(options: argparse.Namespace, path: Path, per_class: int) -> int:
    """Make the states that are not there yet; nobody else writes them meanwhile."""
    from isocloth.folding.make import parts_folder, states_file

    parts = parts_folder(path)
    if options.restart and parts.is_dir():
        shutil.rmtree(parts)
    if parts.is_dir() and not options.resume:
        raise InputError(f"{parts} holds states of an interrupted run; give --resume to go on, or --restart to discard")
    if options.resume and path.is_file() and not parts.is_dir():
        _check_finished(path, per_class, options)
        if not options.quiet:
            _say(f"{path} is finished: nothing to do")
        return 0
    database = states_file(
        path, per_class, seed=options.seed, shape=(options.nodes, options.nodes), classes=options.classes,
        workers=1 if options.workers is None else options.workers, say=None if options.quiet else _say,
    )  # fmt: skip
    if not options.quiet:
        reports = database.metadata["reports"]
        rows = [
            ("states", f"{len(database)} in {len(database.classes)} classes, {database.mesh.n_vertices} nodes"),
            ("computing", f"{sum(r['seconds'] for r in reports) / 60.0:.1f} min of one core"),
            ("steps", f"{sum(r['steps'] for r in reports)}, {sum(r['unconverged'] for r in reports)} not converged"),
            ("left out", f"{sum(r['draw'] for r in reports)} draws: a corner astray, or not at rest"),
            ("checksum", database.checksum),
        ]
        print(columns(rows, path.name))
    return 0


def _sequence(options: argparse.Namespace, path: Path) -> int:
    from isocloth.folding import simulated_sequence
    from isocloth.states.napkin import SEQUENCES
    from isocloth.trajectory import SUFFIXES, Trajectory

    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f"a sequence is a trajectory, {' or '.join(SUFFIXES)}, but {options.output!r} was given; rename it"
        )
    others = {"--per-class": options.per_class, "--classes": options.classes, "--workers": options.workers,
              "--resume": options.resume or None, "--restart": options.restart or None}  # fmt: skip
    if given := [name for name, value in others.items() if value is not None]:
        raise InputError(f"{' and '.join(given)}: of a database, not of --sequence, which is one run; leave out")
    if options.sequence not in SEQUENCES:
        raise UnknownNameError(
            f"sequence {options.sequence!r} is unknown; choose one of {', '.join(map(repr, SEQUENCES))}"
        )
    _check_place(path)
    mesh, positions, labels = simulated_sequence(
        options.sequence, seed=options.seed, shape=(options.nodes, options.nodes)
    )
    frames = np.arange(float(len(positions)))
    Trajectory(
        times=frames, positions=positions, faces=mesh.faces, rest=mesh.vertices,
        metadata={"sequence": options.sequence, "seed": options.seed, "labels": labels.tolist()},
    ).save(path)  # fmt: skip
    if not options.quiet:
        rows = [("sequence", options.sequence), ("frames", f"{len(positions)}, their number is their time"),
                ("labels", " ".join(map(str, labels)))]  # fmt: skip
        print(columns(rows, path.name))
    return 0


def _check_place(path: Path) -> None:
    """Before minutes of work: that the file can be written where it is wanted."""
    if not path.resolve().parent.is_dir():
        raise MissingFileError(f"cannot write {str(path)!r}: its folder does not exist; create it first")
    if path.is_dir():
        raise IsFolderError(f"cannot write {str(path)!r}: a folder has this name; choose another")


def _check_finished(path: Path, per_class: int, options: argparse.Namespace) -> None:
    """That a finished file holds the states that are asked for."""
    from isocloth.folding.cache import up_to_date
    from isocloth.states import Database
    from isocloth.states.napkin import CLASSES

    found = Database.load(path)
    asked = (options.seed, per_class, options.nodes**2, sorted(options.classes or CLASSES))
    told = found.metadata
    holds = (told.get("seed"), told.get("samples"), found.mesh.n_vertices, sorted(found.classes))
    if asked != holds or not up_to_date(found):
        raise InputError(
            f"{path} is finished, but holds states of other options or of another version of isocloth; leave out "
            "--resume to make it again, or choose another name"
        )


def _say(line: str) -> None:
    print(f"isocloth: {line}", file=sys.stderr, flush=True)
