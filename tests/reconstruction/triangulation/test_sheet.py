"""Clouds that are known to be of one sheet."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.meshes.surfaces import surface
from isocloth.reconstruction import draw


def flat(count, seed):
    """Points of a square with sides of 1 m."""
    return np.column_stack([np.random.default_rng(seed).uniform(size=(count, 2)), np.zeros(count)])


def words(found):
    return [doubt.what for doubt in found.doubts]


def test_a_part_that_was_not_seen_is_closed_and_doubted():
    points = flat(2000, 0)
    seen = points[np.linalg.norm(points[:, :2] - [0.5, 0.6], axis=1) > 0.15]
    assert ic.reconstruct(seen).description == "ring"
    found = ic.reconstruct(seen, sheet=True)
    assert found.invariants == (1, 1, 1, True)
    assert "hidden" in words(found)
    assert found.surface.area == pytest.approx(1.0, rel=0.05), "the part that was not seen is flat"
    assert found.certainty >= 0.8


def test_of_two_pieces_the_larger_is_kept():
    points = flat(2000, 1)
    seen = points[np.abs(points[:, 0] - 0.25) > 0.12]
    assert ic.reconstruct(seen).components == 2
    found = ic.reconstruct(seen, sheet=True)
    assert found.invariants == (1, 1, 1, True)
    assert found.points[:, 0].min() > 0.25
    assert {"hidden", "left out"} <= set(words(found))


def test_a_sheet_without_holes_is_the_same_as_without_knowing():
    points = flat(1000, 2)
    free, known = ic.reconstruct(points), ic.reconstruct(points, sheet=True)
    np.testing.assert_array_equal(np.unique(known.surface.triangles, axis=0), np.unique(free.surface.triangles, axis=0))
    assert words(known) == words(free)


def test_what_cannot_be_a_sheet_is_said_to_be_none():
    found = ic.reconstruct(surface("torus").sample(1500, seed=0), sheet=True)
    assert found.invariants == (1, 0, 0, True)
    assert "sheet" in words(found)


def test_a_flat_sheet_is_not_drawn_from_its_edge_and_what_was_left_out_is_in_the_picture():
    points = flat(2000, 1)
    found = ic.reconstruct(points[np.abs(points[:, 0] - 0.25) > 0.12], sheet=True, direction=(0.0, 0.05, 1.0))
    camera = draw.view(found, 400, 400)
    screen = camera.project(draw._upright(found, found.given))
    assert (screen[:, :2] > 0.0).all()
    assert (screen[:, :2] < 400.0).all()
    assert np.ptp(screen[:, 0]) * np.ptp(screen[:, 1]) > 0.3 * 400**2
    red = (np.abs(draw.points_picture(found, 400, 400).astype(int) - (210, 40, 40)).max(axis=2) < 60).sum()
    assert red > 100, "the smaller piece"
