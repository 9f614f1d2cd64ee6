"""Bad input is named, with what was expected and what to do."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import isocloth as ic

from .bodies import needles, needles_gradient

REFLECTION = np.diag([1.0, 1.0, -1.0])
SQUARE = ([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
TETRAHEDRON = [[1, 0, 2], [0, 1, 3], [0, 3, 2], [1, 2, 3]]


def ball(**options):
    return ic.Sphere([0, 0, 0], 1.0, **options)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ic.Sphere([0, 0, 0], -1.0), r"radius = -1.0 m: expected a finite number, positive"),
        (lambda: ic.Sphere([0, 0, 0], 0.0), r"radius = 0.0 m"),
        (lambda: ic.Sphere([0, 0, 0], math.nan), r"radius = nan m"),
        (lambda: ic.Sphere([0, 0], 1.0), r"centre has shape \(2,\): expected \(3,\), in m"),
        (lambda: ic.Sphere([0, math.inf, 0], 1.0), r"centre\[1\] is inf: expected finite"),
        (lambda: ic.Cylinder([1, 2, 3], [1, 2, 3], 1.0), r"a and b are the same point, \[1.0, 2.0, 3.0\]"),
        (lambda: ic.Capsule([0, 0, 0], [1, 0, 0], -0.1), r"radius = -0.1 m"),
        (lambda: ic.Stick([0, 0, 0], [0, 0, 0], 0.1), r"a and b are the same point"),
        (lambda: ic.Stick([0, 0, 0], [1, 0, 0], 0.0), r"radius = 0.0 m"),
        (lambda: ic.Stick([0, 0, 0], [1, 0, 0], 0.1, pieces=0), r"pieces = 0: expected a whole number"),
        (lambda: ic.Box([0, 0, 0], [1, 1, 0]), r"size = \[1.0, 1.0, 0.0\] m: expected three positive lengths"),
        (lambda: ic.Plane([0, 0, 0], [0, 0, 0]), r"normal = \[0.0, 0.0, 0.0\]: expected a direction"),
        (lambda: ic.Floor(math.nan), r"height = nan m"),
        (lambda: ic.Floor(extent=-1), r"extent = -1 m"),
        (lambda: ic.Points(np.zeros((0, 3))), r"points has shape \(0, 3\): expected \(n, 3\)"),
        (lambda: ic.Points([[0, 0, math.nan]]), r"points\[0, 2\] is nan"),
        (lambda: ball(velocity=[1, 2]), r"velocity has shape \(2,\): expected \(3,\), in m/s"),
        (lambda: ball(spin=[math.nan, 0, 0]), r"spin\[0\] is nan"),
        (lambda: ball(velocity=[0, 0, 1], path=lambda t: [0, 0, t]), r"both velocity and path"),
        (lambda: ball(spin=[0, 0, 1], rotation=lambda t: np.eye(3)), r"both spin and a rotation over time"),
        (lambda: ball(path=lambda t: [0, 0, 1.0]), r"path is at \[0.0, 0.0, 1.0\] at time 0, but the centre"),
        (lambda: ball(path=lambda t: [0, 0]), r"path\(0\) has shape \(2,\)"),
        (lambda: ball(path=([0.0], [[0, 0, 0]])), r"path times are \[0\]: expected at least two"),
        (lambda: ball(path=([0.0, 0.0], [[0, 0, 0]] * 2)), r"path times are \[0, 0\]: expected at least two, increas"),
        (lambda: ball(path=([0.0, 1.0], [[0, 0, 0]])), r"path positions has shape \(1, 3\): expected \(2, 3\)"),
        (lambda: ball(rotation=2 * np.eye(3)), r"expected a rotation matrix"),
        (lambda: ball(rotation=REFLECTION), r"reflection"),
        (lambda: ball(rotation=np.eye(2)), r"rotation has shape \(2, 2\)"),
        (lambda: ball(rotation=lambda t: REFLECTION), r"rotation\(0\) is a reflection"),
        (
            lambda: ic.Stick([0, 0, 0], [1, 0, 0], 0.1, velocity=[0, 0, 1], path=lambda t: [[0, 0, 0], [1, 0, 0]]),
            r"both path and velocity",
        ),
        (lambda: ic.Stick([0, 0, 0], [1, 0, 0], 0.1, path=lambda t: [0, 0, 0]), r"expected \(2, 3\)"),
        (lambda: ic.Stick([0, 0, 0], [1, 0, 0], 0.1, path=lambda t: np.ones((2, 3))), r"ends of the stick are"),
        (lambda: ic.TriangleMesh(*SQUARE), r"not watertight: 4 of its edges"),
        (lambda: ic.TriangleMesh(SQUARE[0]), r"faces are missing"),
        (lambda: ic.TriangleMesh(ic.meshes.rectangle(1, 1), SQUARE[1]), r"a Mesh and faces are given"),
        (
            lambda: ic.TriangleMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.3, 0.3, 1e-8]], TETRAHEDRON),
            r"almost none for its size",
        ),
        (lambda: ic.TriangleMesh([[0, 0, 0], [1, 0, 0], [2, 0, 0], [0, 0, 1]], TETRAHEDRON), r"zero area"),
        (lambda: ic.Implicit(lambda p: p[:, :2], needles_gradient), r"h of 4 points has shape \(4, 2\)"),
        (lambda: ic.Implicit(lambda p: p[2], needles_gradient), r"h of 4 points has shape \(3,\): expected \(m,\)"),
        (lambda: ic.Implicit(needles, needles), r"gradient of 4 points has shape \(4,\): expected \(m, 3\)"),
        (lambda: ic.Implicit(lambda p: math.sin(p), needles_gradient), r"h cannot be called with points \(m, 3\)"),
        (lambda: ic.Implicit(needles, needles_gradient, extent=[[1, 0]] * 3), r"expected ranges \[least, most\]"),
    ],
)
def test_a_wrong_value_is_named(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ball(friction="rough"), r"friction = 'rough': expected a number"),
        (lambda: ic.Sphere([0, 0, 0], None), r"radius = None: expected a number, m"),
        (lambda: ic.Sphere("here", 1.0), r"centre = 'here': expected numbers of shape \(3,\) in m"),
        (lambda: ball(path=[0, 0, 0]), r"path is list: expected a function of time .* pair \(times, positions\)"),
        (lambda: ball(mass=3.0), r"unexpected keyword argument 'mass'"),
        (lambda: ic.Implicit(3.0, needles_gradient), r"h is float: expected a function"),
        (lambda: ic.Sphere([0, 0, 0], 1.0, 0.5), r"positional"),
    ],
)
def test_a_wrong_type_is_named(make, message):
    with pytest.raises(TypeError, match=message):
        make()


def test_friction_is_finite_and_not_negative():
    with pytest.raises(ValueError, match=r"friction = inf: .* use a grasp, sim.grasp\(nodes\)"):
        ball(friction=math.inf)
    for wrong in (-0.1, math.nan, -math.inf):
        with pytest.raises(ValueError, match=r"friction = .*: expected a finite coefficient, zero"):
            ic.Floor(friction=wrong)
    floor = ic.Floor()
    assert floor.friction == 0.3
    with pytest.raises(ValueError, match="friction = -1"):
        floor.friction = -1
    with pytest.warns(DeprecationWarning, match=r"obstacle\.replace\(friction=0\)"):
        floor.friction = 0
    assert floor.friction == 0.0


def test_motions_are_checked_whenever_they_are_used():
    body = ball(path=lambda t: [0, 0, 0] if t < 1 else [0, 0, math.nan])
    body.gaps(np.zeros((1, 3)), 0.5)
    with pytest.raises(ValueError, match=r"path\(1\.5\)\[2\] is nan"):
        body.gaps(np.zeros((1, 3)), 1.5)
    turning = ball(rotation=lambda t: (1 + t) * np.eye(3))
    with pytest.raises(ValueError, match=r"rotation\(0\.1\) is .* expected a rotation matrix"):
        turning.displacement(np.zeros((1, 3)), 0.0, 0.1)
    stick = ic.Stick([0, 0, 0], [1, 0, 0], 0.1, path=lambda t: [[t, 0, 0], [1, 0, 0]])
    with pytest.raises(ValueError, match=r"path\(1\) puts both ends"):
        stick.vertices(1.0)


def test_functions_that_are_not_finite_name_the_point():
    body = ic.Implicit(lambda p: np.where(p[:, 0] > 1, np.nan, p[:, 2]), lambda p: np.ones_like(p))
    with pytest.raises(ValueError, match=r"h at \[2\.0, 0\.0, 0\.0\] m is nan"):
        body.gaps(np.array([[0.0, 0, 0], [2, 0, 0]]), 0.0)


def test_missing_files_are_missing():
    with pytest.raises(FileNotFoundError, match=r"nowhere\.obj"):
        ic.TriangleMesh("nowhere.obj")


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(allow_nan=True, allow_infinity=True))
def test_any_numbers_give_a_body_or_a_clear_error(radius, place):
    if math.isfinite(place) and math.isfinite(radius) and radius > 0.0:
        assert ic.Sphere([place, 0, 0], radius).radius == radius
    else:
        with pytest.raises(ValueError, match=r"(centre|radius).*expected"):
            ic.Sphere([place, 0, 0], radius)


def test_forces_are_those_of_the_last_step():
    body = ball(name="head")
    assert body.name == "head"
    assert "Sphere 'head'" in repr(body)
    np.testing.assert_array_equal(body.force, 0.0)
    above = ic.meshes.rectangle(0.1, 0.1, shape=(3, 3)).transformed(translation=[0, 0, 2])
    sim = ic.Simulation(above, obstacles=[body])
    sim.state.obstacle_wrenches[0, :3] = [1, 2, 3]
    sim.state = sim.state
    body.force[0] = 7.0  # a copy
    np.testing.assert_array_equal(body.force, [1, 2, 3])
