"""Names of simulated folded states: with noise, moved, remeshed, partly hidden, unknown, and beside ideal folds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from scipy.interpolate import RegularGridInterpolator

from isocloth.base.typing import FloatArray, IntArray
from isocloth.folding.fingerprint import SAME, committed, corner_distances_of
from isocloth.folding.stage import FABRIC
from isocloth.meshes import Mesh, rectangle
from isocloth.pictures import save_png, table_picture
from isocloth.states import (
    Boundary,
    Classifier,
    Database,
    boundary_of,
    corner_segments,
    distance_matrix,
    ideal_states,
    of_segments,
)
from validation.intersections import APART, INSTALL, Judge
from validation.result import Result


def coordinates_of(boundaries: Sequence[Boundary]) -> FloatArray:
    """dGLI coordinates (n, 28) in 1/m."""
    return np.array([of_segments(corner_segments(b), touching="nan") for b in boundaries])


def names_without_itself(seen: FloatArray, database: Database, known: FloatArray) -> IntArray:
    """Class of the state, itself left out, nearest to what is seen (n, 28) of every one; -1 if it is too little."""
    enough = np.isfinite(seen).sum(axis=1) >= 3
    labels = np.full(len(seen), -1)
    table = distance_matrix(seen[enough], known)
    rows = np.flatnonzero(enough)
    table[np.arange(len(rows)), rows] = np.inf
    labels[rows] = database.labels[np.argmin(table, axis=1)]
    return labels


def with_noise(result: Result, what: str, rate: Callable[[float], float]) -> None:
    """Rates (%) of right names with noise of some mm, which `what` has a place for; the rate is asked for in m."""
    for noise, least in ((0.005, 90.0), (0.01, 90.0), (0.02, None)):
        label, value = what.format(1000 * noise), rate(noise)
        if least is None:
            result.info(label, value, ".1f")
        else:
            result.above(label, value, least, ".1f")


def with_hidden_segments(
    result: Result,
    kind: str,
    boundaries: Sequence[Boundary],
    rng: np.random.Generator,
    rate: Callable[[list[FloatArray]], float],
) -> None:
    """Rates (%) of right names by eight segments, some of them hidden, which are nan."""
    for hidden in (1, 2, 3, 4):
        seen = [corner_segments(b) for b in boundaries]
        for segments in seen:
            segments[rng.choice(8, hidden, replace=False)] = np.nan
        result.info(f"{kind}: with {hidden} of 8 segments hidden: right, %", rate(seen), ".1f")


def resampled(mesh: Mesh, positions: FloatArray, shape: tuple[int, int]) -> tuple[Mesh, FloatArray]:
    """The surface of quads (n, 3) in m, looked at through the nodes of another net of the same square."""
    x, y = np.unique(mesh.vertices[:, 0].round(9)), np.unique(mesh.vertices[:, 1].round(9))
    order = np.lexsort((mesh.vertices[:, 1].round(9), mesh.vertices[:, 0].round(9)))
    surface = RegularGridInterpolator((x, y), positions[order].reshape(len(x), len(y), 3))
    other = rectangle(float(x[-1] - x[0]), float(y[-1] - y[0]), shape)
    return other, np.asarray(surface(np.clip(other.vertices[:, :2], [x[0], y[0]], [x[-1], y[-1]])))


def classification(result: Result, database: Database, *, meshes: Sequence[int], out: Path | None) -> None:
    """Rates of right names; a state is always named by the others."""
    boundaries = database.boundaries
    known = coordinates_of(boundaries)
    labels = database.labels
    own = names_without_itself(known, database, known)
    rng = np.random.default_rng(0)
    kind = "simulated"

    def right(found: IntArray, against: IntArray = labels) -> float:
        return 100.0 * float(np.mean(found == against))

    def right_with_noise(noise: float) -> float:
        shaken = [Boundary(b.points + noise * rng.standard_normal(b.points.shape), b.corners) for b in boundaries]
        return right(names_without_itself(coordinates_of(shaken), database, known))

    def right_by_segments(seen: list[FloatArray]) -> float:
        coordinates = np.array([of_segments(s, touching="nan") for s in seen])
        return right(names_without_itself(coordinates, database, known))

    with_noise(result, f"{kind}: with {{:g}} mm of noise on every boundary point: right, %", right_with_noise)
    with_hidden_segments(result, kind, boundaries, rng, right_by_segments)
    moved = [Boundary(_moved(b.points, rng), b.corners) for b in boundaries]
    same = right(names_without_itself(coordinates_of(moved), database, known), own)
    result.above(f"{kind}: turned, shifted and scaled by 0.1 to 10: the same name, %", same, 100.0, ".1f")
    for n in meshes:
        other = [boundary_of(*resampled(database.mesh, x, (n, n))) for x in database.positions]
        same = right(names_without_itself(coordinates_of(other), database, known), own)
        result.above(f"{kind}: on nets of {n} x {n} nodes: the same name, %", same, 100.0, ".1f")
    if out is not None:
        title = "dark where names (columns) are given to classes (rows)"
        picture = table_picture(1.0 - _confusion(database, own), groups=[(c, 1) for c in database.classes], title=title)
        save_png(picture, out / "simulated-confusion.png")
    for i in np.flatnonzero(own != labels):
        names = database.names()
        called = database.classes[own[i]] if own[i] >= 0 else "unknown"
        result.notes.append(f"simulated: {names[i]} {i - int(np.argmax(labels == labels[i]))} is called {called}")


def with_unknown(result: Result, database: Database) -> None:
    """What `classify` says, which may be unknown; classes that the database lacks; ideal folds for simulated states."""
    named, unknown, lacking = [], [], []
    for i, (x, name) in enumerate(zip(database.positions, database.names(), strict=True)):
        found = Classifier(database.only(np.arange(len(database)) != i)).classify(x)
        named.append(found.name == name)
        unknown.append(not found.known)
    result.info("simulated: by classify, left out one by one: right, %", 100.0 * float(np.mean(named)), ".1f")
    result.info("simulated: by classify, left out one by one: unknown, %", 100.0 * float(np.mean(unknown)), ".1f")
    for k in range(len(database.classes)):
        others = Classifier(database.only(database.labels != k))
        lacking += [not others.classify(x).known for x in database.positions[database.labels == k]]
    result.info("simulated: states of a class that the database lacks: unknown, %", 100.0 * float(np.mean(lacking)),
                ".1f")  # fmt: skip
    ideal = ideal_states()
    for what, base, asked in (
        ("simulated states named by ideal folds: right, %", ideal, database),
        ("ideal folds named by simulated states: right, %", database, ideal),
    ):
        ready = Classifier(base)
        given = [ready.classify(x).name == name for x, name in zip(asked.positions, asked.names(), strict=True)]
        result.info(what, 100.0 * float(np.mean(given)), ".1f")


def making(result: Result, database: Database) -> None:
    """What the simulations report."""
    reports = database.metadata["reports"]
    seconds = sum(r["seconds"] for r in reports)
    result.below("simulated: making the database, min of one core", seconds / 60.0, 60.0, ".1f")
    result.below("simulated: steps not converged", sum(r["unconverged"] for r in reports), 0, ".0f")
    result.info("simulated: steps", sum(r["steps"] for r in reports), ".0f")
    result.info("simulated: isometry error of any step as reported", max(r["isometry_error"] for r in reports), ".1e")
    result.info("simulated: smallest gap of any step as reported, mm", 1e3 * min(r["min_gap"] for r in reports), ".3f")
    result.below("simulated: fastest node at the end of any, mm/s", 1e3 * max(r["speed"] for r in reports), 20.0, ".1f")
    result.info("simulated: draws left out: a corner astray, or not at rest", sum(r["draw"] for r in reports), ".0f")
    result.info("simulated: corners from where ideal folds put them, farthest of each state, mean, mm",
                1e3 * float(np.mean([r["astray"] for r in reports])), ".0f")  # fmt: skip


def intersecting(result: Result, database: Database) -> None:
    """States in which layers pass through each other, by an independent library."""
    try:
        judge = Judge(database.mesh, database.positions[0])
    except ImportError:
        result.notes.append(f"ipctk is not installed: intersections were not looked for; {INSTALL}")
        return
    bad = sum(judge.intersects(x) for x in database.positions)
    result.below(f"simulated: states with intersections by ipctk, of {len(database)}", bad, 0, ".0f")
    thick = FABRIC.thickness
    apart = min(judge.distance(x, thick) for x in database.positions) / thick
    what = "simulated: smallest distance of layers by ipctk, thicknesses (1 if more)"
    result.above(what, min(apart, 1.0), APART, ".3f")


def against_the_committed(result: Result, database: Database) -> None:
    """Whether these are the states whose numbers are documented: the same bits, or nearly the same places."""
    kept = committed()
    same = kept["checksum"] == database.checksum
    result.notes.append(f"checksum of the simulated database {database.checksum[:16]}..., "
                        f"{'the' if same else 'not the'} committed one")  # fmt: skip
    change = np.abs(corner_distances_of(database) - np.array(kept["corner_distances_mm"]) / 1e3)
    result.below("simulated: distances of corners from the committed ones, median, mm", 1e3 * float(np.median(change)),
                 1e3 * SAME, ".1f")  # fmt: skip


def _moved(points: FloatArray, rng: np.random.Generator) -> FloatArray:
    a = rng.uniform(0.0, 2.0 * np.pi)
    turn = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    return np.asarray(10.0 ** rng.uniform(-1.0, 1.0) * points @ turn.T + rng.uniform(-3.0, 3.0, 3))


def _confusion(database: Database, found: IntArray) -> FloatArray:
    """Shares of each class (rows) that are given a name (columns); those without a name, -1, are in no column."""
    count = len(database.classes)
    table = np.zeros((count, count))
    named = found >= 0
    np.add.at(table, (database.labels[named], found[named]), 1.0)
    return np.asarray(table / np.bincount(database.labels, minlength=count)[:, None])
