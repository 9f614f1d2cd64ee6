"""The flat ring."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.meshes import ring


@pytest.mark.parametrize("element", ["quad", "triangle"])
def test_the_area_is_that_of_the_polygons_between_the_circles(element):
    mesh = ring(0.1, 0.3, (4, 30), element)
    assert mesh.area == pytest.approx(0.5 * 30 * np.sin(2 * np.pi / 30) * (0.3**2 - 0.1**2))
    assert mesh.vertex_normals[:, 2] == pytest.approx(np.ones(120))


def test_boundary_nodes_lie_on_the_two_circles():
    mesh = ring(0.1, 0.3, (4, 30))
    inner, outer = mesh.boundary_loops
    assert np.linalg.norm(mesh.vertices[inner], axis=1) == pytest.approx(np.full(30, 0.1))
    assert np.linalg.norm(mesh.vertices[outer], axis=1) == pytest.approx(np.full(30, 0.3))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0.0, 1.0), "inner_radius"),
        ((1.0, np.nan), "outer_radius"),
        ((2.0, 1.0), "more than inner_radius"),
        ((1.0, 1.0), "more than inner_radius"),
        ((1.0, 2.0, (1, 9)), "radially"),
        ((1.0, 2.0, (2, 2)), "at least 3"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        ring(*arguments)
