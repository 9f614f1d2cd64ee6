import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from graphs import fill, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.cholesky import back_substitute, factorise, solve
from isocloth.sparse.factor import Factor, Storage
from isocloth.sparse.ordering import dissect
from isocloth.sparse.symbolic import analyse


def layout(rng, n):
    graph, points = random_graph(rng, n)
    sizes = np.full(n, 3)
    return graph, sizes, analyse(graph, dissect(graph, points, sizes).order, sizes)


def solved(factor, right):
    x = right.copy()
    assert factorise(factor.fronts, x)
    back_substitute(factor.fronts, x)
    return x


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 50))
def test_two_factors_in_one_layout_do_not_disturb_each_other(seed, n):
    rng = np.random.default_rng(seed)
    graph, sizes, symbolic = layout(rng, n)
    before = pickle.dumps(symbolic)
    one, other = Factor(symbolic), Factor(symbolic)
    first, second = (fill(rng, factor, graph, sizes, np.ones(n)) for factor in (one, other))
    right = rng.standard_normal(3 * n)
    x = solved(one, right)
    y = solved(other, right)
    np.testing.assert_allclose(first @ x, right, atol=1e-9 * max(1.0, np.abs(first).max() * np.abs(x).max()))
    np.testing.assert_allclose(second @ y, right, atol=1e-9 * max(1.0, np.abs(second).max() * np.abs(y).max()))
    again = right.copy()
    solve(one.fronts, again)  # the factor of the first is still there
    np.testing.assert_allclose(again, x, rtol=1e-9, atol=1e-9 * np.abs(x).max())
    assert pickle.dumps(symbolic) == before
    assert one.fronts.runs is other.fronts.runs


def test_threads_that_share_a_layout_find_the_bits_of_one_thread():
    rng = np.random.default_rng(3)
    graph, sizes, symbolic = layout(rng, 300)
    panels = []
    for seed in range(8):
        factor = Factor(symbolic)
        fill(np.random.default_rng(seed), factor, graph, sizes, np.ones(300))
        panels.append(factor.fronts.panel.copy())
    right = rng.standard_normal(900)

    def run(panel):
        factor = Factor(symbolic)
        for _ in range(5):
            factor.fronts.panel[:] = panel
            x = solved(factor, right)
        return x

    alone = [run(panel) for panel in panels]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, panels))
    for a, b in zip(alone, together, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_copy_has_numbers_of_its_own_in_the_same_layout():
    rng = np.random.default_rng(1)
    graph, sizes, symbolic = layout(rng, 30)
    factor = Factor(symbolic)
    fill(rng, factor, graph, sizes, np.ones(30))
    right = rng.standard_normal(90)
    copied, restored = copy.deepcopy(factor), pickle.loads(pickle.dumps(factor))
    assert copied.symbolic is symbolic
    expected = solved(factor, right)
    for other in (copied, restored):
        assert not np.shares_memory(other.fronts.panel, factor.fronts.panel)
        np.testing.assert_array_equal(solved(other, right), expected)


def test_memory_is_used_again_where_it_is_large_enough():
    small, large = (layout(np.random.default_rng(0), n)[2] for n in (20, 40))
    storage = Storage()
    first = Factor(large, storage)
    assert first.memory == first.fronts.panel.nbytes + first.fronts.schur.nbytes
    assert np.shares_memory(Factor(small, storage).fronts.panel, first.fronts.panel)
    assert not np.shares_memory(Factor(large).fronts.panel, first.fronts.panel)
