import numpy as np
from graphs import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.dissection import fill
from isocloth.sparse.fronts import FrontIndex, Fronts, _stack, lay_out
from isocloth.sparse.microkernels import COLUMNS, ROWS
from isocloth.sparse.ordering import dissect
from isocloth.sparse.pattern import pattern_of


def test_kernels_read_the_indices_first_and_then_the_numbers():
    count = len(FrontIndex._fields)
    assert Fronts._fields[:count] == FrontIndex._fields
    assert Fronts._fields[count:] == ("panel", "schur", "divided", "work")


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 40))
def test_schur_complements_that_live_at_once_do_not_overlap(seed, count):
    rng = np.random.default_rng(seed)
    parent = np.array([rng.integers(g + 1, count) for g in range(count - 1)] + [-1], dtype=np.int64)
    sizes = rng.integers(0, 6, count)
    sizes[-1] = 0
    offsets, total = _stack(sizes, parent)
    for g in range(count):
        assert offsets[g] + sizes[g] <= total
        for h in range(g):
            # h is there from its own elimination until that of its parent, g included
            if (parent[h] < 0 or parent[h] >= g) and sizes[g] and sizes[h]:
                assert offsets[h] + sizes[h] <= offsets[g] or offsets[g] + sizes[g] <= offsets[h]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_every_scalar_is_a_pivot_once_and_boundaries_lie_in_the_parent(seed, n):
    rng = np.random.default_rng(seed)
    graph, points = random_graph(rng, n)
    sizes = rng.integers(1, 4, n)
    order = dissect(graph, points, sizes).order
    filled = fill(pattern_of(graph), order)
    f, totals, _ = lay_out(order.group_ptr, filled, sizes, np.ones(sizes.sum()))
    assert not (f.rows % ROWS).any()
    assert not (f.stride % COLUMNS).any()
    assert f.panel_ptr[-1] <= totals.panel
    pivots = [f.scalars[f.scalar_ptr[g] : f.scalar_ptr[g] + f.pivots[g]] for g in range(len(f.size))]
    assert sorted(np.concatenate(pivots).tolist()) == list(range(sizes.sum()))
    for g, above in enumerate(filled.parent):
        boundary = f.scalars[f.scalar_ptr[g] + f.rows[g] : f.scalar_ptr[g + 1]]
        for start, end, target in f.runs[f.run_ptr[g] : f.run_ptr[g + 1]]:
            at = f.scalar_ptr[above] + target
            np.testing.assert_array_equal(f.scalars[at : at + end - start], boundary[start:end])
