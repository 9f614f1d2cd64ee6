"""Reading a scene file. All problems of a file are listed at once."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path
from typing import Any

from isocloth.base.errors import SceneError
from isocloth.base.files import as_path, existing_file
from isocloth.fabric import Fabric
from isocloth.scenes.model import Cloth, Scene
from isocloth.scenes.problems import Problems
from isocloth.scenes.read_cloth import read_cloth
from isocloth.scenes.read_fabric import read_fabric
from isocloth.scenes.read_grasp import read_grasp
from isocloth.scenes.read_obstacle import read_obstacle
from isocloth.scenes.read_pinch import read_pinch
from isocloth.scenes.read_settings import read_settings
from isocloth.scenes.table import Table


def load_scene(path: str | os.PathLike[str]) -> Scene:
    """Read a scene file (TOML); `SceneError` lists what is wrong with it."""
    source = as_path(path, "scene file")
    return read_scene(parse_file(source), source)


def read_scene(data: dict[str, Any], source: Path | None = None) -> Scene:
    """A scene from the tables of a file; relative paths in it start from the folder of `source`."""
    problems = Problems(source)
    folder = source.parent if source else Path()
    top = Table(data, "", problems)
    settings = read_settings(_table(top, "simulation", required=True))
    fabric = read_fabric(_table(top, "fabric"))
    scene = Scene(
        title=top.text("title", ""),
        cloths=_cloths(top, folder, fabric),
        settings=settings,
        grasps=tuple(
            read_grasp(Table(entry, f"grasp[{i}]", problems), folder, settings.timestep)
            for i, entry in enumerate(entries(top, "grasp"))
        ),
        pinches=tuple(
            read_pinch(Table(entry, f"pinch[{i}]", problems), folder, settings.timestep)
            for i, entry in enumerate(entries(top, "pinch"))
        ),
        obstacles=tuple(
            read_obstacle(Table(entry, f"obstacle[{i}]", problems), folder, settings.timestep)
            for i, entry in enumerate(entries(top, "obstacle"))
        ),
        source=source,
    )
    _check_pieces(scene, problems)
    top.close()
    problems.raise_if_any()
    return scene


def _cloths(top: Table, folder: Path, fabric: Fabric) -> tuple[Cloth, ...]:
    """The [cloth] table, or all that start with [[cloth]]."""
    given = top.take("cloth")
    if not isinstance(given, list):
        return (read_cloth(_table(top, "cloth", required=True), folder, fabric),)
    found = entries(top, "cloth")
    if not given:
        top.complain("cloth", "expected at least one piece of cloth")
    tables = [Table(entry, f"cloth[{i}]", top.problems) for i, entry in enumerate(found)]
    return tuple(read_cloth(table, folder, fabric) for table in tables) or (Cloth(shape="rectangle"),)


def _check_pieces(scene: Scene, problems: Problems) -> None:
    """What pieces of cloth have to have in common, and not; and which of them grasps name."""
    first, names = scene.cloths[0].fabric.thickness, [cloth.name for cloth in scene.cloths]
    for i, cloth in enumerate(scene.cloths):
        if cloth.fabric.thickness != first:
            problems.add(
                f"{scene.called(i)}.fabric.thickness",
                f" = {cloth.fabric.thickness:g}: the first piece is {first:g} m thick; expected one thickness for all",
            )
        if cloth.name and cloth.name in names[:i]:
            problems.add(f"{scene.called(i)}.name", f' = "{cloth.name}": another piece has this name; choose another')
    for i, grasp in enumerate(scene.grasps):
        if grasp.piece and grasp.piece not in names:
            known = ", ".join(f'"{name}"' for name in names if name) or "none, as no [[cloth]] has a name"
            problems.add(f"grasp[{i}].piece", f' = "{grasp.piece}": no piece of cloth has this name; known are {known}')


def parse_file(source: Path) -> dict[str, Any]:
    """The tables of a scene file."""
    existing_file(source, "scene file")
    try:
        return tomllib.loads(source.read_bytes().decode("utf-8-sig").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as error:
        raise SceneError(f"{source}: this is no valid TOML: {error}; see docs/scenes.md for examples") from None
    except UnicodeDecodeError as error:
        raise SceneError(
            f"{source}: this is no UTF-8 text ({error.reason} at byte {error.start}): expected UTF-8"
        ) from None
    except (RecursionError, ValueError) as error:  # absurd nesting, or a number of thousands of digits
        raise SceneError(f"{source}: this TOML cannot be read: {error}; expected tables of a scene") from None


def _table(top: Table, name: str, required: bool = False) -> Table:
    value = top.take(name)
    if isinstance(value, dict):
        return Table(value, name, top.problems)
    if value is not None:
        top.complain(name, f"expected a table that starts with [{name}]")
    elif required:
        top.complain(name, f"is missing; add a table that starts with [{name}]")
    return _Absent({}, name, top.problems)


class _Absent(Table):
    """A table that is not there. That has been said once: its required fields are not complained about."""

    def complain(self, key: str, message: str) -> None:
        pass


def entries(top: Table, name: str) -> list[dict[str, Any]]:
    """The tables of a file that start with [[name]]."""
    value = top.take(name)
    if value is None:
        return []
    if isinstance(value, dict):
        top.complain(name, f"expected [[{name}]] with double brackets, as there may be several")
        return []
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        top.complain(name, f"expected tables that start with [[{name}]]")
        return []
    return value
