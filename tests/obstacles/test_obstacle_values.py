"""Obstacles are values: they compare, hash, copy, pickle and can be varied and shared."""

from __future__ import annotations

import copy
import gc
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import isocloth as ic
from isocloth.base.typing import FloatArray
from isocloth.obstacles import Obstacle

from .bodies import (
    CORNERS,
    FACES,
    around_the_origin,
    needles,
    needles_gradient,
    primitives,
    seeds,
    shifted,
    turning,
    what_the_cloth_meets,
)

SAMPLES = ([0.0, 1.0, 2.0], [[0.0, 0, 0], [0, 0, 1], [1, 0, 1]])
OPTIONS: dict[str, dict[str, Any]] = {
    "still": {},
    "steady": {"velocity": [0.1, 0, -0.2], "spin": [0, 1, 0.5], "friction": 0.7, "name": "it"},
    "samples": {"path": SAMPLES},
    "functions": {"path": shifted, "rotation": turning},
    "mixed": {"path": shifted, "spin": [0, 0, 1]},
}
POINTS = np.random.default_rng(0).normal(size=(30, 3))


def ends(t: float) -> FloatArray:
    return np.array([[0.0, 0, t], [1.0 + t, 0, t]])


def drifting(speed: float, t: float) -> FloatArray:
    return np.array([speed * t, 0.0, 0.0])


def everything() -> list[Obstacle]:
    """All shapes with all kinds of motion; made anew in every call."""
    found = [body for options in OPTIONS.values() for body in _shapes(options)]
    found.append(ic.Sphere([0, 0, 0], 0.1, path=partial(drifting, 0.3)))
    found.append(ic.Stick([0, 0, 0], [1, 0, 0], 0.02, path=ends))
    found.append(ic.Stick([0, 0, 0], [1, 0, 0], 0.02, path=([0.0, 1.0], [ends(0.0), ends(1.0)])))
    return found


def _shapes(options: dict[str, Any]) -> list[Obstacle]:
    if "path" not in options:
        return around_the_origin(**options)
    *others, _ = around_the_origin()
    return [body.replace(**options) for body in others]


NUMBERS = range(len(everything()))


def assert_meets_the_same(a: Obstacle, b: Obstacle) -> None:
    for t in (0.0, 0.4, 1.7):
        for x, y in zip(what_the_cloth_meets(a, POINTS, t), what_the_cloth_meets(b, POINTS, t), strict=True):
            np.testing.assert_array_equal(x, y)


def test_obstacles_made_alike_are_equal_and_all_others_differ():
    first, second = everything(), everything()
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            assert (a == b) is (i == j), (i, j)
        assert hash(a) == hash(second[i])
    assert len({*first, *second}) == len(first)
    assert first[0] != "floor"


@pytest.mark.parametrize(
    "change", [{"friction": 0.1}, {"name": "other"}, {"velocity": [0, 0, 1]}, {"spin": [1, 0, 0]}, {"path": SAMPLES},
               {"rotation": turning}, {"rotation": turning(1.0)}]
)  # fmt: skip
def test_every_option_counts(change):
    assert ic.Sphere([0, 0, 0], 1.0) != ic.Sphere([0, 0, 0], 1.0, **change)
    assert ic.Sphere([0, 0, 0], 1.0, **change) == ic.Sphere([0, 0, 0], 1.0, **change)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (ic.Sphere([0, 0, 0], 1.0), ic.Sphere([0, 0, 1], 1.0)),
        (ic.Sphere([0, 0, 0], 1.0), ic.Sphere([0, 0, 0], 1.1)),
        (ic.Plane([0, 0, 0], [0, 0, 1], extent=10.0, name="floor"), ic.Floor()),
        (ic.Plane([0, 0, 0], [0, 0, 1]), ic.Plane([0, 0, 0], [0, 0, 1], extent=3.0)),
        (ic.Capsule([0, 0, 0], [1, 0, 0], 0.1), ic.Capsule([1, 0, 0], [0, 0, 0], 0.1)),
        (ic.Box([0, 0, 0], [1, 2, 3]), ic.Box([0, 0, 0], [3, 2, 1])),
        (ic.TriangleMesh(CORNERS, FACES), ic.TriangleMesh(2 * CORNERS, FACES)),
        (ic.Stick([0, 0, 0], [1, 0, 0], 0.1), ic.Stick([0, 0, 0], [1, 0, 0], 0.1, pieces=3)),
        (ic.Implicit(needles, needles_gradient), ic.Implicit(needles, lambda p: needles_gradient(p))),
        (ic.Points([[0, 0, 0]]), ic.Points([[0, 0, 0], [0, 0, 1]])),
    ],
)
def test_every_size_counts(a, b):
    assert a != b


