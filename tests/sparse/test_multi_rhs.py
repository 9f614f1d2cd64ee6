import numpy as np
from graphs import fill, random_graph
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.cholesky import factorise, solve
from isocloth.sparse.factor import Factor
from isocloth.sparse.multi_rhs import LANES, solve_eight, wanted_fronts
from isocloth.sparse.ordering import dissect
from isocloth.sparse.symbolic import analyse


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.booleans(), st.booleans())
def test_eight_solutions_are_right_where_they_are_wanted(seed, n, sparse, mixed):
    rng = np.random.default_rng(seed)
    graph, points = random_graph(rng, n)
    signs = np.where(rng.random(n) < 0.3, -1.0, 1.0) if mixed else np.ones(n)
    sizes = np.where(signs > 0, 3, 1)
    factor = Factor(analyse(graph, dissect(graph, points, sizes).order, sizes, signs))
    matrix = fill(rng, factor, graph, sizes, signs)
    f, scalars = factor.fronts, len(matrix)
    assert factorise(f, np.zeros(scalars))
    right = rng.standard_normal((scalars, LANES))
    if sparse:
        right *= rng.random(right.shape) < 2.0 / scalars
    touched = rng.random(scalars) < 0.2
    wanted = np.zeros(len(f.size), dtype=bool)
    wanted_fronts(f, touched, wanted)
    x = right.copy()
    solve_eight(f, x, np.full((f.size.max() + LANES, LANES), np.nan), wanted)
    exact = np.linalg.solve(matrix, right)
    np.testing.assert_allclose(x[touched], exact[touched], atol=1e-9 * max(1.0, np.abs(exact).max()))
    one = right[:, 0].copy()
    solve(f, one)
    np.testing.assert_allclose(one, exact[:, 0], atol=1e-9 * max(1.0, np.abs(exact).max()))
