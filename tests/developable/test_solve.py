"""Known surfaces come back from their boundary; motions are followed; bad input is named."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.polynomial import Polynomial
from scipy.spatial.transform import Rotation

import isocloth as ic
from isocloth.developable import developables, follow
from isocloth.developable.known import (
    CHARTS,
    corner_error,
    cylinder,
    fillings,
    off_the_chart,
    round_domain,
    saddle_curve,
    square_domain,
)
from isocloth.developable.solve import ruling_distance
from isocloth.developable.ushakov import ushakov
from isocloth.states import Fold, fold


@pytest.mark.parametrize("name", CHARTS)
@pytest.mark.parametrize("shape", ["smooth", "along", "askew"])
def test_a_patch_comes_back_from_its_boundary(name, shape):
    domain = {"smooth": round_domain(140), "along": square_domain(35, 0.0), "askew": square_domain(35, 30.0)}[shape]
    domain = 0.8 * domain
    found = developables(CHARTS[name](*domain.T))
    assert found
    assert min(off_the_chart(surface, domain, CHARTS[name]) for surface in found) < 1e-5


def test_the_public_name():
    assert len(ic.developables(saddle_curve(80, 0.4))) == 2
    with pytest.raises(AttributeError, match="undevelopables"):
        _ = ic.undevelopables


@given(st.floats(0.15, 0.8), st.floats(0.2, 5.0), st.integers(0, 2**32 - 1))
@settings(max_examples=8, deadline=None)
def test_a_curve_with_two_fillings_has_both_wherever_it_is(height, scale, seed):
    rng = np.random.default_rng(seed)
    turn, shift = Rotation.random(random_state=rng).as_matrix(), rng.standard_normal(3)
    points = scale * saddle_curve(120, height) @ turn.T + shift
    points = np.roll(points, int(rng.integers(120)), axis=0)
    if rng.random() < 0.5:
        points = points[::-1]
    found = developables(points)
    assert len(found) == 2
    for surface in found:
        back = (surface.points(5).reshape(-1, 3) - shift) @ turn / scale
        x, y, z = back.T
        first = np.abs(z - height * (2.0 * x**2 - 1.0)).max()
        second = np.abs(z - height * (1.0 - 2.0 * y**2)).max()
        assert min(first, second) < 1e-6
        assert max(first, second) > 0.1 * height


def test_finer_points_come_closer():
    errors = []
    for n in (40, 80):
        found = developables(saddle_curve(n, 0.4))
        errors.append(max(min(fillings(s, 0.4)) for s in found))
    assert errors[1] < errors[0] / 16


def test_a_rolled_square_lies_flat_again():
    for degrees in (0.0, 20.0, 45.0):
        domain = square_domain(40, degrees)
        found = developables(cylinder(*domain.T))
        surface = min(found, key=lambda s, d=domain: off_the_chart(s, d, cylinder))
        assert surface.area == pytest.approx(1.0, abs=2e-4)
        assert corner_error(surface, domain, 40) < 2e-4
        assert surface.metric_error() < 1e-9
        a, b = surface.unrolled()
        assert np.linalg.norm(a - b, axis=1) == pytest.approx(
            np.linalg.norm(surface.starts - surface.ends, axis=1), abs=1e-12
        )


@pytest.mark.parametrize(
    "by",
    [
        Fold((0.0, 0.0), (1.0, 0.0), angle=1.5, radius=0.15),
        Fold((0.0, 0.0), (0.94, 0.34), angle=1.5, radius=0.15),
        Fold((0.2, 0.2), (1.0, 1.0), angle=1.0, radius=0.1),
    ],
)
def test_flat_patches_are_found(by):
    domain = square_domain(60, 0.0)
    flat = np.concatenate([domain, np.zeros((len(domain), 1))], axis=1)
    found = developables(fold(flat, by))
    inside = ic.meshes.rectangle(1.0, 1.0, (12, 12)).vertices - [0.5, 0.5, 0.0]
    best = min(found, key=lambda s: s.distance(fold(inside, by)).max())
    assert best.distance(fold(inside, by)).max() < 1e-3
    assert best.flat.any()
    assert not best.flat.all()
    assert best.area == pytest.approx(1.0, abs=2e-3)
    assert "flat patches" in repr(best)


def test_a_plane_curve_bounds_its_plane():
    domain = square_domain(20, 0.0)
    square = np.concatenate([domain, np.zeros((80, 1))], axis=1)
    (surface,) = developables(square)
    assert surface.flat.all()
    assert surface.area == pytest.approx(1.0)
    a = 2.0 * np.pi * np.arange(60) / 60
    (disc,) = developables(np.stack([np.cos(a), np.sin(a), 0 * a], axis=1))
    assert disc.area == pytest.approx(np.pi, rel=0.01)
    assert ic.Mesh(disc.mesh(5).vertices, disc.mesh(5).faces).area == pytest.approx(disc.area)


def test_the_mesh_is_a_disc_that_the_simulator_accepts():
    domain = square_domain(30, 25.0)
    surface = developables(cylinder(*domain.T))[0]
    mesh = surface.mesh(7)
    assert mesh.n_vertices - len(mesh.edges) + mesh.n_faces == 1
    assert len(mesh.boundary_loops) == 1
    assert mesh.area == pytest.approx(surface.area, rel=1e-3)
    small = developables(saddle_curve(60, 0.3), resolution=40)[0].mesh(4)
    sim = ic.Simulation(small, ic.Fabric())
    sim.grasp(small.boundary_loops[0][:3])
    assert sim.step().converged
    with pytest.raises(ValueError, match="across is 1"):
        surface.mesh(1)


def test_distances_from_a_surface_are_those_of_dense_points():
    surface = developables(saddle_curve(80, 0.4))[0]
    points = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 3))
    dense = surface.points(400).reshape(-1, 3)
    brute = np.array([np.linalg.norm(dense - p, axis=1).min() for p in points])
    found = surface.distance(points)
    assert (found <= brute + 1e-12).all()
    assert found == pytest.approx(brute, abs=0.02)
    with pytest.raises(ValueError, match="points have shape"):
        surface.distance(points[:, :2])


def test_a_surface_is_followed_while_its_boundary_moves():
    heights = np.linspace(0.2, 0.6, 9)
    turns = Rotation.from_rotvec(np.linspace(0.0, 1.0, 9)[:, None] * [0.3, 0.2, 2.0]).as_matrix()
    curves = [saddle_curve(100, h) @ turn.T for h, turn in zip(heights, turns, strict=True)]
    for which in (0, 1):
        start = min(developables(curves[0]), key=lambda s, k=which: fillings(s, heights[0])[k])
        followed = follow(curves, start)
        assert len(followed) == 9
        for surface, h, turn in zip(followed, heights, turns, strict=True):
            back = surface.points(5).reshape(-1, 3) @ turn
            x, y, z = back.T
            away = (np.abs(z - h * (2 * x**2 - 1)).max(), np.abs(z - h * (1 - 2 * y**2)).max())
            assert away[which] < 1e-5


def test_what_cannot_be_followed_is_named():
    curves = [saddle_curve(100, 0.3), saddle_curve(100, 0.4)]
    with pytest.raises(ValueError, match="bounds 2 developable surfaces; give the one to follow"):
        follow(curves)
    start, other = developables(curves[0])
    assert ruling_distance(start, start) == 0.0
    assert ruling_distance(start, other) == pytest.approx(0.25, abs=0.01)
    with pytest.raises(ValueError, match="curve 1 bounds no surface near the last one"):
        follow([curves[0], np.roll(curves[1], 12, axis=0)], start, jump=0.05)
    single = cylinder(*square_domain(30, 0.0).T)
    assert len(follow([single, single])) == 2


def test_curves_that_bound_nothing_give_an_empty_list():
    """A knot bounds no disc, and least of all a developable one."""
    a = 2.0 * np.pi * np.arange(200) / 200
    knot = np.stack([np.sin(a) + 2 * np.sin(2 * a), np.cos(a) - 2 * np.cos(2 * a), -np.sin(3 * a)], axis=1)
    assert developables(knot) == []


def test_bad_options_are_named():
    x = saddle_curve(40, 0.4)
    with pytest.raises(ValueError, match="resolution is 10"):
        developables(x, resolution=10)
    with pytest.raises(ValueError, match="plane is 0"):
        developables(x, plane=0.0)
    with pytest.raises(ValueError, match="expected at least 12"):
        developables(x[:5])


def test_noise_is_survived_or_said():
    """What comes back from noisy points is near the truth or nothing."""
    domain = square_domain(40, 25.0)
    points = cylinder(*domain.T)
    rng = np.random.default_rng(1)
    noisy = points + 1e-5 * rng.standard_normal(points.shape)
    found = developables(noisy, corners=[0, 40, 80, 120], smoothing=1e-5)
    assert min(off_the_chart(s, domain, cylinder) for s in found) < 2e-4


# --------------------------------------------------------------------- Ushakov


def test_ushakov_surfaces_are_flat():
    """K = 0: z_xx z_yy = z_xy^2, by finite differences of z(x, y)."""
    surface = ushakov(Polynomial([0.0, 0.2, 0.5, 0.1]), Polynomial([0.0, 1.0, 0.1]))

    def height(x, y):
        u = 0.0
        for _ in range(60):  # x = g(u) - y f'(u)
            p = surface(u, y)
            slope = (surface(u + 1e-6, y)[0] - surface(u - 1e-6, y)[0]) / 2e-6
            u -= (p[0] - x) / slope
        return surface(u, y)[2]

    h = 1e-3
    for x, y in ((0.1, 0.1), (-0.2, 0.15), (0.25, -0.1)):
        z = np.array([[height(x + i * h, y + j * h) for j in (-1, 0, 1)] for i in (-1, 0, 1)])
        zxx = (z[2, 1] - 2 * z[1, 1] + z[0, 1]) / h**2
        zyy = (z[1, 2] - 2 * z[1, 1] + z[1, 0]) / h**2
        zxy = (z[2, 2] - z[2, 0] - z[0, 2] + z[0, 0]) / (4 * h**2)
        assert zxx * zyy - zxy**2 == pytest.approx(0.0, abs=1e-4 * (zxx**2 + zyy**2 + zxy**2))
        assert abs(zxx) > 0.1
    with pytest.raises(TypeError, match=r"expected numpy\.polynomial"):
        ushakov([1.0], Polynomial([1.0]))  # type: ignore[arg-type]
