"""The camera shows the right thing in the right place."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.pictures.camera import fit, look_at, pleasant_angles


def test_the_target_is_in_the_middle_and_z_is_up() -> None:
    camera = look_at(np.array([3.0, -2, 1]), np.zeros(3), width=200, height=100, view_angle=0.6)
    middle, above, right = camera.project(np.array([[0.0, 0, 0], [0, 0, 0.1], 0.1 * camera.right]))
    np.testing.assert_allclose(middle[:2], [100, 50], atol=1e-9)
    assert middle[2] == pytest.approx(1 / np.sqrt(14))
    assert above[1] < 50
    assert above[0] == pytest.approx(100)
    assert right[0] > 100
    # The view angle spans the shorter side.
    edge = np.sqrt(14) * np.tan(0.3) * camera.down
    np.testing.assert_allclose(camera.project(edge[None])[0, :2], [100, 100], atol=1e-9)


def test_points_behind_the_eye_are_marked() -> None:
    camera = look_at(np.array([1.0, 0, 0]), np.zeros(3), width=10, height=10, view_angle=0.6)
    assert camera.project(np.array([[2.0, 0, 0]]))[0, 2] < 0


def test_a_camera_that_looks_straight_down_is_refused() -> None:
    with pytest.raises(ValueError, match="move the eye aside"):
        look_at(np.array([0.0, 0, 1]), np.zeros(3), width=10, height=10, view_angle=0.6)


@pytest.mark.parametrize("size", [(300, 200), (200, 300)])
def test_the_fit_sees_every_point_and_is_tight(size: tuple[int, int]) -> None:
    points = np.random.default_rng(0).normal(size=(500, 3)) * [3, 1, 0.2] + [5, 6, 7]
    camera = fit(points, width=size[0], height=size[1], azimuth=0.3, elevation=0.4, margin=(0.1, 0.2))
    on_screen = camera.project(points)
    low, high = on_screen[:, :2].min(axis=0), on_screen[:, :2].max(axis=0)
    free = np.array([0.05, 0.1]) * size
    assert (low >= free - 1e-6).all()
    assert (high <= np.array(size) - free + 1e-6).all()
    # One direction touches both of its margins.
    slack = np.maximum(low - free, np.array(size) - free - high)
    assert slack.min() < 1e-6


def test_a_single_point_can_be_fitted() -> None:
    camera = fit(np.ones((1, 3)), width=100, height=100, azimuth=0.0, elevation=0.2)
    assert np.isfinite(camera.project(np.ones((1, 3)))).all()


def test_a_hanging_cloth_is_seen_from_the_side_it_faces() -> None:
    in_xz = np.array([[[0.0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1]]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]])
    azimuth, elevation = pleasant_angles(in_xz, triangles)
    assert azimuth == pytest.approx(np.radians(-60))
    assert elevation == pytest.approx(np.radians(16))
    in_yz = in_xz[..., [1, 0, 2]]
    assert np.cos(pleasant_angles(in_yz, triangles)[0]) > 0.8
    flat = in_xz[..., [0, 2, 1]]
    assert pleasant_angles(flat, triangles)[1] == pytest.approx(np.radians(36))
