"""Penalties of a rest shape: their derivatives, and where they vanish."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.inverse.thesis.developability import gauss_penalty, geodesic_penalty, smooth_penalty

QUADS = ic.meshes.rectangle(0.4, 0.3, (6, 5))
MESH = QUADS.triangulated()
PENALTIES = {"gauss": gauss_penalty(MESH), "smooth": smooth_penalty(MESH), "geodesic": geodesic_penalty(QUADS.faces)}


def bumped():
    return MESH.vertices + 0.02 * np.random.default_rng(0).normal(size=MESH.vertices.shape)


@pytest.mark.parametrize("name", PENALTIES)
def test_the_gradient_is_that_of_differences(name):
    penalty, points = PENALTIES[name], bumped()
    here, step = penalty(points), 1e-6
    rng = np.random.default_rng(1)
    for _ in range(3):
        way = rng.normal(size=points.shape)
        value = [penalty(points + s * step * way).penalty for s in (-2, -1, 1, 2)]
        slope = (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * step)
        assert slope == pytest.approx(np.sum(here.gradient * way), rel=1e-7)


@pytest.mark.parametrize("name", PENALTIES)
def test_the_matrix_is_the_second_derivative_where_the_penalty_vanishes(name):
    x, y, _ = MESH.vertices.T
    rolled = np.stack([np.sin(3 * x) / 3, y, np.cos(3 * x) / 3], axis=1)
    penalty, points = PENALTIES[name], MESH.vertices if name == "smooth" else rolled
    here, step = penalty(points), 1e-6
    assert here.penalty < 1e-25
    way = np.random.default_rng(2).normal(size=points.shape)
    sides = [penalty(points + s * step * way).gradient for s in (1, -1)]
    exact = here.matrix @ way.ravel()
    np.testing.assert_allclose((sides[0] - sides[1]).ravel() / (2 * step), exact, atol=1e-6 * np.abs(exact).max())


def test_a_ball_is_not_developable_and_a_roll_is():
    x, y, _ = MESH.vertices.T
    rolled = np.stack([np.sin(3 * x) / 3, y, np.cos(3 * x) / 3], axis=1)
    ball = np.stack([x, y, np.sqrt(0.6**2 - x**2 - y**2)], axis=1)
    assert PENALTIES["gauss"](rolled).penalty < 1e-25
    assert PENALTIES["smooth"](rolled).penalty > 1e-3
    measured = ic.measure.gauss_curvature(MESH, ball)
    assert PENALTIES["gauss"](ball).penalty == pytest.approx(np.sum(measured**2) / 2, rel=1e-12)
    assert PENALTIES["gauss"](ball).penalty > 1e-3


def test_a_flat_net_that_is_shifted_is_one_of_geodesics_no_more():
    shifted = MESH.vertices.copy()
    shifted[np.abs(shifted[:, 1] - 0.15) < 1e-9, 0] += 0.01
    assert PENALTIES["gauss"](shifted).penalty < 1e-25
    assert PENALTIES["geodesic"](shifted).penalty > 1e-3


def test_around_a_flat_shape_the_gaussian_penalty_is_of_fourth_order():
    up = np.random.default_rng(3).normal(size=MESH.n_vertices)
    value = []
    for height in (1e-3, 2e-3):
        points = MESH.vertices.copy()
        points[:, 2] = height * up
        value.append(PENALTIES["gauss"](points).penalty)
    assert value[1] / value[0] == pytest.approx(16.0, rel=0.02)
    assert abs(PENALTIES["gauss"](MESH.vertices).slope).max() < 1e-12
