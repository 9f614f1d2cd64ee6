"""The law of one contact: every branch, and sliding found in two ways."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.friction.exact.local_law import (
    OPEN,
    SLIDES,
    STICKS,
    local_law,
    slide_by_newton,
    slide_by_search,
)


def contact(seed, stiff=1.0):
    """W (3, 3) positive definite, b (3,) with the contact closing, mu."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((3, 3)) * np.array([1.0, stiff, stiff])
    W = root.T @ root + 0.05 * np.eye(3)
    b = rng.standard_normal(3)
    b[0] = -abs(b[0])
    return W, b, rng.uniform(0.0, 1.5)


def is_lawful(W, b, mu, r, tolerance=1e-9):
    """The three cases of the law, written out."""
    u = W @ r + b
    size = np.abs(b).max()
    if np.all(r == 0.0):
        return u[0] >= 0.0
    if abs(u[0]) > tolerance * size or r[0] < 0.0:
        return False
    pull, slip = np.linalg.norm(r[1:]), np.linalg.norm(u[1:])
    if slip < tolerance * size:
        return pull <= mu * r[0] * (1.0 + tolerance)
    against = np.linalg.norm(r[1:] * slip + mu * r[0] * u[1:])
    return against <= 1e-7 * max(slip * mu * r[0], tolerance)


def test_a_contact_that_opens_by_itself_bears_nothing():
    W, _, mu = contact(0)
    r = np.ones(3)
    assert local_law(W, np.array([0.1, 0.3, -0.2]), mu, -1.0, r) == OPEN
    assert np.all(r == 0.0)


def test_what_is_pressed_along_its_normal_sticks():
    W = np.diag([1.0, 2.0, 3.0])
    r = np.zeros(3)
    assert local_law(W, np.array([-1.0, -0.2, 0.3]), 0.5, -1.0, r) == STICKS
    assert r == pytest.approx([1.0, 0.1, -0.1])


def test_friction_of_a_block_that_slides_is_mu_times_its_weight_against_the_slip():
    r = np.zeros(3)
    assert local_law(np.eye(3), np.array([-1.0, 3.0, 4.0]), 0.5, -1.0, r) == SLIDES
    assert r == pytest.approx([1.0, -0.3, -0.4], abs=1e-12)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.1, 1.0, 10.0]))
def test_every_answer_obeys_the_law(seed, stiff):
    W, b, mu = contact(seed, stiff)
    r = np.zeros(3)
    status = local_law(W, b, mu, -1.0, r)
    assert status in (STICKS, SLIDES)
    assert is_lawful(W, b, mu, r)


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**6))
def test_newton_and_the_search_find_the_same_force_where_friction_is_small(seed):
    """With little friction the force is unique."""
    W, b, _ = contact(seed)
    mu = 0.02
    by_newton, by_search = np.zeros(3), np.zeros(3)
    if local_law(W, b, mu, -1.0, np.zeros(3)) != SLIDES or not slide_by_newton(W, b, mu, -1.0, by_newton):
        return
    slide_by_search(W, b, mu, -1.0, by_search)
    assert by_search == pytest.approx(by_newton, rel=1e-8, abs=1e-10)


def test_newton_finds_almost_all_of_what_slides():
    found = slid = 0
    for seed in range(300):
        W, b, mu = contact(seed)
        if local_law(W, b, mu, -1.0, np.zeros(3)) == SLIDES:
            slid += 1
            found += slide_by_newton(W, b, mu, -1.0, np.zeros(3))
    assert slid > 150
    assert found > 0.7 * slid


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.0, 2.0))
def test_between_jaws_the_contact_holds_both_ways_and_friction_is_known(seed, bears):
    W, b, _ = contact(seed)
    b[0] = -b[0]  # it would open
    r = np.zeros(3)
    local_law(W, b, 0.7, bears, r)
    u = W @ r + b
    assert abs(u[0]) < 1e-9
    assert np.linalg.norm(r[1:]) <= bears * (1.0 + 1e-9) + 1e-12
    if np.linalg.norm(u[1:]) > 1e-9:
        assert np.linalg.norm(r[1:]) == pytest.approx(bears, rel=1e-7, abs=1e-9)
        assert r[1:] @ u[1:] <= 1e-12
