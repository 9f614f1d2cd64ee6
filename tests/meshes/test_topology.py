"""Edges, neighbours, fans and loops against counting one by one."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.meshes import irregular_rectangle, rectangle, ring
from isocloth.meshes.topology import boundary_loops, component_labels, edge_table, pinched_nodes

MESHES = [
    rectangle(1.0, 2.0, (4, 5)),
    rectangle(1.0, 2.0, (4, 5), "triangle"),
    ring(0.1, 0.2, (3, 7)),
    irregular_rectangle(1.0, 1.0, nodes=60),
]


def faces_by_edge(faces):
    found = {}
    for f, face in enumerate(faces.tolist()):
        for a, b in zip(face, face[1:] + face[:1], strict=True):
            found.setdefault((min(a, b), max(a, b)), []).append(f)
    return found


def test_edges_and_their_faces_agree_with_a_dictionary():
    for mesh in MESHES:
        found = faces_by_edge(mesh.faces)
        assert [tuple(e) for e in mesh.edges.tolist()] == sorted(found)
        for edge, faces in zip(mesh.edges.tolist(), mesh.edge_faces.tolist(), strict=True):
            expected = found[tuple(edge)]
            assert faces == (expected if len(expected) == 2 else [*expected, -1])


def test_boundary_edges_are_those_with_one_face():
    for mesh in MESHES:
        single = sorted(e for e, faces in faces_by_edge(mesh.faces).items() if len(faces) == 1)
        assert [tuple(e) for e in mesh.boundary_edges.tolist()] == single


def test_boundary_loops_walk_every_boundary_edge_once():
    for mesh in MESHES:
        walked = Counter()
        for loop in mesh.boundary_loops:
            assert len(set(loop.tolist())) == len(loop)
            assert loop[0] == loop.min()
            walked.update(frozenset(pair) for pair in zip(loop.tolist(), np.roll(loop, -1).tolist(), strict=True))
        assert walked == Counter(frozenset(e) for e in mesh.boundary_edges.tolist())


def test_boundary_loops_keep_the_surface_to_the_left():
    (loop,) = rectangle(1.0, 1.0, (2, 2)).boundary_loops
    assert loop.tolist() == [0, 2, 3, 1]


def test_boundary_loops_are_ordered_by_their_smallest_node():
    loops = boundary_loops(np.array([[5, 4], [4, 3], [3, 5], [0, 2], [2, 1], [1, 0]]))
    assert [loop.tolist() for loop in loops] == [[0, 2, 1], [3, 5, 4]]


def test_boundary_and_interior_nodes_share_out_all_nodes():
    for mesh in MESHES:
        both = np.concatenate([mesh.boundary_nodes, mesh.interior_nodes])
        assert sorted(both.tolist()) == list(range(mesh.n_vertices))


def test_a_bow_tie_is_found_at_its_waist():
    faces = np.array([[0, 1, 2], [2, 3, 4]])
    assert pinched_nodes(faces, edge_table(faces)).tolist() == [2]


def test_a_fan_is_no_bow_tie_whatever_the_orientation():
    faces = np.array([[0, 1, 2], [0, 3, 2], [0, 3, 4]])
    assert pinched_nodes(faces, edge_table(faces)).tolist() == []


def test_components_are_counted():
    count, label = component_labels(5, np.array([[0, 1], [3, 4]]))
    assert count == 3
    assert label[0] == label[1] != label[2]


@settings(max_examples=40, deadline=None)
@given(nx=st.integers(2, 9), ny=st.integers(2, 9), element=st.sampled_from(["quad", "triangle"]))
def test_a_rectangle_is_a_disc_with_the_counted_edges(nx, ny, element):
    mesh = rectangle(1.0, 1.0, (nx, ny), element)
    cells = (nx - 1) * (ny - 1)
    grid_edges = nx * (ny - 1) + ny * (nx - 1)
    assert mesh.euler_characteristic == 1
    assert len(mesh.edges) == grid_edges + (cells if element == "triangle" else 0)
    assert len(mesh.boundary_loops) == 1
    assert len(mesh.boundary_nodes) == 2 * (nx + ny) - 4


@settings(max_examples=40, deadline=None)
@given(radial=st.integers(2, 6), around=st.integers(3, 12), element=st.sampled_from(["quad", "triangle"]))
def test_a_ring_has_two_boundaries_and_characteristic_zero(radial, around, element):
    mesh = ring(0.1, 0.4, (radial, around), element)
    assert mesh.euler_characteristic == 0
    assert [len(loop) for loop in mesh.boundary_loops] == [around, around]
