"""Tables that kernels look up by a number."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.base.hashing import slot, table_size


@settings(deadline=None)  # the first call compiles
@given(st.integers(0, 100_000))
def test_at_least_half_of_a_table_stays_empty(count: int) -> None:
    size = table_size(count)
    assert size & (size - 1) == 0  # a power of two, as the slots need
    assert 2 * count < size <= 4 * count + 4


@settings(deadline=None)
@given(st.lists(st.integers(-(2**62), 2**62), unique=True, max_size=200))
def test_keys_are_found_where_they_were_put(keys: list[int]) -> None:
    size = table_size(len(keys))
    table = np.zeros(size, dtype=np.int64)
    tries = 0
    for number, key in enumerate(keys):
        at = slot(key, size)
        while table[at] > 0:
            at = (at + 1) & (size - 1)
            tries += 1
        table[at] = number + 1
    for number, key in enumerate(keys):
        at = slot(key, size)
        while keys[table[at] - 1] != key:
            at = (at + 1) & (size - 1)
        assert table[at] == number + 1
    assert tries <= max(50, 5 * len(keys))  # keys that lie close together are spread
