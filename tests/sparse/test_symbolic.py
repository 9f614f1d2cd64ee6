import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from graphs import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.dissection import Order
from isocloth.sparse.ordering import dissect
from isocloth.sparse.symbolic import analyse


def test_the_operations_of_a_symbolicisation_are_counted():
    # three variables of one scalar each, in a chain: 2 x 2, 2 x 2 and 1 x 1 fronts
    graph = sp.csr_matrix(np.eye(3) + np.eye(3, k=1) + np.eye(3, k=-1))
    symbolic = analyse(graph, Order(np.arange(3), np.arange(4)), np.ones(3, dtype=int))
    assert symbolic.flops == 4 + 4 + 1
    together = analyse(graph, Order(np.arange(3), np.array([0, 3])), np.ones(3, dtype=int))
    assert together.flops == 9 + 4 + 1


def test_a_block_outside_the_pattern_is_refused():
    graph = sp.csr_matrix(np.eye(30) + np.eye(30, k=1) + np.eye(30, k=-1))
    points = np.stack([np.arange(30.0), np.zeros(30)], axis=1)
    single = np.ones(30, dtype=int)
    symbolic = analyse(graph, dissect(graph, points, single, leaf=3).order, single)
    first, last = int(np.argmin(symbolic.rank)), 29 if np.argmin(symbolic.rank) < 15 else 0
    with pytest.raises(ValueError, match="outside the analysed pattern"):
        symbolic.find(np.array([first]), np.array([last]))


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60))
def test_blocks_of_the_pattern_have_places_of_their_own(seed, n):
    rng = np.random.default_rng(seed)
    graph, points = random_graph(rng, n)
    sizes = rng.integers(1, 4, n)
    symbolic = analyse(graph, dissect(graph, points, sizes).order, sizes)
    i, j = graph.nonzero()
    upper = symbolic.rank[i] <= symbolic.rank[j]
    place, stride = symbolic.find(i[upper].astype(np.int64), j[upper].astype(np.int64))
    used = np.zeros(symbolic.sizes.panel, dtype=int)
    for a, s, p, q in zip(place, stride, sizes[i[upper]], sizes[j[upper]], strict=True):
        for row in range(p):
            used[a + row * s : a + row * s + q] += 1
    assert used.max() == 1


def test_it_is_never_copied_and_comes_back_from_a_pickle():
    graph, points = random_graph(np.random.default_rng(0), 40)
    sizes = np.full(40, 3)
    symbolic = analyse(graph, dissect(graph, points, sizes).order, sizes)
    assert copy.deepcopy([symbolic])[0] is symbolic
    again = pickle.loads(pickle.dumps(symbolic))
    assert again.flops == symbolic.flops
    assert again.nbytes == symbolic.nbytes > 0
    for part in ("order", "index", "block_index"):
        for a, b in zip(getattr(symbolic, part), getattr(again, part), strict=True):
            np.testing.assert_array_equal(a, b)
