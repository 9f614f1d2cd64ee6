"""The derivative of the linking integral against differences, its product rule, and its symmetries."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import dblquad, quad
from scipy.spatial.transform import Rotation

from isocloth.states import dgli, gli
from states.test_gli import FOUR_POINTS, apart

UP = np.array([0.0, 0.0, 1.0])
LIFT = np.array([[0], [1], [0], [1]])  # of A, B, C, D


def difference(x, direction=UP):
    """Central differences of the integral, with one step of Richardson's extrapolation."""

    def slope(h):
        return (gli(*(x + h * LIFT * direction)) - gli(*(x - h * LIFT * direction))) / (2.0 * h)

    h = 2e-4 * apart(x)
    return (4.0 * slope(h) - slope(2.0 * h)) / 3.0


@given(FOUR_POINTS, st.integers(0, 2**32 - 1))
@settings(max_examples=300, deadline=None)
def test_it_is_the_difference_quotient_in_any_direction(x, seed):
    assume(apart(x) > 0.05)
    direction = np.random.default_rng(seed).standard_normal(3)
    direction /= np.linalg.norm(direction)
    value = dgli(*x, direction)
    assert value == pytest.approx(difference(x, direction), abs=1e-6 / apart(x))


def test_of_coplanar_segments_it_is_the_change_of_volume_times_the_integral():
    """dG = dV I where V = 0 (thesis, remark 7.3.1), with I by quadrature."""
    rng = np.random.default_rng(0)
    for _ in range(10):
        x = rng.standard_normal((4, 3)) * [1.0, 1.0, 0.0]
        if apart(x) < 0.3:
            continue
        a, b, c, d = x

        def cube(s, t, a=a, b=b, c=c, d=d):
            return np.linalg.norm(c + t * (d - c) - a - s * (b - a)) ** -3

        whole = dblquad(cube, 0.0, 1.0, 0.0, 1.0, epsabs=1e-10)[0] / (4.0 * np.pi)
        slope = np.linalg.det([UP, c - a, d - a]) + np.linalg.det([b - a, c - a, UP])
        assert dgli(*x) == pytest.approx(slope * whole, rel=1e-7, abs=1e-9)


@given(FOUR_POINTS, st.floats(-4.0, 4.0), st.floats(0.01, 100.0))
@settings(max_examples=200, deadline=None)
def test_turns_about_the_direction_shifts_and_exchange_leave_it_alone(x, angle, scale):
    assume(apart(x) > 0.05)
    value = dgli(*x)
    size = 1.0 / apart(x)
    turn = Rotation.from_rotvec(angle * UP).as_matrix()
    assert dgli(*(x @ turn.T + [0.3, -0.7, 0.2])) == pytest.approx(value, abs=1e-11 * size**2)
    a, b, c, d = x
    assert dgli(c, d, a, b) == pytest.approx(value, abs=1e-12 * size**2)
    assert dgli(*(scale * x)) == pytest.approx(value / scale, abs=1e-12 * size**2 / scale)


@given(FOUR_POINTS)
@settings(max_examples=200, deadline=None)
def test_over_and_under_cannot_be_told_apart(x):
    """Even under reflection in the table: a fact of dGLI that users must know."""
    assume(apart(x) > 0.05)
    assert dgli(*(x * [1.0, 1.0, -1.0])) == pytest.approx(dgli(*x), abs=1e-12 / apart(x) ** 2)


@given(FOUR_POINTS)
@settings(max_examples=100, deadline=None)
def test_lifting_the_other_ends_turns_its_sign(x):
    """Lifting all four ends changes nothing, so lifting A and C is lowering B and D."""
    assume(apart(x) > 0.05)
    a, b, c, d = x
    # reversed, both segments lift their former beginnings, and the integral is the same
    assert dgli(b, a, d, c) == pytest.approx(-dgli(a, b, c, d), abs=1e-12 / apart(x) ** 2)


def test_only_the_direction_counts_not_its_length():
    x = np.random.default_rng(1).standard_normal((4, 3))
    for length in (1e-200, 0.1, 7.0, 1e200):
        assert dgli(*x, length * np.array([1.0, -2.0, 0.5])) == pytest.approx(dgli(*x, [1.0, -2.0, 0.5]), rel=1e-14)
    for bad in ([0.0, 0.0, 0.0], [1.0, 2.0], [np.inf, 0.0, 0.0]):
        with pytest.raises(ValueError, match="direction is"):
            dgli(*x, bad)


@pytest.mark.parametrize("height", [1e-1, 1e-3, 1e-5])
def test_near_an_end_that_almost_touches_it_keeps_its_digits(height):
    """A just over the middle of CD: what the sides sweep, by quadrature, where a difference has no digits left."""
    a, b, c, d = np.array([[0.0, 0.0, height], [0.2, 1.0, height], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    direction = np.array([0.0, 1.0, 0.0])

    def swept(p, q):
        def density(u):
            return u * np.linalg.norm(p + u * (q - p)) ** -3

        closest = float(np.clip(p @ (p - q) / ((q - p) @ (q - p)), 0.0, 1.0))
        inside = [closest + k * height for k in (-10.0, -1.0, 0.0, 1.0, 10.0)]
        points = sorted({0.0, 1.0, *(float(u) for u in np.clip(inside, 0.0, 1.0))})
        whole = sum(quad(density, u, v, epsabs=0.0, epsrel=1e-12)[0] for u, v in pairwise(points))
        return direction @ np.cross(p, q) * whole

    ac, ad, bc, bd = c - a, d - a, c - b, d - b
    sides = swept(ac, ad) - swept(bd, ad) - swept(bd, bc) + swept(ac, bc)
    value = dgli(a, b, c, d, direction)
    assert value == pytest.approx(sides / (4.0 * np.pi), rel=1e-9)
    assert abs(value) > 0.05 / height
