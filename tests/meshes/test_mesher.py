"""The mesher of polygons and the plane geometry under it."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.base.errors import MeshError
from isocloth.meshes.mesher import mesh_polygon, smallest_angle, spacing_for_nodes
from isocloth.meshes.polygons import inside, polygon_area, resample

CORNERS = np.array([[0.0, 0.0], [2.0, 0.0], [2.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]])


def outline(segments):
    sides = zip(CORNERS, np.roll(CORNERS, -1, axis=0), strict=True)
    lengths = np.linalg.norm(np.roll(CORNERS, -1, axis=0) - CORNERS, axis=1)
    return np.concatenate(
        [resample(np.stack(ends), round(segments * length))[:-1] for ends, length in zip(sides, lengths, strict=True)]
    )


def test_an_l_shape_is_filled_with_good_triangles():
    boundary = outline(6)
    points, triangles = mesh_polygon(boundary, 100, seed=0)
    p = points[triangles]
    u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    areas = 0.5 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    assert np.array_equal(points[: len(boundary)], boundary)
    assert len(triangles) == 2 * 100 + len(boundary) - 2
    assert (areas > 0.0).all()
    assert areas.sum() == pytest.approx(3.0)
    assert smallest_angle(points, triangles) > np.deg2rad(25.0)


def test_the_same_seed_gives_the_same_bits_and_another_does_not():
    boundary = outline(4)
    first, second, other = (mesh_polygon(boundary, 30, seed=seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, other)


def test_a_polygon_whose_sides_cannot_be_edges_is_refused():
    slit = np.array([[0.0, 0.0], [4.0, 0.0], [4.0, 4.0], [2.01, 4.0], [2.0, 0.5], [1.99, 4.0], [0.0, 4.0]])
    with pytest.raises(MeshError, match="7 boundary nodes and 50 inside"):
        mesh_polygon(slit, 50, seed=0)


def test_points_inside_agree_with_the_two_rectangles_of_the_l_shape():
    points = np.random.default_rng(0).uniform(-0.5, 2.5, size=(500, 2))
    x, y = points.T
    expected = (x > 0) & (y > 0) & (((x < 2) & (y < 1)) | ((x < 1) & (y < 2)))
    assert np.array_equal(inside(CORNERS, points), expected)


def test_the_area_of_a_polygon_has_the_sign_of_its_orientation():
    assert polygon_area(CORNERS) == pytest.approx(3.0)
    assert polygon_area(CORNERS[::-1]) == pytest.approx(-3.0)


def test_a_resampled_curve_has_equal_steps_and_the_same_ends():
    curve = np.array([[0.0, 0.0], [3.0, 0.0], [3.0, 1.0]])
    points = resample(curve, 8)
    assert np.linalg.norm(np.diff(points, axis=0), axis=1) == pytest.approx(np.full(8, 0.5))
    assert points[[0, -1]].tolist() == [[0.0, 0.0], [3.0, 1.0]]


def test_the_spacing_solves_eulers_count():
    h = spacing_for_nodes(4.0, 1.0, 472)
    triangles = 1.0 / (np.sqrt(3.0) / 4.0 * h * h)
    assert triangles == pytest.approx(2 * 472 - 4.0 / h - 2)
