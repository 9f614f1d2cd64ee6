import numpy as np
import scipy.sparse as sp
from graphs import random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.pattern import pattern_of, with_pairs


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
