"""Forces in cones that carry a weight: against a library, closed forms, and where there are none."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.inverse.balance import Cones, balanced, outside, project


def ring(count, friction, least=0.0):
    """Contacts around a cone whose sides are at 45 degrees, and the balance of force and torque about its axis."""
    a = 2 * np.pi * np.arange(count) / count
    normal = np.stack([np.cos(a), np.sin(a), np.ones(count)], axis=1) / np.sqrt(2)
    places = np.stack([np.cos(a), np.sin(a), np.zeros(count)], axis=1)
    rows = np.zeros((6, count, 3))
    for d in range(3):
        e = np.zeros(3)
        e[d] = 1.0
        rows[d, :, d] = 1.0
        rows[3 + d] = np.cross(e, places)
    cones = Cones(normal, np.full(count, friction), np.full(count, least))
    return cones, rows.reshape(6, -1)


def test_forces_that_are_in_their_cones_and_balance_stay():
    cones, rows = ring(8, 0.5)
    wanted = cones.normal.copy()
    found, off = balanced(wanted, cones, rows, rows @ wanted.ravel())
    assert off < 1e-12
    np.testing.assert_allclose(found, wanted, atol=1e-12)


def test_weight_on_a_cone_is_shared_alike():
    cones, rows = ring(12, 2.0)
    found, off = balanced(np.zeros((12, 3)), cones, rows, np.array([0, 0, 24.0, 0, 0, 0]))
    assert off < 1e-12
    np.testing.assert_allclose(found, np.tile([0.0, 0.0, 2.0], (12, 1)), atol=1e-9)


@pytest.mark.parametrize("friction", [0.3, 0.9])
def test_the_nearest_forces_are_those_of_a_library(friction):
    clarabel = pytest.importorskip("clarabel")
    rng = np.random.default_rng(3)
    cones, rows = ring(9, friction, least=0.05)
    wanted = cones.normal + 0.6 * rng.normal(size=(9, 3))
    load = np.array([0.3, -0.1, 9.0, 0.2, 0.1, 0.02])
    found, off = balanced(wanted, cones, rows, load)
    assert off < 1e-10
    assert outside(cones, found - 0.05 * cones.normal).max() < 1e-9
    frames = []
    for n in cones.normal:
        s = np.cross(n, [0.0, 0.0, 1.0])
        s /= np.linalg.norm(s)
        frames.append(np.stack([friction * n, s, np.cross(n, s)]))
    inner = sp.block_diag(frames, format="csc")
    A = sp.vstack([sp.csc_matrix(rows), -inner]).tocsc()
    right = np.concatenate([load, -inner @ (0.05 * cones.normal).ravel()])
    kinds = [clarabel.ZeroConeT(6)] + [clarabel.SecondOrderConeT(3)] * 9
    options = clarabel.DefaultSettings()
    options.verbose = False
    options.tol_gap_abs = options.tol_gap_rel = options.tol_feas = 1e-11
    solution = clarabel.DefaultSolver(sp.identity(27, format="csc"), -wanted.ravel(), A, right, kinds, options).solve()
    np.testing.assert_allclose(found.ravel(), np.array(solution.x), atol=1e-5)


def test_what_no_cone_carries_is_told():
    cones, rows = ring(8, 0.2)
    found, off = balanced(np.zeros((8, 3)), cones, rows, np.array([0, 0, -5.0, 0, 0, 0]))  # pulled down: contacts push
    assert off > 0.1
    assert np.isfinite(found).all()


def test_hands_bear_every_force():
    cones = Cones(np.tile([0.0, 0.0, 1.0], (2, 1)), np.full(2, np.inf), np.zeros(2))
    rows = np.tile(np.eye(3), (1, 2))
    found, off = balanced(np.zeros((2, 3)), cones, rows, np.array([1.0, -2.0, -3.0]))
    assert off < 1e-12
    np.testing.assert_allclose(found, np.tile([0.5, -1.0, -1.5], (2, 1)), atol=1e-12)
    assert outside(cones, found).max() == 0.0


@given(force=st.lists(st.floats(-5, 5), min_size=3, max_size=3), friction=st.floats(0.0, 2.0))
@settings(max_examples=60, deadline=None)
def test_a_projection_is_in_its_cone_and_as_near_as_can_be(force, friction):
    cones = Cones(np.array([[0.6, 0.0, 0.8]]), np.array([friction]), np.zeros(1))
    given_force, out, slope = np.array([force]), np.empty((1, 3)), np.empty((1, 3, 3))
    project(cones, given_force, out, slope)
    assert outside(cones, out).max() < 1e-9
    left = given_force - out
    assert abs(np.sum(left * out)) < 1e-8  # what is left is orthogonal to the cone's ray ...
    for direction in ([0.6, 0.0, 0.8], [0.6 + 0.8 * friction, 0.0, 0.8 - 0.6 * friction]):
        assert left[0] @ np.array(direction) < 1e-8  # ... and in the polar cone
