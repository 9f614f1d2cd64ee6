import numpy as np
from graphs import grid_graph, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.ordering import dissect


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
    graph, points = grid_graph(33)
    tree = dissect(graph, points, np.ones(33 * 33, dtype=int))
    assert len(tree.groups[-1]) == 33
