"""Gaps and normals, against sampled surfaces, solid angles, closed forms and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from scipy.spatial import cKDTree

import isocloth as ic

from .bodies import needles, needles_gradient, primitives, seeds


def dense(surface: tuple[np.ndarray, np.ndarray], count: int = 400_000) -> np.ndarray:
    """Many points of a surface."""
    return trimesh.sample.sample_surface(trimesh.Trimesh(*surface, process=False), count, seed=1)[0]


def inside(points: np.ndarray, surface: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Whether a closed surface winds around points: the sum of the solid angles of its triangles (van Oosterom)."""
    a, b, c = np.moveaxis(surface[0][surface[1]] - points[:, None, None], 2, 0)
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    volume = np.einsum("mfi,mfi->mf", a, np.cross(b, c))
    ab, bc, ca = (np.einsum("mfi,mfi->mf", u, v) for u, v in ((a, b), (b, c), (c, a)))
    return np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb).sum(axis=1) > np.pi


@pytest.mark.parametrize("number", range(2, 6))
@pytest.mark.parametrize("seed", range(2))
def test_gaps_are_distances_from_the_drawn_surface(number, seed):
    """Brute force: the drawn surface, sampled finely. It is a polyhedron, a little inside of the body."""
    rng = np.random.default_rng(seed)
    body = primitives(rng)[number]
    time = 0.7
    vertices, faces = body.surface(time)
    points = body.centre(time) + 1.5 * rng.normal(size=(300, 3))
    gap, _ = body.gaps(points, time)
    distance = cKDTree(dense((vertices, faces))).query(points)[0]
    sag = 0.0 if isinstance(body, ic.Box) else 0.005 * body.radius
    assert np.abs(np.abs(gap) - distance).max() < sag + 0.02
    clear = np.abs(gap) > sag + 1e-9
    np.testing.assert_array_equal(inside(points, (vertices, faces))[clear], (gap < 0.0)[clear])


def test_the_gap_of_a_box_outside_is_the_way_to_its_nearest_point():
    points = 2.0 * np.random.default_rng(3).normal(size=(200, 3)) + [1, 2, 3]
    nearest = np.clip(points, [0.5, 1, 1.5], [1.5, 3, 4.5])
    way = np.linalg.norm(points - nearest, axis=1)
    gap, normal = ic.Box([1, 2, 3], [1, 2, 3]).gaps(points, 0.0)
    out = way > 0
    np.testing.assert_allclose(gap[out], way[out])
    np.testing.assert_allclose(normal[out], (points - nearest)[out] / way[out, None], atol=1e-12)
    assert (gap[~out] < 0).all()


@pytest.mark.parametrize("number", range(2))
def test_gaps_of_planes_are_heights(number):
    body = primitives(np.random.default_rng(4))[number]
    (a, b, c, _), _ = body.surface(0.3)
    up = np.cross(b - a, c - a)
    points = np.random.default_rng(5).normal(size=(50, 3))
    np.testing.assert_allclose(body.gaps(points, 0.3)[0], (points - a) @ up / np.linalg.norm(up), atol=1e-12)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_normals_are_the_gradients_of_the_gaps(seed):
    rng = np.random.default_rng(seed)
    e = 1e-6
    for body in primitives(rng):
        points = body.centre(0.4) + rng.normal(size=(40, 3))
        gap, normal = body.gaps(points, 0.4)
        np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-12)
        slope = np.stack(
            [(body.gaps(points + e * d, 0.4)[0] - body.gaps(points - e * d, 0.4)[0]) / (2 * e) for d in np.eye(3)],
            axis=1,
        )
        smooth = np.abs(np.linalg.norm(slope, axis=1) - 1.0) < 1e-6  # not on an edge or an axis of the body
        assert smooth.mean() > 0.9
        np.testing.assert_allclose(normal[smooth], slope[smooth], atol=1e-5)
        # a walk along the normal by the gap ends on the surface, if no edge is in between
        landed = np.abs(body.gaps(points - gap[:, None] * normal, 0.4)[0])
        assert landed[gap > 0].max(initial=0.0) < 1e-9


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_gaps_never_change_faster_than_points_move(seed):
    rng = np.random.default_rng(seed)
    for body in primitives(rng):
        a, b = rng.normal(size=(2, 50, 3))
        change = np.abs(body.gaps(a, 0.1)[0] - body.gaps(b, 0.1)[0])
        assert (change <= np.linalg.norm(a - b, axis=1) + 1e-12).all()


