"""What would pass through a solid within a step stays on its side, whichever of the two moves."""

import numpy as np
import pytest

from isocloth.contact.passing import Way
from isocloth.obstacles import Box, Sphere
from validation import edges

PLATE = Box([0.0, 0.0, 0.0], [1.0, 1.0, 0.01])


def entries(solid, start, end, begin=0.0, now=0.01):
    start, end = np.atleast_2d(np.array(start, dtype=float)), np.atleast_2d(np.array(end, dtype=float))
    return Way(solid, start, begin, now).entries(end, solid.gaps(end, now)[1])


@pytest.mark.parametrize("depth", [-0.001, -0.004, -0.1, -3.0])
def test_a_point_that_goes_through_a_plate_enters_where_its_way_does(depth):
    found = entries(PLATE, [0.1, 0.2, 0.05], [0.1, 0.2, depth])
    assert found.normal == pytest.approx(np.array([[0.0, 0.0, 1.0]]))
    assert found.gap == pytest.approx([depth - 0.005], abs=2e-6)


def test_points_that_stay_on_a_side_or_go_round_a_corner_do_not_enter():
    assert entries(PLATE, [0.1, 0.2, 0.05], [0.3, 0.2, 0.006]) is None
    assert entries(PLATE, [0.6, 0.0, 0.05], [0.6, 0.0, -0.05]) is None
    assert entries(Box([0.0, 0.0, 0.0], [1.0, 1.0, 1.0]), [0.49, 0.0, 0.51], [0.51, 0.0, 0.49]) is None


def test_a_body_that_moves_through_a_point_is_entered_like_one_that_rests():
    moving = PLATE.replace(centre=[0.0, 0.0, -0.05], velocity=[0.0, 0.0, 10.0])
    found = entries(moving, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0])
    assert found.normal == pytest.approx(np.array([[0.0, 0.0, 1.0]]))
    assert found.gap == pytest.approx([-0.055], abs=2e-6)


def test_a_ball_is_entered_on_the_side_that_a_point_comes_from():
    found = entries(
        Sphere([0.0, 0.0, 0.0], 0.1), [[0.03, 0.0, 0.5], [0.2, 0.0, 0.5]], [[0.03, 0.0, -0.5], [0.2, 0.0, -0.5]]
    )
    assert found.point.tolist() == [0]
    assert found.normal[0] == pytest.approx([0.3, 0.0, np.sqrt(0.91)], abs=1e-4)


@pytest.mark.parametrize("pass_by", [edges.thrown, edges.lifted])
def test_a_plate_thinner_than_the_way_of_a_step_is_not_passed(pass_by):
    lowest, failed = pass_by(20.0, 0.003, nodes=7)
    assert lowest > 0.0
    assert failed == 0
