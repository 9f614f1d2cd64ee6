"""Quads from triangles."""

from __future__ import annotations

import pytest

from isocloth.meshes import Mesh, irregular_rectangle
from isocloth.meshes.subdivide import triangles_to_quads


def test_three_quads_fill_each_triangle():
    mesh = irregular_rectangle(1.0, 1.0, nodes=40)
    quads = Mesh(*triangles_to_quads(mesh.vertices, mesh.faces))
    assert quads.n_faces == 3 * mesh.n_faces
    assert quads.area == pytest.approx(1.0)
    assert quads.face_areas.reshape(-1, 3).sum(axis=1) == pytest.approx(mesh.face_areas)
    assert quads.corners.tolist() == mesh.corners.tolist()
