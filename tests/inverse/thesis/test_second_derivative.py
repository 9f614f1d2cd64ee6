"""Second derivatives of the distance, whole, against differences of its gradient."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.thesis.adjoint import distance, pushed_forward
from isocloth.inverse.thesis.draping import Draping
from isocloth.inverse.thesis.plate import PlateLike
from isocloth.inverse.thesis.second_derivative import coloured, distance_hessian, gauss_newton, sensitivity

DISCRETE = ic.models.DiscreteShell(stretch=20.0, bending=2e-3, area=5.0)
KOITER = ic.models.KoiterShell(young=1e6, poisson=0.3, thickness=1e-3)


def draped(model):
    flat = ic.meshes.rectangle(0.3, 0.2, (5, 4), element="triangle")
    x = flat.vertices.copy()
    x[:, 2] = 0.02 * np.sin(2 * np.pi * x[:, 0] / 0.3)
    draping = Draping(RestForces(flat.with_vertices(x), model, 0.2, 9.81), np.flatnonzero(x[:, 0] < 0.05))
    points = x + 3e-3 * np.random.default_rng(0).normal(size=x.shape)
    return draping, draping(points, 5.0)


MODELS = pytest.mark.parametrize("model", [DISCRETE, KOITER, PlateLike(DISCRETE)], ids=["discrete", "koiter", "plate"])


@MODELS
def test_the_whole_second_derivative(model):
    draping, here = draped(model)
    columns = (3 * draping.free[:, None] + np.arange(3)).ravel()
    exact = distance_hessian(draping, here, distance(draping, here).slope.adjoint, columns)
    found, step = np.zeros_like(exact), 1e-6
    for k, column in enumerate(columns):
        sides = []
        for way in (-2, -1, 1, 2):
            points = here.points.copy()
            points.flat[column] += way * step
            tried = draping(points, 5.0, here.positions)
            sides.append(distance(draping, tried).slope.rest.ravel()[columns])
        found[k] = (sides[0] - 8 * sides[1] + 8 * sides[2] - sides[3]) / (12 * step)
    assert np.abs(exact - exact.T).max() < 1e-12 * np.abs(exact).max()
    assert np.abs(exact - found).max() < 1e-6 * np.abs(exact).max()
    # far from the target, Gauss and Newton keep only a part of it
    kept = gauss_newton(sensitivity(draping, here, columns))
    assert np.abs(exact - kept).max() > 0.1 * np.abs(exact).max()


@MODELS
def test_at_the_target_it_is_that_of_gauss_and_newton(model):
    draping, here = draped(model)
    there = Draping(draping.forces, draping.fixed, here.positions)
    at = there(here.points, 0.0, here.positions)
    if np.abs(at.positions - here.positions).max() > 1e-3:  # the target is what is reached without an attraction
        there = Draping(draping.forces, draping.fixed, at.positions)
        at = there(here.points, 0.0, at.positions)
    columns = np.arange(here.points.size)
    slope = sensitivity(there, at, columns)
    hessian = distance_hessian(there, at, distance(there, at).slope.adjoint, columns)
    np.testing.assert_allclose(hessian, gauss_newton(slope), atol=1e-5 * np.abs(hessian).max())
    way = np.random.default_rng(1).normal(size=here.points.shape)
    pushed = pushed_forward(there, at, way)[there.free].ravel()
    np.testing.assert_allclose(slope @ way.ravel(), pushed, atol=1e-10 * np.abs(pushed).max())


def test_points_of_a_part_have_different_colours():
    mesh = ic.meshes.rectangle(1.0, 1.0, (9, 9), element="triangle")
    colours = coloured([mesh.faces, mesh.edges], mesh.n_vertices)
    assert all(len(set(colours[face])) == 3 for face in mesh.faces)
    assert colours.max() < 8
