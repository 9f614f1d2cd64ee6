"""Where the iteration of a step with contact begins, and what one linearisation a step makes of a tremble."""

import numpy as np
import pytest

from isocloth.simulation.steppers.first_guess import first_guess

H = 0.01  # s


def test_only_free_slow_nodes_whose_velocity_turned_round_start_where_they_are() -> None:
    positions = np.arange(15.0).reshape(5, 3)
    velocities = np.array([[1.0, 0.0, 0.0], [1.0, 2.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [1.0, 3.0, 0.0]])
    previous = np.array([[1.0, 9.0, 0.0], [1.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, -1.0, 0.0]])
    held = np.array([False, False, True, False, False])
    start = positions + H * velocities
    kept = start.copy()
    found = first_guess(start, positions, velocities, previous, held, 3.0)
    np.testing.assert_array_equal(found[1], positions[1])
    np.testing.assert_array_equal(found[[0, 2, 3, 4]], kept[[0, 2, 3, 4]])  # the last is too fast for a tremble
    np.testing.assert_array_equal(start, kept)


def trembled(left: float, euler: bool, guess) -> float:
    """By which factor a node is further off its place of rest after 60 steps, if one linearisation leaves a part of it.

    The node begins with a tremble, (-1)^n; `left` is what remains of the distance of a first guess.
    """
    x = [np.full((1, 3), (-1.0) ** n) for n in range(4)]
    nobody = np.zeros(1, dtype=bool)
    for _ in range(60):
        v, before = (
            [(x[-1 - k] - x[-2 - k]) / H for k in (0, 1)]
            if euler
            else [(1.5 * x[-1 - k] - 2.0 * x[-2 - k] + 0.5 * x[-3 - k]) / H for k in (0, 1)]
        )
        x.append(left * guess(x[-1] + H * v, x[-1], v, before, nobody, np.inf))
    return float(np.abs(np.concatenate(x[-3:])).max())


@pytest.mark.parametrize(("euler", "limit"), [(False, -1 / 5), (True, -1 / 3)])
def test_a_tremble_grows_from_its_own_extrapolation_and_not_from_where_a_node_is(euler: bool, limit: float) -> None:
    def extrapolated(start, *_):
        return start

    assert trembled(0.95 * limit, euler, extrapolated) < 0.2
    assert trembled(1.05 * limit, euler, extrapolated) > 5.0
    for left in (1.05 * limit, -0.5, -0.9):
        assert trembled(left, euler, first_guess) < 0.01
