"""Names of folded states: how well dGLI and simpler descriptions keep the classes of a database apart.

Twice: on ideal folds (`isocloth.states.folds`), and on states that were folded by simulation (`isocloth.folding`), as
the thesis' were. Its database is another one, with other classes: its numbers stand beside for orientation.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.folding.cache import cached_sequence, cached_states
from isocloth.folding.library import simulated_sequence
from isocloth.folding.make import simulated_states
from isocloth.states import Classifier, Database, boundary_of, dgli, gli, ideal_states
from isocloth.states.napkin import SEQUENCES, ideal_sequence
from validation.from_above import seen_from_above
from validation.result import Result, Say, silent
from validation.simulated_states import (
    against_the_committed,
    classification,
    intersecting,
    making,
    with_hidden_segments,
    with_noise,
    with_unknown,
)
from validation.state_tables import class_picture, drawn_again, separation

TITLE = "names of folded states, simulated and ideal: classes kept apart by dGLI and by simpler descriptions"

#: seeds of further sequences: how a napkin lands decides on the labels of one, and so on its index
AGAIN = (1, 2, 3)

#: of the small version
FEW = ("flat", "corner in", "half")
SMALL = (10, 10)  # nodes


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Davies-Bouldin indices, classification with noise, hidden segments, other meshes, unknown classes; speed."""
    result = Result("states", TITLE)
    if quick:
        _few_simulated(result, out, say)
    else:
        _simulated(result, out, say)
    database = ideal_states(4 if quick else 10)
    separation(result, "ideal", database, [ideal_sequence(name) for name in SEQUENCES], out=out, say=say)
    say("classification of ideal folds")
    _ideal_classification(result, database, fresh=3 if quick else 20)
    _speed(result)
    if out is not None:
        class_picture(database, out / "ideal-classes.png")
    result.notes.append("'paper' are the thesis' simulated states, table 7.1: another database, with other classes")
    return result


def _simulated(result: Result, out: Path | None, say: Say) -> None:
    database = cached_states(folder=out, say=say)
    sequences = []
    for name in SEQUENCES:
        say(f"folding {name}")
        sequences.append(cached_sequence(name, folder=out))
    making(result, database)
    intersecting(result, database)
    against_the_committed(result, database)
    separation(result, "simulated", database, sequences, out=out, say=say)
    for name, (_, _, labels) in zip(SEQUENCES, sequences, strict=True):
        result.info(f"simulated: classes of the sequence {name}", int(labels.max()) + 1, ".0f")
    drawn_again(result, {name: [cached_sequence(name, seed=k, folder=out) for k in AGAIN] for name in SEQUENCES})
    say("classification of simulated states")
    classification(result, database, meshes=(10, 15, 30, 40), out=out)
    with_unknown(result, database)
    seen_from_above(result, database, say)
    if out is not None:
        class_picture(database, out / "simulated-classes.png")
        class_picture(database, out / "simulated-all.png", per_class=10)


def _few_simulated(result: Result, out: Path | None, say: Say) -> None:
    """A small napkin in three classes, made anew every time: that all of it works, not how well."""
    database = simulated_states(2, shape=SMALL, classes=FEW, say=say)
    sequence = simulated_sequence("two opposite corners", frames=7, shape=SMALL)
    making(result, database)
    intersecting(result, database)
    separation(result, "simulated", database, [sequence], targets=False, say=say)
    classification(result, database, meshes=(15,), out=out)
    seen_from_above(result, database, say)


def _ideal_classification(result: Result, database: Database, fresh: int) -> None:
    ready = Classifier(database)
    kind = "ideal"
    result.info(f"{kind}: representatives of all classes", len(ready.representatives), ".0f")
    result.info(f"{kind}: distance beyond which a state is unknown", ready.threshold, ".3f")
    new = ideal_states(fresh, seed=1)
    rng = np.random.default_rng(0)
    names = np.array(new.names())

    def right(states: list[FloatArray]) -> float:
        return 100.0 * float(np.mean([ready.classify(x).name == name for x, name in zip(states, names, strict=True)]))

    result.above(f"{kind}: states never seen: right, %", right(list(new.positions)), 95.0, ".1f")

    def right_with_noise(noise: float) -> float:
        return right([x + noise * rng.standard_normal(x.shape) for x in new.positions])

    with_noise(result, f"{kind}: with {{:g}} mm of noise on every point: right, %", right_with_noise)
    with_hidden_segments(result, kind, [boundary_of(new.mesh, x) for x in new.positions], rng, right)
    for n in (10, 15, 30, 40):
        other = ideal_states(1 if fresh < 10 else 5, seed=2, shape=(n, n))
        same = [
            ready.classify(x, mesh=other.mesh).name == name
            for x, name in zip(other.positions, other.names(), strict=True)
        ]
        result.above(f"{kind}: on meshes of {n} x {n} nodes: right, %", 100.0 * float(np.mean(same)), 100.0, ".1f")
    unknown = []
    for k in range(len(database.classes)):
        others = Classifier(database.only(database.labels != k))
        unknown += [not others.classify(x).known for x in database.positions[database.labels == k]]
    result.info(
        f"{kind}: states of a class that the database lacks: unknown, %", 100.0 * float(np.mean(unknown)), ".1f"
    )


def _speed(result: Result) -> None:
    x = np.random.default_rng(0).standard_normal((401, 3))
    a, b = x[:-1], x[1:]
    for function in (gli, dgli):
        times = []
        for _ in range(6):  # the first one compiles
            begin = time.perf_counter()
            function(a[:, None], b[:, None], a, b, touching="nan")
            times.append(time.perf_counter() - begin)
        result.below(f"{function.__name__} of all pairs of 400 segments, s", min(times), 0.1, ".3f")
