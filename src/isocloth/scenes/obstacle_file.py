"""Obstacles of a scene file, for those who bring a cloth of their own: recordings."""

from __future__ import annotations

import os

from isocloth.base.errors import SceneError
from isocloth.obstacles import Obstacle
from isocloth.scenes.build_obstacle import build_obstacles
from isocloth.scenes.load import entries, parse_file, read_scene
from isocloth.scenes.problems import Problems
from isocloth.scenes.read_obstacle import read_obstacle
from isocloth.scenes.shipped import find_scene
from isocloth.scenes.table import Table

#: s, of the steps for which an oscillation has to be slow enough, where the file does not say
TIMESTEP = 0.01


def load_obstacles(path: str | os.PathLike[str]) -> list[Obstacle]:
    """The obstacles of a scene file, or of a file that holds nothing but `[[obstacle]]` tables.

    path: of the file, or the name of a shipped scene. The clock of paths begins with 0.
    """
    source = find_scene(path)
    data = parse_file(source)
    problems = Problems(source)
    if "cloth" in data or "simulation" in data:
        plans = read_scene(data, source).obstacles
    else:
        top = Table(data, "", problems)
        top.text("title", "")
        plans = tuple(
            read_obstacle(Table(entry, f"obstacle[{i}]", problems), source.parent, TIMESTEP)
            for i, entry in enumerate(entries(top, "obstacle"))
        )
        top.close()
        problems.raise_if_any()
    if not plans:
        raise SceneError(f"{source}: there is no obstacle in it; add a table that starts with [[obstacle]]")
    return build_obstacles(plans, problems)
