"""What a scene file says about a cloth whose shape comes from elsewhere: the target of inverse design."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.typing import IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Model
from isocloth.obstacles import Obstacle
from isocloth.scenes.build import held_nodes
from isocloth.scenes.build_obstacle import build_obstacles
from isocloth.scenes.load import entries, parse_file
from isocloth.scenes.model import GraspPlan
from isocloth.scenes.motions import Hold
from isocloth.scenes.obstacle_file import TIMESTEP
from isocloth.scenes.problems import Problems, as_keys
from isocloth.scenes.read_cloth import read_cloth
from isocloth.scenes.read_fabric import read_fabric
from isocloth.scenes.read_grasp import read_grasp
from isocloth.scenes.read_obstacle import read_obstacle
from isocloth.scenes.read_settings import read_settings
from isocloth.scenes.shipped import find_scene
from isocloth.scenes.table import Table


class Surroundings(NamedTuple):
    """What a cloth is made of, what holds it, and what is around it.

    model: None if the file names none. grasps: of hands that stand still. gravity: m/s^2.
    """

    title: str
    fabric: Fabric
    model: Model | None
    obstacles: list[Obstacle]
    grasps: tuple[GraspPlan, ...]
    self_collision: bool
    gravity: float
    problems: Problems

    def held(self, mesh: Mesh) -> IntArray | None:
        """(k,) nodes of a mesh that hands hold, each once; None if there are no hands."""
        found = []
        for i, plan in enumerate(self.grasps):
            try:
                found.append(held_nodes(plan, mesh))
            except ValueError as error:
                self.problems.add(f"grasp[{i}]", as_keys(str(error)))
        self.problems.raise_if_any()
        if not found:
            return None
        nodes = np.concatenate(found)
        _, first = np.unique(nodes, return_index=True)
        return np.asarray(nodes[np.sort(first)])


def load_surroundings(path: str | os.PathLike[str]) -> Surroundings:
    """Read a scene file, or the shipped scene of a name; `SceneError` lists what is wrong with it.

    The tables are those of a scene that is simulated, but [simulation] needs no duration, [fabric] has to be there, and
    a [cloth], which says what to simulate later, may be missing.
    """
    source = find_scene(path)
    data = parse_file(source)
    problems = Problems(source)
    top = Table(data, "", problems)
    given = _table(top, "simulation") or {}
    settings = read_settings(Table({"duration": 1.0, **given}, "simulation", problems))
    made_of = _table(top, "fabric")
    if made_of is None and "fabric" not in data:
        top.complain("fabric", "is missing; add a table that starts with [fabric], at least with a density in kg/m^2")
    fabric = read_fabric(Table(made_of or {}, "fabric", problems))
    _check_cloth(top, fabric)
    grasps = []
    for i, entry in enumerate(entries(top, "grasp")):
        table = Table(entry, f"grasp[{i}]", problems)
        grasps.append(read_grasp(table, source.parent, TIMESTEP))
        _check_still(table, grasps[-1])
    if entries(top, "pinch"):
        top.complain("pinch", "grippers hold by friction, which is not inverted; expected [[grasp]]")
    plans = tuple(
        read_obstacle(Table(entry, f"obstacle[{i}]", problems), source.parent, TIMESTEP)
        for i, entry in enumerate(entries(top, "obstacle"))
    )
    title = top.text("title", "")
    top.close()
    problems.raise_if_any()
    obstacles = build_obstacles(plans, problems) if plans else []
    for i, body in enumerate(obstacles):
        if not body.still:
            problems.add(f"obstacle[{i}]", "it moves; expected one that stands still: leave out what moves it")
    problems.raise_if_any()
    model = settings.model if "model" in given else None
    return Surroundings(
        title, fabric, model, obstacles, tuple(grasps), settings.self_collision, settings.gravity, problems
    )  # fmt: skip


def _table(top: Table, name: str) -> dict[str, Any] | None:
    value = top.take(name)
    if value is not None and not isinstance(value, dict):
        top.complain(name, f"expected a table that starts with [{name}]")
        return None
    return value


def _check_cloth(top: Table, fabric: Fabric) -> None:
    """A [cloth] is what `isocloth run` simulates with the result; it must not be another one than the target."""
    given = top.take("cloth")
    if given is None:
        return
    if not isinstance(given, dict):
        top.complain("cloth", "expected one [cloth] at most; the target is the cloth")
        return
    table = Table(given, "cloth", top.problems)
    folder = top.problems.source.parent if top.problems.source else None
    assert folder is not None
    read_cloth(table, folder, fabric)
    for key in ("position", "rotation", "fabric"):
        if key in given:
            where = "[fabric] says what it is made of" if key == "fabric" else "the target is where its file has it"
            table.complain(key, f"{where}; leave it out")


def _check_still(table: Table, plan: GraspPlan) -> None:
    if not isinstance(plan.motion, Hold):
        table.complain("motion", "hands of an inverse design stand still; leave it out")
    for key in ("release", "max_force", "piece"):
        if table.has(key):
            table.complain(key, "has no meaning for a cloth at rest, whose hands bear any force; leave it out")
