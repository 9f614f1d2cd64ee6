import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.base.compiled import kernel
from isocloth.sparse.add_block import add_block
from isocloth.sparse.cholesky import back_substitute, factorise, solve
from isocloth.sparse.dissection import Order, _median, dissect_quickly
from isocloth.sparse.fronts import SparseCholesky
from isocloth.sparse.ordering import dissect
from isocloth.sparse.pattern import pattern_of, with_pairs


def random_graph(rng, n, neighbours=5):
    """Points in the plane, each coupled to its nearest ones."""
    points = rng.random((n, 2))
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    near = np.argsort(distance, axis=1)[:, : min(neighbours + 1, n)]
    i, j = np.repeat(np.arange(n), near.shape[1]), near.ravel()
    return sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n)), points


def fill(rng, factor, graph, sizes, signs):
    """Write a random quasi-definite matrix into the factor; return it dense."""
    start = np.concatenate([[0], np.cumsum(sizes)])
    dense = np.zeros((start[-1], start[-1]))
    entries = graph.tocoo()
    factor.fronts.panel[:] = 0.0
    for i, j in zip(entries.row, entries.col, strict=True):
        if factor.rank[i] > factor.rank[j]:
            continue
        block = rng.standard_normal((sizes[i], sizes[j]))
        if signs[i] != signs[j] or i != j:
            block *= 0.3
        if i == j:
            block = signs[i] * (block @ block.T + 8 * np.eye(sizes[i]))
        rows, cols = slice(start[i], start[i + 1]), slice(start[j], start[j + 1])
        dense[rows, cols] = block
        dense[cols, rows] = block.T
        place, stride = factor.find(np.array([i]), np.array([j]))
        for a in range(sizes[i]):
            at = place[0] + a * stride[0]
            factor.fronts.panel[at : at + sizes[j]] = block[a]
    return dense


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.sampled_from([3, 12, 40]), st.booleans(), st.booleans())
def test_it_solves_what_a_dense_solver_solves(seed, n, leaf, mixed, quick):
    rng = np.random.default_rng(seed)
    graph, points = random_graph(rng, n)
    signs = np.where(rng.random(n) < 0.3, -1.0, 1.0) if mixed else np.ones(n)
    sizes = np.where(signs > 0, 3, 1)
    pattern = pattern_of(graph)
    order = dissect_quickly(pattern, points, sizes, leaf) if quick else dissect(graph, points, sizes, leaf=leaf).order
    factor = SparseCholesky(pattern, order, sizes, signs)
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
    factor = SparseCholesky(pattern, order, sizes)
    dense = fill(rng, factor, graph, sizes, np.ones(n)) + 40 * np.eye(sizes.sum())
    diagonal, stride = factor.find(np.arange(n), np.arange(n))
    for at, s, size in zip(diagonal, stride, sizes, strict=True):
        factor.fronts.panel[at + np.arange(size) * (s + 1)] += 40
    right = rng.standard_normal(len(dense))
    x = right.copy()
    assert factorise(factor.fronts, x)
    back_substitute(factor.fronts, x)
    np.testing.assert_allclose(dense @ x, right, atol=1e-9 * max(1.0, np.abs(x).max() * np.abs(dense).max()))


def test_the_operations_of_a_factorisation_are_counted():
    # three variables of one scalar each, in a chain: 2 x 2, 2 x 2 and 1 x 1 fronts
    graph = sp.csr_matrix(np.eye(3) + np.eye(3, k=1) + np.eye(3, k=-1))
    factor = SparseCholesky(graph, Order(np.arange(3), np.arange(4)), np.ones(3, dtype=int))
    assert factor.flops == 4 + 4 + 1
    together = SparseCholesky(graph, Order(np.arange(3), np.array([0, 3])), np.ones(3, dtype=int))
    assert together.flops == 9 + 4 + 1


def test_it_agrees_with_superlu_on_a_larger_grid():
    n = 24
    idx = np.arange(n * n).reshape(n, n)
    pairs = [np.stack([idx[:-1].ravel(), idx[1:].ravel()]), np.stack([idx[:, :-1].ravel(), idx[:, 1:].ravel()])]
    i, j = np.concatenate(pairs, axis=1)
    laplacian = sp.coo_matrix((-np.ones(len(i)), (i, j)), shape=(n * n, n * n)).tocsr()
    matrix = (laplacian + laplacian.T + sp.diags_array(np.full(n * n, 4.1))).tocsr()
    points = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), axis=-1).reshape(-1, 2).astype(float)
    single = np.ones(n * n, dtype=int)
    factor = SparseCholesky(matrix, dissect(matrix, points, single).order, single)
    upper = matrix.tocoo()
    keep = factor.rank[upper.row] <= factor.rank[upper.col]
    place, _ = factor.find(upper.row[keep].astype(np.int64), upper.col[keep].astype(np.int64))
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
    factor = SparseCholesky(graph, dissect(graph, points, sizes).order, sizes)
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
    factor = SparseCholesky(graph, dissect(graph, np.array([[0.0, 0], [1, 0]]), single).order, single)
    order = np.argsort(factor.rank)
    place, _ = factor.find(order[[0, 0, 1]], order[[0, 1, 1]])
    factor.fronts.panel[place] = [1.0, 2.0, 1.0]  # indefinite
    assert not factorise(factor.fronts, np.zeros(2))
    assert np.isfinite(factor.fronts.panel).all()


