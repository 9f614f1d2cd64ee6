import numpy as np
import pytest
import scipy.optimize as so

import isocloth as ic
from isocloth.cloth.cloth import discretise
from isocloth.cloth.step import Past, Scheme, build_step
from isocloth.cloth.system import BOUND, EXACT, TENSION, NewtonSystem, assemble
from isocloth.solvers import TIGHT, Newton, NewtonOptions, Projection, ProjectionOptions, make_solver
from isocloth.terms.stiffening import room

FABRICS = {
    "plain": ic.Fabric(density=0.2),
    "bending": ic.Fabric(density=0.2, bending=1e-4, bending_damping=1e-6, damping=0.1),
    "shear": ic.Fabric(density=0.2, shear=20.0),
}
MESHES = {
    "quads": ic.meshes.rectangle(0.3, 0.3, shape=(4, 4)),
    "triangles": ic.meshes.irregular_rectangle(0.3, 0.3, nodes=18, seed=0),
}


def first_step(mesh, fabric, discretisation=None, h=0.01):
    problem = discretise(mesh, fabric, gravity=9.81, discretisation=discretisation)
    held = np.zeros(problem.n, dtype=bool)
    held[mesh.corners[:2]] = True
    # mild enough for a single minimum: a crumpled sheet has several
    x = mesh.vertices + 1e-4 * np.random.default_rng(0).standard_normal(mesh.vertices.shape)
    v = np.random.default_rng(1).standard_normal(x.shape) * 0.02
    start = x + h * v
    start[held] = x[held]
    return problem, build_step(problem, Scheme(h, 1.0, 0.0), Past(x, v, x, v), start, held)


def potential(problem, step, y):
    a = step.inertia[:, None] * y + step.arrays.bending[:, None] * (problem.stiffness @ y)
    c = problem.rows.values(y)
    return np.sum(y * (a / 2 - step.load)) + np.sum(problem.rows.weight * c**2) / 2


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("mesh", MESHES)
def test_it_finds_the_minimum_that_a_general_minimiser_finds(mesh, fabric):
    problem, step = first_step(MESHES[mesh], FABRICS[fabric])
    outcome = Newton(problem, TIGHT).solve(step, np.zeros(len(problem.rows)), first=True)
    assert outcome.converged
    free = ~step.held

    def of_free(z):
        y = step.start.copy()
        y[free] = z.reshape(-1, 3)
        grad = step.inertia[:, None] * y + step.arrays.bending[:, None] * (problem.stiffness @ y) - step.load
        c, j = problem.rows.values(y), problem.rows.jacobian(y)
        grad = grad + (j.T @ (problem.rows.weight * c)).reshape(-1, 3)
        return potential(problem, step, y), grad[free].ravel()

    found = so.minimize(of_free, outcome.positions[free].ravel(), jac=True, method="BFGS", options={"gtol": 1e-12})
    assert found.fun >= potential(problem, step, outcome.positions) - 1e-9
    other = so.minimize(
        of_free,
        step.start[free].ravel(),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 50000, "maxfun": 200000, "ftol": 1e-16, "gtol": 1e-9},
    )
    assert potential(problem, step, outcome.positions) <= other.fun + 1e-9 * abs(other.fun)


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("mesh", MESHES)
def test_at_the_solution_forces_balance_and_multipliers_are_the_strain(mesh, fabric):
    problem, step = first_step(MESHES[mesh], FABRICS[fabric])
    outcome = Newton(problem, TIGHT).solve(step, np.zeros(len(problem.rows)), first=True)
    y = outcome.positions
    force = step.inertia[:, None] * y + step.arrays.bending[:, None] * (problem.stiffness @ y) - step.load
    force += (problem.rows.jacobian(y).T @ outcome.multipliers).reshape(-1, 3)
    assert np.abs(force[~step.held]).max() < 1e-7
    np.testing.assert_allclose(force[step.held], outcome.reactions[step.held], atol=1e-9)
    np.testing.assert_allclose(outcome.multipliers, problem.rows.weight * problem.rows.values(y), atol=1e-6)
    np.testing.assert_array_equal(y[step.held], step.start[step.held])


