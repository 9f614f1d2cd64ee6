import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth import meshes
from isocloth.reconstruction.triangulation.boundary import hole_radii
from isocloth.reconstruction.triangulation.complex import Complex
from isocloth.reconstruction.triangulation.fill import closed, fill
from isocloth.reconstruction.triangulation.neighbours import MOST


def polygon(points):
    n = len(points)
    around, degree = np.full((n, MOST), -1), np.full(n, 2)
    around[:, 0], around[:, 1] = np.roll(np.arange(n), 1), np.roll(np.arange(n), -1)
    return around, degree, np.arange(n), np.array([0, n])


def area(points, triangles):
    p = points[triangles]
    u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    return 0.5 * np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum()


@settings(deadline=None, max_examples=30)
@given(st.integers(4, 12), st.integers(0, 1000))
def test_the_triangles_of_a_convex_polygon_cover_it(n, seed):
    angle = np.sort(np.random.default_rng(seed).uniform(0, 2 * np.pi, n))
    points = np.column_stack([np.cos(angle), np.sin(angle), np.zeros(n)])
    triangles, opened = fill(points, *polygon(points), np.zeros(1), 1.0, 60)
    assert len(triangles) == n - 2
    assert not opened[0]
    x, y = points[:, 0], points[:, 1]
    shoelace = 0.5 * np.sum(x * np.roll(y, -1) - y * np.roll(x, -1))
    np.testing.assert_allclose(area(points, triangles), shoelace, atol=1e-12)


def test_the_cheapest_diagonals_are_those_of_exhaustive_search():
    random = np.random.default_rng(5)
    for _ in range(20):
        angle = np.sort(random.uniform(0, 2 * np.pi, 6))
        points = np.column_stack([np.cos(angle), np.sin(angle), random.normal(size=6)])

        def cost(i, j, points=points):
            if j - i < 2:
                return 0.0
            own = 0.0 if (i, j) == (0, 5) else ((points[i] - points[j]) ** 2).sum()
            return own + min(cost(i, m) + cost(m, j) for m in range(i + 1, j))

        triangles, _ = fill(points, *polygon(points), np.zeros(1), 1.0, 60)
        sides = {frozenset((k, (k + 1) % 6)) for k in range(6)}
        pairs = {frozenset((int(t[a]), int(t[a - 1]))) for t in triangles for a in range(3)} - sides
        total = sum(((points[a] - points[b]) ** 2).sum() for a, b in map(tuple, pairs))
        np.testing.assert_allclose(total, cost(0, 5))


def test_a_diagonal_that_is_an_edge_elsewhere_is_not_used_again():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1.5, 0]])
    around, degree, nodes, start = polygon(points)
    around[0, 2], around[2, 2] = 2, 0
    degree[[0, 2]] = 3
    triangles, _ = fill(points, around, degree, nodes, start, np.zeros(1), 1.0, 60)
    assert {frozenset(t.tolist()) for t in triangles} == {frozenset((0, 1, 3)), frozenset((1, 2, 3))}


def test_a_polygon_that_reaches_too_far_stays_open():
    angle = 2 * np.pi * np.arange(12) / 12
    points = np.column_stack([3 * np.cos(angle), 3 * np.sin(angle), np.zeros(12)])
    arguments = polygon(points)
    radii = hole_radii(points, np.ones(12), *arguments[2:])
    np.testing.assert_allclose(radii, 3.0)
    for limit, opens in ((2.9, True), (3.1, False)):
        triangles, opened = fill(points, *polygon(points), radii, limit, 60)
        assert opened[0] == opens
        assert len(triangles) == (0 if opens else 10)


def test_a_hole_is_closed_and_nothing_else_changes():
    """A square with its middle triangles taken out."""
    mesh = meshes.rectangle(1.0, 1.0, (6, 6)).triangulated()
    middle = np.linalg.norm(mesh.vertices[mesh.triangles].mean(axis=1)[:, :2] - 0.5, axis=1) < 0.2
    torn = Complex(mesh.vertices, mesh.triangles[~middle])
    hole = min(torn.boundary_curves, key=len)
    whole = closed(torn.points, torn.triangles, torn.edges, [hole])
    assert len(whole) == len(mesh.triangles)
    assert area(mesh.vertices, whole) == pytest.approx(1.0)
    assert closed(torn.points, torn.triangles, torn.edges, []) is torn.triangles