def test_a_block_outside_the_pattern_is_refused():
    graph = sp.csr_matrix(np.eye(30) + np.eye(30, k=1) + np.eye(30, k=-1))
    points = np.stack([np.arange(30.0), np.zeros(30)], axis=1)
    single = np.ones(30, dtype=int)
    factor = SparseCholesky(graph, dissect(graph, points, single, leaf=3).order, single)
    first, last = int(np.argmin(factor.rank)), 29 if np.argmin(factor.rank) < 15 else 0
    with pytest.raises(ValueError, match="outside the analysed pattern"):
        factor.find(np.array([first]), np.array([last]))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 80))
def test_a_dissection_holds_every_variable_once_and_separates(seed, n):
    rng = np.random.default_rng(seed)
    graph, points = random_graph(rng, n, neighbours=3)
    tree = dissect(graph, points, np.ones(n, dtype=int), leaf=6)
    assert sorted(np.concatenate(tree.groups).tolist()) == list(range(n))
    ancestors = [set() for _ in tree.groups]
    for k in range(len(tree.groups) - 1, -1, -1):
        if tree.parent[k] >= 0:
            assert tree.parent[k] > k
            ancestors[k] = ancestors[tree.parent[k]] | {tree.parent[k]}
    owner = np.empty(n, dtype=int)
    for k, group in enumerate(tree.groups):
        owner[group] = k
    for i, j in zip(*graph.nonzero(), strict=True):
        a, b = owner[i], owner[j]
        # coupled variables lie in one group or one above the other, or the factor would lack their entry
        assert a == b or a in ancestors[b] or b in ancestors[a]


def test_a_grid_is_cut_along_a_line():
    n = 33
    idx = np.arange(n * n).reshape(n, n)
    pairs = [np.stack([idx[:-1].ravel(), idx[1:].ravel()]), np.stack([idx[:, :-1].ravel(), idx[:, 1:].ravel()])]
    i, j = np.concatenate(pairs, axis=1)
    graph = sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n * n, n * n))
    points = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), axis=-1).reshape(-1, 2).astype(float)
    tree = dissect(graph, points, np.ones(n * n, dtype=int))
    assert len(tree.groups[-1]) == n


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 3)), min_size=1, max_size=40))
def test_the_median_is_where_half_of_the_weight_is_passed(items):
    height, weight = np.array([float(h) for h, _ in items]), np.array([w for _, w in items])
    total = int(weight.sum())
    median = _median(height, weight, total)
    assert 2 * weight[height <= median].sum() > total
    assert 2 * weight[height < median].sum() <= total


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.integers(0, 20))
def test_further_pairs_are_coupled_as_a_sparse_matrix_would_couple_them(seed, n, more):
    rng = np.random.default_rng(seed)
    graph, _ = random_graph(rng, n)
    pairs = rng.integers(0, n, (more, 2))
    grown = with_pairs(pattern_of(graph), pairs)
    told = sp.csr_matrix((np.ones(len(grown.indices)), grown.indices, grown.indptr), shape=(n, n)).toarray() > 0
    expected = graph.toarray() > 0
    expected[pairs[:, 0], pairs[:, 1]] = expected[pairs[:, 1], pairs[:, 0]] = True
    np.testing.assert_array_equal(told, expected)


@kernel
def _add(c, c0, c_stride, a, a0, a_stride, rows, columns):
    add_block(c, c0, c_stride, a, a0, a_stride, rows, columns)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9), st.integers(0, 13), st.integers(0, 3), st.integers(0, 3))
def test_a_block_is_added_and_nothing_around_it(rows, columns, down, right):
    rng = np.random.default_rng(rows + 100 * columns)
    c, a = rng.standard_normal((14, 20)), rng.standard_normal((14, 17))
    expected = c.copy()
    expected[down : down + rows, right : right + columns] += a[:rows, 2 : 2 + columns]
    _add(c.reshape(-1), down * 20 + right, 20, a.reshape(-1), 2, 17, rows, columns)
    np.testing.assert_array_equal(c, expected)
