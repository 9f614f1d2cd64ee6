"""The linearisation as sparse matrices, against one assembled row by row."""

import numpy as np
import pytest
from contact_problems import step_matrix

import isocloth as ic
from isocloth.cloth.cloth import discretise
from isocloth.cloth.step import Past, Scheme, build_step
from isocloth.cloth.system import BOUND
from isocloth.contact.contact_set import ContactSet
from isocloth.friction.linearised import Linearised, along_surface, contact_problem, nodal_forces, normal_rows
from isocloth.solvers.newton import Newton
from isocloth.terms.rows import evaluate


@pytest.fixture(params=["quad", "triangle"])
def linearisation(request):
    """(problem, step, work, y, lam) of a rumpled sheet with two corners held."""
    mesh = ic.meshes.rectangle(0.3, 0.4, shape=(4, 5), element=request.param)
    problem = discretise(mesh, ic.Fabric(density=0.2, bending=1e-4), gravity=9.81)
    rng = np.random.default_rng(3)
    y = mesh.vertices + 0.01 * rng.standard_normal(mesh.vertices.shape)
    held = np.zeros(problem.n, dtype=bool)
    held[mesh.corners[:2]] = True
    past = Past(y, 0 * y, mesh.vertices, 0 * y)
    step = build_step(problem, Scheme(0.01, 1.0, 0.0), past, y, held)
    work = Newton(problem).work
    evaluate(problem.rows.arrays, problem.rows.rest, step.arrays.free, y, work.values, work.jacobian)
    work.force[:] = step.inertia[:, None] * y + step.arrays.bending[:, None] * (problem.stiffness @ y) - step.load
    lam = 1e-3 * rng.standard_normal(len(problem.rows)) * problem.rows.weight
    return problem, step, work, y, lam


def contacts_with_floor(y):
    n = len(y)
    nodes, weights = np.zeros((n, 4), dtype=np.int64), np.zeros((n, 4))
    nodes[:, 0], weights[:, 0] = np.arange(n), 1.0
    normal = np.tile([0.0, 0.0, 1.0], (n, 1))
    key = np.arange(n)
    return ContactSet(nodes, weights, normal, y[:, 2] + 0.005, 0 * y, np.full(n, 0.3), key, 0 * key + 1, np.zeros(n))


def test_the_matrix_and_the_gradient_are_those_of_newtons_system(linearisation):
    problem, step, work, y, lam = linearisation
    matrix, gradient = Linearised(problem).at(step, work, lam, BOUND)
    expected, slope = step_matrix(problem, step, y, lam)
    assert abs(matrix - expected).max() < 1e-12 * abs(expected).max()
    assert gradient == pytest.approx(slope, abs=1e-12 * np.abs(slope).max())


def test_the_pattern_does_not_depend_on_the_numbers(linearisation):
    problem, step, work, _, lam = linearisation
    linearised = Linearised(problem)
    first, _ = linearised.at(step, work, lam, BOUND)
    work.jacobian[:] = 0.0
    second, _ = linearised.at(step._replace(arrays=step.arrays._replace(held=~step.held)), work, 0 * lam, BOUND)
    assert np.array_equal(first.indices, second.indices)
    assert np.array_equal(first.indptr, second.indptr)


def test_rows_give_the_change_of_gaps_and_forces_their_work(linearisation):
    _, step, _, y, _ = linearisation
    contacts = contacts_with_floor(y)
    rng = np.random.default_rng(0)
    d, force = rng.standard_normal(y.shape), rng.standard_normal(y.shape)
    d[step.held] = 0.0
    assert normal_rows(contacts, step.held) @ d.ravel() == pytest.approx(d[:, 2])
    assert np.sum(nodal_forces(contacts, step.held, force) * d) == pytest.approx(np.sum(force * d))
    assert along_surface(contacts, force)[:, 2] == pytest.approx(0.0, abs=1e-15)


def test_friction_is_a_known_force_of_the_contact_problem(linearisation):
    problem, step, work, y, lam = linearisation
    contacts, linearised = contacts_with_floor(y), Linearised(problem)
    friction = np.tile([0.1, -0.2, 0.0], (len(y), 1))
    with_friction = contact_problem(linearised, step, work, lam, contacts, friction, BOUND)
    without = contact_problem(linearised, step, work, lam, contacts, 0 * friction, BOUND)
    friction[step.held] = 0.0
    assert without.g - with_friction.g == pytest.approx(friction.ravel())
    assert np.allclose(with_friction.H, y[:, 2] + 0.005, rtol=0.0, atol=1e-15)
