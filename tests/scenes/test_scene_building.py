"""What a scene says is what the simulation does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from isocloth import fabrics, models
from isocloth.meshes import rectangle
from isocloth.scenes import build, cloth_mesh, find_scene, load_scene, shipped_scenes, smooth
from isocloth.scenes.load import read_scene
from isocloth.scenes.motions import Follow, Line, Oscillate

from .scene_texts import good, write_documented_files


def scene_with(**changes: Any) -> Any:
    return read_scene({**good(), **changes})


def test_the_placed_cloth_hangs() -> None:
    mesh = cloth_mesh(scene_with())
    np.testing.assert_allclose(mesh.bounds, [[0, 0, 0], [0.3, 0, 0.3]], atol=1e-15)


def test_both_ways_to_write_a_rotation_agree() -> None:
    cloth = {"width": 0.3, "height": 0.2, "nodes": [3, 3], "position": [1, 2, 3]}
    turned = [
        cloth_mesh(scene_with(cloth={**cloth, "rotation": rotation}, grasp=[])).vertices
        for rotation in ([0, 0, 90], {"axis": [0, 0, 2], "angle": 90})
    ]
    np.testing.assert_allclose(turned[0], turned[1], atol=1e-14)
    # (x, y) -> (-y, x), by hand
    flat = rectangle(0.3, 0.2, (3, 3)).vertices
    by_hand = np.stack([1 - flat[:, 1], 2 + flat[:, 0], 3 + flat[:, 2]], axis=1)
    np.testing.assert_allclose(turned[0], by_hand, atol=1e-14)


def test_angles_turn_about_x_first() -> None:
    cloth = {"width": 0.3, "height": 0.2, "nodes": [3, 3], "rotation": [90, 0, 90]}
    placed = cloth_mesh(scene_with(cloth=cloth, grasp=[])).vertices
    flat = rectangle(0.3, 0.2, (3, 3)).vertices
    # about x: (x, y, 0) -> (x, 0, y); then about z: -> (0, x, y)
    np.testing.assert_allclose(placed, np.roll(flat, 1, axis=1), atol=1e-14)


def test_noise_leaves_the_rest_shape_alone() -> None:
    data = good()
    data["cloth"] |= {"noise": 1e-3, "seed": 3}
    sim = build(read_scene(data))
    shift = sim.positions - sim.rest.vertices
    assert np.abs(shift[:, [0, 2]]).max() < 1e-15  # the normal of the hanging cloth is -y
    assert 3e-4 < shift[:, 1].std() < 3e-3
    np.testing.assert_array_equal(sim.positions, build(read_scene(data)).positions)


def test_the_model_is_the_named_one() -> None:
    for name in ("isometric", "elastic", "mass_spring", "quasi_inextensible"):
        data = good()
        data["simulation"] |= {"model": name}
        assert build(read_scene(data)).model.name == name


def test_the_model_takes_its_parameters() -> None:
    data = good()
    data["simulation"] |= {"model": {"name": "elastic", "stretch": 3000, "shear": 12.5}}
    assert build(read_scene(data)).model == models.Elastic(stretch=3000.0, shear=12.5)
    data["simulation"] |= {"model": {"name": "nonconforming", "max_solves": 4}}
    assert read_scene(data).settings.model == models.Nonconforming(max_solves=4)


def test_the_fabric_is_the_named_one_with_changes() -> None:
    fabric = scene_with(fabric={"name": "Light-Cotton", "bending": 1e-4}).fabric
    assert fabric.density == fabrics["light cotton"].density
    assert fabric.bending == 1e-4


def test_places_name_the_right_nodes() -> None:
    held = [
        grasp.nodes.tolist()
        for grasp in build(
            scene_with(
                grasp=[
                    {"where": "top corners"},
                    {"where": "bottom corners"},
                    {"at": [[0.1, 0.0, 0.1], [0.2, 0.01, 0.21]]},
                ]
            )
        ).grasps
    ]
    assert held == [[3, 15], [0, 12], [5, 10]]
    boundary = build(scene_with(grasp=[{"where": "boundary loop 0"}])).grasps[0].nodes
    assert set(boundary.tolist()) == set(range(16)) - {5, 6, 9, 10}
    patch = build(scene_with(grasp=[{"at": [0.1, 0, 0.1], "radius": 0.11}])).grasps[0].nodes
    assert patch.tolist() == [1, 4, 5, 6, 9]


def test_a_grasp_gives_way_beyond_its_largest_force() -> None:
    sim = build(scene_with(grasp=[{"where": "corner 1", "max_force": 0.5}, {"where": "corner 3"}]))
    assert [grasp.max_force for grasp in sim.grasps] == [0.5, None]


def test_a_grasp_is_released_on_time() -> None:
    sim = build(scene_with(grasp=[{"where": "corner 1", "release": 0.03}, {"where": "corner 3"}]))
    counts = []
    for _ in range(5):
        sim.step()
        counts.append(len(sim.grasps))
    assert counts == [2, 2, 2, 1, 1]


def test_a_restored_state_keeps_to_the_plan() -> None:
    scene = scene_with(grasp=[{"where": "corner 1", "release": 0.02}, {"where": "corner 3"}])
    first = build(scene)
    for _ in range(4):
        first.step()
    saved = first.state.copy()
    first.step()
    second = build(scene)
    with pytest.warns(UserWarning, match="holds no grasps"):  # the release of the plan is still to come
        second.state = saved
    second.step()
    np.testing.assert_array_equal(first.positions, second.positions)


def test_an_oscillating_node_is_where_the_sine_is() -> None:
    sim = build(scene_with())
    trajectory = sim.run(0.05)
    shift = trajectory.positions[:, 0] - trajectory.positions[0, 0]
    np.testing.assert_allclose(shift[:, 0], 0.01 * np.sin(4 * np.pi * trajectory.times), atol=1e-15)


def accelerations(path: Any, times: np.ndarray, h: float = 1e-4) -> np.ndarray:
    return np.array([(path(t + h) - 2 * path(t) + path(t - h)) / h**2 for t in times])


SMOOTH = [
    Line(by=(0.1, 0.0, 0.2), start=0.2, stop=0.8),
    Oscillate(amplitude=(0.0, 0.1, 0.0), frequency=2.0, start=0.1, stop=0.9, ramp=0.2),
    Follow(
        times=np.array([0.1, 0.3, 0.5, 0.9]),
        positions=np.array([[0, 0, 0], [0.1, 0, 0], [0.1, 0.2, 0], [0, 0, 0.1]])[:, None, :],
        relative=True,
        smooth=True,
    ),
]


@pytest.mark.parametrize("motion", SMOOTH, ids=lambda motion: type(motion).__name__)
def test_smooth_paths_have_a_continuous_acceleration(motion: Any) -> None:
    path = motion.path(np.zeros((2, 3)))
    times = np.linspace(-0.05, 1.05, 2201)
    found = accelerations(path, times)
    largest = np.abs(found).max()
    jump = np.abs(np.diff(found, axis=0)).max()
    assert jump < 0.02 * largest  # a kink of the velocity would show as a jump of order 1 / h
    np.testing.assert_allclose(found[[0, -1]], 0.0, atol=1e-6 * largest)


def test_an_abrupt_line_is_no_smooth_one() -> None:
    path = Line(by=(0.1, 0.0, 0.2), start=0.2, stop=0.8, smooth=False).path(np.zeros((1, 3)))
    found = accelerations(path, np.linspace(-0.05, 1.05, 2201))
    assert np.abs(np.diff(found, axis=0)).max() > 0.5 * np.abs(found).max()


def test_the_step_is_quintic_and_symmetric() -> None:
    s = np.linspace(0, 1, 11)
    values = np.array([smooth.step(x) for x in s])
    np.testing.assert_allclose(values, 6 * s**5 - 15 * s**4 + 10 * s**3, atol=1e-15)
    np.testing.assert_allclose(values + values[::-1], 1.0, atol=1e-15)


def test_a_spline_through_two_points_is_the_quintic() -> None:
    ends = np.array([[[0.0, 0, 0]], [[0.0, 0, 1]]])
    path = Follow(times=np.array([0.0, 2.0]), positions=ends, smooth=True, relative=True).path(np.zeros((1, 3)))
    for t in (-1.0, 0.0, 0.3, 1.0, 1.9, 2.5):
        assert path(t)[0, 2] == pytest.approx(smooth.step(t / 2), abs=1e-12)


def test_a_line_carries_the_centre_to_its_goal() -> None:
    start = np.array([[0.0, 0, 0], [1.0, 0, 0]])
    path = Line(to=(2.0, 0.0, 1.0), stop=1.0).path(start)
    np.testing.assert_allclose(path(1.0), [[1.5, 0, 1], [2.5, 0, 1]])
    np.testing.assert_allclose(path(0.0), start)


def test_paths_pass_through_their_points() -> None:
    positions = np.array([[0.0, 0, 0], [0.1, 0, 0], [0.1, 0.2, 0.3]])[:, None, :]
    for smoothly in (False, True):
        motion = Follow(times=np.array([0.0, 0.3, 1.0]), positions=positions, smooth=smoothly)
        path = motion.path(np.zeros((1, 3)))
        for t, point in zip(motion.times, positions, strict=True):
            np.testing.assert_allclose(path(t), point, atol=1e-12)


@pytest.mark.parametrize("name", shipped_scenes())
def test_shipped_scenes_step(name: str) -> None:
    scene = load_scene(shipped_scenes()[name])
    assert scene.title
    sim = build(scene)
    for _ in range(3):
        assert sim.step().converged


def test_the_shipped_scenes_are_the_documented_ones() -> None:
    assert list(shipped_scenes()) == ["demo", "fold_diagonal", "swing", "tank_top"]


def test_a_file_comes_before_a_shipped_scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_scene("swing").name == "swing.toml"
    (tmp_path / "swing").write_text("")
    assert find_scene("swing") == Path("swing")
    with pytest.raises(FileNotFoundError, match="did you mean 'swing'"):
        find_scene("swin")
    assert find_scene("none.toml") == Path("none.toml")


def test_documented_scenes_step(tmp_path: Path) -> None:
    names = write_documented_files(tmp_path)
    assert names == ["towel.toml", "two_cloths.toml", "shirt.toml", "ring.toml", "pinch.toml", "robot.toml"]
    for name in names:
        sim = build(load_scene(tmp_path / name))
        assert sim.grasps or sim.grippers
        assert sim.step().converged


CSV = [
    ("", "0 lines of numbers"),
    ("t,x,y,z\n0,0,0,0\n", "1 lines of numbers"),
    ("0,0,0\n1,0,0\n", "line 1", "3 columns"),
    ("0,0,0,0\n1,0,0\n", "line 2", "3 columns"),
    ("t,x,y,z\n0,0,0,0\n1,0,inf,0\n", "line 3", "finite numbers"),
    ("0,0,0,0\n1,0,0,0\n1,0,0,0\n", "line 3", "times must increase"),
]


@pytest.mark.parametrize("case", CSV)
def test_a_wrong_path_file_is_explained(case: tuple[str, ...], tmp_path: Path) -> None:
    from isocloth.scenes.path_file import read_path_file

    path = tmp_path / "path.csv"
    path.write_text(case[0])
    with pytest.raises(ValueError) as caught:
        read_path_file(path)
    for part in case[1:]:
        assert part in str(caught.value)


def test_a_path_file_may_move_every_node(tmp_path: Path) -> None:
    from isocloth.scenes.path_file import read_path_file

    path = tmp_path / "path.csv"
    path.write_text("0,1,2,3,4,5,6\n0.5,1,2,3,4,5,7\n")
    times, positions = read_path_file(path)
    assert times.tolist() == [0.0, 0.5]
    assert positions.tolist() == [[[1, 2, 3], [4, 5, 6]], [[1, 2, 3], [4, 5, 7]]]