@pytest.mark.parametrize("curvature", [BOUND, TENSION, EXACT])
@pytest.mark.parametrize("mesh", MESHES)
def test_the_compiled_matrix_is_the_one_in_the_docstring(mesh, curvature):
    from isocloth.sparse.cholesky import back_substitute, factorise

    problem, step = first_step(MESHES[mesh], FABRICS["bending"])
    rows = problem.rows
    system = NewtonSystem(problem)
    y = step.start
    entries = rows.jacobian(y).reshape(len(rows), -1, 3)
    slots = entries[np.repeat(np.arange(len(rows)), rows.sizes), rows.nodes]
    lam = np.random.default_rng(3).standard_normal(len(rows)) * (1e-3 if curvature == EXACT else 1.0)
    assemble(
        system.assembly, system.factor.fronts, rows.arrays, slots, lam, step.inertia, step.arrays.bending,
        np.zeros(0), problem.bends, room(problem.bends), step.held, curvature,
    )  # fmt: skip
    n, kept = problem.n, np.flatnonzero(rows.kept)
    block = np.diag(step.inertia) + step.arrays.bending[:, None] * problem.stiffness.toarray()
    matrix = np.kron(block, np.eye(3))
    for k in range(len(rows)):
        nodes = rows.nodes[rows.ptr[k] : rows.ptr[k + 1]]
        mine = slice(rows.square[k], rows.square[k + 1])
        t = rows.T[mine].reshape(len(nodes), -1)
        within = (np.abs(rows.plus[mine]) + np.abs(rows.minus[mine]) > 0).reshape(t.shape)
        s = np.sign(lam[k]) * (np.where(within, t, 0.0) if rows.kept[k] else t)
        if curvature != EXACT:
            s = (rows.plus if lam[k] > 0 else rows.minus)[mine].reshape(len(nodes), -1)
        if curvature == TENSION and np.prod(np.linalg.eigvalsh(t)[[0, -1]]) < -1e-9 * np.abs(t).max() ** 2:
            s = 0 * t  # an angle
        g = np.zeros((n, n))
        g[np.ix_(nodes, nodes)] = 2 * abs(lam[k]) * s
        matrix += np.kron(g, np.eye(3))
        if not rows.kept[k]:
            j = entries[k].ravel()
            matrix += rows.weight[k] * np.outer(j, j)
    jk = entries[kept].reshape(len(kept), 3 * n)
    full = np.block([[matrix, jk.T], [jk, -np.diag(1 / rows.weight[kept])]]) if len(kept) else matrix
    fixed = np.concatenate([np.repeat(step.held, 3), np.zeros(len(kept), dtype=bool)])
    full[fixed] = full[:, fixed] = 0.0
    full[fixed, fixed] = 1.0
    right = np.where(fixed, 0.0, np.random.default_rng(4).standard_normal(len(full)))
    x = right.copy()
    assert factorise(system.factor.fronts, x)
    back_substitute(system.factor.fronts, x)
    np.testing.assert_allclose(full @ x, right, atol=1e-7)
    assert not x[fixed].any()


def test_running_out_of_iterations_is_reported():
    problem, step = first_step(MESHES["quads"], FABRICS["plain"])
    options = NewtonOptions(strain_gap=1e-14, force=0.0, force_floor=1e-14, max_iterations=2)
    outcome = Newton(problem, options).solve(step, np.zeros(len(problem.rows)), first=True)
    assert not outcome.converged
    assert outcome.iterations == 2


def test_a_projection_is_the_shortest_way_onto_the_linearised_constraints():
    problem, step = first_step(MESHES["quads"], FABRICS["plain"], "nodal")
    options = ProjectionOptions(tolerance=1e-12, max_iterations=1, regularisation=1e-14)
    outcome = Projection(problem, options).solve(step, np.zeros(len(problem.rows)))
    free = np.where(step.held[:, None], step.start, step.load / (step.inertia)[:, None])
    # minimise d.M d / 2 subject to C + J d = 0, as a dense saddle-point system
    j = problem.rows.jacobian(free)[:, np.repeat(~step.held, 3)]
    mass = np.repeat(problem.area[~step.held], 3)
    zero = np.zeros((len(j), len(j)))
    saddle = np.block([[np.diag(mass), j.T], [j, zero]])
    d = np.linalg.solve(saddle, np.concatenate([np.zeros(len(mass)), -problem.rows.values(free)]))[: len(mass)]
    np.testing.assert_allclose(outcome.positions[~step.held].ravel(), free[~step.held].ravel() + d, atol=1e-8)


def test_projection_reaches_its_tolerance():
    problem, step = first_step(MESHES["quads"], FABRICS["plain"], "nodal")
    outcome = Projection(problem, ProjectionOptions(tolerance=1e-10)).solve(step, np.zeros(len(problem.rows)))
    assert outcome.converged
    assert np.abs(problem.rows.values(outcome.positions)).max() < 1e-10


@pytest.mark.parametrize("fabric", ["bending", "shear"])
def test_projection_starts_from_a_step_with_bending_and_shear(fabric):
    problem, step = first_step(MESHES["quads"], FABRICS[fabric], "nodal")
    # a tolerance so loose that nothing is projected: what is left is the unconstrained step
    outcome = Projection(problem, ProjectionOptions(tolerance=1e9)).solve(step, np.zeros(len(problem.rows)))
    assert outcome.iterations == 0
    soft = ~problem.rows.enforced
    y = step.start
    matrix = np.diag(step.inertia) + step.arrays.bending[:, None] * problem.stiffness.toarray()
    matrix = np.kron(matrix, np.eye(3))
    j, w, c = problem.rows.jacobian(y)[soft], problem.rows.weight[soft], problem.rows.values(y)[soft]
    gradient = matrix @ y.ravel() - step.load.ravel() + j.T @ (w * c)
    free = np.repeat(~step.held, 3)
    d = np.linalg.solve((matrix + j.T @ (w[:, None] * j))[np.ix_(free, free)], -gradient[free])
    np.testing.assert_allclose(outcome.positions.ravel()[free], y.ravel()[free] + d, atol=1e-10)
    assert np.abs(d).max() > 1e-5


def test_options_of_another_solver_are_refused():
    problem, _ = first_step(MESHES["quads"], FABRICS["plain"])
    with pytest.raises(TypeError, match="newton solver has others, expected NewtonOptions"):
        make_solver("newton", problem, ProjectionOptions(), 0.01)
