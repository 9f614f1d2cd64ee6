"""Corners of bodies against faces: sides, forces against differences, coarse sheets on small bodies."""

import numpy as np
import pytest

from isocloth.base.errors import InputError
from isocloth.contact.corners import ELSEWHERE, OUTSIDE, SUNK, build_corners, cut_off, pairs_near, sides, sunk_contacts
from isocloth.obstacles import Box
from isocloth.simulation import Simulation
from validation import edges

THICKNESS = 1e-3
FACE = np.array([[-0.1, -0.1, 0.0], [0.1, -0.08, 0.0], [0.0, 0.12, 0.0]])


def corner_of_box():
    """That of a box at the origin, which fills x < 0, y < 0 and z < 0."""
    corners = Box([-0.02, -0.02, -0.02], [0.04, 0.04, 0.04]).sharp_corners()
    at = int(np.argmin(np.abs(corners.place).sum(axis=1)))
    return type(corners)(*[np.ascontiguousarray(column[at : at + 1]) for column in corners])


def one_face():
    return build_corners(3, np.array([[0, 1, 2]]), THICKNESS, [0, 1])


@pytest.mark.parametrize(
    ("height", "side"), [(0.01, OUTSIDE), (3e-4, OUTSIDE), (0.0, SUNK), (-3e-4, SUNK), (-0.01, ELSEWHERE)]
)
def test_a_face_is_outside_a_corner_or_a_little_inside_or_elsewhere(height, side):
    corner, pair = corner_of_box(), np.array([[3, 0]])
    x = np.concatenate([FACE + np.array([0.0, 0.0, height]), corner.place])
    assert sides(one_face().surface, pair, x, corner.inward, corner.depth).tolist() == [side]


def test_the_gradient_of_a_sunk_gap_is_the_weights_times_the_normal():
    corner, surface, pair = corner_of_box(), one_face().surface, np.array([[3, 0]])
    tilted = FACE - np.outer(2e-4 + FACE @ [0.1, 0.07, 0.0], [0.0, 0.0, 1.0])
    x = np.concatenate([tilted, corner.place])

    def gap(y):
        return float(sunk_contacts(surface, pair, y, corner.inward, 1e-3).gap[0])

    found = sunk_contacts(surface, pair, x, corner.inward, 1e-3)
    assert found.gap[0] == pytest.approx(-2e-4 - 0.5 * THICKNESS, abs=2e-6)
    assert found.normal[0] @ corner.inward[0].sum(axis=0) > 0.0
    for k in range(4):
        for d in range(3):
            step = np.zeros((4, 3))
            step[found.nodes[0, k], d] = 1e-7
            slope = (gap(x + step) - gap(x - step)) / 2e-7
            assert slope == pytest.approx(found.weights[0, k] * found.normal[0, d], abs=1e-5)


def test_pairs_are_those_whose_boxes_come_near():
    rng = np.random.default_rng(5)
    triangles = rng.permutation(60).reshape(20, 3)
    x0 = rng.uniform(-0.5, 0.5, (60, 3))
    y = x0 + rng.uniform(-0.1, 0.1, (60, 3))
    begin = rng.uniform(-0.7, 0.7, (30, 3))
    end = begin + rng.uniform(-0.1, 0.1, (30, 3))
    surface = build_corners(60, triangles, THICKNESS, [10, 0, 20]).surface
    found = {tuple(pair) for pair in pairs_near(surface, x0, y, begin, end, 0.05)}
    points = np.concatenate([x0[triangles], y[triangles]], axis=1)
    low, high = points.min(axis=1), points.max(axis=1)
    reach = 0.05 + 0.5 * THICKNESS
    expected = {
        (60 + k, f)
        for k in range(30)
        for f in range(20)
        if (np.minimum(begin[k], end[k]) - reach <= high[f]).all()
        and (np.maximum(begin[k], end[k]) + reach >= low[f]).all()
    }
    assert found == expected
    assert 0 < len(found) < 600
    assert len(pairs_near(surface, x0, y, begin + 5.0, end + 5.0, 0.05)) == 0


def test_a_face_that_edges_pass_is_found_and_one_along_an_edge_is_not():
    box = Box([-0.02, -0.02, -0.02], [0.04, 0.04, 0.04])
    diagonal = 0.01 * np.array([[-2.0, -2.0, 4.0], [5.0, -4.0, -4.0], [-4.0, 5.0, -4.0]]) - 0.01
    face = np.array([[0, 1, 2]])
    faces, at = cut_off(box.sharp_edges(), diagonal, face, 5e-4)
    assert set(faces.tolist()) == {0}
    assert box.gaps(at, 0.0)[0] == pytest.approx(0.0, abs=1e-9)
    normal = np.cross(diagonal[1] - diagonal[0], diagonal[2] - diagonal[0])
    assert (at - diagonal[0]) @ normal == pytest.approx(0.0, abs=1e-9)
    assert len(cut_off(box.sharp_edges(), diagonal + 0.05, face, 5e-4)[0]) == 0
    assert len(cut_off(box.sharp_edges(), FACE[:, [2, 0, 1]] - [0.0, 0.0, 0.001], face, 5e-4)[0]) == 0


@pytest.mark.parametrize("depth", [0.005, 0.01, 0.02, 0.03])
def test_a_start_with_a_corner_through_a_face_is_refused(depth):
    with pytest.raises(InputError, match=r"cuts the cloth at the start.*through the face of nodes"):
        edges.coarse(edges.BESIDE[1], -depth, edges.SMALL["cube, corner up"]())


def test_a_start_with_a_corner_through_a_face_is_resolved():
    body = edges.SMALL["cube, corner up"]()
    sim = edges.coarse(edges.BESIDE[1], -0.01, body, resolve_start=True)
    assert edges.pierced(sim, body) == 0


@pytest.mark.parametrize("height", [0.0, -3e-4])
def test_a_sheet_put_at_the_very_height_of_a_small_cube_lies_on_it(height):
    body = edges.SMALL["cube"](friction=0.5)
    sim = edges.coarse(edges.BESIDE[1], height, body)
    reports = [sim.step() for _ in range(40)]
    assert all(report.converged for report in reports)
    assert edges.pierced(sim, body) == 0
    assert sim.positions[:, 2].max() > 0.0


@pytest.mark.parametrize("speed", [0.0, 5.0])
@pytest.mark.parametrize("name", ["cube", "cube as mesh", "tip of a cone"])
def test_a_coarse_sheet_is_not_passed_by_a_small_body_and_gives_it_its_momentum(name, speed):
    _, missing, pierced, at_the_end, watch = edges.dropped(name, edges.BESIDE[1], speed, 0.4)
    assert at_the_end == 0
    if name != "cube":  # edges of a box are not held off the inside of faces, and may cut one in a step of the fall
        assert pierced == 0
    assert watch.unconverged == 0
    assert missing == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize("name", ["cube", "cube, corner up", "tip of a cone"])
def test_a_corner_that_rises_under_a_held_sheet_lifts_it(name):
    highest, pierced, failed, _ = edges.poked(name, 0.2)
    assert highest > 0.05
    assert pierced == failed == 0


def test_a_corner_that_rises_through_a_sheet_within_a_step_is_caught():
    _, pierced, _, _ = edges.poked("cube, corner up", 5.0)
    assert pierced == 0


def test_no_corner_is_looked_at_where_none_is():
    mesh = edges.meshes.rectangle(0.2, 0.2, shape=(3, 3)).transformed(translation=[0.0, 0.0, 0.1])
    sim = Simulation(mesh, edges.STIFF, obstacles=[edges.SMALL["cube as mesh"]()])
    assert not sim.world.has_corners
