"""A run that is saved and continued."""

import numpy as np


def assert_continues_with_the_same_bits(begin, steps):
    """A second simulation takes over the state after some steps, and ends where the first does; returns the first."""
    first, second = begin(), begin()
    for _ in range(steps):
        first.step()
    second.state = first.state.copy()
    for sim in (first, second):
        for _ in range(steps):
            sim.step()
    np.testing.assert_array_equal(first.positions, second.positions)
    return first
