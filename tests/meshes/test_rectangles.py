"""The regular rectangle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.meshes import rectangle


def test_nodes_are_numbered_with_x_slow():
    mesh = rectangle(3.0, 4.0, (4, 5))
    for i in range(4):
        for j in range(5):
            assert mesh.vertices[i * 5 + j].tolist() == [float(i), float(j), 0.0]


@settings(max_examples=40, deadline=None)
@given(
    width=st.floats(0.01, 100.0),
    height=st.floats(0.01, 100.0),
    nx=st.integers(2, 8),
    ny=st.integers(2, 8),
    element=st.sampled_from(["quad", "triangle"]),
)
def test_the_area_is_width_times_height_and_normals_point_up(width, height, nx, ny, element):
    mesh = rectangle(width, height, (nx, ny), element)
    assert mesh.area == pytest.approx(width * height)
    assert (mesh.vertex_normals[:, 2] > 0.99).all()
    assert mesh.corners.tolist() == [0, ny - 1, (nx - 1) * ny, nx * ny - 1]


def test_neighbouring_cells_are_cut_along_opposite_diagonals():
    mesh = rectangle(1.0, 1.0, (3, 3), "triangle")
    valence = np.bincount(mesh.edges.reshape(-1))
    assert valence[4] == 8
    assert valence[[1, 3, 5, 7]].tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize("size", [0.0, -1.0, np.nan, np.inf])
def test_sizes_must_be_positive_and_finite(size):
    with pytest.raises(ValueError, match="width"):
        rectangle(size, 1.0)
    with pytest.raises(ValueError, match="height"):
        rectangle(1.0, size)


@pytest.mark.parametrize("size", ["1", None, True, [1.0]])
def test_sizes_must_be_numbers(size):
    with pytest.raises(TypeError, match="width"):
        rectangle(size, 1.0)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1), (0, 0), (-3, 4)])
def test_each_side_needs_two_nodes(shape):
    with pytest.raises(ValueError, match="at least 2"):
        rectangle(1.0, 1.0, shape)


@pytest.mark.parametrize("shape", [5, (2, 3, 4), (2.5, 3), "ab", None, (True, 3)])
def test_the_shape_is_two_integers(shape):
    with pytest.raises(TypeError, match="shape"):
        rectangle(1.0, 1.0, shape)


def test_the_element_is_a_known_name():
    with pytest.raises(ValueError, match="'triangle', 'quad'"):
        rectangle(1.0, 1.0, (2, 2), "hexagon")
    with pytest.raises(TypeError, match="element"):
        rectangle(1.0, 1.0, (2, 2), 4)
