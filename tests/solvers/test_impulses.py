"""Position impulses of the nonconforming model against dense algebra, and how few solves they take."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.solvers import impulses as module
from isocloth.solvers.impulses import FIRST, Impulses
from isocloth.terms.midpoints import midpoints

MESH = ic.meshes.irregular_rectangle(0.4, 0.3, nodes=80, seed=0)


def wavy():
    x, y, _ = MESH.vertices.T
    z = 4e-3 * np.cos(40 * x + 10 * y) + 4e-3 * np.sin(25 * y)
    return MESH.with_vertices(np.stack([x, y, z], axis=1))


def gradients(mid, x):
    """J (c, 3 m), dense."""
    a, b = mid.pairs.T
    along = x[a] - x[b]
    along /= np.linalg.norm(along, axis=1)[:, None]
    out = np.zeros((len(a), len(x), 3))
    out[np.arange(len(a)), a], out[np.arange(len(a)), b] = along, -along
    return out.reshape(len(a), -1)


def test_impulses_solve_the_dense_system_of_the_middle_of_the_step():
    mid = midpoints(wavy())
    solver = Impulses(mid, ic.Fabric(density=0.2), 9.81, 1e-6, 10)
    x = mid.points
    v = np.random.default_rng(0).normal(scale=0.05, size=x.shape)
    preview = x + 1e-3 * v
    solver._factorise((x + preview) / 2, FIRST)
    error = np.linalg.norm(preview[mid.pairs[:, 0]] - preview[mid.pairs[:, 1]], axis=1) - mid.lengths
    change, p = module._impelled(solver._links, solver.factor.fronts, 1e-3, error)
    j = gradients(mid, (x + preview) / 2)
    inverse = np.repeat(1.0 / solver.mass, 3)
    matrix = (j * inverse) @ j.T
    matrix[np.diag_indices_from(matrix)] *= 1.0 + FIRST
    dense = np.linalg.solve(matrix, error / 1e-3)
    np.testing.assert_allclose(p, dense, rtol=1e-6, atol=1e-9 * np.abs(dense).max())
    np.testing.assert_allclose(change.ravel(), -inverse * (j.T @ dense), rtol=1e-6, atol=1e-9 * np.abs(change).max())


@pytest.mark.parametrize("spin", [20.0, 40.0])
def test_a_sheet_that_turns_fast_takes_two_solves_and_is_not_braked(spin):
    """At 40/s it turns by 0.04 in a step: directions at time t take three solves and more, and impulses along
    those in the middle of the step brake it by a twelfth."""
    mesh = wavy()
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), model="nonconforming", gravity=0.0, timestep=1e-3)
    sim.velocities = np.cross([0.0, spin, 0.2 * spin], mesh.vertices - mesh.vertices.mean(axis=0))
    sim.step()
    before = sim.energy["kinetic"]
    sim.solver.free_solves.clear()
    for _ in range(100):
        assert sim.step().converged
    assert 0 < np.quantile(sim.solver.free_solves, 0.98) <= 2
    assert sim.energy["kinetic"] == pytest.approx(before, rel=4e-3)


def test_what_is_not_finite_is_never_called_solved():
    solver = Impulses(midpoints(MESH), ic.Fabric(), 9.81, 1e-6, 3)
    x = solver.midpoints.points.copy()
    x[3, 1] = np.nan
    assert module._off(solver._links, np.zeros(0), x, solver._errors) == np.inf
    assert solver.begin(x, np.zeros_like(x), 1e-3, np.zeros((0, 3))).error == np.inf