def test_zero_has_one_hash():
    a, b = ic.Sphere([0.0, 0, 0], 1.0), ic.Sphere([-0.0, 0, 0], 1.0)
    assert a == b
    assert hash(a) == hash(b)


class Circle:
    """A path that compares, but does not hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Circle)

    __hash__ = None  # type: ignore[assignment]

    def __call__(self, t: float) -> FloatArray:
        return np.array([np.sin(t), 1.0 - np.cos(t), 0.0])


def test_paths_compare_by_the_callable():
    def moving(path: Any) -> Obstacle:
        return ic.Sphere([0, 0, 0], 1.0, path=path)

    assert moving(Circle()) == moving(Circle())
    assert hash(moving(Circle())) == hash(moving(Circle()))
    assert moving(partial(drifting, 1.0)) == moving(partial(drifting, 1.0))
    assert hash(moving(partial(drifting, 1.0))) == hash(moving(partial(drifting, 1.0)))
    assert moving(partial(drifting, 1.0)) != moving(partial(drifting, 2.0))
    assert moving(lambda t: [0, 0, 0]) != moving(lambda t: [0, 0, 0])
    assert moving(SAMPLES) == moving((np.array(SAMPLES[0]), np.array(SAMPLES[1])))
    assert moving(SAMPLES) != moving((SAMPLES[0], [[0.0, 0, 0], [0, 0, 1], [1, 0, 2]]))


def use(body: Obstacle) -> None:
    """Fill what is kept beside the value."""
    what_the_cloth_meets(body, POINTS, 0.7)
    body.surface(0.3)
    body._record(np.array([1.0, 2.0, 3.0]))


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_copies_and_pickles_are_equal(number, duplicate):
    body = everything()[number]
    use(body)
    other = duplicate(body)
    assert other == body
    assert hash(other) == hash(body)
    assert other is not body
    assert repr(other) == repr(body)
    np.testing.assert_array_equal(other.force, 0.0)
    assert_meets_the_same(other, body)
    for a, b in zip(other.surface(0.3) or (), body.surface(0.3) or (), strict=True):
        np.testing.assert_array_equal(a, b)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_any_primitive_survives_a_pickle(seed):
    for body in primitives(np.random.default_rng(seed)):
        found = pickle.loads(pickle.dumps(body))
        assert found == body
        assert hash(found) == hash(body)
        assert_meets_the_same(found, body)


def test_use_does_not_change_the_value():
    for body, fresh in zip(everything(), everything(), strict=True):
        kept = pickle.dumps(body), hash(body)
        use(body)
        assert body == fresh
        assert (pickle.dumps(body), hash(body)) == kept


def test_copies_share_their_geometry():
    body = ic.TriangleMesh(CORNERS, FACES)
    for other in (copy.copy(body), copy.deepcopy(body), body.replace(friction=0.0)):
        assert other._points is body._points
        assert other.faces is body.faces


@pytest.mark.parametrize("duplicate", [lambda o: o, copy.deepcopy, lambda o: pickle.loads(pickle.dumps(o))])
def test_arrays_cannot_be_written_into(duplicate):
    for body, name in (
        (ic.Box([0, 0, 0], [1, 1, 1]), "size"),
        (ic.Floor(), "normal"),
        (ic.Points([[0, 0, 0]]), "edges"),
        (ic.TriangleMesh(CORNERS, FACES), "faces"),
        (ic.Implicit(needles, needles_gradient, extent=[[0, 1]] * 3), "extent"),
    ):
        with pytest.raises(ValueError, match="read-only"):
            getattr(duplicate(body), name)[...] = 2


def test_arrays_of_the_user_stay_theirs():
    size, corners = np.ones(3), CORNERS.copy()
    box, body = ic.Box([0, 0, 0], size), ic.TriangleMesh(corners, FACES)
    size[0], corners[0] = 7.0, 7.0
    assert box == ic.Box([0, 0, 0], np.ones(3))
    assert body == ic.TriangleMesh(CORNERS, FACES)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda f: ic.Sphere([0, 0, 0], 1.0, path=f, name="ball"), ["path of the obstacle 'ball'", "samples (times,"]),
        (lambda f: ic.Box([0, 0, 0], [1, 1, 1], rotation=lambda t: np.eye(3)), ["rotation of the obstacle 'box'"]),
        (lambda f: ic.Implicit(lambda p: p[:, 2], needles_gradient), ["h of the obstacle 'implicit'"]),
        (lambda f: ic.Implicit(needles, lambda p: p), ["gradient of the obstacle 'implicit'"]),
        (
            lambda f: ic.Stick([0, 0, 0], [1, 0, 0], 0.1, path=lambda t: [[0, 0, 0], [1, 0, 0]]),
            ["path of the obstacle 'stick'", "samples"],
        ),
    ],
)
def test_a_function_that_cannot_be_pickled_is_named(make, words):
    def local(t: float) -> FloatArray:
        return np.zeros(3)

    body = make(local)
    with pytest.raises(pickle.PicklingError) as caught:
        pickle.dumps([body])
    for word in [*words, "<locals>" if "ball" in words[0] else "<lambda>", "top level of a module"]:
        assert word in str(caught.value)
    assert copy.deepcopy(body) == copy.copy(body) == body


def test_picklers_that_keep_any_function_keep_obstacles():
    cloudpickle = pytest.importorskip("cloudpickle")
    body = ic.Sphere([0, 0, 0], 1.0, path=lambda t: [0, 0, t])
    found = pickle.loads(cloudpickle.dumps({"bodies": [body]}))["bodies"][0]
    np.testing.assert_array_equal(found.centre(2.0), [0, 0, 2])


def test_replaced_options_are_those_of_a_new_obstacle():
    ball = ic.Sphere([0, 0, 1], 0.3, friction=0.5, velocity=[1, 0, 0], name="ball")
    assert ball.replace() == ball
    assert ball.replace(friction=0.1, name="b") == ic.Sphere([0, 0, 1], 0.3, friction=0.1, velocity=[1, 0, 0], name="b")
    assert ball.replace(name=None).name == "sphere"
    assert ball.replace(centre=[1, 2, 3]).centre().tolist() == [1, 2, 3]
    same = {"friction": 0.5, "name": "ball"}
    assert ball.replace(velocity=None, spin=[0, 0, 1]) == ic.Sphere([0, 0, 1], 0.3, spin=[0, 0, 1], **same)
    path = ([0.0, 1.0], [[0, 0, 1], [0, 0, 2]])
    along = ball.replace(path=path)
    assert along == ic.Sphere([0, 0, 1], 0.3, path=path, **same)
    assert along.replace(velocity=[1, 0, 0]) == ball
    turned = ball.replace(rotation=turning)
    assert turned == ic.Sphere([0, 0, 1], 0.3, velocity=[1, 0, 0], rotation=turning, **same)
    assert turned.replace(spin=[0, 0, 0.2], rotation=None).replace(spin=None) == ball
    assert ball == ic.Sphere([0, 0, 1], 0.3, friction=0.5, velocity=[1, 0, 0], name="ball")


def test_sticks_are_varied_like_other_obstacles():
    still = ic.Stick([0, 0, 0], [1, 0, 0], 0.02)
    swung = still.replace(path=ends)
    assert swung == ic.Stick([0, 0, 0], [1, 0, 0], 0.02, path=ends)
    np.testing.assert_array_equal(swung.ends(0.5), ends(0.5))
    assert swung.replace(path=None) == still
    assert swung.replace(velocity=[0, 0, 1]) == ic.Stick([0, 0, 0], [1, 0, 0], 0.02, velocity=[0, 0, 1])
    assert swung.replace(friction=0.1).replace(friction=0.3) == swung
    with pytest.raises(ValueError, match="both path and velocity"):
        still.replace(path=ends, velocity=[0, 0, 1])


def test_wrong_changes_are_named():
    ball = ic.Sphere([0, 0, 1], 0.3)
    with pytest.raises(TypeError, match=r"radius cannot be replaced: .* make a new obstacle, Sphere\(\.\.\.\)"):
        ball.replace(radius=0.1)
    with pytest.raises(ValueError, match="friction = -1"):
        ball.replace(friction=-1)
    with pytest.raises(ValueError, match=r"centre has shape \(2,\)"):
        ball.replace(centre=[0, 0])
    with pytest.raises(ValueError, match="path is at"):
        ball.replace(path=SAMPLES)


def test_assigned_friction_still_works_but_warns():
    floor = ic.Floor()
    key = hash(floor)
    with pytest.warns(DeprecationWarning, match=r"obstacle\.replace\(friction=0\.7\)") as caught:
        floor.friction = 0.7
    assert caught[0].filename == __file__
    assert floor == ic.Floor(friction=0.7)
    assert hash(floor) == key == hash(ic.Floor(friction=0.7))


class Results:
    """Forces of a step, by the identity of obstacles."""

    def __init__(self, *pairs: tuple[Obstacle, FloatArray]) -> None:
        self.pairs = pairs

    def force_on(self, obstacle: Obstacle) -> FloatArray:
        return next(force for body, force in self.pairs if body is obstacle)


def test_forces_are_a_view_of_results():
    a, b = ic.Floor(), ic.Floor()
    results = Results((a, np.array([0.0, 0, -1])), (b, np.array([0.0, 0, -2])))
    for body in (a, b):
        body._seen_by(results)
    assert a == b
    a.force[0] = 7.0  # a copy
    np.testing.assert_array_equal([a.force, b.force], [[0, 0, -1], [0, 0, -2]])
    np.testing.assert_array_equal(copy.deepcopy(a).force, 0.0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(a)).force, 0.0)
    a._record(np.ones(3))
    np.testing.assert_array_equal(a.force, 1.0)
    a._seen_by(results)
    np.testing.assert_array_equal(a.force, [0, 0, -1])
    del results
    gc.collect()
    np.testing.assert_array_equal([a.force, b.force], np.zeros((2, 3)))


def test_poses_are_those_of_the_own_frame():
    box = ic.Box([0, 0, 1], [1, 1, 1], velocity=[1, 0, 0], rotation=turning)
    turn, centre = box.pose(2.0)
    np.testing.assert_array_equal(turn, turning(2.0))
    np.testing.assert_array_equal(centre, [2, 0, 1])
    turn[:], centre[:] = 0.0, 0.0  # copies
    np.testing.assert_array_equal(box.pose(2.0)[1], [2, 0, 1])
    stick = ic.Stick([0, 0, 0], [1, 0, 0], 0.02, path=lambda t: [[0, 0, 0], [np.cos(t), np.sin(t), 0]])
    for t in (0.0, 0.5, np.pi, 4.0):
        turn, centre = stick.pose(t)
        np.testing.assert_allclose(centre + turn @ [0.5, 0, 0], [np.cos(t), np.sin(t), 0], atol=1e-12)
        np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)


def test_simulations_share_an_obstacle_and_agree():
    mesh = ic.meshes.rectangle(0.3, 0.3, (4, 4))
    ball = ic.Sphere([0.15, 0.15, -0.105], 0.1, velocity=[0, 0, 0.3])
    bodies = (ball, ball, copy.copy(ball))
    sims = [ic.Simulation(mesh, ic.fabrics["light cotton"], timestep=0.01, obstacles=[body]) for body in bodies]
    for _ in range(4):
        for sim in sims:
            sim.step()
        assert bodies[0].force[2] == bodies[2].force[2]
    assert ball.force[2] < 0.0
    np.testing.assert_array_equal(sims[0].positions, sims[1].positions)
    np.testing.assert_array_equal(sims[0].positions, sims[2].positions)
