"""Bends over sharp edges: distances against dense sampling, forces against differences, strips against Eytelwein."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth import meshes
from isocloth.contact.bends import bends, pieces_near, touch, weights_at
from isocloth.contact.lines import build_lines
from isocloth.obstacles import Box, Cylinder, TriangleMesh, shapes
from validation import edges


def points(x):
    return tuple(tuple(float(c) for c in row) for row in x)


def curve(x, places):
    return np.array([np.array(weights_at(float(v))) @ x for v in places])


def over(height, tilt=0.0):
    """Four nodes of a line over the edge of a box along y at the origin, which fills x < 0 and z < 0."""
    x = np.array([[-0.1, 0.0, -0.01], [-0.02, 0.0, 0.02], [0.03, 0.0, 0.01], [0.05, 0.0, -0.06]])
    return x + [0.0, 0.0, height] + tilt * np.array([[0, -1, 0], [0, -0.3, 0], [0, 0.3, 0], [0, 1, 0]])


def edge_of_box():
    box = Box([-0.5, 0.0, -0.5], [1.0, 1.0, 1.0]).sharp_edges()
    at = np.flatnonzero(
        (np.abs(box.start[:, [0, 2]]) < 1e-9).all(axis=1) & (np.abs(box.end[:, [0, 2]]) < 1e-9).all(axis=1)
    )
    return box, int(at[0])


@settings(max_examples=20, deadline=None)
@given(st.floats(0.0, 0.02), st.floats(-0.02, 0.02))
def test_the_distance_is_that_of_the_nearest_point_of_the_curve(height, tilt):
    x, (box, e) = over(height, tilt), edge_of_box()
    found, place, normal, distance, at = touch(box, e, points(x))
    assert found
    dense = curve(x, np.linspace(0.0, 1.0, 4001))
    assert distance == pytest.approx(np.hypot(dense[:, 0], dense[:, 2]).min(), abs=1e-6)
    assert np.array(weights_at(place)) @ x == pytest.approx(np.array(at) + distance * np.array(normal), abs=1e-9)
    assert normal[1] == pytest.approx(0.0, abs=1e-12)


def test_an_edge_that_has_come_through_has_a_negative_distance():
    box, e = edge_of_box()
    outside, inside = touch(box, e, points(over(0.0))), touch(box, e, points(over(-0.02)))
    assert outside[0]
    assert inside[0]
    assert outside[3] > 0.0 > inside[3]
    assert np.dot(outside[2], inside[2]) > 0.9


def test_the_gradient_of_the_distance_is_the_weights_times_the_normal():
    x, (box, e) = over(0.003, 0.01), edge_of_box()
    _, place, normal, _, _ = touch(box, e, points(x))
    gradient = np.outer(weights_at(place), normal)
    for i in range(4):
        for d in range(3):
            step = np.zeros((4, 3))
            step[i, d] = 1e-6
            slope = (touch(box, e, points(x + step))[3] - touch(box, e, points(x - step))[3]) / 2e-6
            assert slope == pytest.approx(gradient[i, d], abs=1e-6)


def test_the_rim_of_a_cylinder_is_the_edge_of_a_fine_polygon():
    rim = Cylinder([0.0, 0.0, -1.0], [0.0, 0.0, 0.0], 0.5).sharp_edges()
    x = over(0.0) + np.array([0.5, 0.01, 0.0])
    top = int(np.argmax(rim.start[:, 2]))
    found, _, normal, distance, at = touch(rim, top, points(x))
    dense = curve(x, np.linspace(0.0, 1.0, 4001))
    out = np.hypot(dense[:, 0], dense[:, 1]) - 0.5
    assert found
    assert distance == pytest.approx(np.hypot(out, dense[:, 2]).min(), abs=1e-6)
    assert np.hypot(at[0], at[1]) == pytest.approx(0.5, abs=1e-7)
    assert np.linalg.norm(normal) == pytest.approx(1.0)


def test_a_mesh_has_the_edges_of_the_box_that_it_is():
    size = np.array([0.4, 0.6, 0.2])
    box = Box([0.0, 0.0, 0.0], size).sharp_edges()
    mesh = TriangleMesh(*shapes.box(size)).sharp_edges()
    assert len(mesh.radius) == len(box.radius) == 12

    def middles(found):
        return sorted(np.round(0.5 * (found.start + found.end), 9).tolist())

    assert middles(mesh) == middles(box)
    assert mesh.first + mesh.second == pytest.approx(np.sign(np.round(mesh.start + mesh.end, 9)))


def test_a_sheet_that_lies_on_a_face_does_not_bend_and_one_over_an_edge_does():
    mesh = meshes.rectangle(0.4, 0.1, shape=(9, 2))
    lines = build_lines(mesh.vertices, mesh.edges.astype(np.int64))
    box = Box([-0.5, 0.0, -0.5], [1.0, 1.0, 1.0]).sharp_edges()
    free, friction = np.zeros(18, dtype=bool), np.full(12, 0.3)
    flat = mesh.vertices + np.array([-0.6, 0.0, 0.0005])
    bent = flat + np.array([0.4, 0.0, 0.0])
    beyond = np.maximum(bent[:, 0], 0.0)
    bent[:, 0] -= beyond
    bent[:, 2] -= beyond
    bent += [0.0005, 0.0, 0.0]
    for x, count in ((flat, 0), (bent, 2)):
        pairs = pieces_near(lines, box, box, x, x, 0.01)
        found, edge, at = bends(lines, box, box, pairs, x, x, free, friction, 5e-4, 1e-4, 1e-4)
        assert len(found.gap) == len(edge) == count
        assert at == pytest.approx(np.array([[0.0, 0.0, 0.0], [0.0, 0.1, 0.0]])[:count], abs=1e-9)
        assert found.weights.sum(axis=1) == pytest.approx(1.0)
        assert (found.friction > 0.3).all()


def test_a_line_that_is_on_an_edge_twice_is_two_contacts_with_keys_of_their_own():
    way = np.array(
        [[-0.1, 0.0], [-0.03, 0.0], [0.04, 0.0], [0.1, 0.03], [0.1, 0.07], [0.04, 0.1], [-0.03, 0.1], [-0.1, 0.1]]
    )
    x = np.concatenate([way, np.full((8, 1), 5e-4)], axis=1)
    rest = np.stack([0.07 * np.arange(8.0), np.zeros(8), np.zeros(8)], axis=1)
    lines = build_lines(rest, np.stack([np.arange(7), np.arange(1, 8)], axis=1))
    box, _ = edge_of_box()
    pairs = pieces_near(lines, box, box, x, x, 0.01)
    found, edge, at = bends(lines, box, box, pairs, x, x, np.zeros(8, dtype=bool), np.full(12, 0.3), 5e-4, 1e-4, 1e-4)
    assert len(found.key) == 2
    assert edge[0] == edge[1]
    assert sorted(at[:, 1]) == pytest.approx([0.0, 0.1], abs=0.01)
    assert len(set(found.key.tolist())) == 2


@pytest.mark.parametrize("up", [1, -1])
def test_a_strip_over_a_sharp_edge_is_pulled_with_the_force_of_eytelwein(up):
    tension, theory, watch = edges.pulled(edges.TABLES["box"], 21, 0.3, up)
    assert tension.mean() == pytest.approx(theory.mean(), rel=0.05)
    assert tension.max() < 1.6 * theory.max()
    assert watch.unconverged == 0


def test_a_strip_with_much_friction_is_let_down_with_the_force_of_eytelwein(monkeypatch):
    monkeypatch.setitem(edges.HANGING, -1, 0.75)
    tension, theory, watch = edges.pulled(edges.TABLES["box"], 41, 0.6, -1)
    assert tension.mean() == pytest.approx(theory.mean(), rel=0.05)
    assert watch.unconverged == 0


@pytest.mark.parametrize("speed", [0.5, 8.0])
def test_a_coarse_sheet_does_not_fall_through_the_edge_of_a_thin_board(speed):
    highest, nearest, failed = edges.on_board(speed, 0.004)
    assert highest > 0.0
    assert nearest > 0.0
    assert failed == 0