def test_inside_the_nearest_face_counts():
    box = ic.Box([0, 0, 0], [2.0, 4.0, 6.0])
    gap, normal = box.gaps(np.array([[0.5, 0.1, 0.1], [0.0, -1.9, 0.0], [0.1, 0.1, 2.8]]), 0.0)
    np.testing.assert_allclose(gap, [-0.5, -0.1, -0.2])
    np.testing.assert_array_equal(normal, [[1, 0, 0], [0, -1, 0], [0, 0, 1]])
    can = ic.Cylinder([0, 0, -1], [0, 0, 1], 0.5)
    gap, normal = can.gaps(np.array([[0.3, 0.0, 0.0], [0.1, 0.0, 0.9], [0.1, 0.0, -0.95]]), 0.0)
    np.testing.assert_allclose(gap, [-0.2, -0.1, -0.05])
    np.testing.assert_allclose(normal, [[1, 0, 0], [0, 0, 1], [0, 0, -1]], atol=1e-15)


@pytest.mark.parametrize(
    "body",
    [
        ic.Sphere([0, 0, 0], 1.0),
        ic.Cylinder([0, 0, -2], [0, 0, 2], 1.0),
        ic.Cylinder([-2, 0, 0], [2, 0, 0], 1.0),
        ic.Capsule([0, -2, -2], [0, 2, 2], 1.0),
        ic.Box([0, 0, 0], [2, 2, 2]),
    ],
)
def test_points_in_the_middle_are_pushed_out_somewhere(body):
    gap, normal = body.gaps(np.zeros((1, 3)), 0.0)
    assert gap[0] == -1.0
    np.testing.assert_allclose(np.linalg.norm(normal), 1.0)
    np.testing.assert_allclose(body.gaps(normal, 0.0)[0], 0.0, atol=1e-12)


@given(seeds)
@settings(max_examples=20, deadline=None)
def test_implicit_surfaces_agree_with_primitives(seed):
    """|x| - r is the exact distance; x^2 - r^2 has the same zero and, at it, the same slope after division."""
    rng = np.random.default_rng(seed)
    _, _, ball, *_ = primitives(rng)
    points = ball.centre(0.3) + rng.normal(size=(50, 3))
    start, turn = ball.centre(), {"velocity": ball.centre(1.0) - ball.centre()}
    exact = ic.Implicit(
        lambda p: np.linalg.norm(p, axis=1) - ball.radius,
        lambda p: p / np.linalg.norm(p, axis=1)[:, None],
        centre=start,
        **turn,
    )
    for found, wanted in zip(exact.gaps(points, 0.3), ball.gaps(points, 0.3), strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-9)
    squared = ic.Implicit(lambda p: (p**2).sum(axis=1) - ball.radius**2, lambda p: 2 * p, centre=start, **turn)
    gap, normal = ball.gaps(points, 0.3)
    near = points - (gap - 1e-4)[:, None] * normal
    np.testing.assert_allclose(squared.gaps(near, 0.3)[0], 1e-4, rtol=0.01)
    np.testing.assert_allclose(squared.gaps(near, 0.3)[1], normal, atol=1e-9)


def test_the_needles_of_the_paper():
    body = ic.Implicit(needles, needles_gradient, extent=[[-0.5, 0.5], [-0.5, 0.5], [-1, 1]])
    peak = np.pi / 40.0
    gap, normal = body.gaps(np.array([[peak, peak, 1 / 1.5 + 0.01], [peak, peak, 0.0]]), 0.0)
    np.testing.assert_allclose(gap, [0.01, -1 / 1.5])
    np.testing.assert_allclose(normal, [[0, 0, 1], [0, 0, 1]], atol=1e-14)
    vertices, _ = body.surface(0.0)
    assert np.abs(needles(vertices)).max() < 1e-6
    assert vertices[:, 2].max() == pytest.approx(1 / 1.5, rel=2e-3)


def test_an_implicit_surface_without_slope_still_has_a_side():
    body = ic.Implicit(lambda p: (p**2).sum(axis=1) - 1.0, lambda p: 2 * p)
    gap, normal = body.gaps(np.zeros((1, 3)), 0.0)
    assert gap[0] == -1.0
    np.testing.assert_array_equal(normal, [[0, 0, 1]])


def test_any_array_of_points_will_do():
    points = np.random.default_rng(0).normal(size=(7, 3))
    for body in primitives(np.random.default_rng(1)):
        wanted = body.gaps(points, 0.0)
        for other in (np.asfortranarray(points), points.astype(np.float64)[::-1][::-1], points.tolist()):
            np.testing.assert_array_equal(body.gaps(other, 0.0)[0], wanted[0])
        assert body.gaps(np.empty((0, 3)), 0.0)[1].shape == (0, 3)
