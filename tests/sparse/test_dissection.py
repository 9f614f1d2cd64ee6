import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.sparse.dissection import _median


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(1, 3)), min_size=1, max_size=40))
def test_the_median_is_where_half_of_the_weight_is_passed(items):
    height, weight = np.array([float(h) for h, _ in items]), np.array([w for _, w in items])
    total = int(weight.sum())
    median = _median(height, weight, total)
    assert 2 * weight[height <= median].sum() > total
    assert 2 * weight[height < median].sum() <= total
