"""The law of a contact, beside finite differences, Coulomb's inequalities and its own potential."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import OPEN, SLIDE, STICK, unknown_state
from isocloth.contact.options import ContactOptions
from isocloth.friction.coulomb import distance, law_residual, prepare, return_map

NUMBERS = ContactOptions().numbers


def one_contact(seed, *, gap=-1e-3, threshold=1.0, press=0.0):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    contact = ContactSet(
        np.array([[0, 0, 0, 0]]), np.array([[1.0, 0.0, 0.0, 0.0]]), normal[None], np.array([gap]),
        1e-3 * rng.normal(size=(1, 3)), np.array([0.5]), np.array([1]), np.array([1]), np.array([press]),
    )  # fmt: skip
    law = unknown_state(1)
    law.stiffness[:], law.scale[:], law.threshold[:] = 1e3, 1.0, threshold
    anchor = rng.normal(size=3)
    law.anchor[0] = 0.1 * (anchor - (anchor @ normal) * normal)
    return contact, law


def force_of(contact, law, u):
    force, matrix = np.empty((1, 3)), np.empty((1, 3, 3))
    status = return_map(contact, law, 0, *u, False, force, matrix)
    return force[0], matrix[0], status


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.floats(0.0, 2.0), st.floats(-1e-3, 1e-3), st.sampled_from([0.0, 3.0]))
def test_the_stiffness_is_minus_the_derivative_of_the_force(seed, threshold, gap, press):
    contact, law = one_contact(seed, gap=gap, threshold=threshold, press=press)
    u = 1e-3 * np.random.default_rng(seed + 1).normal(size=3)
    _, matrix, status = force_of(contact, law, u)
    eps = 1e-9
    numeric = np.empty((3, 3))
    for d in range(3):
        step = eps * np.eye(3)[d]
        upper, _, above = force_of(contact, law, u + step)
        lower, _, below = force_of(contact, law, u - step)
        if above != status or below != status:
            return  # at a kink
        numeric[:, d] = (upper - lower) / (2 * eps)
    assert matrix == pytest.approx(-numeric, abs=1e-3)
    assert matrix == pytest.approx(matrix.T)
    assert np.linalg.eigvalsh(matrix).min() > -1e-9  # the potential is convex


@settings(deadline=None, max_examples=100)
@given(st.integers(0, 10_000), st.floats(0.0, 2.0), st.floats(-1e-3, 1e-3))
def test_the_force_pushes_only_and_friction_opposes_the_slip_within_its_threshold(seed, threshold, gap):
    contact, law = one_contact(seed, gap=gap, threshold=threshold)
    law.anchor[:] = 0.0
    force, _, status = force_of(contact, law, np.zeros(3))
    normal = contact.normal[0]
    if status == OPEN:
        assert gap >= 0.0
        assert not force.any()
        return
    along = force @ normal
    assert along == pytest.approx(-1e3 * gap)
    tangential, slip = force - along * normal, contact.slip[0] - (contact.slip[0] @ normal) * normal
    assert np.linalg.norm(tangential) <= threshold * (1 + 1e-12) + 1e-15
    assert tangential @ slip <= 1e-18
    if status == SLIDE:
        assert np.linalg.norm(tangential) == pytest.approx(threshold)
        assert tangential == pytest.approx(-threshold * slip / np.linalg.norm(slip), abs=1e-9)


def test_law_residual_vanishes_where_the_law_is_met_and_sees_where_it_is_not():
    contact, law = one_contact(3, gap=0.0)
    normal = contact.normal[0]
    slip = contact.slip[0] - (contact.slip[0] @ normal) * normal
    law.force[0] = 2.0 * normal - 0.5 * 2.0 * slip / np.linalg.norm(slip)
    assert law_residual(contact, law, NUMBERS.forgiven)[:3] == pytest.approx((0.0, 0.0, np.hypot(2.0, 1.0)), abs=1e-12)
    law.force[0] = 2.0 * normal  # slides, but without friction
    assert law_residual(contact, law, NUMBERS.forgiven)[1] == pytest.approx(min(1.0, 1.0 * np.linalg.norm(slip)))
    law.force[0] = -normal  # pulls
    assert law_residual(contact, law, NUMBERS.forgiven)[1] >= 1.0
    contact.slip[0] = 0.0
    law.force[0] = 2.0 * normal + 0.7 * np.cross(normal, [1.0, 0.0, 0.0])  # sticks within the cone
    assert law_residual(contact, law, NUMBERS.forgiven)[1] == pytest.approx(0.0, abs=1e-12)


def test_a_step_starts_from_the_forces_of_the_step_before():
    contact, law = one_contact(5)
    normal = contact.normal[0]
    tangent = np.cross(normal, [0.0, 0.0, 1.0])
    law.force[0] = 30.0 * normal + tangent
    law.status[0] = STICK
    prepare(contact, np.array([1.0]), np.array([False]), NUMBERS, 1e-5, 1.0, True, law)
    assert law.threshold[0] == pytest.approx(0.5 * 30.0)
    assert law.anchor[0] == pytest.approx(tangent)
    assert law.stiffness[0] == pytest.approx(30.0 / 1e-5)  # gives way by no more than that under its load


def test_the_threshold_of_a_wedging_contact_settles():
    # more friction, less pressure: mu r_N = 3 - 1.5 s goes to and fro without end if it is taken as it is
    contact, law = one_contact(5)
    normal = contact.normal[0]
    law.force[0] = 2.0 * normal
    prepare(contact, np.array([1.0]), np.array([False]), NUMBERS, 1e-3, 1.0, True, law)
    for _ in range(6):
        law.force[0] = (3.0 - 1.5 * law.threshold[0]) / 0.5 * normal
        prepare(contact, np.array([1.0]), np.array([False]), NUMBERS, 1e-3, 1.0, False, law)
    assert law.threshold[0] == pytest.approx(1.2)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.floats(0.0, 2.0), st.floats(-1e-3, 1e-3))
def test_jaws_hold_both_ways_and_yield_along_their_surface_at_the_threshold(seed, threshold, gap):
    contact, law = one_contact(seed, gap=gap, threshold=threshold, press=3.0)
    law.anchor[:] = 0.0
    normal = contact.normal[0]
    for by_force in (False, True):
        forces, matrix = np.empty((1, 3)), np.empty((1, 3, 3))
        status = return_map(contact, law, 0, 0.0, 0.0, 0.0, by_force, forces, matrix)
        force = forces[0]
        assert status != OPEN
        assert force @ normal == pytest.approx(-1e3 * gap)
        tangential = force - (force @ normal) * normal
        slip = contact.slip[0] - (contact.slip[0] @ normal) * normal
        expected = min(threshold, 1e3 * np.linalg.norm(slip))
        assert tangential == pytest.approx(-expected * slip / np.linalg.norm(slip), abs=1e-9)


def test_the_threshold_of_jaws_is_twice_mu_times_their_force_whatever_pulls():
    contact, law = one_contact(5, press=3.0)
    for begin, pull in ((True, 0.0), (False, -30.0), (False, 40.0)):
        law.force[0] = pull * contact.normal[0]
        prepare(contact, np.array([1.0]), np.array([False]), NUMBERS, 1e-3, 1.0, begin, law)
        assert law.threshold[0] == pytest.approx(2 * 0.5 * 3.0)
    assert law.stiffness[0] == pytest.approx(40.0 / 1e-3)


def test_jaws_carry_the_pull_of_the_step_before():
    contact, law = one_contact(5, press=3.0)
    normal = contact.normal[0]
    tangent = np.cross(normal, [0.0, 0.0, 1.0])
    law.force[0] = -2.0 * normal + tangent
    prepare(contact, np.array([1.0]), np.array([False]), NUMBERS, 1e-3, 1.0, True, law)
    assert law.anchor[0] == pytest.approx(tangent)


def test_law_residual_between_jaws_is_that_from_their_own_law():
    contact, law = one_contact(3, gap=2e-5, threshold=3.0, press=3.0)
    law.anchor[:] = 0.0
    normal = contact.normal[0]
    slip = contact.slip[0] - (contact.slip[0] @ normal) * normal
    law.stiffness[:] = 10.0 / np.linalg.norm(slip)  # slides
    law.force[0] = -2.0 * normal - 3.0 * slip / np.linalg.norm(slip)
    assert law_residual(contact, law, NUMBERS.forgiven)[:3] == pytest.approx((2e-5, 0.0, np.hypot(2.0, 3.0)), abs=1e-12)
    law.force[0] = -2.0 * normal
    assert law_residual(contact, law, NUMBERS.forgiven)[1] == pytest.approx(3.0)
    law.stiffness[:] = 1.0 / np.linalg.norm(slip)  # sticks
    assert law_residual(contact, law, NUMBERS.forgiven)[1] == pytest.approx(1.0)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10_000), st.floats(0.0, 2.0), st.floats(-1e-3, 1e-3), st.sampled_from([0.0, 3.0]))
def test_the_distance_from_the_law_vanishes_where_the_force_of_a_spring_meets_it(seed, threshold, gap, press):
    contact, law = one_contact(seed, gap=gap, threshold=threshold, press=press)
    force, _, _ = force_of(contact, law, np.zeros(3))
    assert distance(contact, law, np.zeros((1, 3)), force[None], False) == pytest.approx(0.0, abs=1e-9)
    wrong = force + 3.0 * contact.normal[0]
    expected = 3.0 / np.abs(wrong).max()
    assert distance(contact, law, np.zeros((1, 3)), wrong[None], False) == pytest.approx(expected)


def test_law_residual_tells_what_a_spring_gives_way_from_what_is_wrong():
    contact, law = one_contact(3, gap=-1e-3, threshold=100.0)
    contact.friction[:] = 100.0
    force, _, status = force_of(contact, law, np.zeros(3))
    law.force[0] = force
    assert status == STICK
    assert law_residual(contact, law, NUMBERS.forgiven)[1] > 1e-4  # it slipped a little
    assert law_residual(contact, law, NUMBERS.forgiven)[4] == pytest.approx(0.0, abs=1e-9)
    law.force[0] += 0.1 * np.cross(contact.normal[0], [0.0, 0.0, 1.0])
    assert law_residual(contact, law, NUMBERS.forgiven)[4] > 1e-5


def test_the_distance_is_seen_where_nothing_presses_yet():
    contact, law = one_contact(3, gap=1e-4, threshold=0.0)
    below = -1e-3 * contact.normal
    assert distance(contact, law, below, np.zeros((1, 3)), False) == np.inf
    assert distance(contact, law, -below, np.zeros((1, 3)), False) == 0.0
