"""The nearest shape of a cloth that is too soft: derivatives by finite differences, and a certificate."""

import numpy as np
import pytest
from small_targets import strip

import isocloth as ic
from isocloth.inverse.nearest import NearestSearch
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.softest_modes import Areas, Barrier
from isocloth.statics.problem import as_problem

SHELL = ic.models.DiscreteShell(stretch=30.0, bending=1e-3)


@pytest.fixture(scope="module")
def sagged():
    """A search whose barriers act at its start, and the start."""
    target, edge = strip(7, 0.03)
    problem = as_problem(target, ic.Fabric(density=0.2), SHELL, None, edge, (), False, 9.81)
    search = NearestSearch(problem, RestForces(target, SHELL, 0.2, 9.81), target.vertices, lambda line: None)
    state = search.first(target.vertices)
    search.barrier = Barrier(search.barrier.least, 4.0 * float(state.modes.values[2]))
    search.areas = Areas(target.faces.copy(), target.vertices, Barrier(0.05, 3.0))
    return search, state, search.problem_at(state)


def ways(sagged, h):
    """A change of the rest shape, and the states at plus and minus h of it."""
    search, state, _ = sagged
    way = np.random.default_rng(0).normal(size=state.points.shape)
    return way.ravel(), *(
        search.follow(state.points + t * way, state.found.positions, state.found) for t in (h, -h)
    )  # fmt: skip


def test_the_modes_are_those_of_a_dense_problem(sagged):
    _, state, here = sagged
    root = np.sqrt(here.slopes.mass[here.free])
    dense = here.whole()[here.free][:, here.free].toarray() / root / root[:, None]
    np.testing.assert_allclose(state.modes.values, np.linalg.eigvalsh(dense)[: len(state.modes.values)], rtol=1e-7)
    gram = state.modes.vectors.T @ (here.slopes.mass[:, None] * state.modes.vectors)
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-8)


def test_the_slopes_of_distance_eigenvalues_and_barriers_are_differences(sagged):
    search, _state, here = sagged
    h = 1e-7
    way, plus, minus = ways(sagged, h)
    assert here.count >= 3

    def difference(function):
        return (function(plus) - function(minus)) / (2.0 * h)

    assert here.distance_slope @ way == pytest.approx(difference(lambda s: search.distance(s.found)), rel=1e-5)
    values = difference(lambda s: s.modes.values)
    for k, (i, j) in enumerate(here.pairs):
        if i == j:
            assert here.pair_slopes[:, k] @ way == pytest.approx(values[i], rel=1e-3, abs=1e-4 * np.abs(values).max())
    walls = difference(lambda s: search.objective(s, 1.0))
    assert here.slope(1.0) @ way == pytest.approx(walls, rel=1e-4)


def test_the_bend_of_a_step_is_a_second_difference_of_equilibria(sagged):
    _search, state, here = sagged
    h = 1e-5
    way, plus, minus = ways(sagged, h)
    bent, small = here.bend(way)
    second = (plus.found.positions + minus.found.positions - 2.0 * state.found.positions).ravel() / h**2
    assert np.abs(bent - second).max() < 2e-2 * np.abs(second).max()
    # of the trace of L, which no turn of the modes changes, the part that modes outside of it push is included
    trace = sum(s.modes.values[: here.count].sum() for s in (plus, minus)) - 2.0 * here.close.values.sum()
    assert np.trace(small) == pytest.approx(trace / h**2, rel=5e-2)


def test_the_matrix_of_a_step_is_inverted(sagged):
    _, _, here = sagged
    tau, mu = 0.1, 2.0
    n3 = 3 * here.n
    follows = np.stack([here.ahead(e) for e in np.eye(n3)], axis=1)
    blocks = here.areas.curvature(here.points)
    dense = follows.T @ follows + mu * np.eye(n3)
    dense += here.pair_slopes @ np.diag(tau * here.pair_weights) @ here.pair_slopes.T
    for k, block in enumerate(blocks):
        dense[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] += tau * block
    vector = np.random.default_rng(1).normal(size=n3)
    np.testing.assert_allclose(dense @ here.model(tau, mu).inverse(vector), vector, atol=1e-5)


def test_the_barrier_is_smooth_and_convex():
    barrier, h = Barrier(2.0, 10.0), 1e-6
    for value in (2.1, 4.0, 11.9, 13.0):
        up, down = np.array([value + h]), np.array([value - h])
        assert barrier.slope(np.array([value]))[0] == pytest.approx(
            (barrier.value(up) - barrier.value(down)) / (2 * h), rel=1e-5, abs=1e-9
        )
        bend = float((barrier.slope(up) - barrier.slope(down))[0]) / (2 * h)
        assert barrier.curvature(value, value) == pytest.approx(bend, rel=1e-4, abs=1e-8)
    assert barrier.value(np.array([1.9])) == np.inf
    assert barrier.value(np.array([12.1])) == 0.0


def test_a_strip_that_is_too_soft_comes_near_with_a_margin_and_stays():
    target, edge = strip(7, 0.03)
    fabric = ic.Fabric(density=0.2)
    found = ic.invert(target, fabric, model=SHELL, held=edge)
    assert not found.reached
    nearest = found.nearest
    naive = ic.equilibrium(target, fabric, model=SHELL, held=edge)
    assert found.target_error < 0.05 * 0.5 * np.sum((naive.positions - target.vertices) ** 2)
    assert nearest.smallest_eigenvalue > nearest.least
    assert found.smallest_eigenvalue == pytest.approx(nearest.smallest_eigenvalue, rel=1e-4)
    again = ic.equilibrium(target, fabric, model=SHELL, held=edge, rest=found.rest, start=found.positions)
    assert np.abs(again.positions - found.positions).max() < 1e-5
