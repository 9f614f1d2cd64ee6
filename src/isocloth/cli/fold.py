"""`isocloth fold`: a database of folded states, or a folding sequence, by simulation."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import numpy as np

from isocloth.cli.columns import columns


def fold(options: argparse.Namespace) -> int:
    """Make the file, keeping finished states beside it until it is complete."""
    path = Path(options.output)
    if options.sequence is not None:
        return _sequence(options, path)
    if path.suffix.lower() != ".npz":
        raise ValueError(f"a database file ends in .npz, but {options.output!r} was given")
    if not path.resolve().parent.is_dir():
        raise FileNotFoundError(f"cannot write {options.output!r}: its folder does not exist; create it first")
    from isocloth.folding.make import parts_of, states_file

    parts = parts_of(path)
    if options.restart and parts.is_dir():
        shutil.rmtree(parts)
    if parts.is_dir() and not options.resume:
        raise ValueError(f"{parts} holds states of an interrupted run; give --resume to go on, or --restart to discard")
    database = states_file(
        path, options.per_class, seed=options.seed, shape=(options.nodes, options.nodes), classes=options.classes,
        workers=options.workers, say=None if options.quiet else _say,
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
    from isocloth.trajectory import SUFFIXES, Trajectory

    if path.suffix.lower() not in SUFFIXES:
        raise ValueError(f"a sequence is a trajectory, {' or '.join(SUFFIXES)}, but {options.output!r} was given")
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


def _say(line: str) -> None:
    print(f"isocloth: {line}", file=sys.stderr, flush=True)
