"""Every kind of broken mesh is refused with the culprit and the remedy in the message."""

from __future__ import annotations

import time

import numpy as np
import pytest

from isocloth.base.errors import MeshError
from isocloth.meshes import Mesh, irregular_rectangle, rectangle, ring

SQUARE = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]
TWO = [[0, 1, 2], [0, 2, 3]]


def refuses(vertices, faces, *parts, **options):
    with pytest.raises(MeshError) as caught:
        Mesh(vertices, faces, **options)
    for part in parts:
        assert part in str(caught.value)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_vertex_that_is_not_finite_is_named(bad):
    vertices = np.array(SQUARE)
    vertices[2, 1] = bad
    refuses(vertices, TWO, "vertex 2", "finite")


@pytest.mark.parametrize("vertices", [np.zeros((4, 2)), np.zeros(12), np.zeros((2, 3, 3)), [], "abc", [[0, 1, 2], [3]]])
def test_vertices_of_a_wrong_shape_are_refused(vertices):
    refuses(vertices, TWO, "(n, 3)")


def test_flat_coordinates_are_told_to_add_a_column():
    refuses(np.zeros((4, 2)), TWO, "(4, 2)", "column of zeros")


@pytest.mark.parametrize("faces", [[[0, 1]], [[0, 1, 2, 3, 0]], [0, 1, 2], np.zeros((1, 3, 3), dtype=int)])
def test_faces_of_a_wrong_shape_are_refused(faces):
    refuses(SQUARE, faces, "(m, 3)", "(m, 4)")


@pytest.mark.parametrize("faces", [[], np.zeros((0, 3), dtype=int), [[]]])
def test_a_mesh_without_faces_is_refused(faces):
    refuses(SQUARE, faces, "no faces")


def test_triangles_and_quads_cannot_be_mixed():
    refuses(SQUARE, [[0, 1, 2], [0, 1, 2, 3]], "face 0 has 3 nodes", "face 1 has 4", "split the quads")


def test_node_indices_must_be_whole_numbers():
    refuses(SQUARE, [[0, 1, 2], [0, 2, 2.5]], "face 1", "2.5", "whole")
    refuses(SQUARE, [["a", "b", "c"]], "integer")
    refuses(SQUARE, [[True, False, True]], "integer")
    assert Mesh(SQUARE, np.array(TWO, dtype=float)).n_faces == 2


@pytest.mark.parametrize("index", [-1, 4, 10**12])
def test_node_indices_must_exist(index):
    refuses(SQUARE, [[0, 1, 2], [0, 2, index]], "face 1", str(index), "between 0 and 3")


def test_a_face_cannot_use_a_node_twice():
    refuses(SQUARE, [[0, 1, 2], [2, 3, 2]], "face 1", "repeats a node")


@pytest.mark.parametrize("middle", [[0.5, 0.0, 0.0], [2.0, 0.0, 0.0]])
def test_a_face_needs_area(middle):
    refuses([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], middle], [[0, 1, 2]], "face 0", "zero area")


def test_a_quad_on_a_line_has_no_area():
    refuses([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0], [2.0, 2.0, 2.0], [3.0, 3.0, 3.0]], [[0, 1, 2, 3]], "zero area")


def test_small_and_large_meshes_are_judged_by_their_own_scale():
    for size in (1e-6, 1.0, 1e6):
        assert Mesh(size * np.array(SQUARE), TWO).area == pytest.approx(size**2)


def test_a_quad_that_is_not_convex_names_the_reflex_node():
    vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.2, 0.0], [0.0, 1.0, 0.0]]
    refuses(vertices, [[0, 1, 2, 3]], "quad 0", "not convex at node 2")


def test_a_quad_that_crosses_itself_is_refused():
    refuses(SQUARE, [[0, 2, 1, 3]], "quad 0", "crosses itself", "in order")


def test_a_quad_with_a_straight_corner_is_refused():
    vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 0.5, 0.0], [0.0, 1.0, 0.0]]
    refuses(vertices, [[0, 1, 2, 3]], "node 2")


