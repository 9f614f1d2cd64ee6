import numpy as np
import pytest
import scipy.sparse as sp
from graphs import grid_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.analysis import Analysis
from isocloth.sparse.cholesky import back_substitute


def matrix_on_a_grid(n, block, seed=0):
    """A positive definite matrix of nodes on a grid (n, n), with `block` scalars each, and where they are."""
    graph, points = grid_graph(n)
    half = sp.kron(graph + sp.identity(n * n), np.ones((block, block))).tocsr()
    half.data = np.random.default_rng(seed).standard_normal(half.nnz)
    both = half + half.T
    return sp.csc_matrix(both + sp.diags_array(np.asarray(abs(both).sum(axis=1)).ravel() + 1.0)), points


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 7), st.sampled_from([1, 2, 3]), st.booleans())
def test_it_solves_matrices_of_one_pattern(seed, n, block, placed):
    matrix, points = matrix_on_a_grid(n, block, seed)
    analysis = Analysis(matrix, points if placed and block == 3 else None)
    right = np.random.default_rng(seed).standard_normal(matrix.shape[0])
    for scale in (1.0, 3.0):
        x = right.copy()
        analysis.factorise(scale * matrix, x)
        back_substitute(analysis.factor.fronts, x)
        np.testing.assert_allclose(scale * matrix @ x, right, atol=1e-9 * np.abs(matrix).max())


def test_what_it_cannot_factor_is_refused():
    matrix, points = matrix_on_a_grid(4, 3)
    analysis, x = Analysis(matrix, points), np.zeros(48)
    with pytest.raises(ValueError, match="not positive definite"):
        analysis.factorise(-matrix, x)
    with pytest.raises(ValueError, match="another pattern"):
        analysis.factorise(sp.identity(48, format="csc"), x)
    with pytest.raises(ValueError, match="3 points for 16 nodes"):
        Analysis(matrix, points[:3])
