"""The draping function: equilibria that another solver finds too, and derivatives that differences confirm."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import ConvergenceError
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.thesis.adjoint import distance, pulled_back, pushed_forward
from isocloth.inverse.thesis.draping import Draping

DENSITY = 0.2
DISCRETE = ic.models.DiscreteShell(stretch=20.0, bending=2e-3, area=5.0)
KOITER = ic.models.KoiterShell(young=1e6, poisson=0.3, thickness=1e-3)


def strip():
    flat = ic.meshes.rectangle(0.4, 0.15, (7, 4), element="triangle")
    x = flat.vertices.copy()
    x[:, 2] = 0.3 + 0.02 * np.sin(2 * np.pi * x[:, 0] / 0.4)
    return flat.with_vertices(x), np.flatnonzero(x[:, 0] < 0.07)


def draping(model, torn=False):
    target, edge = strip()
    rng = np.random.default_rng(0)
    corners, points = None, target.vertices
    if torn:
        points = target.vertices[target.faces].reshape(-1, 3)
        corners = np.arange(len(points)).reshape(-1, 3)
    forces = RestForces(target, model, DENSITY, 9.81, corners)
    return Draping(forces, edge), points + 2e-4 * rng.normal(size=points.shape)


def central(values, step):
    """A derivative by differences of the fourth order, of values at -2, -1, 1 and 2 steps."""
    return (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / (12 * step)


@pytest.mark.parametrize("model", [DISCRETE, KOITER], ids=["discrete", "koiter"])
def test_without_attraction_it_is_the_equilibrium_of_statics(model):
    target, edge = strip()
    found = Draping(RestForces(target, model, DENSITY, 9.81), edge)(target.vertices)
    other = ic.equilibrium(target, ic.Fabric(density=DENSITY), model=model, held=edge)
    assert found.stable
    assert other.converged
    assert np.abs(found.positions - target.vertices).max() > 0.02
    np.testing.assert_allclose(found.positions, other.positions, atol=1e-7)


def test_attraction_draws_to_the_target():
    drape, points = draping(DISCRETE)
    far = [np.abs(drape(points, lam).positions - drape.target).max() for lam in (0.0, 1.0, 100.0, 1e6)]
    assert far[0] > far[1] > far[2] > far[3]
    assert far[3] < 1e-6


@pytest.mark.parametrize("model", [DISCRETE, KOITER], ids=["discrete", "koiter"])
@pytest.mark.parametrize("torn", [False, True], ids=["mesh", "corners"])
@pytest.mark.parametrize("attraction", [0.0, 10.0])
def test_the_gradient_of_the_distance(model, torn, attraction):
    drape, points = draping(model, torn)
    here = drape(points, attraction)
    assert here.stable
    slope = distance(drape, here).slope
    rng = np.random.default_rng(1)
    step = 1e-6
    for _ in range(2):
        way = rng.normal(size=points.shape) * (0.2 if torn else 1.0)
        at = [distance(drape, drape(points + k * step * way, attraction, here.positions)).value for k in (-2, -1, 1, 2)]
        exact = float(np.sum(slope.rest * way))
        assert central(at, step) == pytest.approx(exact, rel=1e-6)
    at = [
        distance(drape, drape.at_density(DENSITY + k * 1e-4)(points, attraction, here.positions)).value
        for k in (-2, -1, 1, 2)
    ]
    assert central(at, 1e-4) == pytest.approx(slope.density, rel=1e-6)


@pytest.mark.parametrize("model", [DISCRETE, KOITER], ids=["discrete", "koiter"])
def test_positions_follow_the_rest_shape_as_said(model):
    drape, points = draping(model)
    here = drape(points, 1.0)
    rng = np.random.default_rng(2)
    way, load = rng.normal(size=points.shape), rng.normal(size=points.shape)
    step = 1e-5
    at = [drape(points + k * step * way, 1.0, here.positions).positions for k in (-2, -1, 1, 2)]
    exact = pushed_forward(drape, here, way)
    assert np.abs(central(at, step) - exact).max() < 1e-6 * np.abs(exact).max()
    # the adjoint is the transposed of it
    assert np.sum(load * exact) == pytest.approx(np.sum(pulled_back(drape, here, load).rest * way), rel=1e-9)


def test_the_matrix_is_that_of_all_forces():
    drape, points = draping(DISCRETE)
    here = drape(points, 3.0)
    layout = drape.layout(here.potential)
    data = layout.assembled(here.potential.blocks(here.positions))
    coordinates = (3 * drape.free[:, None] + np.arange(3)).ravel()
    whole = drape.forces.at(here.positions).stiffness(points)[coordinates][:, coordinates]
    assert abs(layout.matrix(data) - whole).max() < 1e-9 * abs(whole).max()
    right = np.random.default_rng(3).normal(size=(layout.size, 2))
    back = (whole + 3.0 * np.eye(layout.size)) @ here.factor.solve(right)
    np.testing.assert_allclose(np.asarray(back), right, atol=1e-9)


def test_what_is_not_positive_definite_has_no_factor():
    drape, points = draping(DISCRETE)
    here = drape(points, 3.0)
    layout = drape.layout(here.potential)
    data = layout.assembled(here.potential.blocks(here.positions))
    lowest = np.linalg.eigvalsh(layout.matrix(data).toarray())[0]
    assert layout.factorised(layout.shifted(data, -lowest * (1 + 1e-6))) is None
    assert layout.factorised(layout.shifted(data, -lowest + abs(lowest) * 1e-3)) is not None


def test_a_cloth_that_does_not_come_to_rest_has_no_derivative():
    drape, points = draping(DISCRETE)
    here = drape(points)._replace(factor=None)
    assert not here.stable
    with pytest.raises(ConvergenceError, match="no stable equilibrium"):
        pulled_back(drape, here, np.ones_like(here.positions))