def test_neighbours_with_opposite_orientation_are_named_and_can_be_repaired():
    faces = [[0, 1, 2], [0, 3, 2]]
    refuses(SQUARE, faces, "faces 0 and 1", "[0, 2]", "orient=True")
    assert Mesh(SQUARE, faces, orient=True).faces.tolist() == TWO


def test_a_band_with_a_half_twist_cannot_be_oriented():
    angle = 2.0 * np.pi * np.arange(12) / 12.0
    across = np.stack([np.cos(angle / 2) * np.cos(angle), np.cos(angle / 2) * np.sin(angle), np.sin(angle / 2)], axis=1)
    middle = np.stack([np.cos(angle), np.sin(angle), 0.0 * angle], axis=1)
    vertices = np.concatenate([middle - 0.3 * across, middle + 0.3 * across])
    faces = [[i, i + 1, i + 13, i + 12] for i in range(11)] + [[11, 12, 0, 23]]
    refuses(vertices, faces, "same direction")
    refuses(vertices, faces, "cannot be oriented", orient=True)


def test_an_edge_with_three_faces_is_named():
    vertices = [*SQUARE, [0.5, 0.5, 1.0]]
    refuses(vertices, [*TWO, [0, 2, 4]], "edge [0, 2]", "3 faces", "0, 1, 2")


def test_a_bow_tie_is_named():
    vertices = [[0, 0, 0], [1, 0, 0], [0.5, 0.5, 0], [0, 1, 0], [1, 1, 0]]
    refuses(vertices, [[0, 1, 2], [2, 4, 3]], "node 2", "bow-tie")


def test_an_unused_vertex_is_named():
    refuses([*SQUARE, [5.0, 5.0, 5.0]], TWO, "vertex 4", "no face")


def test_coincident_vertices_are_named():
    vertices = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 0, 0], [1, 1, 1e-12], [0, 1, 0]]
    refuses(vertices, [[0, 1, 2], [3, 4, 5]], "vertices 0 and 3 coincide", "4 vertices", "merge")


def test_vertices_all_in_one_place_coincide():
    refuses(np.ones((4, 3)), TWO, "coincide")


def test_separate_pieces_are_counted_and_sized():
    far = np.array(SQUARE)[:3] + 5.0
    refuses(np.concatenate([SQUARE, far]), [*TWO, [4, 5, 6]], "2 separate pieces", "4, 3 vertices")


def test_a_repeated_face_is_named():
    refuses(SQUARE, [*TWO, [2, 1, 0]], "faces 0 and 2", "same nodes")


def test_a_flat_mesh_with_a_folded_triangle_is_refused():
    mesh = rectangle(1.0, 1.0, (3, 3), "triangle")
    vertices = mesh.vertices.copy()
    vertices[4] = [1.2, 0.5, 0.0]
    refuses(vertices, mesh.faces, "inverted", "flat")


def test_a_sharp_fold_in_space_is_allowed():
    vertices = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.5, 1.0, 0.1], [0.5, 0.9, 0.0]]
    assert Mesh(vertices, [[0, 1, 2], [1, 0, 3]]).n_faces == 2


def test_orientation_is_repaired_on_every_mesh_with_random_flips():
    rng = np.random.default_rng(3)
    for mesh in (
        rectangle(1.0, 1.0, (6, 7)),
        ring(0.1, 0.2, (4, 9), "triangle"),
        irregular_rectangle(1.0, 1.0, 80),
    ):
        faces = mesh.faces.copy()
        flip = rng.random(len(faces)) < 0.3
        faces[flip] = faces[flip, ::-1]
        fixed = Mesh(mesh.vertices, faces, orient=True)
        assert fixed.vertex_normals[:, 2] == pytest.approx(np.ones(mesh.n_vertices))


def test_ten_thousand_vertices_are_checked_in_a_fifth_of_a_second():
    for element in ("quad", "triangle"):
        mesh = rectangle(1.0, 1.0, (100, 100), element)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            Mesh(mesh.vertices, mesh.faces)
            times.append(time.perf_counter() - start)
        assert min(times) < 0.2
