"""The obstacles of a scene are those that it describes."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import trimesh

import isocloth as ic
from isocloth.obstacles import Obstacle
from isocloth.scenes import build
from isocloth.scenes.build_obstacle import KINDS, build_obstacle
from isocloth.scenes.load import read_scene
from isocloth.scenes.read_obstacle import KINDS as READ

from .scene_texts import OBSTACLES, good


def obstacle(table: dict[str, Any], folder: Path = Path()) -> Obstacle:
    (plan,) = read_scene({**good(), "obstacle": [table]}, folder / "scene.toml").obstacles
    return build_obstacle(plan)


def test_every_kind_can_be_read_and_built(tmp_path: Path) -> None:
    assert set(KINDS) == set(READ) == {table["kind"] for table in OBSTACLES}
    ball = trimesh.creation.icosphere(subdivisions=1, radius=50.0)
    ic.Mesh(ball.vertices, ball.faces).save(tmp_path / "body.obj")
    found = [obstacle(table, tmp_path) for table in OBSTACLES]
    for body, table in zip(found, OBSTACLES, strict=True):
        assert type(body) is KINDS[table["kind"]]
        assert body.friction == table.get("friction", 0.3)
        assert body.still == (not {"motion", "velocity", "spin"} & set(table))
    assert found[2].name == "table"
    np.testing.assert_allclose(np.ptp(found[2].surface(0.0)[0], axis=0), [0.2, 0.1, 0.3])  # type: ignore[index]
    np.testing.assert_allclose(np.linalg.norm(found[5].vertices(0.0) - [0, 0, -1.5], axis=1), 0.05)  # type: ignore[attr-defined]


def test_a_spin_is_in_degrees_per_second() -> None:
    body = obstacle({"kind": "sphere", "centre": [0, 0, 0], "radius": 0.5, "spin": [0, 0, 90]})
    moved = body.displacement(np.array([[0.0, 0.5, 0.0]]), 0.0, 1.0)  # type: ignore[attr-defined]
    np.testing.assert_allclose(moved, [[-0.5, 0.5, 0]], atol=1e-15)


MOVING: list[dict[str, Any]] = [
    {"motion": "line", "by": [0, 0, 1], "stop": 1.0, "smooth": False},
    {"motion": "line", "to": [0.1, 0.2, 1.3], "stop": 1.0, "smooth": False},
    {"motion": "path", "times": [0, 1], "positions": [[0.1, 0.2, 0.3], [0.1, 0.2, 1.3]]},
    {"motion": "path", "times": [0, 1], "positions": [[0, 0, 0], [0, 0, 1]], "relative": True},
    {"motion": "oscillate", "amplitude": 1.0, "axis": "z", "frequency": 0.25},
    {"velocity": [0, 0, 1]},
]


@pytest.mark.parametrize("motion", MOVING)
@pytest.mark.parametrize(
    "shape",
    [
        {"kind": "sphere", "centre": [0.1, 0.2, 0.3], "radius": 0.1},
        {"kind": "box", "centre": [0.1, 0.2, 0.3], "size": [1, 1, 1]},
        {"kind": "capsule", "a": [0, 0.2, 0.3], "b": [0.2, 0.2, 0.3], "radius": 0.1},
        {"kind": "stick", "a": [0, 0.2, 0.3], "b": [0.2, 0.2, 0.3], "radius": 0.1},
        {"kind": "plane", "point": [0.1, 0.2, 0.3], "normal": [1, 2, 3]},
        {"kind": "points", "points": [[0, 0, 0]], "centre": [0.1, 0.2, 0.3]},
    ],
    ids=lambda shape: shape["kind"],
)
def test_obstacles_move_as_grasps_do(shape: dict[str, Any], motion: dict[str, Any]) -> None:
    body = obstacle(shape | motion)
    np.testing.assert_allclose(body.centre(0.0), [0.1, 0.2, 0.3])
    np.testing.assert_allclose(body.centre(1.0), [0.1, 0.2, 1.3], atol=1e-12)


def test_a_floor_starts_at_its_height() -> None:
    floor = obstacle({"kind": "floor", "height": 0.5, "motion": "line", "by": [0, 0, 0.1], "stop": 1.0})
    np.testing.assert_allclose(floor.centre(1.0), [0, 0, 0.6])
    assert obstacle({"kind": "floor", "motion": "line", "by": [0, 0, 0.1], "stop": 1.0}).centre(1.0)[2] == 0.1


def test_both_ends_of_a_stick_may_have_a_path() -> None:
    stick = obstacle(
        {
            "kind": "stick", "a": [0, 0, 0], "b": [1, 0, 0], "radius": 0.01, "motion": "path", "times": [0, 1],
            "positions": [[[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [0, 0, 1]]],
        }
    )  # fmt: skip
    np.testing.assert_allclose(stick.ends(1.0), [[0, 0, 0], [0, 0, 1]])  # type: ignore[attr-defined]
    turned = obstacle({"kind": "stick", "a": [0, 0, 0], "b": [2, 0, 0], "radius": 0.01, "rotation": [0, 0, 90]})
    np.testing.assert_allclose(turned.ends(0.0), [[1, -1, 0], [1, 1, 0]], atol=1e-15)  # type: ignore[attr-defined]


def test_a_mesh_in_millimetres_is_recognised(tmp_path: Path) -> None:
    ball = trimesh.creation.icosphere(subdivisions=1, radius=50.0)
    ic.Mesh(ball.vertices, ball.faces).save(tmp_path / "body.obj")
    with pytest.raises(ValueError, match=r"100 m large; is its unit mm or cm\? Then write scale = 0\.001"):
        obstacle({"kind": "mesh", "path": "body.obj"}, tmp_path)


def test_self_collision_and_friction_are_read() -> None:
    scene = read_scene({**good(), "simulation": {"duration": 1.0, "self_collision": True}, "fabric": {"friction": 0.7}})
    assert scene.settings.self_collision
    assert scene.fabric.friction == 0.7
    assert not read_scene(good()).settings.self_collision


def test_a_simulation_is_given_obstacles_only_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    class Stop(Exception):
        pass

    def simulation(*_: Any, **options: Any) -> None:
        given.update(options)
        raise Stop

    # the package exports its function `build` under the name of the module
    monkeypatch.setattr(sys.modules["isocloth.scenes.build"], "ScheduledSimulation", simulation)
    with pytest.raises(Stop):
        build(read_scene(good()))
    assert not {"obstacles", "self_collision"} & set(given)
    data = {**good(), "obstacle": OBSTACLES[:3], "simulation": {"duration": 1.0, "self_collision": True}}
    with pytest.raises(Stop):
        build(read_scene(data))
    assert [body.name for body in given["obstacles"]] == ["floor", "sphere", "table"]
    assert given["self_collision"] is True
    assert "contact" not in given
    with pytest.raises(Stop):
        build(read_scene({**data, "simulation": {"duration": 1.0, "contact": "lagged"}}))
    assert given["contact"] == "lagged"
    assert "resolve_start" not in given
    with pytest.raises(Stop):
        build(read_scene({**data, "simulation": {"duration": 1.0, "resolve_start": True}}))
    assert given["resolve_start"] is True


@pytest.mark.parametrize("motion", [*MOVING, {**MOVING[2], "smooth": True}])
@pytest.mark.parametrize("kind", ["sphere", "stick"])
def test_moving_obstacles_are_values(kind: str, motion: dict[str, Any]) -> None:
    table = {"kind": kind, "radius": 0.05, **motion}
    if kind == "sphere":
        table["centre"] = [0.1, 0.2, 0.3]
    else:
        table |= {"a": [0.0, 0.2, 0.3], "b": [0.2, 0.2, 0.3]}
    body, again = obstacle(dict(table)), obstacle(dict(table))
    found = pickle.loads(pickle.dumps(body))
    assert body == again == found
    assert hash(body) == hash(again) == hash(found)
    for t in np.linspace(0.0, 1.5, 7):
        np.testing.assert_array_equal(found.centre(t), body.centre(t))
