"""The depth buffer: areas of triangles, and the nearest of many against brute force."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.pictures.camera import look_at
from isocloth.pictures.raster import NOBODY, rasterise, vertex_normals


def owners(screen: np.ndarray, triangles: np.ndarray, width: int, height: int) -> np.ndarray:
    nearness = np.empty((height, width), dtype=np.float32)
    owner = np.empty((height, width), dtype=np.int32)
    rasterise(screen, triangles, nearness, owner)
    return owner


def test_a_triangle_that_faces_the_camera_covers_its_area() -> None:
    camera = look_at(np.array([0.0, -4, 0]), np.zeros(3), width=400, height=300, view_angle=0.5)
    corners = np.array([[-0.5, 0, -0.3], [0.6, 0, -0.4], [0.1, 0, 0.5]])
    area = 0.5 * np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0]))
    expected = area * (camera.focal / 4.0) ** 2
    covered = np.sum(owners(camera.project(corners), np.array([[0, 1, 2]]), 400, 300) == 0)
    assert covered == pytest.approx(expected, rel=0.01)
    # Seen from behind it is the same.
    assert np.sum(owners(camera.project(corners), np.array([[2, 1, 0]]), 400, 300) == 0) == covered


def test_two_halves_of_a_square_leave_no_gap() -> None:
    screen = np.array([[10.3, 10.7, 1.0], [50.2, 12.1, 1.0], [48.9, 55.5, 1.0], [9.1, 52.0, 1.0]])
    both = owners(screen, np.array([[0, 1, 2], [0, 2, 3]]), 64, 64) >= 0
    inner = both[14:50, 12:47]
    assert inner.all()
    assert not both[:10].any()


def test_the_nearest_triangle_wins_as_in_brute_force() -> None:
    rng = np.random.default_rng(5)
    width, height, count = 40, 30, 25
    screen = np.column_stack(
        [rng.uniform(-5, 45, 3 * count), rng.uniform(-5, 35, 3 * count), rng.uniform(0.2, 2.0, 3 * count)]
    )
    triangles = np.arange(3 * count).reshape(count, 3)
    found = owners(screen, triangles, width, height)
    for i in range(height):
        for j in range(width):
            best, nearest, doubt = NOBODY, 0.0, False
            for k, corners in enumerate(triangles):
                p = screen[corners]
                system = np.vstack([p[:, :2].T, np.ones(3)])
                weights = np.linalg.solve(system, np.array([j + 0.5, i + 0.5, 1.0]))
                doubt |= bool(np.abs(weights).min() < 1e-6)  # on an edge both answers are right
                near = weights @ p[:, 2]
                if weights.min() >= 0 and near > nearest:
                    best, nearest = k, near
            assert found[i, j] == best or doubt


def test_triangles_behind_the_eye_and_without_area_are_left_out() -> None:
    screen = np.array([[1.0, 1, 1], [9, 1, 1], [5, 9, -1], [5, 1, 1]])
    assert (owners(screen, np.array([[0, 1, 2], [0, 1, 3], [0, 0, 0]]), 10, 10) == NOBODY).all()


def test_normals_of_a_sphere_point_outwards() -> None:
    a, b = np.meshgrid(np.linspace(0.4, 2.7, 40), np.linspace(0, 2, 40), indexing="ij")
    points = np.stack([np.sin(a) * np.cos(b), np.sin(a) * np.sin(b), np.cos(a)], axis=-1).reshape(-1, 3)
    at = np.arange(1600).reshape(40, 40)
    quads = np.stack([at[:-1, :-1], at[1:, :-1], at[1:, 1:], at[:-1, 1:]], axis=-1).reshape(-1, 4)
    triangles = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    cosine = np.sum(vertex_normals(points, triangles) * points, axis=1)
    assert cosine.min() > 0.999
