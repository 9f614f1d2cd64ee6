"""A [[grasp]] table: which nodes, and when they are let go. Its motion has a file of its own."""

from __future__ import annotations

from pathlib import Path

from isocloth.scenes.model import GraspPlan, Vector
from isocloth.scenes.places import check_place
from isocloth.scenes.read_motion import read_motion
from isocloth.scenes.table import Table, as_vector

SELECTORS = ("nodes", "at", "where")


def read_grasp(table: Table, folder: Path, timestep: float) -> GraspPlan:
    """Read the table; paths in it are relative to `folder`."""
    given = [key for key in SELECTORS if table.has(key)]
    for key in SELECTORS:
        table.take(key)
    if len(given) != 1:
        found = f"{' and '.join(given)} are given" if given else "none is given"
        table.problems.add(table.name, f"exactly one of nodes, at and where says what is held, but {found}")
    plan = GraspPlan(
        nodes=_nodes(table) if table.has("nodes") else (),
        at=_points(table) if table.has("at") else (),
        radius=table.length("radius", 0.0, positive=False),
        where=_places(table) if table.has("where") else (),
        piece=table.text("piece", ""),
        release=table.number("release", unit="s", above=0.0) if table.has("release") else None,
        max_force=table.number("max_force", unit="N", above=0.0) if table.has("max_force") else None,
        motion=read_motion(table, folder, timestep),
    )
    table.take("release")
    table.take("max_force")
    if table.has("radius") and not table.has("at"):
        table.complain("radius", "belongs to `at`, which is not given")
    table.close()
    return plan


def _nodes(table: Table) -> tuple[int, ...]:
    value = table.take("nodes")
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in listed):
        table.complain("nodes", "expected indices of nodes, counted from 0, such as [0, 16]")
        return ()
    if len(set(listed)) != len(listed):
        table.complain("nodes", "names a node twice; give each once")
    return tuple(listed)


def _points(table: Table) -> tuple[Vector, ...]:
    value = table.take("at")
    single = as_vector(value)
    if single is not None:
        return (single,)
    points = [as_vector(row) for row in value] if isinstance(value, list) else []
    found = tuple(point for point in points if point is not None)
    if not points or len(found) != len(points):
        table.complain("at", "expected points in m, such as [[0, 0, 1], [0.5, 0, 1]]")
        return ()
    return found


def _places(table: Table) -> tuple[str, ...]:
    value = table.take("where")
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        table.complain("where", 'expected names of places, such as "top corners" or ["corner 0", "corner 3"]')
        return ()
    for name in names:
        problem = check_place(name)
        if problem:
            table.complain("where", problem)
            return ()
    return tuple(names)
