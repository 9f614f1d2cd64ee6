"""The mesh as a value: immutable, measured, moved, searched."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from isocloth.base.errors import MeshError
from isocloth.meshes import Mesh, irregular_rectangle, rectangle, ring

COORDINATE = st.floats(-2.0, 2.0)
IRREGULAR = irregular_rectangle(1.0, 1.0, nodes=40)
SQUARE = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]


def test_arrays_are_copied_contiguous_and_read_only():
    vertices = np.asfortranarray(SQUARE)
    mesh = Mesh(vertices, np.array([[0, 1, 2, 3]], dtype=np.int32))
    vertices[0] = 9.0
    assert mesh.vertices[0].tolist() == [0.0, 0.0, 0.0]
    assert mesh.faces.dtype == np.int64
    for array in (mesh.vertices, mesh.faces, mesh.edges, mesh.edge_faces, mesh.corners, mesh.triangles):
        assert array.flags.c_contiguous
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_attributes_cannot_be_set_or_deleted():
    mesh = rectangle(1.0, 1.0, (2, 2))
    with pytest.raises(AttributeError, match="cannot be changed"):
        mesh.vertices = np.zeros((4, 3))
    with pytest.raises(AttributeError, match="cannot be changed"):
        del mesh.faces


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_equal_and_stay_read_only(duplicate):
    mesh = ring(0.1, 0.3, (3, 5))
    twin = duplicate(mesh)
    assert np.array_equal(twin.vertices, mesh.vertices)
    assert np.array_equal(twin.faces, mesh.faces)
    assert len(twin.corners) == 0
    assert not twin.vertices.flags.writeable


def test_repr_tells_name_and_counts():
    assert repr(rectangle(1.0, 1.0, (3, 4))) == "Mesh('rectangle', 12 vertices, 6 quads)"
    assert repr(Mesh(SQUARE, [[0, 1, 2], [0, 2, 3]])) == "Mesh(4 vertices, 2 triangles)"


@pytest.mark.parametrize(
    "mesh",
    [
        rectangle(1.0, 2.0, (4, 7)),
        rectangle(1.0, 2.0, (4, 7), "triangle"),
        irregular_rectangle(1.0, 2.0, nodes=100),
        rectangle(1.0, 2.0, (2, 2)),
    ],
)
def test_a_rectangle_has_four_corners(mesh):
    ends = {(x, y, 0.0) for x in (0.0, 1.0) for y in (0.0, 2.0)}
    assert len(mesh.corners) == 4
    assert {tuple(p) for p in mesh.vertices[mesh.corners].tolist()} == ends


def test_a_ring_has_no_corners_even_with_three_nodes_around():
    for around in (3, 5, 30):
        assert ring(0.1, 0.3, (2, around)).corners.tolist() == []


def test_a_reflex_corner_counts_as_a_corner():
    cells = rectangle(1.0, 1.0, (3, 3))
    mesh = Mesh(np.delete(cells.vertices, 8, axis=0), np.delete(cells.faces, 3, axis=0))
    assert mesh.corners.tolist() == [0, 2, 4, 5, 6, 7]


def test_given_corners_are_kept_by_every_copy():
    mesh = Mesh(SQUARE, [[0, 1, 2, 3]], corners=[2, 0])
    assert mesh.corners.tolist() == [2, 0]
    assert mesh.transformed(translation=[1.0, 0.0, 0.0]).corners.tolist() == [2, 0]
    assert mesh.triangulated().corners.tolist() == [2, 0]


@pytest.mark.parametrize("corners", [[4], [-1], [0, 0], [0.5], [[0, 1]]])
def test_corners_must_be_distinct_nodes(corners):
    with pytest.raises(MeshError, match="corner"):
        Mesh(SQUARE, [[0, 1, 2, 3]], corners=corners)


def test_quads_are_split_from_their_first_to_their_third_node():
    mesh = Mesh(SQUARE, [[0, 1, 2, 3]])
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]
    assert mesh.triangulated().element == "triangle"
    assert mesh.triangulated().triangulated().triangles.tolist() == mesh.triangles.tolist()


def test_bounds_and_edge_lengths_are_measured():
    mesh = rectangle(3.0, 4.0, (2, 2), "triangle")
    assert mesh.bounds.tolist() == [[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]]
    assert sorted(mesh.edge_lengths.tolist()) == [3.0, 3.0, 4.0, 4.0, 5.0]


@settings(max_examples=50, deadline=None)
@given(point=st.tuples(COORDINATE, COORDINATE, COORDINATE))
def test_nearest_is_the_closest_node_of_all(point):
    mesh = IRREGULAR
    distances = [np.linalg.norm(v - point) for v in mesh.vertices]
    found = mesh.nearest(point)
    assert isinstance(found, int)
    assert distances[found] == pytest.approx(min(distances))


def test_nearest_takes_many_points_and_breaks_ties_downwards():
    mesh = rectangle(1.0, 1.0, (2, 2))
    found = mesh.nearest([[0.5, 0.5, 0.0], [1.0, 0.9, 3.0]])
    assert found.tolist() == [0, 3]
    assert mesh.nearest(np.zeros((0, 3))).tolist() == []


@pytest.mark.parametrize("point", [[0.0, 0.0], [np.nan, 0.0, 0.0], 1.0, [[[0.0, 0.0, 0.0]]], [0.0, np.inf, 0.0]])
def test_nearest_refuses_what_is_no_point(point):
    with pytest.raises(ValueError, match="point"):
        rectangle(1.0, 1.0, (2, 2)).nearest(point)


@settings(max_examples=40, deadline=None)
@given(
    turn=st.tuples(COORDINATE, COORDINATE, COORDINATE),
    shift=st.tuples(COORDINATE, COORDINATE, COORDINATE),
    element=st.sampled_from(["quad", "triangle"]),
)
def test_a_rigid_motion_keeps_areas_lengths_and_corners(turn, shift, element):
    mesh = rectangle(0.7, 1.1, (4, 5), element)
    rotation = Rotation.from_rotvec(turn).as_matrix()
    moved = mesh.transformed(rotation, shift)
    assert moved.face_areas == pytest.approx(mesh.face_areas)
    assert moved.edge_lengths == pytest.approx(mesh.edge_lengths)
    assert moved.vertices == pytest.approx(mesh.vertices @ rotation.T + shift)
    again = Mesh(moved.vertices, moved.faces)
    assert again.corners.tolist() == mesh.corners.tolist()


@pytest.mark.parametrize("rotation", [np.eye(2), 2.0 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.full((3, 3), np.nan)])
def test_only_rotations_are_accepted_as_rotations(rotation):
    with pytest.raises(ValueError, match="rotation"):
        rectangle(1.0, 1.0, (2, 2)).transformed(rotation)


@pytest.mark.parametrize("translation", [[1.0, 2.0], [np.nan, 0.0, 0.0]])
def test_a_translation_is_three_finite_numbers(translation):
    with pytest.raises(ValueError, match="translation"):
        rectangle(1.0, 1.0, (2, 2)).transformed(translation=translation)


def test_new_vertices_may_fold_the_cloth_but_not_change_its_size():
    mesh = rectangle(1.0, 1.0, (3, 3))
    folded = mesh.with_vertices(np.abs(mesh.vertices - [0.5, 0.0, 0.0]))
    assert folded.faces is mesh.faces
    assert folded.corners.tolist() == mesh.corners.tolist()
    with pytest.raises(MeshError, match="coincide"):
        folded.check_rest_shape()
    mesh.check_rest_shape()
    with pytest.raises(MeshError, match=r"\(4, 3\), expected \(9, 3\)"):
        mesh.with_vertices(SQUARE)
    with pytest.raises(MeshError, match="vertex 2 is"):
        mesh.with_vertices(np.where(np.arange(9)[:, None] == 2, np.nan, mesh.vertices))
