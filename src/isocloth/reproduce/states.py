"""Names of folded states: how well dGLI and simpler descriptions keep the classes of a database apart.

The states are ideal folds (`isocloth.states.folds`), not simulated ones: the thesis' numbers stand beside for
orientation, its database is another.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from isocloth.pictures import contact_sheet, save_png, table_picture
from isocloth.reproduce.result import Result, Say, silent
from isocloth.states import Classifier, Database, boundary_of, corner_segments, davies_bouldin, dgli, gli, ideal_states
from isocloth.states.clusters import left_out
from isocloth.states.napkin import SEQUENCES, ideal_sequence
from isocloth.states.representations import ALL, DGLI
from isocloth.trajectory import Trajectory
from isocloth.typing import FloatArray

TITLE = "names of folded states: classes kept apart by dGLI and by simpler descriptions"

#: Davies-Bouldin indices of the thesis' table 7.1: database, sequences 1 to 3
THESIS = {
    "dGLI": (0.73, 0.27, 0.18, 0.21),
    "edges": (1.60, 0.68, 0.77, 0.51),
    "corners": (2.49, 0.98, 1.61, 3.14),
    "Frechet": (0.99, 0.69, 0.76, 0.48),
    "Hausdorff": (1.45, 0.71, 0.84, 0.49),
}


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Davies-Bouldin indices, classification with noise, hidden segments, other meshes, unknown classes; speed."""
    result = Result("states", TITLE)
    database = ideal_states(4 if quick else 10)
    _separation(result, database, out, say)
    say("classification")
    _classification(result, database, fresh=3 if quick else 20)
    _speed(result)
    if out is not None:
        _pictures(database, out)
    result.notes.append("states are ideal folds, not simulated; 'paper' are the thesis' simulated states, table 7.1")
    return result


def _separation(result: Result, database: Database, out: Path | None, say: Say) -> None:
    sequences = [ideal_sequence(name) for name in SEQUENCES]
    best = np.full(4, np.inf)
    own = np.full(4, np.inf)
    for by in ALL:
        say(f"Davies-Bouldin index of {by.name}")
        x = by.all(database.boundaries)
        index = [davies_bouldin(x, database.labels, by)]
        for mesh, positions, labels in sequences:
            index.append(davies_bouldin(by.all([boundary_of(mesh, y) for y in positions]), labels, by))
        places = ("database", *SEQUENCES)
        for place, value, paper in zip(places, index, THESIS[by.name], strict=True):
            what = f"Davies-Bouldin, {by.name}, {place}"
            if by is DGLI:
                result.below(what, value, paper, ".2f", paper=f"{paper:.2f}")
            else:
                result.info(what, value, ".2f", paper=f"{paper:.2f}")
        table = by.distances(x, x)
        rate = left_out(table, database.labels).mean()
        if by is DGLI:
            own = np.array(index)
            result.above("left out one by one, dGLI: right, %", 100.0 * rate, 95.0, ".1f")
        else:
            best = np.minimum(best, index)
            result.info(f"left out one by one, {by.name}: right, %", 100.0 * rate, ".1f")
        if out is not None:
            counts = np.bincount(database.labels)
            groups = list(zip(database.classes, counts.tolist(), strict=True))
            save_png(table_picture(table, groups=groups, title=f"distances, {by.name}"), out / f"states-{by.name}.png")
    result.holds("dGLI separates best in all four columns", bool((own < best).all()), paper="yes")


def _classification(result: Result, database: Database, fresh: int) -> None:
    ready = Classifier(database)
    result.info("representatives of all classes", len(ready.representatives), ".0f")
    result.info("distance beyond which a state is unknown", ready.threshold, ".3f")
    new = ideal_states(fresh, seed=1)
    rng = np.random.default_rng(0)
    names = np.array(new.names())

    def right(states: list[FloatArray]) -> float:
        return 100.0 * float(np.mean([ready.classify(x).name == name for x, name in zip(states, names, strict=True)]))

    result.above("states never seen: right, %", right(list(new.positions)), 95.0, ".1f")
    for noise, least in ((0.005, 90.0), (0.01, 90.0), (0.02, None)):
        rate = right([x + noise * rng.standard_normal(x.shape) for x in new.positions])
        what = f"with {1000 * noise:g} mm of noise on every point: right, %"
        if least is None:
            result.info(what, rate, ".1f")
        else:
            result.above(what, rate, least, ".1f")
    for hidden in (1, 2, 3, 4):
        seen = []
        for x in new.positions:
            segments = corner_segments(boundary_of(new.mesh, x))
            segments[rng.choice(8, hidden, replace=False)] = np.nan
            seen.append(segments)
        result.info(f"with {hidden} of 8 segments hidden: right, %", right(seen), ".1f")
    for n in (10, 15, 30, 40):
        other = ideal_states(1 if fresh < 10 else 5, seed=2, shape=(n, n))
        same = [
            ready.classify(x, mesh=other.mesh).name == name
            for x, name in zip(other.positions, other.names(), strict=True)
        ]
        result.above(f"on meshes of {n} x {n} nodes: right, %", 100.0 * float(np.mean(same)), 100.0, ".1f")
    unknown = []
    for k in range(len(database.classes)):
        others = Classifier(database.only(database.labels != k))
        unknown += [not others.classify(x).known for x in database.positions[database.labels == k]]
    result.info("states of a class that the database lacks: unknown, %", 100.0 * float(np.mean(unknown)), ".1f")


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


def _pictures(database: Database, out: Path) -> None:
    first = [int(np.flatnonzero(database.labels == k)[0]) for k in range(len(database.classes))]
    shapes = database.positions[first]
    shapes = shapes - np.array([1.0, 1.0, 0.0]) * shapes.mean(axis=1, keepdims=True)
    shown = Trajectory(
        times=np.arange(1.0, len(first) + 1.0), positions=shapes, faces=database.mesh.faces, rest=database.mesh.vertices
    )
    save_png(contact_sheet(shown, count=len(first), width=1200, height=900), out / "states-classes.png")
