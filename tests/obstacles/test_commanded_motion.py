"""Obstacles that are sent from one pose to another."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation, Slerp

import isocloth as ic
from isocloth.obstacles import recorded
from isocloth.obstacles.motion import Commanded, Pose

from .bodies import around_the_origin, random_rotation, seeds, what_the_cloth_meets

POINTS = np.random.default_rng(0).normal(size=(30, 3))
UP = np.array([0.0, 0.0, 1.0])


def random_pose(rng: np.random.Generator) -> Pose:
    return random_rotation(rng), rng.normal(size=3)


@given(seeds, st.floats(0.0, 1.0))
@settings(max_examples=60, deadline=None)
def test_the_way_is_even(seed, share):
    """Against spherical interpolation by another library; the ends are exact."""
    rng = np.random.default_rng(seed)
    (r0, c0), (r1, c1) = before, after = random_pose(rng), random_pose(rng)
    motion = Commanded(before, after, 1.5, 3.5)
    assert motion.turns
    assert not motion.still
    turn, centre = motion.pose(1.5 + 2.0 * share)
    np.testing.assert_allclose(turn, Slerp([0, 1], Rotation.from_matrix([r0, r1]))(share).as_matrix(), atol=1e-9)
    np.testing.assert_allclose(centre, (1 - share) * c0 + share * c1, atol=1e-12)
    for t in (-1.0, 0.0, 1.5):
        for found, wanted in zip(motion.pose(t), before, strict=True):
            np.testing.assert_array_equal(found, wanted)
    for t in (3.5, 4.0, 1e9):
        for found, wanted in zip(motion.pose(t), after, strict=True):
            np.testing.assert_array_equal(found, wanted)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_nothing_jumps_even_if_rotations_are_rounded(seed):
    rng = np.random.default_rng(seed)
    rough = [(np.round(r, 7), c) for r, c in (random_pose(rng), random_pose(rng))]
    motion = Commanded(*rough, 0.0, 1.0)
    for t in (0.0, 1.0):
        for a, b in zip(motion.pose(t - 1e-12), motion.pose(t + 1e-12), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_displacements_follow_the_poses(seed):
    rng = np.random.default_rng(seed)
    motion = Commanded(random_pose(rng), random_pose(rng), 0.0, 1.0)
    before, now = np.sort(rng.uniform(-0.3, 1.3, 2))
    matter = rng.normal(size=(20, 3))
    (r0, c0), (r1, c1) = motion.pose(before), motion.pose(now)
    was, points = matter @ r0.T + c0, matter @ r1.T + c1
    np.testing.assert_allclose(motion.displacement(points, before, now), points - was, atol=1e-12)


def test_half_a_turn_and_no_turn():
    flipped = np.diag([1.0, -1.0, -1.0])
    motion = Commanded((np.eye(3), np.zeros(3)), (flipped, np.zeros(3)), 0.0, 1.0)
    np.testing.assert_allclose(motion.pose(0.5)[0] @ flipped.T @ motion.pose(0.5)[0], np.eye(3), atol=1e-12)
    straight = Commanded((flipped, np.zeros(3)), (flipped, np.ones(3)), 0.0, 1.0)
    assert not straight.turns
    np.testing.assert_array_equal(straight.pose(0.3)[0], flipped)
    np.testing.assert_array_equal(straight.displacement(POINTS, 0.0, 0.5), np.full((30, 3), 0.5))


def test_a_command_that_changes_nothing_is_still():
    pose = random_pose(np.random.default_rng(1))
    motion = Commanded(pose, pose, 1.0, 2.0)
    assert motion.still
    assert not motion.turns
    np.testing.assert_array_equal(motion.pose(1.3)[1], pose[1])
    assert not motion.displacement(POINTS, 0.0, 3.0).any()
    assert ic.Floor().placed(motion).still


def test_commands_are_values():
    rng = np.random.default_rng(2)
    before, after = random_pose(rng), random_pose(rng)
    motion = Commanded(before, after, 0.0, 1.0)
    motion.pose(0.3)
    assert motion == Commanded(before, after, 0.0, 1.0) == pickle.loads(pickle.dumps(motion))
    assert motion != Commanded(before, after, 0.0, 2.0)
    assert motion != Commanded(after, before, 0.0, 1.0)
    before[1][:] = 7.0  # the motion has copies
    assert motion.pose(0.0)[1][0] != 7.0


def test_wrong_commands_are_named():
    pose = np.eye(3), np.zeros(3)
    with pytest.raises(ValueError, match=r"begin = 1.0 s and end = 1.0 s: expected an end after the begin"):
        Commanded(pose, pose, 1.0, 1.0)
    with pytest.raises(ValueError, match="rotation after is"):
        Commanded(pose, (2 * np.eye(3), np.zeros(3)), 0.0, 1.0)
    with pytest.raises(ValueError, match=r"centre before has shape \(2,\)"):
        Commanded((np.eye(3), np.zeros(2)), pose, 0.0, 1.0)


@pytest.mark.parametrize("number", range(10))
@pytest.mark.parametrize("moving", [False, True])
def test_a_placed_obstacle_is_the_one_made_at_the_new_place(number, moving):
    """Whatever its own motion was: all shapes take their pose from the motion alone."""
    turn, centre = random_pose(np.random.default_rng(number))
    own = around_the_origin(**({"velocity": [0.1, 0, 0], "spin": [0, 0, 1]} if moving else {}))[number]
    wanted = around_the_origin(rotation=turn)[number].replace(centre=centre)
    placed = own.placed(Commanded(own.pose(0.2), (turn, centre), 0.2, 0.5))
    assert type(placed) is type(own)
    assert own == around_the_origin(**({"velocity": [0.1, 0, 0], "spin": [0, 0, 1]} if moving else {}))[number]
    for t in (0.7, 9.0):
        found, made = what_the_cloth_meets(placed, POINTS, t), what_the_cloth_meets(wanted, POINTS, t)
        for a, b in zip(found, made, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
        for a, b in zip(placed.surface(t) or (), wanted.surface(t) or (), strict=True):
            np.testing.assert_allclose(a, b, atol=1e-12)
    for a, b in zip(placed.pose(0.2), own.pose(0.2), strict=True):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(placed.pose(3.0), (turn, centre), strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="follows the motion that it was placed on"):
        placed.replace(velocity=[0, 0, 1])


def test_constructors_put_bodies_where_a_command_sends_them():
    """The same as above without `replace`: constructed at the new place by their own parameters."""
    turn, centre = random_pose(np.random.default_rng(3))
    there = Commanded((np.eye(3), np.zeros(3)), (turn, centre), 0.0, 1.0)
    a, b = np.array([-0.5, -0.2, 0.1]), np.array([0.5, 0.2, -0.1])
    pairs = [
        (ic.Sphere([0, 0, 0], 0.3), ic.Sphere(centre, 0.3)),
        (ic.Plane([0, 0, 0], a), ic.Plane(centre, turn @ a)),
        (ic.Floor(), ic.Plane(centre, turn[:, 2])),
        (ic.Capsule(a, b, 0.2), ic.Capsule(centre + turn @ a, centre + turn @ b, 0.2)),
        (ic.Cylinder(a, b, 0.2), ic.Cylinder(centre + turn @ a, centre + turn @ b, 0.2)),
        (ic.Stick(a, b, 0.2), ic.Stick(centre + turn @ a, centre + turn @ b, 0.2)),
        (ic.Points([a, b]), ic.Points([centre + turn @ a, centre + turn @ b])),
    ]
    for own, wanted in pairs:
        found, made = what_the_cloth_meets(own.placed(there), POINTS, 2.0), what_the_cloth_meets(wanted, POINTS, 2.0)
        for x, y in zip(found[:-1], made[:-1], strict=True):
            np.testing.assert_allclose(x, y, atol=1e-12)
    for own, wanted in pairs[:1]:
        later = recorded([own.placed(there)], [1.0, 2.0])[0][0][1]
        np.testing.assert_allclose(later, wanted.replace(rotation=turn).surface(0.0)[0], atol=1e-12)


def test_a_swung_stick_can_be_sent_elsewhere():
    stick = ic.Stick([0, 0, 0], [1, 0, 0], 0.02, path=lambda t: [[0, 0, t], [np.cos(t), np.sin(t), t]])
    turn, centre = stick.pose(0.8)
    sent = stick.placed(Commanded((turn, centre), (turn, centre + UP), 0.8, 1.0))
    np.testing.assert_allclose(sent.ends(0.8), stick.ends(0.8), atol=1e-12)
    np.testing.assert_allclose(sent.ends(1.0), stick.ends(0.8) + UP, atol=1e-12)
