import numpy as np
import pytest

import isocloth as ic
from isocloth.terms.aerodynamics import weight
from isocloth.terms.mass import lumped_areas, voronoi_areas


@pytest.mark.parametrize(
    "mesh",
    [
        ic.meshes.rectangle(0.4, 0.3, shape=(6, 5)),
        ic.meshes.irregular_rectangle(0.4, 0.3, nodes=80, seed=0),
        ic.meshes.tank_top(),
    ],
    ids=["quads", "triangles", "tank top"],
)
def test_the_areas_of_the_nodes_add_up_to_the_area(mesh):
    for areas in (lumped_areas, voronoi_areas):
        shares = areas(mesh.vertices, mesh.faces)
        assert shares.min() > 0
        assert shares.sum() == pytest.approx(mesh.area, rel=1e-12)


def test_voronoi_areas_match_counting_points():
    mesh = ic.meshes.irregular_rectangle(1.0, 1.0, nodes=60, seed=4)
    points = np.random.default_rng(0).random((200_000, 2))
    nearest = np.argmin(((points[:, None, :] - mesh.vertices[None, :, :2]) ** 2).sum(axis=2), axis=1)
    counted = np.bincount(nearest, minlength=60) / len(points)
    inside = mesh.interior_nodes
    np.testing.assert_allclose(voronoi_areas(mesh.vertices, mesh.faces)[inside], counted[inside], rtol=0.06)


def test_a_grid_lumps_a_full_half_and_quarter_cell():
    mesh = ic.meshes.rectangle(1.0, 1.0, shape=(3, 3))
    np.testing.assert_allclose(
        lumped_areas(mesh.vertices, mesh.faces).reshape(3, 3),
        np.array([[1, 2, 1], [2, 4, 2], [1, 2, 1]]) / 16,
    )


def test_the_weight_is_that_of_the_virtual_mass():
    force = weight(np.array([0.1, 0.2]), 0.5, 9.81)
    np.testing.assert_allclose(force.sum(axis=0), [0, 0, -0.3 * 0.5 * 9.81])
