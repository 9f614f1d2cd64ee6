import ipctk
import numpy as np
import pytest

from isocloth.contact import time_of_approach
from isocloth.contact.ccd import NEVER, TOLERANCE, TOUCH
from isocloth.contact.distance import EDGE_EDGE, NODE_FACE, point_triangle, segment_segment

KINDS = [NODE_FACE, EDGE_EDGE]


def distance(kind, x):
    function = point_triangle if kind == NODE_FACE else segment_segment
    return np.sqrt(function(*map(tuple, x.tolist()))[0])


def motion(shape, rng):
    """Start and end (4, 3) of a pair."""
    x0 = rng.standard_normal((4, 3))
    x1 = x0 + rng.standard_normal((4, 3))
    if shape == "slow":
        x1 = x0 + 0.1 * rng.standard_normal((4, 3))
    if shape == "fast":
        x1 = x0 + 30.0 * rng.standard_normal((4, 3))
    if shape == "small and far":
        x0, x1 = 1e-2 * x0 + 5.0, 1e-2 * x1 + 5.0
    if shape == "coplanar":
        x0[:, 2] = x1[:, 2] = 0.3
    if shape == "parallel":
        x0[3] = x0[2] + x0[1] - x0[0]
        x1[3] = x1[2] + x1[1] - x1[0]
        x1[2:] -= (x1[2:] - x0[2:]).mean(axis=0) + 1.5 * (x0[2:].mean(axis=0) - x0[:2].mean(axis=0))
    if shape == "needle":
        x0[2:] = x0[1] + 1e-9 * rng.standard_normal((2, 3))
        x1[2:] = x1[1] + 1e-9 * rng.standard_normal((2, 3))
    if shape == "rigid":
        x1 = x0 + rng.standard_normal(3)
    if shape == "sliding":
        x0[:, 2] *= 1e-3
        x1[:, 2] *= 1e-3
    return x0, x1


SHAPES = ["ordinary", "slow", "fast", "small and far", "coplanar", "parallel", "needle", "rigid", "sliding"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_no_approach_is_missed_and_none_is_made_up(kind, shape):
    """Against the distance at many times: it stays above the target before the time returned, and is near it then."""
    rng = np.random.default_rng(7)
    found = 0
    for _ in range(60):
        x0, x1 = motion(shape, rng)
        start = distance(kind, x0)
        for target in (0.0, 0.3 * start):
            time = time_of_approach(kind, x0, x1, target)
            level = target or TOUCH * start
            samples = np.linspace(0.0, min(time, 1.0), 200)
            assert min(distance(kind, x0 + t * (x1 - x0)) for t in samples) >= level * (1 - 1e-6) - 1e-13
            if time <= 1.0:
                found += 1
                reached = distance(kind, x0 + time * (x1 - x0))
                assert reached <= level * (1 + TOLERANCE) * (1 + 1e-6) + 1e-8
    assert found > 5 or shape in ("slow", "rigid", "needle")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_never_later_than_ipc_toolkit(kind, shape):
    """Its times are early by design, by as much as 2e-4 of length: if ours is later, the pair is still apart then."""
    if kind == EDGE_EDGE and shape in ("coplanar", "needle"):
        pytest.skip("the toolkit needs minutes for edges in a plane")
    rng = np.random.default_rng(11)
    tight = ipctk.TightInclusionCCD(max_iterations=10_000)
    theirs = tight.point_triangle_ccd if kind == NODE_FACE else tight.edge_edge_ccd
    for _ in range(150):
        x0, x1 = motion(shape, rng)
        if distance(kind, x0) == 0.0:
            continue
        hit, impact = theirs(*x0, *x1)
        time = time_of_approach(kind, x0, x1, 0.0)
        if hit and time > impact + 1e-9:
            assert distance(kind, x0 + impact * (x1 - x0)) > TOUCH * distance(kind, x0) * (1 - 1e-6)
        if not hit and time <= 1.0:
            assert distance(kind, x0 + time * (x1 - x0)) <= TOUCH * (1 + 2 * TOLERANCE) * distance(kind, x0)


def crossing(kind, rng):
    """A pair that certainly crosses half way: at t = 1/2 the parts share a point well inside of both."""
    middle = rng.standard_normal((4, 3))
    if kind == NODE_FACE:
        middle[0] = rng.dirichlet([2, 2, 2]) @ middle[1:]
    else:
        s, t = rng.uniform(0.1, 0.9, 2)
        middle[2:] += (1 - s) * middle[0] + s * middle[1] - (1 - t) * middle[2] - t * middle[3]
    way = 10.0 ** rng.uniform(-4, 1.5) * rng.standard_normal((4, 3))
    return middle - way, middle + way


@pytest.mark.parametrize("kind", KINDS)
def test_thousands_of_certain_crossings_are_found_in_time(kind):
    rng = np.random.default_rng(5)
    for _ in range(4000):
        x0, x1 = crossing(kind, rng)
        time = time_of_approach(kind, x0, x1, 0.0)
        assert time <= 0.5
        assert distance(kind, x0 + time * (x1 - x0)) > 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_a_head_on_approach_has_the_exact_time(kind):
    if kind == NODE_FACE:
        x0 = np.array([[0.2, 0.2, 1.0], [0, 0, 0], [1, 0, 0], [0, 1, 0]])
        moving = [0]
    else:
        x0 = np.array([[-1, 0, 1.0], [1, 0, 1], [0, -1, 0], [0, 1, 0]])
        moving = [0, 1]
    x1 = x0.copy()
    x1[moving, 2] -= 2.0
    assert time_of_approach(kind, x0, x1, 0.25) == pytest.approx(0.375, abs=0.0013)
    x1[moving, 2] = 0.26
    assert time_of_approach(kind, x0, x1, 0.25) == NEVER


@pytest.mark.parametrize("kind", KINDS)
def test_pairs_that_are_close_at_the_start_are_found_at_once(kind):
    x0 = np.random.default_rng(0).standard_normal((4, 3))
    assert time_of_approach(kind, x0, x0, 10.0) == 0.0
    assert time_of_approach(kind, x0, x0, 0.0) == NEVER
    assert time_of_approach(kind, np.zeros((4, 3)), np.ones((4, 3)), 0.0) == 0.0
