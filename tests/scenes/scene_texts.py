"""Scenes that the tests start from, and the texts of the documentation."""

from __future__ import annotations

import copy
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs" / "scenes.md"

GOOD: dict[str, Any] = {
    "title": "a test",
    "cloth": {"shape": "rectangle", "width": 0.3, "height": 0.3, "nodes": [4, 4], "rotation": [90, 0, 0]},
    "fabric": {"name": "denim", "damping": 0.2},
    "simulation": {"duration": 0.05, "timestep": 0.01},
    "grasp": [
        {"where": "top corners"},
        {"nodes": [0], "motion": "oscillate", "amplitude": 0.01, "axis": "x", "frequency": 2.0},
    ],
}

#: an obstacle of every kind, some that move, none near the cloth
OBSTACLES: list[dict[str, Any]] = [
    {"kind": "floor", "height": -2.0, "friction": 0.4},
    {"kind": "sphere", "centre": [0, 0, -1], "radius": 0.1, "motion": "line", "by": [0, 0, 0.1], "stop": 1.0},
    {"kind": "box", "centre": [0, 0, -1], "size": [0.1, 0.2, 0.3], "rotation": [0, 0, 90], "name": "table"},
    {"kind": "plane", "point": [0, 0, -3], "normal": [0, 1, 1], "velocity": [0.1, 0, 0]},
    {"kind": "points", "points": [[0, 0, 0], [0.1, 0, 0]], "centre": [0, 0, -1]},
    {"kind": "mesh", "path": "body.obj", "scale": 0.001, "centre": [0, 0, -1.5]},
    {"kind": "stick", "a": [0, -1, -1], "b": [1, -1, -1], "radius": 0.0075, "pieces": 5},
    {"kind": "cylinder", "a": [0, -1, -1], "b": [1, -1, -1], "radius": 0.1, "spin": [90, 0, 0]},
    {"kind": "capsule", "a": [0, -1, -1], "b": [1, -1, -1], "radius": 0.1},
]


def good() -> dict[str, Any]:
    """A scene without problems, to be spoilt."""
    return copy.deepcopy(GOOD)


def good_with_obstacles() -> dict[str, Any]:
    """The same with obstacles, to be spoilt."""
    return {**good(), "obstacle": copy.deepcopy(OBSTACLES)}


def blocks(language: str) -> list[str]:
    """Code blocks of docs/scenes.md."""
    return re.findall(rf"```{language}\n(.*?)```", DOCS.read_text(), flags=re.DOTALL)


def write_documented_files(folder: Path) -> list[str]:
    """Write every block that starts with a comment with its name; returns the names of the scenes."""
    from isocloth.meshes import rectangle

    names = []
    for text in [*blocks("toml"), *blocks("text")]:
        first, rest = text.split("\n", 1)
        name = first.removeprefix("# ").strip()
        (folder / name).write_text(rest if name.endswith(".csv") else text)
        names += [name] if name.endswith(".toml") else []
    # the garment in millimetres that an example reads
    mesh = rectangle(0.4, 0.4, (21, 21))
    mesh.with_vertices(1000.0 * mesh.vertices).save(folder / "shirt.obj")
    return names


def documented_commands() -> list[list[str]]:
    """Words of every documented command after `isocloth`."""
    lines = [line for block in blocks("console") for line in block.splitlines()]
    assert lines
    assert all(line.startswith("$ isocloth ") for line in lines)
    return [line.split()[2:] for line in lines]
