"""Scene files of inverse design: all but the cloth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.scenes import load_surroundings

GOOD = """
title = "a page"

[fabric]
density = 0.2
thickness = 2e-3

[simulation]
gravity = 9.0
self_collision = true
model = { name = "koiter", young = 2e6 }

[[obstacle]]
kind = "sphere"
centre = [0, 0, 1]
radius = 0.2
friction = 0.7

[[grasp]]
nodes = [3, 0]

[[grasp]]
at = [0.39, 0.0, 0.3]

[[grasp]]
where = "corner 0"
"""
MESH = ic.meshes.rectangle(0.4, 0.2, (3, 3), element="triangle")


def write(folder: Path, text: str) -> Path:
    path = folder / "scene.toml"
    path.write_text(text)
    return path


def test_a_scene_without_a_cloth_says_the_rest(tmp_path: Path) -> None:
    found = load_surroundings(write(tmp_path, GOOD))
    assert found.title == "a page"
    assert found.fabric == ic.Fabric(density=0.2, thickness=2e-3)
    assert found.model == ic.models.KoiterShell(young=2e6)
    assert found.obstacles == [ic.Sphere([0, 0, 1], 0.2, friction=0.7, name="sphere")]
    assert found.gravity == 9.0
    assert found.self_collision
    nearest = int(np.argmin(np.linalg.norm(MESH.vertices - [0.39, 0, 0.3], axis=1)))
    held = found.held(MESH)
    assert held is not None
    assert held.tolist() == list(dict.fromkeys([3, 0, nearest, int(MESH.corners[0])]))


def test_little_is_needed(tmp_path: Path) -> None:
    found = load_surroundings(write(tmp_path, "[fabric]\ndensity = 0.2\n"))
    assert found.model is None
    assert found.gravity == 9.81
    assert found.obstacles == []
    assert found.held(MESH) is None


def test_a_scene_that_runs_later_serves_too(tmp_path: Path) -> None:
    more = '\n[cloth]\nshape = "file"\npath = "hat.obj"\nrest = "rest.obj"\n'
    found = load_surroundings(write(tmp_path, GOOD.replace("gravity = 9.0", "duration = 1\nevery = 0.1") + more))
    assert found.fabric.density == 0.2


@pytest.mark.parametrize(("text", "message"), [
    (GOOD.replace("[fabric]\ndensity = 0.2\nthickness = 2e-3\n", ""), r"fabric: is missing; add a table"),
    ("fabric = 3\n", r"fabric = 3: expected a table"),
    (GOOD + 'motion = "line"\nby = [0, 0, 1]\nstop = 1\n', r"grasp\[2\].motion = 'line': .* leave it out"),
    (GOOD + "release = 1\n", r"grasp\[2\].release = 1: .* leave it out"),
    (GOOD + "max_force = 1\n", r"grasp\[2\].max_force = 1: .* leave it out"),
    (GOOD.replace("friction = 0.7", "velocity = [1, 0, 0]"), r"obstacle\[0\]: it moves; expected"),
    (GOOD + '\n[cloth]\nshape = "file"\npath = "a.obj"\nposition = [0, 0, 1]\n', r"cloth.position = .* leave it out"),
    (GOOD + '\n[cloth]\nshape = "file"\npath = "a.obj"\nfabric = "wool"\n', r"cloth.fabric = .* leave it out"),
    (GOOD + '\n[[cloth]]\nshape = "file"\npath = "a.obj"\n', r"cloth = .* expected one \[cloth\] at most"),
    (GOOD + "\n[[pinch]]\ncentre = [0, 0, 0]\n", r"pinch = .* expected \[\[grasp\]\]"),
    (GOOD + "\n[colour]\n", r"colour = .*unknown"),
    (GOOD.replace("gravity = 9.0", "gravity = -1"), r"simulation.gravity = -1"),
    (GOOD.replace("density = 0.2", "density = 0"), r"fabric.density = 0"),
])  # fmt: skip
def test_what_is_wrong_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ic.SceneError, match=message):
        load_surroundings(write(tmp_path, text))


@pytest.mark.parametrize(("grasp", "message"), [
    ("nodes = [99]", r"grasp\[0\]: node 99 does not exist"),
    ('where = "corner 9"', r"grasp\[0\]: the cloth has \d+ corners"),
    ("at = [9, 9, 9]\nradius = 0.1", r"grasp\[0\]: no node lies within"),
])  # fmt: skip
def test_hands_that_find_no_node_are_named(grasp: str, message: str, tmp_path: Path) -> None:
    found = load_surroundings(write(tmp_path, f"[fabric]\ndensity = 0.2\n[[grasp]]\n{grasp}\n"))
    with pytest.raises(ic.SceneError, match=message):
        found.held(MESH)
