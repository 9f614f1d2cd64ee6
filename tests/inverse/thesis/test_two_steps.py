"""The thesis' two steps: gradients that differences confirm, minima that are known, and targets that are reached."""

import time

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import InputError
from isocloth.inverse.balance import Cones as Borne
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.supports import hands_at
from isocloth.inverse.thesis.bfgs import Stop, minimise
from isocloth.inverse.thesis.cone_errors import Cones
from isocloth.inverse.thesis.correction import correction
from isocloth.inverse.thesis.draping import Draping
from tests.inverse.small_targets import strip

SHELL = ic.models.DiscreteShell(stretch=50.0, bending=5e-3)


def rosenbrock(x):
    a, b = 1.0 - x[0], x[1] - x[0] ** 2
    return a**2 + 100.0 * b**2, np.array([-2.0 * a - 400.0 * x[0] * b, 200.0 * b])


def bodies(nodes, friction):
    """Contacts at nodes, pushed upwards."""
    k = len(nodes)
    up = np.tile([0.0, 0.0, 1.0], (k, 1))
    cones = Borne(up, np.full(k, friction), np.zeros(k))
    return hands_at(nodes)._replace(cones=cones, body=np.ones(k, dtype=np.int64))


def test_a_valley_is_followed_to_its_end():
    found = minimise(rosenbrock, np.array([-1.2, 1.0]), Stop(), 0.1)
    assert found.point == pytest.approx([1.0, 1.0], abs=1e-9)
    assert found.reason in ("gradient", "step", "no descent")
    assert found.iterations < 100
    assert found.evaluations > found.iterations


def test_a_kink_is_found_in_spite_of_its_slopes():
    def kinked(x):
        return abs(x[0]) + x[1] ** 2, np.array([np.sign(x[0]), 2.0 * x[1]])

    found = minimise(kinked, np.array([0.7, -0.4]), Stop(), 0.1)
    assert found.value < 1e-6


def test_it_ends_where_it_is_told_to():
    start = np.array([-1.2, 1.0])
    assert minimise(rosenbrock, start, Stop(iterations=3), 0.1).iterations == 3
    assert minimise(rosenbrock, start, Stop(deadline=time.monotonic() - 1.0), 0.1).reason == "time"
    assert minimise(lambda x: (np.inf, 0.0 * x), start, Stop(), 0.1).reason == "no value"


def test_errors_of_cones_are_those_of_the_formula():
    mu = 0.5
    cones = Cones(bodies(np.array([0, 1, 2, 3]), mu), 5, 1.0)
    #: inside, sliding by 0.1 N, pulled and sliding, inside on the axis; the last node is free
    force = np.array([[0.1, 0.2, 1.0], [0.6, 0.0, 1.0], [0.3, 0.4, -2.0], [0.0, 0.0, 3.0], [0.0, 0.0, 0.2]])
    found = cones.error(force)
    assert found.free == pytest.approx(0.5 * 0.2**2, rel=1e-9)
    assert found.contacts == pytest.approx(0.5 * (0.1**2 + (2.0 + 0.5 + mu * 2.0) ** 2), rel=1e-9)


def test_the_gradient_of_the_second_step():
    target, edge = strip()
    draping = Draping(RestForces(target, SHELL, 0.3, 9.81), edge)
    cones = Cones(bodies(edge, 0.2), target.n_vertices, 0.975)
    rng = np.random.default_rng(0)
    points = target.vertices + 2e-4 * rng.normal(size=target.vertices.shape)
    here = correction(draping, cones, target.vertices, 2.0, points)
    assert here.value > 0.0
    for _ in range(3):
        way, step = rng.normal(size=points.shape), 1e-7
        ahead, behind = (
            correction(draping, cones, target.vertices, 2.0, points + s * step * way).value for s in (1, -1)
        )
        assert (ahead - behind) / (2 * step) == pytest.approx(float(np.sum(here.slope * way)), rel=1e-5)


def test_a_held_strip_is_reached_in_fifteen_passes():
    target, edge = strip()
    found = ic.invert(target, ic.Fabric(density=0.2), model=SHELL, held=edge, method="thesis")
    assert found.reached, found.problem
    assert len(found.passes) == 15
    assert found.passes[0].attraction == 1000.0
    assert found.passes[-1].attraction == 0.0
    assert found.target_error < 1e-18
    assert found.friction_error < 1e-15
    assert all(one.first.seconds >= 0.0 for one in found.passes)
    # another solver stays there
    assert np.abs(found.equilibrium.positions - found.target.vertices).max() < 1e-6


def test_a_search_whose_time_is_over_says_so():
    target, edge = strip()
    found = ic.invert(target, ic.Fabric(density=0.2), model=SHELL, held=edge, method=ic.inverse.TwoSteps(seconds=1e-3))
    assert not found.reached
    assert "were over in pass 1" in found.problem


@pytest.mark.parametrize(
    "given", [{"first": -1}, {"second": 2.5}, {"first": True}, {"seconds": 0.0}, {"smallest": "small"}], ids=str
)
def test_bad_numbers_are_refused(given):
    with pytest.raises(InputError, match=next(iter(given))):
        ic.inverse.TwoSteps(**given)


def test_what_does_not_go_with_the_method_is_refused():
    target, edge = strip()
    for more, said in (
        ({"method": "thesys"}, "expected one of"),
        ({"method": "thesis", "checkpoint": "x.npz"}, "BFGS is not saved"),
        ({"method": "thesis", "nearest": True}, "by 'force_first' alone"),
    ):
        with pytest.raises(InputError, match=said):
            ic.invert(target, ic.Fabric(density=0.2), model=SHELL, held=edge, **more)
