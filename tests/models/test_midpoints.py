"""Particles at midpoints: what they carry, how nodes follow them, and what bending costs."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.terms.midpoints import midpoints

MESHES = {
    "cut": ic.meshes.rectangle(0.4, 0.3, shape=(9, 7), element="triangle"),
    "irregular": ic.meshes.irregular_rectangle(0.4, 0.3, nodes=150, seed=0),
    "ring": ic.meshes.ring(0.09, 0.15, shape=(5, 24), element="triangle"),
}


@pytest.mark.parametrize("name", sorted(MESHES))
def test_nodes_come_back_from_the_midpoints_of_their_edges(name):
    mesh = MESHES[name]
    mid = midpoints(mesh)
    bent = mesh.vertices + 0.02 * np.random.default_rng(0).normal(size=mesh.vertices.shape)
    np.testing.assert_allclose(mid.to_nodes @ (mid.to_particles @ bent), bent, atol=1e-14)
    assert mid.area.sum() == pytest.approx(mesh.area)
    corners = mesh.vertices[mesh.faces]
    opposite = 0.5 * (corners[:, [1, 2, 0]] + corners[:, [2, 0, 1]])
    np.testing.assert_allclose(mid.points[mid.triangles], opposite, atol=1e-15)


def test_a_sheet_of_100_by_100_nodes_has_the_constraints_of_the_paper():
    mid = midpoints(ic.meshes.rectangle(1.0, 1.0, shape=(100, 100), element="triangle"))
    assert len(mid.pairs) == 59396
    assert len({frozenset(p) for p in mid.pairs.tolist()}) == len(mid.pairs)


def test_border_constraints_reach_the_nearest_far_particle_of_each_neighbour():
    mesh = MESHES["irregular"]
    mid = midpoints(mesh)
    outer = mid.pairs[-mid.border :]
    border = mesh.edge_faces[:, 1] < 0
    assert border[outer].any(axis=1).all()
    inside = {frozenset(p) for p in mid.pairs[: -mid.border].tolist()}
    assert not inside & {frozenset(p) for p in outer.tolist()}
    # no straight line: triangles of one border edge have two neighbours, corners of the sheet one
    assert border.sum() <= mid.border <= 2 * border.sum()


@pytest.mark.parametrize("name", sorted(MESHES))
def test_bending_ignores_affine_images_of_a_flat_sheet(name):
    mid = midpoints(MESHES[name])
    image = mid.points @ np.random.default_rng(1).normal(size=(3, 3)) + [1.0, 2.0, 3.0]
    assert np.abs(mid.stiffness @ image).max() < 1e-7 * np.abs(mid.stiffness).max()
    assert abs(mid.stiffness - mid.stiffness.T).max() < 1e-9 * np.abs(mid.stiffness).max()


@pytest.mark.parametrize("angle", [0.0, 0.4, 1.2])
@pytest.mark.parametrize(("nodes", "most"), [(150, 1.05), (600, 1.05), (None, 1.4)])
def test_a_roll_costs_half_its_squared_curvature_per_area(nodes, most, angle):
    mesh = MESHES["cut"] if nodes is None else ic.meshes.irregular_rectangle(0.4, 0.3, nodes=nodes, seed=0)
    mid = midpoints(mesh)
    radius = 0.5
    along = mid.points @ [np.cos(angle), np.sin(angle), 0.0]
    across = mid.points @ [-np.sin(angle), np.cos(angle), 0.0]
    p = np.stack([radius * np.sin(along / radius), across, radius * np.cos(along / radius)], axis=1)
    energy = float(np.sum(p * (mid.stiffness @ p))) / 2
    # the border carries none of it: per area that inner edges stand for
    within = mid.area[mesh.edge_faces[:, 1] >= 0].sum()
    assert 0.98 < energy / (within / radius**2 / 2) < most
