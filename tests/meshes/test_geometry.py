"""Areas, normals and angles against closed forms and finer quadrature."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.meshes import Mesh, rectangle
from isocloth.meshes.geometry import corner_angles, face_areas, node_angles, triangulate, vector_areas

SADDLE = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.3], [1.1, 0.9, 0.0], [0.0, 1.0, 0.3]])
QUAD = np.array([[0, 1, 2, 3]])


def test_a_triangle_has_half_base_times_height():
    vertices = np.array([[0.0, 0.0, 1.0], [3.0, 0.0, 1.0], [1.0, 4.0, 1.0]])
    assert face_areas(vertices, np.array([[0, 1, 2]])) == pytest.approx([6.0])


def test_a_flat_quad_has_the_area_of_its_triangles():
    vertices = np.array([[0.0, 0.0, 0.0], [2.0, 0.1, 0.0], [2.3, 1.7, 0.0], [-0.2, 1.0, 0.0]])
    assert face_areas(vertices, QUAD) == pytest.approx([face_areas(vertices, triangulate(QUAD)).sum()])


def test_a_twisted_quad_has_the_area_of_its_bilinear_patch():
    n = 300
    u, v = np.meshgrid(np.linspace(0.0, 1.0, n), np.linspace(0.0, 1.0, n), indexing="ij")
    weights = np.stack([(1 - u) * (1 - v), u * (1 - v), u * v, (1 - u) * v], axis=2)
    fine = np.einsum("ijk,kc->ijc", weights, SADDLE)
    cells = np.stack([fine[:-1, :-1], fine[1:, :-1], fine[1:, 1:], fine[:-1, 1:]], axis=2).reshape(-1, 4, 3)
    exact = 0.5 * np.linalg.norm(np.cross(cells[:, 2] - cells[:, 0], cells[:, 3] - cells[:, 1]), axis=1).sum()
    assert face_areas(SADDLE, QUAD)[0] == pytest.approx(exact, rel=1e-5)


def test_the_vector_area_of_a_quad_is_that_of_either_split():
    for split in ([[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]):
        assert vector_areas(SADDLE, QUAD)[0] == pytest.approx(vector_areas(SADDLE, np.array(split)).sum(axis=0))


def test_the_angles_of_a_flat_face_add_up():
    mesh = rectangle(1.0, 2.0, (3, 3), "triangle")
    assert corner_angles(mesh.vertices, mesh.faces).sum(axis=1) == pytest.approx(np.full(mesh.n_faces, np.pi))


def test_angles_around_a_node_are_a_full_turn_inside_and_half_of_it_on_a_side():
    mesh = rectangle(1.0, 2.0, (3, 3))
    angles = node_angles(mesh.vertices, mesh.faces) / np.pi
    assert angles[[4, 1, 0]] == pytest.approx([2.0, 1.0, 0.5])


def test_normals_of_a_flat_mesh_point_up():
    mesh = rectangle(1.0, 2.0, (3, 4))
    assert mesh.vertex_normals == pytest.approx(np.tile([0.0, 0.0, 1.0], (12, 1)))


def test_normals_of_an_octahedron_are_its_directions():
    vertices = np.concatenate([np.eye(3), -np.eye(3)])
    faces = [[0, 1, 2], [1, 3, 2], [3, 4, 2], [4, 0, 2], [1, 0, 5], [3, 1, 5], [4, 3, 5], [0, 4, 5]]
    mesh = Mesh(vertices, faces)
    assert mesh.vertex_normals == pytest.approx(vertices)
    assert mesh.euler_characteristic == 2
    assert mesh.boundary_loops == []


def test_a_normal_that_cancels_is_zero_and_not_nan():
    folded = rectangle(1.0, 1.0, (3, 2)).with_vertices(
        [[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0], [0, 1, 0]]
    )
    assert folded.vertex_normals[2].tolist() == [0.0, 0.0, 0.0]
