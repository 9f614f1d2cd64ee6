"""The zero set of D: against its definition, its limit at the diagonal, and curves whose bitangents are known."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.developable import space_curve
from isocloth.developable.assemble import Tolerances, assemble, plane_distance, rulings_apart
from isocloth.developable.bitangents import bitangent_arcs, coplanarity
from isocloth.developable.known import cylinder, round_domain, saddle_curve, square_domain


def arcs_of(curve, resolution=120):
    return bitangent_arcs(curve, resolution=resolution, band=0.02 * curve.length, flat=1e-9)


def test_coplanarity_is_the_determinant_of_unit_vectors():
    curve = space_curve(saddle_curve(80, 0.4))
    s, t = np.array([0.3, 1.0, 2.0]), np.array([2.5, 3.0, 5.0])
    (x, u), (y, v) = curve.on_piece(0, s), curve.on_piece(0, t)
    for k in range(3):
        rows = [(x - y)[k], u[k], v[k]]
        unit = [r / np.linalg.norm(r) for r in rows]
        assert coplanarity(curve, 0, 0, s, t)[k] == pytest.approx(np.linalg.det(unit))
    assert coplanarity(curve, 0, 0, t, s) == pytest.approx(coplanarity(curve, 0, 0, s, t))


def test_near_the_diagonal_it_is_curvature_squared_times_torsion():
    """D = kappa^2 tau h^4 / 12 on a helix, where both are constant."""
    a = np.linspace(0.0, 2.0 * np.pi, 161)[:-1]
    helix = np.stack([np.cos(a), np.sin(a), 0.5 * a], axis=1)
    back = np.stack([1.0 + 2.0 * np.sin(a) ** 2, 3.0 * np.sin(a), np.pi * (1.0 - a / np.pi / 2.0) + 0.0 * a], axis=1)
    curve = space_curve(np.concatenate([helix, back[1:-1]]), corners=[0, 159])
    kappa, tau = 1.0 / 1.25, 0.5 / 1.25
    s = np.array([2.0, 3.0])
    for h in (0.2, 0.1):
        value = coplanarity(curve, 0, 0, s, s + h) * h  # the chord is h long, to second order
        assert np.abs(value) == pytest.approx(np.full(2, kappa**2 * tau * h**4 / 12.0), rel=0.02 * h / 0.1)


def test_the_saddle_curve_has_its_two_families_and_no_other():
    curve = space_curve(saddle_curve(160, 0.4))
    for arc in arcs_of(curve):
        assert (np.diff(arc.s) <= 1e-9).all()
        assert (np.diff(arc.t) >= -1e-9).all()
        middle = np.mod(0.5 * (arc.s + arc.t) / curve.length, 0.25)
        assert np.minimum(middle, 0.25 - middle).max() < 1e-6  # symmetric about an axis
    covered = sum(arc.t[-1] - arc.s[-1] - arc.t[0] + arc.s[0] for arc in arcs_of(curve))
    assert covered == pytest.approx(4 * curve.length, rel=0.1)  # two families, each from either end


def test_every_point_of_an_arc_is_a_zero():
    domain = square_domain(30, 25.0)
    curve = space_curve(cylinder(*domain.T))
    found = arcs_of(curve)
    assert found
    pieces = np.array([piece.end for piece in curve.pieces])
    for arc in found:
        if len(arc.s) < 3:
            continue
        s, t = arc.s[1:-1], arc.t[1:-1]  # inside a block
        p = int(np.searchsorted(pieces, s.mean() % curve.length))
        q = int(np.searchsorted(pieces, t.mean() % curve.length))
        value = coplanarity(curve, p, q, np.mod(s, curve.length), np.mod(t, curve.length))
        assert np.abs(value).max() < 1e-10


def test_rulings_of_a_cylinder_keep_its_coordinate():
    domain = round_domain(160)
    curve = space_curve(cylinder(*domain.T))
    by = Tolerances(tip=0.06 * curve.length, near=0.5 * curve.length / 120, gap=0.03, plane=1e-5)
    paths = assemble(curve, arcs_of(curve), by)
    assert paths

    def angle(s):
        x = curve(s)
        return np.arctan2(x[:, 1], x[:, 0])

    assert min(np.abs(angle(path.s) - angle(path.t)).max() for path in paths) < 1e-6
    for path in paths:
        assert path.t[0] - path.s[0] < by.tip
        assert path.s[-1] + curve.length - path.t[-1] < by.tip


def test_a_plane_is_told_from_what_is_not():
    rng = np.random.default_rng(0)
    flat = rng.standard_normal((20, 2)) @ rng.standard_normal((2, 3)) + 5.0
    assert plane_distance(flat) < 1e-12
    normal = np.cross(flat[1] - flat[0], flat[2] - flat[0])
    assert plane_distance(flat + 1e-3 * np.eye(20)[:, :1] * normal / np.linalg.norm(normal)) == pytest.approx(
        1e-3, rel=0.5
    )


def test_a_surface_is_the_same_from_its_other_end():
    s, t = np.linspace(0.4, 0.0, 9), np.linspace(0.5, 0.9, 9)
    assert rulings_apart((s, t), (s + 2.0, t + 2.0), 1.0) == pytest.approx(0.0, abs=1e-12)
    assert rulings_apart((s, t), (t[::-1], s[::-1] + 1.0), 1.0) == pytest.approx(0.0, abs=1e-12)
    assert rulings_apart((s, t), (s + 0.1, t + 0.1), 1.0) == pytest.approx(0.1)
