"""Closed curves through points: splines, corners, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.developable import space_curve
from isocloth.developable.curve import find_corners
from isocloth.developable.known import cylinder, saddle_curve, square_domain

SQUARE = cylinder(*square_domain(20, 25.0).T)


def test_a_smooth_curve_has_its_tangents_to_high_order():
    errors = []
    for n in (40, 80):
        curve = space_curve(saddle_curve(n, 0.3))
        assert curve.smooth
        assert curve.corners.size == 0
        s = np.linspace(0.0, curve.length, 57)
        points, tangents = curve.on_piece(0, s)
        angle = np.arctan2(points[:, 1], points[:, 0])
        true = np.stack([-np.sin(angle), np.cos(angle), -0.6 * np.sin(2 * angle)], axis=1)
        true /= np.linalg.norm(true, axis=1, keepdims=True)
        tangents /= np.linalg.norm(tangents, axis=1, keepdims=True)
        errors.append(np.abs(tangents - true).max())
        assert curve(s) == pytest.approx(points)
        assert curve(s + 3 * curve.length) == pytest.approx(points, abs=1e-9)
    assert errors[0] / errors[1] > 2**4.5  # the fifth order of a quintic spline's derivative
    assert errors[1] < 1e-6


def test_corners_are_found_and_one_sided():
    assert find_corners(SQUARE).tolist() == [0, 20, 40, 60]
    assert find_corners(saddle_curve(60, 0.4)).size == 0
    curve = space_curve(np.roll(SQUARE, 7, axis=0))
    assert len(curve.pieces) == 4
    for k in range(4):
        at = np.array(curve.pieces[k].end)
        before, after = curve.on_piece(k, at), curve.on_piece(k + 1, at)
        assert before[0] == pytest.approx(after[0], abs=1e-12)
        assert abs(before[1] @ after[1]) < 0.1  # at a right angle


def test_straight_pieces_are_known():
    curve = space_curve(cylinder(*square_domain(20, 0.0).T))
    assert sorted(piece.straight for piece in curve.pieces) == [False, False, True, True]


def test_smoothing_takes_noise_away():
    exact = saddle_curve(300, 0.3)
    noisy = exact + 1e-3 * np.random.default_rng(0).standard_normal(exact.shape)
    smooth = space_curve(noisy, smoothing=1e-3)
    angle = np.arctan2(*smooth(np.linspace(0.0, smooth.length, 100))[:, 1::-1].T)
    points = smooth(np.linspace(0.0, smooth.length, 100))
    true = np.stack([np.cos(angle), np.sin(angle), 0.3 * np.cos(2 * angle)], axis=1)
    assert np.sqrt(((points - true) ** 2).sum(axis=1).mean()) < 1e-3


def test_samples_include_the_corners():
    curve = space_curve(SQUARE)
    points = curve.sampled(0.5, 1.5, 2)
    assert len(points) == 3
    assert points[1] == pytest.approx(SQUARE[20], abs=1e-12)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda x: x[:5], "has 5 points, expected at least 12"),
        (lambda x: x[:, :2], r"expected \(n, 3\)"),
        (lambda x: np.where(np.arange(len(x))[:, None] == 3, np.nan, x), "point 3 of the curve"),
        (lambda x: np.insert(x, 6, x[6], axis=0), "points 6 and 7 of the curve coincide"),
        (lambda x: np.concatenate([x, x[:1]]), "repeats the first"),
        (lambda x: x[: len(x) // 2], "the curve is open"),
        (lambda x: x * [1.0, 0.0, 0.0], "coincide|on a line"),
        (lambda x: np.linspace(0, 1, 20)[:, None] * [1.0, 2.0, 3.0], "open|on a line"),
    ],
)
def test_bad_curves_are_named(spoil, said):
    with pytest.raises(ValueError, match=said):
        space_curve(spoil(saddle_curve(40, 0.4)))


def test_bad_options_are_named():
    x = saddle_curve(40, 0.4)
    for corners, said in (([0, 40], "from 0 to 39"), ([1, 1], "different points"), ([0.5], "indices of points")):
        with pytest.raises(ValueError, match=said):
            space_curve(x, corners=corners)
    with pytest.raises(ValueError, match="smoothing is -1"):
        space_curve(x, smoothing=-1.0)
