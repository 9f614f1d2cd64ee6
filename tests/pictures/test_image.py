"""Still pictures."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
import pytest
from cloths import grid, waving
from PIL import Image

from isocloth.pictures import contact_sheet, frame, render, save_png
from isocloth.pictures.image import best_columns
from isocloth.pictures.studio import set_up, sharp_corners
from isocloth.trajectory import Trajectory


def still(positions: np.ndarray, rest: np.ndarray, faces: np.ndarray) -> Trajectory:
    return Trajectory(times=[0.0], positions=positions[None], faces=faces, rest=rest)


def middle(picture: np.ndarray) -> np.ndarray:
    h, w = picture.shape[:2]
    return picture[h // 2 - 10 : h // 2 + 10, w // 2 - 10 : w // 2 + 10].reshape(-1, 3).mean(axis=0)


def test_front_is_blue_and_back_is_orange() -> None:
    rest, faces = grid(5)
    upright = rest[:, [0, 2, 1]]  # faces -y, towards the camera
    front = middle(frame(still(upright, rest, faces), 0, width=200, height=150, wireframe=False))
    assert front[2] > front[0] + 60
    behind = middle(frame(still(upright, rest, faces[:, ::-1]), 0, width=200, height=150, wireframe=False))
    assert behind[0] > behind[2] + 60


def test_strain_shows_red_when_stretched_and_blue_when_compressed() -> None:
    rest, faces = grid(5)
    for factor, strong, weak in ((1.2, 0, 2), (0.8, 2, 0)):
        picture = frame(still(factor * rest[:, [0, 2, 1]], rest, faces), 0, width=200, height=150, colour="strain")
        assert middle(picture)[strong] > middle(picture)[weak] + 60


def test_the_wireframe_darkens_lines_only() -> None:
    trajectory = waving()
    plain = frame(trajectory, 3, wireframe=False, width=300, height=300).astype(int)
    wired = frame(trajectory, 3, width=300, height=300).astype(int)
    assert (wired <= plain).all()
    changed = np.mean(np.any(wired != plain, axis=2))
    assert 0.005 < changed < 0.35


def test_frames_by_index_and_by_time_agree() -> None:
    trajectory = waving()
    by_index = frame(trajectory, 4, width=120, height=90)
    np.testing.assert_array_equal(by_index, frame(trajectory, float(trajectory.times[4]), width=120, height=90))
    np.testing.assert_array_equal(
        frame(trajectory, -1, width=120, height=90), frame(trajectory, 10, width=120, height=90)
    )
    assert by_index.shape == (90, 120, 3)
    assert by_index.dtype == np.uint8
    with pytest.raises(ValueError, match="no frame 11"):
        frame(trajectory, 11)
    with pytest.raises(ValueError, match="outside the trajectory"):
        frame(trajectory, 2.0)


def test_a_nearer_obstacle_hides_the_cloth() -> None:
    rest, faces = grid(5)
    upright = rest[:, [0, 2, 1]]
    middle_point = upright.mean(axis=0)
    screen = middle_point + 0.5 * (upright - middle_point) - np.array([0, 0.2, 0])
    bare = frame(still(upright, rest, faces), 0, width=200, height=150, wireframe=False)
    hidden = frame(still(upright, rest, faces), 0, width=200, height=150, wireframe=False, obstacles=[(screen, faces)])
    assert np.ptp(middle(bare)) > 60
    assert np.ptp(middle(hidden)) < 25  # grey


def test_boxes_keep_their_edges_and_sheets_stay_smooth() -> None:
    corners = np.array([[x, y, z] for x in (0.0, 1) for y in (0.0, 1) for z in (0.0, 1)])
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    box = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    chosen, triangles = sharp_corners(corners, box)
    assert len(chosen) == 36
    np.testing.assert_array_equal(chosen[triangles], box)
    sheet = waving()
    assert len(sharp_corners(sheet.positions[3], sheet.triangles)[0]) == len(sheet.rest)


def test_the_ground_is_darker_where_the_cloth_throws_its_shadow() -> None:
    rest, faces = grid(9)
    high = still(rest, rest, faces)
    low_point = np.array([[0.5, 0.5, -0.5], [0.51, 0.5, -0.5], [0.5, 0.51, -0.5]])
    studio = set_up(high, width=200, height=200, obstacles=[(low_point, np.array([[0, 1, 2]]))])
    with_shadow = studio.picture(rest).astype(int)
    without = studio.picture(rest + np.array([50.0, 0, 0])).astype(int)
    darker = np.all(with_shadow < without - 10, axis=2) & (np.ptp(with_shadow, axis=2) < 20)
    assert darker.sum() > 300


def test_contact_sheet_has_the_size_asked_for(tmp_path: Path) -> None:
    for colour in ("cloth", "strain"):
        sheet = contact_sheet(waving(), width=480, height=300, colour=colour, title="Waving")  # type: ignore[arg-type]
        assert sheet.shape == (300, 480, 3)
    save_png(sheet, tmp_path / "sheet.png")
    np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "sheet.png")), sheet)
    single = contact_sheet(waving()[:1], width=200, height=150)
    assert single.shape == (150, 200, 3)
    with pytest.raises(ValueError, match="at least one frame"):
        contact_sheet(waving(), count=0)
    named = contact_sheet(waving()[:1], width=200, height=150, captions=["a long name"])
    assert (named != single).any()
    with pytest.raises(ValueError, match="2 captions are given for 1 pictures"):
        contact_sheet(waving()[:1], captions=["one", "two"])


@pytest.mark.parametrize(("count", "size", "columns"), [(6, (960, 720), 3), (6, (1800, 300), 6), (6, (200, 900), 1)])
def test_the_cells_of_a_sheet_are_as_large_as_possible(count: int, size: tuple[int, int], columns: int) -> None:
    assert best_columns(count, *size) == columns


def test_wrong_options_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"\.png, \.gif, \.mp4 or \.html"):
        render(waving(), tmp_path / "cloth.bmp")
    with pytest.raises(ValueError, match="'cloth' or 'strain'"):
        frame(waving(), 0, colour="red")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="16 to 8192"):
        frame(waving(), 0, width=4)
    with pytest.raises(FileNotFoundError, match="create it first"):
        render(waving(), tmp_path / "absent" / "cloth.png", width=100, height=80)


def test_render_writes_png(tmp_path: Path) -> None:
    render(waving(), tmp_path / "cloth.PNG", width=200, height=120, every=2)
    assert Image.open(tmp_path / "cloth.PNG").size == (200, 120)
    assert [p.name for p in tmp_path.iterdir()] == ["cloth.PNG"]


def test_a_frame_of_two_thousand_triangles_is_quick() -> None:
    trajectory = waving(n=32, frames=2)
    studio = set_up(trajectory, width=640, height=480)
    studio.picture(trajectory.positions[0])  # compiles

    def once() -> float:
        start = time.perf_counter()
        studio.picture(trajectory.positions[1])
        return time.perf_counter() - start

    # About 25 ms on one core of a small server; the bound leaves room for a busy machine.
    assert min(once() for _ in range(5)) < 0.15


def level(height: float, side: float = 6.0) -> tuple[np.ndarray, np.ndarray]:
    corners = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    return 0.5 * side * corners + [0.5, 0.5, height], np.array([[0, 1, 2, 3]])


def test_an_obstacle_that_moves_is_drawn_where_it_is() -> None:
    """Behind the cloth at first, before it at last, and half way in the middle."""
    rest, faces = grid(5)
    upright = rest[:, [0, 2, 1]]
    screen = upright.mean(axis=0) + 0.5 * (upright - upright.mean(axis=0))
    way = np.array([[0, 0.2, 0], [0, -0.2, 0]])[:, None]
    trajectory = Trajectory(
        times=[0.0, 1.0], positions=[upright, upright], faces=faces, rest=rest, obstacles=[(screen + way, faces)]
    )
    options = {"width": 200, "height": 150, "wireframe": False}
    assert np.ptp(middle(frame(trajectory, 0, **options))) > 60
    assert np.ptp(middle(frame(trajectory, 1, **options))) < 25
    assert np.ptp(middle(frame(trajectory, 0.4, **options))) > 60
    assert np.ptp(middle(frame(trajectory, 0.6, **options))) < 25


def test_given_obstacles_are_drawn_beside_those_of_the_trajectory() -> None:
    rest, faces = grid(5)
    upright = rest[:, [0, 2, 1]]
    left, right = upright * [0.4, 1, 1] - [0, 0.2, 0], upright * [0.4, 1, 1] + [0.6, -0.2, 0]
    own = Trajectory(times=[0.0], positions=[upright], faces=faces, rest=rest, obstacles=[(left, faces)])
    both = Trajectory(
        times=[0.0], positions=[upright], faces=faces, rest=rest, obstacles=[(left, faces), (right, faces)]
    )
    np.testing.assert_array_equal(
        frame(own, 0, width=120, height=90, obstacles=[(right, faces)]), frame(both, 0, width=120, height=90)
    )


def test_a_floor_is_the_ground() -> None:
    rest, faces = grid(5)
    cloth = still(rest + np.array([0, 0, 0.5]), rest, faces)
    bare, floor = set_up(cloth, width=100, height=100), set_up(cloth, width=100, height=100, obstacles=[level(0.1)])
    assert bare.body.ground is None
    assert floor.body.ground == 0.1
    assert floor.body.drawn == ()
    # neither too small, nor above, nor tilted
    tilted = level(0.0)[0] @ np.array([[1, 0, 0.1], [0, 1, 0], [0, 0, 1]]), level(0.0)[1]
    for other in (level(0.1, side=0.5), level(0.7), tilted):
        assert set_up(cloth, width=100, height=100, obstacles=[other]).body.ground is None
    two = set_up(cloth, width=100, height=100, obstacles=[level(0.0), level(0.2)])
    assert two.body.ground == 0.2
    assert two.body.drawn == (0,)


def test_a_floor_hides_what_is_below() -> None:
    rest, faces = grid(5)
    cloth = still(rest, rest, faces)
    buried = rest * [0.5, 0.2, 1] + [0.25, -0.24, -0.1], faces  # before the cloth, under the floor

    def grey(*obstacles: tuple[np.ndarray, np.ndarray]) -> int:
        picture = frame(cloth, 0, width=200, height=150, wireframe=False, obstacles=obstacles).astype(int)[:130]
        return int(((np.ptp(picture, axis=2) < 12) & (np.abs(picture[..., 0] - 165) < 12)).sum())

    assert grey(buried) > 500
    assert grey(buried, level(-0.01)) < 50
