"""The Gauss linking integral against its double integral, the arcsines of the thesis, and known links."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.integrate import dblquad
from scipy.spatial.transform import Rotation

from isocloth.contact.distance import segment_segment
from isocloth.states import dgli, gli

NUMBERS = st.floats(-2.0, 2.0).map(lambda v: round(v, 3))
FOUR_POINTS = hnp.arrays(np.float64, (4, 3), elements=NUMBERS)


def integral(x):
    """The double integral, by adaptive quadrature."""
    a, b, c, d = x
    numerator = np.cross(d - c, b - a)

    def density(s, t):
        r = c + t * (d - c) - a - s * (b - a)
        return r @ numerator / (r @ r) ** 1.5

    return dblquad(density, 0.0, 1.0, 0.0, 1.0, epsabs=1e-11, epsrel=1e-11)[0] / (4.0 * np.pi)


def arcsines(x):
    """Thesis 7.3 with what the printed formula leaves out: unit normals, the sign, 1/(4 pi)."""
    a, b, c, d = x

    def unit(u, v):
        w = np.cross(u, v)
        return w / np.linalg.norm(w)

    na, nb = unit(c - a, d - a), unit(d - b, c - b)
    nc, nd = unit(c - b, c - a), unit(d - a, d - b)
    total = sum(np.arcsin(np.clip(u @ v, -1.0, 1.0)) for u, v in ((na, nd), (nd, nb), (nb, nc), (nc, na)))
    return np.sign(np.linalg.det([b - a, c - a, d - a])) * total / (4.0 * np.pi)


def apart(x):
    """Distance of the two segments, in m."""
    return np.sqrt(segment_segment(*map(tuple, x.tolist()))[0])


def test_the_double_integral_is_the_closed_form():
    rng = np.random.default_rng(0)
    for _ in range(20):
        x = rng.standard_normal((4, 3))
        if apart(x) > 0.2:
            assert gli(*x) == pytest.approx(integral(x), abs=1e-12)


def test_the_arcsines_of_the_thesis_give_the_same():
    x = np.random.default_rng(1).standard_normal((2000, 4, 3))
    values = gli(*np.moveaxis(x, 1, 0))
    assert values == pytest.approx([arcsines(y) for y in x], abs=1e-9)
    determinant = np.linalg.det(np.stack([x[:, 1] - x[:, 0], x[:, 2] - x[:, 0], x[:, 3] - x[:, 0]], axis=1))
    assert (np.sign(values) == np.sign(determinant)).all()
    assert np.abs(values).max() < 0.5


def test_linked_circles_have_linking_number_one_and_unlinked_ones_zero():
    angle = np.linspace(0.0, 2.0 * np.pi, 41)
    ring = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    hooked = ring[:, [0, 2, 1]] + [1.0, 0.0, 0.0]

    def link(p, q):
        return gli(p[:-1, None], p[1:, None], q[:-1], q[1:]).sum()

    assert abs(link(ring, hooked)) == pytest.approx(1.0, abs=1e-13)
    assert link(ring, hooked[::-1]) == pytest.approx(-link(ring, hooked), abs=1e-13)
    assert link(ring, hooked + np.array([2.5, 0.0, 0.0])) == pytest.approx(0.0, abs=1e-13)


@given(FOUR_POINTS, st.integers(0, 2**32 - 1), st.floats(0.01, 100.0))
@settings(max_examples=200, deadline=None)
def test_rigid_motions_and_scale_leave_it_alone_and_reflections_turn_its_sign(x, seed, scale):
    assume(apart(x) > 0.05)
    rng = np.random.default_rng(seed)
    turn = Rotation.random(random_state=rng).as_matrix()
    moved = scale * x @ turn.T + rng.standard_normal(3)
    value = gli(*x)
    assert gli(*moved) == pytest.approx(value, abs=1e-9)
    assert gli(*(x * [1.0, 1.0, -1.0])) == pytest.approx(-value, abs=1e-12)
    a, b, c, d = x
    assert gli(c, d, a, b) == pytest.approx(value, abs=1e-12)
    assert gli(b, a, c, d) == pytest.approx(-value, abs=1e-12)


@given(FOUR_POINTS, st.floats(0.1, 0.9))
@settings(max_examples=100, deadline=None)
def test_the_parts_of_a_segment_add_up(x, where):
    assume(apart(x) > 0.05)
    a, b, c, d = x
    middle = a + where * (b - a)
    assert gli(a, middle, c, d) + gli(middle, b, c, d) == pytest.approx(float(gli(a, b, c, d)), abs=1e-11)


def test_coplanar_segments_and_points_link_nothing():
    assert gli([0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 2, 0]) == 0.0
    assert gli([0, 0, 0], [0, 0, 0], [0, 1, 1], [1, 2, 0]) == 0.0


def test_leading_axes_broadcast():
    x = np.random.default_rng(2).standard_normal((4, 5, 3))
    a, b, c, d = x
    table = gli(a[:, None], b[:, None], c, d)
    assert table.shape == (5, 5)
    for i in range(5):
        for j in range(5):
            assert table[i, j] == gli(a[i], b[i], c[j], d[j])
    assert np.ndim(gli(a[0], b[0], c[0], d[0])) == 0


CROSSING = np.array([[0.0, 0, 0], [2, 0, 0], [1, -1, 0], [1, 1, 0]])


@pytest.mark.parametrize("function", [gli, dgli])
@pytest.mark.parametrize(
    "x",
    [
        CROSSING,
        CROSSING * 1e-6 + 0.3,
        CROSSING @ Rotation.from_rotvec([0.3, 0.5, 0.7]).as_matrix(),
        np.array([[0.0, 0, 0], [1, 0, 0], [1, 0, 0], [1, 1, 0]]),  # a common end
        np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 0, 0], [2, 0, 0]]),  # on each other
    ],
)
def test_segments_that_touch_are_refused_or_marked(function, x):
    with pytest.raises(ValueError, match="1 of 1 pairs of segments touch or cross"):
        function(*x)
    assert np.isnan(function(*x, touching="nan"))
    both = np.stack([x + [0.0, 0.0, 0.1] * np.array([[0], [0], [1], [1]]), x], axis=1)
    with pytest.raises(ValueError, match=r"1 of 2 .* index \[1\]"):
        function(*both)
    assert np.isnan(function(*both, touching="nan")).tolist() == [False, True]


@pytest.mark.parametrize("function", [gli, dgli])
def test_bad_input_is_named(function):
    good = np.zeros(3)
    with pytest.raises(ValueError, match=r"B has shape \(2,\)"):
        function(good, [0.0, 1.0], good, good)
    with pytest.raises(ValueError, match=r"C\[2\] is nan"):
        function(good, good, [0.0, 1.0, np.nan], good)
    with pytest.raises(ValueError, match="do not broadcast"):
        function(np.zeros((2, 3)), good, np.zeros((3, 3)), good)
    with pytest.raises(ValueError, match="touching is 'perhaps'"):
        function(*np.eye(4, 3), touching="perhaps")


@pytest.mark.parametrize("function", [gli, dgli])
def test_all_pairs_of_400_segments_take_less_than_a_tenth_of_a_second(function):
    x = np.random.default_rng(3).standard_normal((401, 3))
    a, b = x[:-1], x[1:]
    function(a[:2], b[:2], a[2:4], b[2:4])  # compiles
    best = np.inf
    for _ in range(5):
        begin = time.perf_counter()
        function(a[:, None], b[:, None], a, b, touching="nan")
        best = min(best, time.perf_counter() - begin)
    assert best < 0.1
