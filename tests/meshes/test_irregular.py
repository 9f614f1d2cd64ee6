"""The irregular rectangle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.meshes import irregular_rectangle
from isocloth.meshes.mesher import smallest_angle


@pytest.mark.parametrize("seed", range(5))
def test_the_default_has_472_nodes_and_no_thin_triangle(seed):
    mesh = irregular_rectangle(1.0, 1.0, seed=seed)
    assert mesh.n_vertices == 472
    assert smallest_angle(mesh.vertices, mesh.faces) > np.deg2rad(28.0)
    assert mesh.face_areas.max() / mesh.face_areas.min() < 4.0


@settings(max_examples=25, deadline=None)
@given(width=st.floats(0.2, 2.0), height=st.floats(0.2, 2.0), nodes=st.integers(4, 120), seed=st.integers(0, 99))
def test_any_rectangle_is_filled_with_exactly_the_nodes_asked_for(width, height, nodes, seed):
    mesh = irregular_rectangle(width, height, nodes, seed)
    assert mesh.n_vertices == nodes
    assert mesh.area == pytest.approx(width * height)
    assert mesh.euler_characteristic == 1
    assert (mesh.vertex_normals[:, 2] > 0.99).all()
    assert len(mesh.corners) == 4


def test_boundary_nodes_are_evenly_spaced():
    mesh = irregular_rectangle(1.0, 1.0)
    ends = mesh.vertices[mesh.boundary_edges]
    assert np.ptp(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)) < 1e-12


def test_the_mesh_is_irregular():
    mesh = irregular_rectangle(1.0, 1.0)
    inner = np.bincount(mesh.edges.reshape(-1))[mesh.interior_nodes]
    assert set(inner.tolist()) >= {5, 6, 7}
    assert np.std(mesh.edge_lengths) > 0.05 * np.mean(mesh.edge_lengths)


def test_the_same_seed_gives_the_same_bits():
    first, second = irregular_rectangle(1.0, 0.5, 90, seed=4), irregular_rectangle(1.0, 0.5, 90, seed=4)
    assert np.array_equal(first.vertices, second.vertices)
    assert np.array_equal(first.faces, second.faces)


@pytest.mark.parametrize(("nodes", "error"), [(3, ValueError), (10.5, TypeError), ("many", TypeError)])
def test_the_number_of_nodes_is_an_integer_of_at_least_four(nodes, error):
    with pytest.raises(error, match="nodes"):
        irregular_rectangle(1.0, 1.0, nodes)


@pytest.mark.parametrize(("seed", "error"), [(-1, ValueError), (0.5, TypeError), (None, TypeError)])
def test_the_seed_is_an_integer_of_at_least_zero(seed, error):
    with pytest.raises(error, match="seed"):
        irregular_rectangle(1.0, 1.0, seed=seed)
