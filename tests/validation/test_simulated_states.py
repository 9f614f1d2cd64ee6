"""What is told of names given to folded states."""

import numpy as np

from isocloth.states import ideal_states
from validation.result import Result
from validation.simulated_states import _confusion, with_hidden_segments, with_noise


def test_a_state_without_a_name_is_in_no_column_of_the_confusion():
    database = ideal_states(2, shape=(6, 6))
    found = database.labels.copy()
    found[0] = -1
    found[1] = 1
    table = _confusion(database, found)
    assert table[0].tolist() == [0.0, 0.5, *[0.0] * 10], "half of the first class has no name, half a wrong one"
    assert table[1:].diagonal(1).tolist() == [1.0] * 11


def test_noise_is_asked_for_in_metres_and_told_in_millimetres():
    result, asked = Result("states", "names"), []

    def rate(noise):
        asked.append(noise)
        return 91.0

    with_noise(result, "with {:g} mm: right, %", rate)
    assert asked == [0.005, 0.01, 0.02]
    assert [line.what for line in result.lines] == [f"with {mm} mm: right, %" for mm in (5, 10, 20)]


def test_so_many_segments_are_hidden():
    database = ideal_states(1, shape=(6, 6))
    hidden = []

    def rate(seen):
        hidden.append({int(np.isnan(s).any(axis=(1, 2)).sum()) for s in seen})
        return 100.0

    with_hidden_segments(Result("states", "names"), "ideal", database.boundaries, np.random.default_rng(0), rate)
    assert hidden == [{1}, {2}, {3}, {4}]
