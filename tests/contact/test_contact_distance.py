import ipctk
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from isocloth.contact.distance import EDGE_EDGE, NODE_FACE, closest, point_triangle, segment_segment

#: few values, so that points coincide and edges are parallel, and numbers in between
LATTICE = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 1.0 + 1e-9])
NUMBERS = st.floats(-2.0, 2.0).map(lambda v: round(v, 6))
FOUR_POINTS = hnp.arrays(np.float64, (4, 3), elements=LATTICE | NUMBERS)


def points(x):
    return tuple(map(tuple, x.tolist()))


def distance(kind, x):
    return np.sqrt(closest_in_python(kind, points(x))[0])


def closest_in_python(kind, x):
    """`closest` is made to be inlined into kernels; this is what it does."""
    return closest.py_func(kind, x)


@given(FOUR_POINTS)
@settings(max_examples=300, deadline=None)
def test_no_point_of_the_triangle_is_closer(x):
    square, *weights = point_triangle(*points(x))
    weights = np.array(weights)
    assert weights.min() >= -1e-12
    assert weights.sum() == pytest.approx(1.0, abs=1e-12)
    assert np.sum((x[0] - weights @ x[1:]) ** 2) == pytest.approx(square, abs=1e-12)
    u, v = np.meshgrid(*2 * [np.linspace(0, 1, 41)])
    inside = u + v <= 1
    sampled = x[1] + u[inside][:, None] * (x[2] - x[1]) + v[inside][:, None] * (x[3] - x[1])
    assert np.sqrt(square) <= np.linalg.norm(sampled - x[0], axis=1).min() + 1e-9


@given(FOUR_POINTS)
@settings(max_examples=300, deadline=None)
def test_no_points_of_the_segments_are_closer(x):
    square, s, t = segment_segment(*points(x))
    assert 0.0 <= s <= 1.0
    assert 0.0 <= t <= 1.0
    apart = x[0] + s * (x[1] - x[0]) - x[2] - t * (x[3] - x[2])
    assert apart @ apart == pytest.approx(square, abs=1e-12)
    u, v = np.meshgrid(*2 * [np.linspace(0, 1, 41)])
    sampled = x[0] + u[..., None] * (x[1] - x[0]) - x[2] - v[..., None] * (x[3] - x[2])
    assert np.sqrt(square) <= np.linalg.norm(sampled, axis=-1).min() + 1e-9


@pytest.mark.parametrize("shape", ["ordinary", "small", "far away", "nearly flat", "nearly parallel"])
def test_distances_are_those_of_ipc_toolkit(shape):
    rng = np.random.default_rng(0)
    for _ in range(1000):
        x = rng.standard_normal((4, 3))
        if shape == "small":
            x *= 1e-3
        if shape == "far away":
            x += 100.0
        if shape == "nearly flat":
            x[:, 2] *= 1e-7
        if shape == "nearly parallel":
            x[3] = x[2] + (x[1] - x[0]) * rng.uniform(-2, 2) + 1e-4 * rng.standard_normal(3)
        size = np.ptp(x)
        triangle, edge = np.sqrt(point_triangle(*points(x))[0]), np.sqrt(segment_segment(*points(x))[0])
        assert triangle == pytest.approx(np.sqrt(ipctk.point_triangle_distance(*x)), rel=1e-6, abs=1e-9 * size)
        assert edge == pytest.approx(np.sqrt(ipctk.edge_edge_distance(*x)), rel=1e-6, abs=1e-9 * size)


@pytest.mark.parametrize("kind", [NODE_FACE, EDGE_EDGE])
def test_the_gradient_of_the_distance_is_weights_times_normal(kind):
    rng = np.random.default_rng(1)
    for _ in range(200):
        x = rng.standard_normal((4, 3))
        square, weights = closest_in_python(kind, points(x))
        normal = np.array(weights) @ x / np.sqrt(square)
        step, direction = 1e-6, rng.standard_normal((4, 3))
        difference = distance(kind, x + step * direction) - distance(kind, x - step * direction)
        expected = np.sum(np.outer(weights, normal) * direction)
        assert difference / (2 * step) == pytest.approx(expected, abs=1e-6 * max(1.0, 1.0 / square))


@pytest.mark.parametrize("kind", [NODE_FACE, EDGE_EDGE])
def test_points_that_coincide_have_a_distance(kind):
    assert distance(kind, np.zeros((4, 3))) == 0.0
    x = np.zeros((4, 3))
    x[:2] = 1.0
    assert np.isfinite(distance(kind, x))
