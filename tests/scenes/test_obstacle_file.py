"""Obstacles of scene files, for recordings: whole scenes, files with obstacles alone, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

import isocloth as ic
from isocloth.scenes import load_obstacles

TABLE = """
[[obstacle]]
kind = "box"
name = "table"
centre = [0, 0, -3]
size = [2, 1, 0.1]
friction = 0.45
"""

SCENE = """
[cloth]
shape = "rectangle"
width = 0.3
height = 0.3
nodes = [4, 4]

[simulation]
duration = 0.05
"""


@pytest.mark.parametrize("text", [TABLE, SCENE + TABLE], ids=["obstacles alone", "a whole scene"])
def test_obstacles_are_read_from_a_file(text: str, tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text(text)
    (table,) = load_obstacles(tmp_path / "table.toml")
    assert table == ic.Box([0, 0, -3], [2, 1, 0.1], name="table", friction=0.45)
    assert table.friction == 0.45


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (SCENE, "no obstacle in it"),
        ("", "no obstacle in it"),
        (TABLE.replace("friction = 0.45", "friction = -1"), r"obstacle\[0\]"),
        (TABLE.replace("kind", "knid"), r"obstacle\[0\]"),
        ("[fabric]\ndensity = 0.1\n" + TABLE, "fabric"),
    ],
)
def test_a_file_without_usable_obstacles_is_refused(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "table.toml").write_text(text)
    with pytest.raises(ic.SceneError, match=message):
        load_obstacles(tmp_path / "table.toml")


def test_a_file_that_does_not_exist_is_named() -> None:
    with pytest.raises(FileNotFoundError, match=r"none\.toml"):
        load_obstacles("none.toml")
