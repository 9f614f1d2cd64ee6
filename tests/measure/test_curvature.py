"""Gaussian curvature of meshes whose curvature is known, and its derivative."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.measure.curvature import corner_angles


def ball(radius, rounds=3):
    """An octahedron, refined onto a sphere."""
    points = [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]]
    faces = [[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [1, 0, 5], [2, 1, 5], [3, 2, 5], [0, 3, 5]]
    points = [np.array(p, dtype=float) for p in points]
    for _ in range(rounds):
        middle, finer = {}, []

        def half(a, b, middle=middle):
            key = (min(a, b), max(a, b))
            if key not in middle:
                middle[key] = len(points)
                points.append((points[a] + points[b]) / np.linalg.norm(points[a] + points[b]))
            return middle[key]

        for a, b, c in faces:
            ab, bc, ca = half(a, b), half(b, c), half(c, a)
            finer += [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
        faces = finer
    return ic.Mesh(radius * np.array(points), np.array(faces))


def cone(count, slope):
    """A cone of `count` faces with an apex, around which they leave a part of the turn."""
    turn = 2 * np.pi * np.arange(count) / count
    rim = np.stack([np.cos(turn), np.sin(turn), np.full(count, -slope)], axis=1)
    faces = [[0, 1 + k, 1 + (k + 1) % count] for k in range(count)]
    return ic.Mesh(np.concatenate([np.zeros((1, 3)), rim]), np.array(faces))


def test_a_sphere_has_four_pi_whatever_its_mesh():
    mesh = ball(0.7)
    assert ic.measure.gauss_curvature(mesh).sum() == pytest.approx(4 * np.pi, rel=1e-12)
    crumpled = mesh.vertices + 0.02 * np.random.default_rng(0).normal(size=mesh.vertices.shape)
    assert ic.measure.gauss_curvature(mesh, crumpled).sum() == pytest.approx(4 * np.pi, rel=1e-12)
    per_area = ic.measure.gauss_curvature(mesh, per_area=True)
    assert per_area.mean() == pytest.approx(1 / 0.7**2, rel=0.03)  # faces lie inside the sphere


def test_the_apex_of_a_cone_has_what_is_missing_of_a_turn():
    for count, slope in ((5, 0.4), (8, 1.5)):
        mesh = cone(count, slope)
        side = np.sqrt(1 + slope**2)
        missing = 2 * np.pi - count * 2 * np.arcsin(np.sin(np.pi / count) / side)
        found = ic.measure.gauss_curvature(mesh)
        assert found[0] == pytest.approx(missing, rel=1e-12)
        assert not found[1:].any()  # the border
        assert ic.measure.gauss_curvature(mesh, per_area=True)[0] == pytest.approx(3 * missing / mesh.area, rel=1e-12)


@pytest.mark.parametrize("element", ["triangle", "quad"])
def test_what_is_rolled_has_none_and_a_saddle_has_a_negative_one(element):
    mesh = ic.meshes.rectangle(0.6, 0.4, (13, 9), element=element)
    x, y, _ = mesh.vertices.T
    rolled = np.stack([np.cos(3 * x), y, np.sin(3 * x)], axis=1)
    frames = np.stack([mesh.vertices, rolled])
    if element == "triangle":  # rings of equal chords are cut alike everywhere
        assert np.abs(ic.measure.gauss_curvature(mesh, frames)).max() < 1e-12
    saddle = np.stack([x, y, 2 * ((x - 0.3) ** 2 - (y - 0.2) ** 2)], axis=1)
    total = ic.measure.gauss_curvature(mesh, saddle)
    assert total[mesh.interior_nodes].max() < 0.0
    # det(Hessian) / (1 + slope^2)^(3/2) over the plane is the integral of the curvature
    nodes = mesh.interior_nodes
    steep = 16 * ((x[nodes] - 0.3) ** 2 + (y[nodes] - 0.2) ** 2)
    assert total.sum() == pytest.approx(np.sum(-16 / (1 + steep) ** 1.5) * 0.05**2, rel=0.02)


def test_the_derivative_of_angles():
    rng = np.random.default_rng(1)
    x, faces = rng.normal(size=(5, 3)), np.array([[0, 1, 2], [1, 3, 4]])
    slope = corner_angles(x, faces)[1]
    for _ in range(3):
        way = rng.normal(size=x.shape)
        exact = np.zeros((2, 3))
        for k in range(3):
            for other, corner in enumerate((k, (k + 1) % 3, (k - 1) % 3)):
                exact[:, k] += np.sum(slope[:, k, other] * way[faces[:, corner]], axis=1)
        step = 1e-6
        angle = [corner_angles(x + s * step * way, faces)[0] for s in (1, -1)]
        np.testing.assert_allclose((angle[0] - angle[1]) / (2 * step), exact, atol=1e-8)


def test_positions_of_another_mesh_are_refused():
    with pytest.raises(ValueError, match=r"expected \(6, 3\)"):
        ic.measure.gauss_curvature(cone(5, 1.0), np.zeros((4, 3)))
