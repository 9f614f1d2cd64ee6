"""Coordinates do not depend on where the cloth lies, how large it is, or how it is meshed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from isocloth import Mesh, MeshError, meshes, states
from isocloth.meshes.polygons import along
from isocloth.states.boundary import SPAN, as_boundary, boundary_of, corner_segments, resampled, sides
from isocloth.states.coordinates import as_matrix

SQUARE = meshes.rectangle(1.0, 1.0, (20, 20))


def bent(mesh):
    """Some developable state: rolled at an angle, high enough to be far from flat."""
    x, y, _ = mesh.vertices.T
    along_roll, across = 0.8 * x + 0.6 * y, -0.6 * x + 0.8 * y
    angle = along_roll / 0.4
    u, w = 0.4 * np.sin(angle), 0.4 * (1.0 - np.cos(angle))
    return np.stack([0.8 * u - 0.6 * across, 0.6 * u + 0.8 * across, w], axis=1)


def test_the_segments_of_the_thesis_mesh_are_its_second_edges():
    segments = corner_segments(boundary_of(SQUARE))
    h = 1.0 / 19.0
    assert segments[0] == pytest.approx(np.array([[h, 0, 0], [2 * h, 0, 0]]))
    assert segments[1] == pytest.approx(np.array([[1 - 2 * h, 0, 0], [1 - h, 0, 0]]))
    assert segments[7] == pytest.approx(np.array([[0, 2 * h, 0], [0, h, 0]]))
    assert np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1) == pytest.approx(np.full(8, h))


def test_there_are_28_coordinates_row_by_row():
    values = states.coordinates(SQUARE, bent(SQUARE))
    segments = corner_segments(boundary_of(SQUARE, bent(SQUARE)))
    assert values.shape == (28,)
    k = 0
    for i in range(8):
        for j in range(i + 1, 8):
            assert values[k] == states.dgli(*segments[i], *segments[j])
            assert as_matrix(values)[i, j] == as_matrix(values)[j, i] == values[k]
            k += 1


def test_a_flat_square_has_the_symmetry_of_a_square():
    table = as_matrix(states.coordinates(SQUARE))
    assert np.roll(table, (2, 2), axis=(0, 1)) == pytest.approx(table, abs=1e-12)  # a quarter turn
    assert table[::-1, ::-1] == pytest.approx(table, abs=1e-12)  # reflected


@given(st.floats(-4.0, 4.0), st.floats(-5.0, 5.0), st.floats(0.05, 20.0))
@settings(max_examples=40, deadline=None)
def test_turning_on_the_table_shifting_and_scaling_change_nothing(angle, shift, scale):
    x = bent(SQUARE)
    values = states.coordinates(SQUARE, x)
    turn = Rotation.from_rotvec([0.0, 0.0, angle]).as_matrix()
    assert states.coordinates(SQUARE, x @ turn.T + shift) == pytest.approx(values, abs=1e-9)
    larger = states.coordinates(SQUARE, scale * x)
    assert larger == pytest.approx(values / scale, abs=1e-9 / scale)
    assert states.distance(larger, values) == pytest.approx(0.0, abs=1e-12)


def test_a_finer_mesh_of_the_same_state_has_the_same_coordinates():
    exact = states.coordinates(SQUARE, bent(SQUARE))
    errors = []
    for n in (20, 39, 77):
        mesh = meshes.rectangle(1.0, 1.0, (n, n))
        errors.append(np.abs(states.coordinates(mesh, bent(mesh)) - exact).max())
    assert errors[0] == 0.0
    assert errors[2] < 0.02 * np.abs(exact).max()
    triangles = meshes.rectangle(1.0, 1.0, (20, 20), element="triangle")
    assert states.coordinates(triangles, bent(triangles)) == pytest.approx(exact, rel=1e-12)


def test_a_tilted_table_needs_its_normal():
    x = bent(SQUARE)
    tilt = Rotation.from_rotvec([0.4, -0.2, 0.1])
    normal = tilt.apply([0.0, 0.0, 1.0])
    tilted = states.coordinates(SQUARE, tilt.apply(x), direction=normal)
    assert tilted == pytest.approx(states.coordinates(SQUARE, x), abs=1e-12)


def test_segments_can_be_chosen_by_nodes():
    chosen = np.array([[1, 2], [398, 397], [20, 40]])
    values = states.coordinates(SQUARE, bent(SQUARE), segments=chosen)
    assert values.shape == (3,)
    x = bent(SQUARE)
    assert values[0] == states.dgli(x[1], x[2], x[398], x[397])


def test_large_values_are_capped():
    a = np.array([[0.0, 0, 0], [1, 0, 0]])
    b = np.array([[0.5, 1e-6, 1e-6], [0.5, 1, 1e-6]])
    c = np.array([[3.0, 3, 3], [4, 4, 3]])
    x = np.stack([a, b, c])
    raw = states.of_segments(x, cap=1e12)
    length = np.linalg.norm(x[:, 1] - x[:, 0], axis=1).mean()
    assert np.abs(raw).max() > 100.0
    assert np.abs(states.of_segments(x)).max() == pytest.approx(1.0 / length)
    assert np.sign(states.of_segments(x)).tolist() == np.sign(raw).tolist()


def test_hidden_segments_leave_their_pairs_unknown():
    x = corner_segments(boundary_of(SQUARE, bent(SQUARE)))
    x[3] = np.nan
    values = states.of_segments(x)
    assert np.isnan(values).sum() == 7
    rest = np.delete(x, 3, axis=0)
    assert values[~np.isnan(values)] == pytest.approx(states.of_segments(rest), rel=1e-12)


def test_bad_segments_are_named():
    good = corner_segments(boundary_of(SQUARE))
    with pytest.raises(ValueError, match=r"shape \(8, 3\)"):
        states.of_segments(good[:, 0])
    with pytest.raises(ValueError, match="infinite"):
        states.of_segments(np.where(np.arange(8)[:, None, None] == 2, np.inf, good))
    short = good.copy()
    short[5, 1] = short[5, 0]
    with pytest.raises(ValueError, match="segment 5 has no length"):
        states.of_segments(short)
    with pytest.raises(ValueError, match="cap is 0"):
        states.of_segments(good, cap=0.0)
    crossing = good.copy()
    crossing[1] = crossing[0] @ np.diag([1.0, 1.0, 1.0]) + [0.0, 0.0, 0.0]
    with pytest.raises(ValueError, match="touch or cross"):
        states.of_segments(crossing)
    assert np.isnan(states.of_segments(crossing, touching="nan"))[0]
    with pytest.raises(ValueError, match="expected 0 to 399"):
        states.coordinates(SQUARE, segments=[[0, 400], [1, 2]])
    with pytest.raises(ValueError, match="pairs of nodes"):
        states.coordinates(SQUARE, segments=[[0.0, 1.0]])
    with pytest.raises(ValueError, match="no upper triangle"):
        as_matrix(np.zeros(27))


def test_cloths_that_are_no_rectangles_are_refused():
    with pytest.raises(MeshError, match="2 boundary curves and 0 corners"):
        states.coordinates(meshes.ring(0.1, 0.2, (4, 24)))
    with pytest.raises(MeshError, match="corner 21 is not on the boundary"):
        states.coordinates(Mesh(SQUARE.vertices, SQUARE.faces, corners=[0, 19, 21, 399]))
    with pytest.raises(ValueError, match=r"positions have shape \(3, 3\)"):
        states.coordinates(SQUARE, np.zeros((3, 3)))
    broken = SQUARE.vertices.copy()
    broken[7] = np.nan
    with pytest.raises(ValueError, match=r"positions\[7\]"):
        states.coordinates(SQUARE, broken)


# ------------------------------------------------------------------ boundaries


def test_a_boundary_is_the_same_from_a_mesh_and_from_points():
    whole = boundary_of(SQUARE, bent(SQUARE))
    assert whole.corners.tolist() == [0, 19, 38, 57]
    points = as_boundary(whole.points)
    assert points.corners.tolist() == whole.corners.tolist()
    shifted = as_boundary(np.roll(whole.points, 5, axis=0), corners=[5, 24, 43, 62])
    assert shifted.points == pytest.approx(whole.points)
    late = as_boundary(np.roll(whole.points, -60, axis=0), corners=[16, 35, 54, 73])
    assert late.points == pytest.approx(whole.points)
    wrapped = as_boundary(whole.points, corners=[57, 0, 19, 38])
    assert wrapped.points[0] == pytest.approx(whole.points[57])
    assert wrapped.corners.tolist() == [0, 19, 38, 57]


def test_points_along_a_side_are_where_their_length_says():
    side = np.array([[0.0, 0, 0], [1, 0, 0], [1, 3, 0]])
    assert along(side, [0.0, 0.25, 0.5, 1.0]) == pytest.approx(np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 3, 0]]))


def test_resampling_keeps_corners_and_lengths():
    whole = boundary_of(SQUARE, bent(SQUARE))
    fine = resampled(whole, 190)
    assert fine.points[fine.corners] == pytest.approx(whole.points[whole.corners])
    for a, b in zip(sides(whole), sides(fine), strict=True):
        length = [np.linalg.norm(np.diff(s, axis=0), axis=1).sum() for s in (a, b)]
        assert length[0] == pytest.approx(length[1], rel=1e-3)
    with pytest.raises(ValueError, match="per_side is 1"):
        resampled(whole, 1)


def test_bad_boundaries_are_named():
    good = boundary_of(SQUARE).points
    with pytest.raises(ValueError, match="at least 8"):
        as_boundary(good[:5])
    with pytest.raises(ValueError, match="repeats the first"):
        as_boundary(np.concatenate([good, good[:1]]))
    twice = np.insert(good, 4, good[4], axis=0)
    with pytest.raises(ValueError, match="points 4 and 5 coincide"):
        as_boundary(twice)
    broken = good.copy()
    broken[9, 1] = np.nan
    with pytest.raises(ValueError, match=r"boundary points\[9\]"):
        as_boundary(broken)
    with pytest.raises(ValueError, match="75 boundary points cannot be four sides"):
        as_boundary(good[:-1])
    for corners, said in (
        ([0, 1, 2], "expected four indices"),
        ([0.0, 1.0, 2.0, 3.0], "expected four indices"),
        ([0, 19, 38, 76], "from 0 to 75"),
        ([0, 19, 19, 38], "four different"),
        ([0, 38, 19, 57], "in the order of the points"),
    ):
        with pytest.raises(ValueError, match=said):
            as_boundary(good, corners=corners)
    for span in ((0.0, 0.1), (0.2, 0.1), (0.1, 0.6)):
        with pytest.raises(ValueError, match="span is"):
            corner_segments(boundary_of(SQUARE), span)
    assert SPAN == (1 / 19, 2 / 19)
