"""Scene files with several pieces of cloth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isocloth import Fabric, meshes
from isocloth.base.errors import SceneError
from isocloth.cli.checkpoint import fingerprint
from isocloth.scenes import build, cloth_mesh
from isocloth.scenes.load import read_scene


def _scene(**changes: Any) -> dict[str, Any]:
    pieces: list[dict[str, Any]] = [
        {"name": "low", "width": 0.3, "height": 0.3, "nodes": [4, 4], "fabric": {"density": 0.4, "friction": 0.5}},
        {"name": "high", "width": 0.2, "height": 0.1, "nodes": [3, 3], "position": [0, 0, 0.1], "fabric": "wool"},
        {"width": 0.1, "height": 0.1, "nodes": [2, 2], "position": [0, 0, 0.2]},
    ]
    return {"cloth": pieces, "fabric": {"bending": 1e-5}, "simulation": {"duration": 0.05}, **changes}


def test_every_piece_has_its_shape_its_place_and_its_fabric() -> None:
    scene = read_scene(_scene())
    sim = build(scene)
    assert np.bincount(sim.mesh.piece).tolist() == [16, 9, 4]
    assert [sim.positions[sim.mesh.piece == k, 2].mean() for k in range(3)] == pytest.approx([0.0, 0.1, 0.2])
    wool = Fabric(density=0.1804)  # a named fabric takes the place of that of all pieces
    assert sim.fabrics == (Fabric(density=0.4, friction=0.5, bending=1e-5), wool, Fabric(bending=1e-5))
    np.testing.assert_array_equal(cloth_mesh(scene).vertices, sim.mesh.vertices)
    sim.step()


def test_a_grasp_names_a_piece() -> None:
    grasps = [{"piece": "high", "nodes": [0, 2]}, {"piece": "high", "where": "corner 3"}, {"at": [0, 0, 0.2]}]
    sim = build(read_scene(_scene(grasp=grasps)))
    assert [grasp.nodes.tolist() for grasp in sim.grasps] == [[16, 18], [24], [25]]


def test_a_single_table_is_a_single_piece() -> None:
    data = _scene()
    alone = {**data, "cloth": data["cloth"][0]}
    listed = {**data, "cloth": [data["cloth"][0]]}
    one, other = read_scene(alone), read_scene(listed)
    assert one.cloths == other.cloths
    assert fingerprint(one) == fingerprint(other)
    assert build(one).fabrics == (Fabric(density=0.4, friction=0.5, bending=1e-5),)


def test_a_piece_has_a_rest_shape_of_its_own(tmp_path: Path) -> None:
    flat = meshes.rectangle(0.2, 0.2, shape=(3, 3), element="triangle")
    flat.save(tmp_path / "flat.obj")
    np.save(tmp_path / "corners.npy", 1.1 * flat.vertices[flat.faces])
    piece = {"shape": "file", "path": "flat.obj"}
    pieces = [{**piece, "rest": "corners.npy"}, {**piece, "position": [1, 0, 0]}]
    data = {"cloth": pieces, "simulation": {"duration": 0.05, "model": "koiter"}}
    sim = build(read_scene(data, tmp_path / "scene.toml"))
    assert sim.cloth.shape is not None
    areas = sim.cloth.shape.node_areas
    assert areas[sim.mesh.piece == 0].sum() == pytest.approx(1.21 * 0.04)
    assert areas[sim.mesh.piece == 1].sum() == pytest.approx(0.04)


@pytest.mark.parametrize(
    ("spoil", "parts"),
    [
        ({"cloth": []}, ["cloth", "at least one piece"]),
        ({"cloth": [{"width": 0.2}]}, ["cloth[0].height", "missing"]),
        ({"cloth": [1, 2]}, ["[[cloth]]"]),
        ({"cloth": [{"width": 0.2, "height": 0.2, "fabric": 3}]}, ["cloth[0].fabric", "the name of a fabric"]),
        ({"grasp": [{"piece": "hihg", "nodes": [0]}]}, ["grasp[0].piece", '"low", "high"']),
        ({"grasp": [{"piece": "high", "nodes": [9]}]}, ["grasp[0]", "from 0 to 8"]),
    ],
)
def test_wrong_pieces_are_named(spoil: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(SceneError) as caught:
        build(read_scene(_scene(**spoil)))
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize(
    ("change", "parts"),
    [
        ({"width": -0.1}, ["cloth[1].width"]),
        ({"fabric": "silk"}, ["cloth[1].fabric.name", "unknown"]),
        ({"fabric": {"densty": 0.2}}, ["cloth[1].fabric.densty", "density"]),
        ({"fabric": {"thickness": 0.002}}, ["cloth[1].fabric.thickness = 0.002", "one thickness"]),
        ({"name": "low"}, ["cloth[1].name", "another piece"]),
        ({"shape": "file", "path": "none.obj", "width": None, "height": None, "nodes": None}, ["cloth[1].path"]),
        ({"element": "triangle"}, ["cloth", "same elements"]),
    ],
)
def test_what_is_wrong_with_a_piece_is_named(change: dict[str, Any], parts: list[str]) -> None:
    data = _scene()
    piece = {key: value for key, value in {**data["cloth"][1], **change}.items() if value is not None}
    data["cloth"][1] = piece
    with pytest.raises(SceneError) as caught:
        build(read_scene(data, Path("scene.toml")))
    for part in parts:
        assert part in str(caught.value)
