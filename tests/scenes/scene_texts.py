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


def good() -> dict[str, Any]:
    """A scene without problems, to be spoilt."""
    return copy.deepcopy(GOOD)


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
