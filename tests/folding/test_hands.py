"""Hands take what a fold moves, hold what it does not, and come down where it ends."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.folding.hands import TAUT, across, direction, fold_path, grasped, held, minimum_jerk, place_path
from isocloth.meshes import rectangle
from isocloth.states import Fold, fold
from isocloth.states.napkin import CLASSES

MESH = rectangle(1.0, 1.0, (20, 20))
CORNER = Fold(point=(0.2, 0.2), towards=(-1.0, -1.0))
SIDE = Fold(point=(0.5, 0.4), towards=(0.05, -1.0))


def places(nodes):
    return {tuple(MESH.vertices[k, :2].round(6)) for k in nodes}


def test_a_corner_is_taken_by_its_tip_and_a_side_by_both_ends():
    assert places(grasped(MESH, MESH.vertices, CORNER)) == {(0.0, 0.0)}
    assert places(grasped(MESH, MESH.vertices, SIDE)) == {(0.0, 0.0), (1.0, 0.0)}


def test_the_far_ends_of_what_lies_are_held():
    assert places(held(MESH.vertices, CORNER)) == {(1.0, 1.0)}
    assert places(held(MESH.vertices, SIDE)) == {(0.0, 1.0), (1.0, 1.0)}


@pytest.mark.parametrize("name", CLASSES)
def test_the_first_fold_of_every_class_takes_the_corners_it_is_about(name):
    for number in range(20):
        folds = CLASSES[name](np.random.default_rng(number))
        if folds:
            nodes = grasped(MESH, MESH.vertices, folds[0])
            assert set(nodes) <= set(MESH.corners)
            assert len(nodes) == (2 if name in ("half", "half past the edge", "quarter") else 1)
            assert not set(held(MESH.vertices, folds[0])) & set(nodes)


def test_both_layers_of_a_folded_side_are_taken():
    half = fold(MESH.vertices, Fold(point=(0.5, 0.39), towards=(0.0, -1.0)))
    nodes = grasped(MESH, half, Fold(point=(0.4, 0.5), towards=(-1.0, 0.0)))
    first, last = (int(MESH.nearest([0.0, y, 0.0])) for y in (0.0, 1.0))
    assert {first, last} <= set(nodes)  # the upper and the lower layer
    assert len(nodes) == 3  # and the end of the crease


def test_hands_begin_where_the_nodes_are_and_end_mirrored_in_the_line_but_for_what_the_crease_takes():
    nodes = grasped(MESH, MESH.vertices, SIDE)
    path = fold_path(MESH.vertices, nodes, SIDE, 0.5, 1.2, 2e-3)
    begin = MESH.vertices[nodes]
    away = across(MESH.vertices, SIDE)[nodes]
    assert path(0.5) == pytest.approx(begin, abs=1e-12)
    mirrored = begin[:, :2] - (1.0 + TAUT) * away[:, None] * direction(SIDE)
    assert path(1.7)[:, :2] == pytest.approx(mirrored, abs=1e-12)
    assert path(1.7)[:, 2] == pytest.approx(2e-3, abs=1e-12)
    assert path(9.0) == pytest.approx(path(1.7))


def test_hands_never_pull_and_never_go_through_the_table():
    nodes = grasped(MESH, MESH.vertices, SIDE)
    path = fold_path(MESH.vertices, nodes, SIDE, 0.0, 1.0, 2e-3)
    away = across(MESH.vertices, SIDE)[nodes]
    for t in np.linspace(0.0, 1.0, 101):
        at = path(t)
        reach = np.hypot(across(at, SIDE), at[:, 2])
        assert (reach <= away + 0.025).all()  # LOW above the circle at most
        assert (at[:, 2] >= 0.0).all()


def test_a_lifted_corner_is_put_down_where_it_is_told():
    begin, end = np.array([[0.0, 0.0, 0.0]]), np.array([[0.01, 0.02, 0.0]])
    path = place_path(begin, end, 0.1, 0.0, 1.0)
    assert path(0.0) == pytest.approx(begin)
    assert path(1.0) == pytest.approx(end, abs=1e-12)
    assert path(0.5)[0, 2] == pytest.approx(0.1)


def test_a_smooth_way_begins_and_ends_at_rest():
    t = np.linspace(0.0, 1.0, 1001)
    s = np.array([minimum_jerk(x) for x in t])
    assert (s[0], s[-1], minimum_jerk(-1.0), minimum_jerk(2.0)) == (0.0, 1.0, 0.0, 1.0)
    assert (np.diff(s) >= 0.0).all()
    assert np.diff(s)[[0, -1]] == pytest.approx(0.0, abs=1e-7)


def test_a_fold_beside_the_cloth_is_refused():
    with pytest.raises(ValueError, match="nothing lies beyond the line"):
        grasped(MESH, MESH.vertices, Fold(point=(2.0, 2.0), towards=(1.0, 1.0)))
