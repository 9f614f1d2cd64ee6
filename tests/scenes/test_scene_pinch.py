"""Grippers in scene files."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

from isocloth.base.errors import SceneError
from isocloth.scenes import build
from isocloth.scenes.load import read_scene

# a sheet of 0.3 x 0.3 m that stands on the x axis, pinched along its upper border
SCENE: dict[str, Any] = {
    "cloth": {"shape": "rectangle", "width": 0.3, "height": 0.3, "nodes": [4, 4], "rotation": [90, 0, 0]},
    "fabric": {"density": 0.2},
    "simulation": {"duration": 0.2, "timestep": 0.01},
    "pinch": [{"centre": [0.15, 0, 0.3], "size": [0.4, 0.02, 0.1], "normal": [0, 1, 0], "force": 1.0, "friction": 0.5}],
}


def with_pinch(**fields: Any) -> dict[str, Any]:
    """The scene with other fields of its pinch; ... takes one away."""
    scene = copy.deepcopy(SCENE)
    for key, value in fields.items():
        if value is ...:
            del scene["pinch"][0][key]
        else:
            scene["pinch"][0][key] = value
    return scene


def test_a_gripper_holds_moves_and_opens() -> None:
    scene = read_scene(with_pinch(motion="line", by=[0, 0, 0.01], stop=0.1, release=0.15))
    sim = build(scene)
    (gripper,) = sim.grippers
    assert gripper.nodes.tolist() == np.flatnonzero(sim.positions[:, 2] > 0.29).tolist()
    sim.run(0.14)
    assert gripper.force[2] == pytest.approx(-0.2 * 0.09 * 9.81, rel=1e-2)
    assert sim.positions[gripper.nodes, 2] == pytest.approx(0.31, abs=1e-4)
    sim.run(0.06)
    assert not gripper.active
    assert sim.positions[gripper.chosen, 2].max() < 0.31


def test_the_box_turns() -> None:
    turned = with_pinch(rotation=[0, 90, 0], centre=[0.0, 0.0, 0.15])
    assert len(build(read_scene(turned)).grippers[0].nodes) == 4


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"centre": ...}, ["pinch[0].centre: is missing"]),
        ({"normal": ...}, ["pinch[0].normal: is missing"]),
        ({"normal": [0, 0, 0]}, ["pinch[0].normal", "not zero"]),
        ({"size": [0.1, 0.0, 0.1]}, ["pinch[0].size", "positive lengths"]),
        ({"force": ...}, ["pinch[0].force"]),
        ({"force": -1}, ["pinch[0].force = -1", "each jaw presses"]),
        ({"force": float("inf")}, ["pinch[0].force = inf"]),
        ({"friction": -1}, ["pinch[0].friction = -1", "slippery"]),
        ({"frction": 1}, ["pinch[0].frction", "did you mean 'friction'?"]),
        ({"centre": [5, 0, 0]}, ["pinch[0]", "no node is between the jaws"]),
        ({"motion": "path", "times": [0, 1], "positions": [[1, 0, 0], [0, 0, 0]]}, ["pinch[0]", "the path is at"]),
        (
            {"motion": "path", "times": [0, 1], "positions": [[[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 0, 0]]]},
            ["pinch[0]", "2 points per time; give one"],
        ),
    ],
)
def test_a_wrong_pinch_is_named(fields: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(SceneError) as error:
        build(read_scene(with_pinch(**fields)))
    for word in words:
        assert word in str(error.value)


def test_single_brackets_are_explained() -> None:
    with pytest.raises(SceneError, match=r"\[\[pinch\]\] with double brackets"):
        read_scene({**SCENE, "pinch": SCENE["pinch"][0]})
