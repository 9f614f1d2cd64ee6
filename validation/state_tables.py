"""How well descriptions keep the classes of a database apart: the thesis' table 7.1, for any states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.pictures import contact_sheet, save_png, table_picture
from isocloth.states import Database, boundary_of, davies_bouldin
from isocloth.states.clusters import leave_one_out
from isocloth.states.napkin import SEQUENCES
from isocloth.states.representations import ALL, DGLI
from isocloth.trajectory import Trajectory
from validation.result import Result, Say

#: Davies-Bouldin indices of the thesis' table 7.1: database, sequences 1 to 3
THESIS = {
    "dGLI": (0.73, 0.27, 0.18, 0.21),
    "edges": (1.60, 0.68, 0.77, 0.51),
    "corners": (2.49, 0.98, 1.61, 3.14),
    "Frechet": (0.99, 0.69, 0.76, 0.48),
    "Hausdorff": (1.45, 0.71, 0.84, 0.49),
}

Sequence3 = tuple[Mesh, FloatArray, IntArray]  # mesh, frames (T, n, 3) in m, labels (T,)


def separation(
    result: Result,
    kind: str,
    database: Database,
    sequences: Sequence[Sequence3],
    *,
    targets: bool = True,
    out: Path | None = None,
    say: Say,
) -> None:
    """Davies-Bouldin indices of five descriptions on a database and sequences, and how many neighbours are right."""
    places = ("database", *SEQUENCES)[: 1 + len(sequences)]
    best, own = np.full(len(places), np.inf), np.full(len(places), np.inf)
    for by in ALL:
        say(f"{kind}: Davies-Bouldin index of {by.name}")
        x = by.all(database.boundaries)
        index = [davies_bouldin(x, database.labels, by)]
        for mesh, positions, labels in sequences:
            index.append(davies_bouldin(by.all([boundary_of(mesh, y) for y in positions]), labels, by))
        for place, value, paper in zip(places, index, THESIS[by.name], strict=False):
            what = f"{kind}: Davies-Bouldin, {by.name}, {place}"
            if by is DGLI and targets:
                result.below(what, value, paper, ".2f", paper=f"{paper:.2f}")
            else:
                result.info(what, value, ".2f", paper=f"{paper:.2f}")
        table = by.distances(x, x)
        rate = 100.0 * leave_one_out(table, database.labels).mean()
        if by is DGLI:
            own = np.array(index)
            result.above(f"{kind}: left out one by one, dGLI: right, %", rate, 95.0, ".1f")
        else:
            best = np.minimum(best, index)
            result.info(f"{kind}: left out one by one, {by.name}: right, %", rate, ".1f")
        if out is not None:
            picture = table_picture(table, groups=groups(database), title=f"distances, {by.name}, {kind}")
            save_png(picture, out / f"{kind.replace(' ', '-')}-{by.name}.png")
    if targets:
        result.holds(f"{kind}: dGLI separates best in all columns", bool((own < best).all()), paper="yes")


def drawn_again(result: Result, sequences: Mapping[str, Sequence[Sequence3]]) -> None:
    """Davies-Bouldin indices of dGLI on further sequences of each name, and the best of the other descriptions."""
    for name, several in sequences.items():
        for k, (mesh, positions, labels) in enumerate(several, 1):
            boundaries = [boundary_of(mesh, y) for y in positions]
            index = {by.name: davies_bouldin(by.all(boundaries), labels, by) for by in ALL}
            result.info(f"simulated: Davies-Bouldin, dGLI, {name}, drawn again {k}", index.pop(DGLI.name), ".2f")
            result.info(f"simulated: Davies-Bouldin, best other, {name}, drawn again {k}", min(index.values()), ".2f")


def groups(database: Database) -> list[tuple[str, int]]:
    """Names and sizes of the classes of a database whose states are in their order."""
    return list(zip(database.classes, np.bincount(database.labels).tolist(), strict=True))


def class_picture(database: Database, file: Path, *, per_class: int = 1) -> None:
    """The first states of every class, in their order."""
    chosen = [int(i) for k in range(len(database.classes)) for i in np.flatnonzero(database.labels == k)[:per_class]]
    shapes = database.positions[chosen]
    shapes = shapes - np.array([1.0, 1.0, 0.0]) * shapes.mean(axis=1, keepdims=True)
    shown = Trajectory(
        times=np.arange(1.0, len(chosen) + 1.0), positions=shapes, faces=database.mesh.faces,
        rest=database.mesh.vertices,
    )  # fmt: skip
    wide = (1200, 900) if per_class == 1 else (2400, 1800)
    names = [database.names()[i] for i in chosen]
    save_png(contact_sheet(shown, count=len(chosen), width=wide[0], height=wide[1], captions=names), file)
