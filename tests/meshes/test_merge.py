"""Merging coincident vertices."""

from __future__ import annotations

import numpy as np

from isocloth.meshes import irregular_rectangle
from isocloth.meshes.merge import merge_vertices


def test_a_mesh_torn_into_triangles_is_put_together_again():
    mesh = irregular_rectangle(1.0, 1.0, nodes=50)
    torn = mesh.vertices[mesh.faces].reshape(-1, 3)
    vertices, faces = merge_vertices(torn, np.arange(len(torn)).reshape(-1, 3))
    assert len(vertices) == 50
    assert np.array_equal(vertices[faces], mesh.vertices[mesh.faces])


def test_the_first_vertex_of_each_group_stays_in_place_and_order():
    vertices = np.array([[2.0, 0, 0], [0, 0, 0], [2.0 + 1e-12, 0, 0], [1.0, 0, 0], [0, 0, 0]])
    merged, faces = merge_vertices(vertices, np.array([[0, 1, 3], [2, 4, 3]]))
    assert merged.tolist() == [[2.0, 0, 0], [0, 0, 0], [1.0, 0, 0]]
    assert faces.tolist() == [[0, 1, 2], [0, 1, 2]]
