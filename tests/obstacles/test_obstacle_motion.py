"""Poses over time, and how far the matter of a body moves."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from scipy.spatial.transform import Rotation

import isocloth as ic

from .bodies import needles, needles_gradient, primitives, random_rotation, seeds


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_displacement_follows_the_drawn_surface(seed):
    """Vertices of the drawn surface are matter of the body: where they were is known."""
    rng = np.random.default_rng(seed)
    before, now = np.sort(rng.uniform(0, 2, 2))
    for body in primitives(rng):
        was, _ = body.surface(before)
        points, _ = body.surface(now)
        np.testing.assert_allclose(body.displacement(points, before, now), points - was, atol=1e-12)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_displacement_is_the_velocity_of_a_rigid_body(seed):
    """Finite differences: v + spin x (x - c)."""
    rng = np.random.default_rng(seed)
    velocity, spin, centre = rng.normal(size=(3, 3))
    body = ic.Sphere(centre, 0.3, velocity=velocity, spin=spin, rotation=random_rotation(rng))
    points, e = rng.normal(size=(20, 3)), 1e-6
    wanted = velocity + np.cross(spin, points - body.centre(1.0))
    np.testing.assert_allclose(body.displacement(points, 1.0 - e, 1.0 + e) / (2 * e), wanted, atol=1e-4)


def test_a_spin_turns_by_its_angle_about_its_axis():
    spin = np.array([0.3, -0.4, 1.2])
    box = ic.Box([1, 2, 3], [1, 1, 1], spin=spin)
    start, end = box.surface(0.0)[0], box.surface(0.9)[0]
    turn = Rotation.from_rotvec(0.9 * spin).as_matrix()
    np.testing.assert_allclose(end - [1, 2, 3], (start - [1, 2, 3]) @ turn.T, atol=1e-14)


def test_paths_are_functions_or_samples():
    samples = ([0.0, 1.0, 3.0], [[0, 0, 1], [0, 0, 2], [4, 0, 2]])
    for path in (samples, lambda t: [np.interp(t, [1, 3], [0, 4]), 0, np.interp(t, [0, 1], [1, 2])]):
        ball = ic.Sphere([0, 0, 1], 0.1, path=path)
        for t, place in ((-1.0, [0, 0, 1]), (0.5, [0, 0, 1.5]), (2.0, [2, 0, 2]), (9.0, [4, 0, 2])):
            np.testing.assert_allclose(ball.centre(t), place)
        assert ball.gaps(np.array([[2.0, 0, 2.3]]), 2.0)[0][0] == pytest.approx(0.2)
        np.testing.assert_allclose(ball.displacement(np.zeros((2, 3)), 1.5, 2.0), [[1, 0, 0]] * 2)


def test_a_rotation_over_time():
    def turn(t: float) -> np.ndarray:
        return Rotation.from_rotvec([0, 0, t]).as_matrix()

    box = ic.Box([0, 0, 0], [2.0, 0.2, 0.2], rotation=turn)
    assert box.gaps(np.array([[0.9, 0, 0]]), 0.0)[0][0] < 0
    assert box.gaps(np.array([[0.9, 0, 0]]), 0.5 * np.pi)[0][0] == pytest.approx(0.8)
    moved = box.displacement(np.array([[0.0, 1.0, 0.0]]), 0.0, 0.5 * np.pi)
    np.testing.assert_allclose(moved, [[-1.0, 1.0, 0.0]], atol=1e-15)


def test_a_floor_that_runs_is_a_conveyor_belt():
    belt = ic.Floor(0.5, velocity=[0.3, 0, 0])
    points = np.array([[7.0, 1.0, 0.6]])
    np.testing.assert_allclose(belt.gaps(points, 4.0)[0], 0.1)
    np.testing.assert_allclose(belt.displacement(points, 1.0, 1.01), [[0.003, 0, 0]], atol=1e-15)


def test_bodies_that_do_not_move_say_so():
    assert ic.Sphere([0, 0, 0], 1.0).still
    assert ic.Sphere([0, 0, 0], 1.0, velocity=[0, 0, 0], spin=[0, 0, 0]).still
    assert ic.Box([0, 0, 0], [1, 1, 1], rotation=np.diag([1.0, -1.0, -1.0])).still
    assert not ic.Sphere([0, 0, 0], 1.0, spin=[0, 0, 1]).still
    assert not ic.Sphere([0, 0, 0], 1.0, path=lambda t: [0, 0, 0]).still
    assert not ic.Box([0, 0, 0], [1, 1, 1], rotation=lambda t: np.eye(3)).still
    assert not ic.Stick([0, 0, 0], [1, 0, 0], 0.01, path=lambda t: [[0, 0, 0], [1, 0, 0]]).still
    assert not ic.Sphere([0, 0, 0], 1.0).displacement(np.ones((2, 3)), 0.0, 1.0).any()


def test_poses_are_the_same_however_often_they_are_asked_for():
    ball = ic.Sphere([0, 0, 0], 1.0, velocity=[1, 2, 3], spin=[3, 2, 1])
    first = {t: ball.centre(t) for t in np.linspace(0, 1, 40)}
    for t in reversed(list(first)):
        np.testing.assert_array_equal(ball.centre(t), first[t])


def test_own_frames_are_placed_by_the_centre_or_by_the_start_of_the_path():
    turn = Rotation.from_euler("z", 90, degrees=True).as_matrix()
    for make in (
        lambda **options: ic.Points([[1, 0, 0]], **options),
        lambda **options: ic.TriangleMesh([[1, 0, 0], [0, 0, 0], [0, 1, 0], [0, 0, 1]], TETRAHEDRON, **options),
    ):
        np.testing.assert_array_equal(make().vertices(0.0)[0], [1, 0, 0])
        np.testing.assert_allclose(make(centre=[0, 0, 2], rotation=turn).vertices(0.0)[0], [0, 1, 2], atol=1e-15)
        moving = make(path=lambda t: [0, 0, 5 - t], spin=[0, 0, 0.5 * np.pi])
        np.testing.assert_allclose(moving.vertices(1.0)[0], [0, 1, 4], atol=1e-15)
    body = ic.Implicit(needles, needles_gradient, path=lambda t: [0, 0, t])
    np.testing.assert_allclose(body.gaps(np.array([[0.0, 0.0, 1.1]]), 1.0)[0], 0.1)


TETRAHEDRON = [[1, 0, 2], [0, 1, 3], [0, 3, 2], [1, 2, 3]]
