import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from graphs import fill, grid_graph, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.cholesky import back_substitute, factorise, solve
from isocloth.sparse.dissection import Order, dissect_quickly
from isocloth.sparse.factor import Factor
from isocloth.sparse.ordering import dissect
from isocloth.sparse.pattern import pattern_of, with_pairs
from isocloth.sparse.symbolic import analyse


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([3, 12, 40]), st.booleans(), st.booleans())
def test_it_solves_what_a_dense_solver_solves(seed, n, leaf, mixed, quick):
    rng = np.random.default_rng(seed)
    graph, points = random_graph(rng, n)
    signs = np.where(rng.random(n) < 0.3, -1.0, 1.0) if mixed else np.ones(n)
    sizes = np.where(signs > 0, 3, 1)
    pattern = pattern_of(graph)
    order = dissect_quickly(pattern, points, sizes, leaf) if quick else dissect(graph, points, sizes, leaf=leaf).order
    factor = Factor(analyse(pattern, order, sizes, signs))
    dense = fill(rng, factor, graph, sizes, signs)
    right = rng.standard_normal(len(dense))
    x = right.copy()
    assert factorise(factor.fronts, x)
    back_substitute(factor.fronts, x)
    np.testing.assert_allclose(dense @ x, right, atol=1e-9 * max(1.0, np.abs(x).max() * np.abs(dense).max()))
    again = right.copy()
    solve(factor.fronts, again)
    np.testing.assert_allclose(again, x, rtol=1e-9, atol=1e-9 * np.abs(x).max())


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(0, 40), st.integers(1, 9))
def test_any_order_will_do_and_groups_of_any_size(seed, n, more, longest):
    rng = np.random.default_rng(seed)
    graph, _ = random_graph(rng, n)
    pairs = rng.integers(0, n, (more, 2))
    pattern = with_pairs(pattern_of(graph), pairs)
    graph = sp.csr_matrix((np.ones(len(pattern.indices)), pattern.indices, pattern.indptr), shape=(n, n))
    starts = np.unique(np.append(np.cumsum(rng.integers(1, longest + 1, n)), 0))
    order = Order(rng.permutation(n), np.append(starts[starts < n], n))
    sizes = rng.integers(1, 4, n)
    factor = Factor(analyse(pattern, order, sizes))
    dense = fill(rng, factor, graph, sizes, np.ones(n)) + 40 * np.eye(sizes.sum())
    diagonal, stride = factor.symbolic.find(np.arange(n), np.arange(n))
    for at, s, size in zip(diagonal, stride, sizes, strict=True):
        factor.fronts.panel[at + np.arange(size) * (s + 1)] += 40
    right = rng.standard_normal(len(dense))
    x = right.copy()
    assert factorise(factor.fronts, x)
    back_substitute(factor.fronts, x)
    np.testing.assert_allclose(dense @ x, right, atol=1e-9 * max(1.0, np.abs(x).max() * np.abs(dense).max()))


def test_it_agrees_with_superlu_on_a_larger_grid():
    n = 24
    graph, points = grid_graph(n)
    matrix = (sp.diags_array(np.full(n * n, 4.1)) - graph).tocsr()
    single = np.ones(n * n, dtype=int)
    factor = Factor(analyse(matrix, dissect(matrix, points, single).order, single))
    upper = matrix.tocoo()
    keep = factor.symbolic.rank[upper.row] <= factor.symbolic.rank[upper.col]
    place, _ = factor.symbolic.find(upper.row[keep].astype(np.int64), upper.col[keep].astype(np.int64))
    factor.fronts.panel[place] = upper.data[keep]
    right = np.random.default_rng(0).standard_normal(n * n)
    x = right.copy()
    assert factorise(factor.fronts, x)
    back_substitute(factor.fronts, x)
    np.testing.assert_allclose(x, sla.spsolve(matrix.tocsc(), right), atol=1e-12)


def test_the_same_input_gives_the_same_bits():
    rng = np.random.default_rng(5)
    graph, points = random_graph(rng, 50)
    sizes = np.full(50, 3)
    factor = Factor(analyse(graph, dissect(graph, points, sizes).order, sizes))
    fill(np.random.default_rng(1), factor, graph, sizes, np.ones(50))
    saved = factor.fronts.panel.copy()
    answers = []
    for _ in range(3):
        factor.fronts.panel[:] = saved
        x = np.arange(150.0)
        factorise(factor.fronts, x)
        back_substitute(factor.fronts, x)
        answers.append(x)
    assert np.array_equal(answers[0], answers[1])
    assert np.array_equal(answers[0], answers[2])


def test_a_pivot_of_the_wrong_sign_is_reported():
    graph = sp.csr_matrix(np.ones((2, 2)))
    single = np.ones(2, dtype=int)
    factor = Factor(analyse(graph, dissect(graph, np.array([[0.0, 0], [1, 0]]), single).order, single))
    order = np.argsort(factor.symbolic.rank)
    place, _ = factor.symbolic.find(order[[0, 0, 1]], order[[0, 1, 1]])
    factor.fronts.panel[place] = [1.0, 2.0, 1.0]  # indefinite
    assert not factorise(factor.fronts, np.zeros(2))
    assert np.isfinite(factor.fronts.panel).all()
