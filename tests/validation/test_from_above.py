"""What is seen from above, its outline, and the marks that are not covered."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.meshes import rectangle
from isocloth.states import Fold, boundary_of, fold, ideal_states
from validation.from_above import (
    PITCH,
    View,
    outline_distances,
    seen_points,
    top,
    view,
    visible_segments,
)
from validation.simulated_states import coordinates_of, names_without_itself, resampled

MESH = rectangle(1.0, 1.0, (20, 20))
HALF = fold(MESH.vertices, Fold(point=(0.5, 0.4), towards=(0.0, -1.0)))


def test_the_highest_layer_is_seen_and_beside_the_cloth_nothing():
    z = top(HALF, MESH.triangles, np.array([[0.5, 0.6], [0.5, 0.9], [0.5, 0.1]]))
    assert z[0] == pytest.approx(HALF[:, 2].max(), abs=2e-3)
    assert z[1] == pytest.approx(0.0, abs=1e-12)
    assert z[2] == -np.inf


def test_points_are_as_many_as_the_shadow_has_room_for():
    points = seen_points(HALF, MESH.triangles, np.random.default_rng(0))
    assert len(points) * PITCH**2 == pytest.approx(0.6, rel=0.05)
    assert points[:, 1].min() > 0.35


def test_outlines_do_not_feel_turns_shifts_and_first_points():
    angle = 2.0 * np.pi * np.arange(90) / 90
    curve = np.stack([np.cos(angle) + 0.3 * np.cos(2 * angle), 0.6 * np.sin(angle), 0.0 * angle], axis=1)
    c, s = np.cos(0.7), np.sin(0.7)
    moved = np.roll(curve, 31, axis=0) @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T + [2.0, 1.0, 0.0]
    table = outline_distances([curve, moved, 1.5 * curve, None])
    assert table[0, 1] < 0.02
    assert table[0, 2] > 0.3
    assert np.isinf(table[3]).all()
    assert table[:3, :3] == pytest.approx(table[:3, :3].T)


def test_marks_under_a_layer_are_covered():
    database = ideal_states(1)
    state = database.names().index("half past the edge")
    nothing = View(np.zeros((0, 3)), None, None)
    assert np.isnan(visible_segments(database, state, nothing)).all()
    seen = visible_segments(database, state, view(database.positions[state], MESH.triangles, np.random.default_rng(0)))
    covered = np.isnan(seen).any(axis=(1, 2))
    assert 0 < covered.sum() < 8
    flat = visible_segments(database, 0, view(database.positions[0], MESH.triangles, np.random.default_rng(0)))
    assert np.isfinite(flat).all()


def test_a_surface_is_the_same_through_another_net():
    same, x = resampled(MESH, HALF, (20, 20))
    assert x == pytest.approx(HALF[[int(MESH.nearest(v)) for v in same.vertices]], abs=1e-9)
    finer, y = resampled(MESH, HALF, (39, 39))
    kept = [int(finer.nearest(v)) for v in MESH.vertices]
    assert y[kept] == pytest.approx(HALF, abs=1e-9)


def test_a_state_is_named_by_the_others_only():
    database = ideal_states(2)
    known = coordinates_of(database.boundaries)
    found = names_without_itself(known, database, known)
    alone = ideal_states(1)
    lonely = coordinates_of([boundary_of(alone.mesh, x) for x in alone.positions])
    assert (found == database.labels).mean() > 0.8
    assert not (names_without_itself(lonely, alone, lonely) == alone.labels).any()
    assert (names_without_itself(np.full_like(known, np.nan), database, known) == -1).all()
