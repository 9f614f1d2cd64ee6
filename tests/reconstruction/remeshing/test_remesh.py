import numpy as np
import pytest

import isocloth as ic
from isocloth.meshes.geometry import corner_angles
from isocloth.reconstruction.distance import distances
from isocloth.reconstruction.remeshing.fitting import fit
from isocloth.reconstruction.remeshing.remesh import boundary_nodes, remesh
from isocloth.reconstruction.triangulation.geodesics import covering_points

from ..shapes import assert_simulates, found


@pytest.mark.parametrize("name", ["sphere", "torus", "disk", "annulus", "pair of pants"])
@pytest.mark.parametrize("element", ["triangle", "quad"])
def test_a_mesh_has_the_topology_of_the_surface_and_edges_of_the_length_asked_for(name, element):
    result = found(name)
    edge = 2.5 * result.spacing
    mesh = result.remeshed(edge, element)
    assert mesh.element == element
    assert mesh.euler_characteristic == result.euler_characteristic
    assert len(mesh.boundary_loops) == len(result.boundary_curves)
    assert np.median(mesh.edge_lengths) == pytest.approx(edge, rel=0.35)
    if element == "triangle":
        assert np.degrees(np.percentile(corner_angles(mesh.vertices, mesh.faces), 1)) > 20.0


def test_the_simulator_accepts_the_mesh():
    assert_simulates(found("disk").remeshed(0.2), [1.0, 0.0, 0.3])


def test_distances_are_those_of_exhaustive_search():
    random = np.random.default_rng(0)
    mesh = ic.meshes.tank_top(triangles=300)
    points = mesh.vertices[random.integers(mesh.n_vertices, size=40)] + 0.02 * random.normal(size=(40, 3))
    measured = distances(points, mesh.vertices, mesh.triangles)
    weights = random.dirichlet([0.5] * 3, size=4000)
    weights = np.vstack([weights, np.eye(3), 0.5 * (1 - np.eye(3))])
    for p, d in zip(points, measured, strict=True):
        samples = np.einsum("sk,tki->tsi", weights, mesh.vertices[mesh.triangles]).reshape(-1, 3)
        brute = np.linalg.norm(samples - p, axis=1).min()
        assert d <= brute + 1e-12
        assert d == pytest.approx(brute, abs=2e-3)


@pytest.mark.parametrize(
    ("point", "distance"),
    [
        ((0.2, 0.2, 0.5), 0.5),  # above the face
        ((0.5, -1.0, 0.0), 1.0),  # beside side a-b
        ((-1.0, 0.5, 0.0), 1.0),  # beside side a-c
        ((1.0, 1.0, 0.0), np.sqrt(0.5)),  # beside side b-c
        ((-3.0, -4.0, 0.0), 5.0),  # corner a
        ((2.0, -1.0, 0.0), np.sqrt(2.0)),  # corner b
        ((-1.0, 2.0, 0.0), np.sqrt(2.0)),  # corner c
    ],
)
def test_distance_in_every_region_of_a_triangle(point, distance):
    triangle = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert distances(np.array([point]), triangle, np.array([[0, 1, 2]]))[0] == pytest.approx(distance)


def test_nodes_are_denser_where_the_topology_needs_it():
    result = found("torus")
    nodes, triangles = remesh(result.surface, 1.5)  # three edges around the tube would not do
    edges = len({frozenset((int(t[a]), int(t[a - 1]))) for t in triangles for a in range(3)})
    assert len(nodes) - edges + len(triangles) == 0


def test_boundary_nodes_find_the_corners_of_a_square():
    random = np.random.default_rng(0)
    grid = np.stack(np.meshgrid(np.arange(41), np.arange(41)), axis=-1).reshape(-1, 2) / 40.0
    points = np.column_stack([grid + 0.004 * random.normal(size=grid.shape), np.zeros(len(grid))])
    result = ic.reconstruct(points)
    chosen = result.points[boundary_nodes(result.surface, 0.1)]
    for corner in ((0, 0), (1, 0), (0, 1), (1, 1)):
        assert np.linalg.norm(chosen[:, :2] - corner, axis=1).min() < 0.03


def test_covering_points_cover_the_surface():
    result = found("disk")
    chosen = result.points[covering_points(result.surface, 0.3)]
    away = np.linalg.norm(result.points[:, None] - chosen[None], axis=2).min(axis=1)
    assert away.max() <= 0.3


def test_the_fit_is_exact_on_a_quadratic_surface():
    random = np.random.default_rng(0)
    xy = random.uniform(-1, 1, size=(400, 2))
    points = np.column_stack([xy, 0.3 * xy[:, 0] ** 2 - 0.2 * xy[:, 0] * xy[:, 1] + 0.1 * xy[:, 1]])
    near = np.argsort(np.linalg.norm(points[:, None] - points[None], axis=2), axis=1)[:, 1:21]
    frames = np.tile(np.eye(3)[:2], (400, 1, 1))
    fitted = fit(points, frames, near, np.zeros(400, dtype=bool))
    moved = points + np.array([0.01, 0.005, 0.3])
    back = fitted.project(np.arange(400), moved)
    x, y = back[:, 0], back[:, 1]
    np.testing.assert_allclose(back[:, 2], 0.3 * x**2 - 0.2 * x * y + 0.1 * y, atol=1e-6)


def test_smoothing_halves_the_noise():
    noisy = found("sphere", 5000, 0, 0.2)
    before = np.abs(np.linalg.norm(noisy.points, axis=1) - 1).mean()
    after = np.abs(np.linalg.norm(noisy.mesh.vertices, axis=1) - 1).mean()
    assert after < 0.6 * before
