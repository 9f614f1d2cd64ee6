"""Handles and crosscaps that are too small to be true."""

import numpy as np
import pytest

from isocloth.meshes.surfaces import surface
from isocloth.reconstruction import reconstruct
from isocloth.reconstruction.triangulation import ribbon, triangulate
from isocloth.reconstruction.triangulation.neighbours import MOST
from isocloth.reconstruction.triangulation.remove_handles import remove_handles

from ..nets import planar_net


def ribbon_graph(points):
    """The net of a well sampled surface, with its faces in order, and the nearest points."""
    frames, around, degree, _, _, near = planar_net(points)
    ribbon.rotations(points, frames, around, degree)
    ribbon.remove_twisted_edges(points, frames, around, degree)
    return frames, around, degree, near


def defect(frames, around, degree):
    """2 for every handle, 1 for every crosscap of a connected ribbon graph."""
    used = degree > 0
    return 2 - (used.sum() - degree.sum() // 2 + len(ribbon.faces(frames, around, degree)[1]) - 1)


def joined(around, degree, a, b, slot):
    """The net with one edge more, which leaves a and b at a place of their cyclic orders."""
    for v, w in ((a, b), (b, a)):
        row = np.insert(around[v, : degree[v]], slot % degree[v], w)
        around[v, : len(row)] = row
        degree[v] += 1


def test_a_piece_of_plane_is_left_alone():
    frames, around, degree, near = ribbon_graph(surface("sphere").sample(600, seed=0))
    before = around.copy()
    assert remove_handles(frames, around, degree, near[5]) == 0
    assert (around == before).all()


@pytest.mark.parametrize("far", [6, 12, 20])
def test_an_edge_that_makes_a_handle_goes_and_all_others_stay(far):
    frames, around, degree, near = ribbon_graph(surface("sphere").sample(600, seed=0))
    a = 5
    b = next(w for w in near[a, far:].tolist() if w not in around[a, : degree[a]])
    before = around.copy()
    for slot in range(3):
        joined(around, degree, a, b, slot)
        if defect(frames, around, degree):
            break
        ribbon.remove_edge(around, degree, a, b)
    assert defect(frames, around, degree) == 2
    assert remove_handles(frames, around, degree, np.append(near[a], a)) > 0
    assert defect(frames, around, degree) == 0
    kept = sum(len(set(row.tolist()) - {-1}) for row in around)
    assert kept >= (before >= 0).sum() - 6


def test_a_twisted_edge_goes():
    """A square whose planes turn by half a turn on the way around is a Moebius strip; the steepest step is cut."""
    angle = np.radians([0.0, 40.0, 80.0, 140.0])
    frames = np.stack([np.tile([0.0, 0.0, 1.0], (4, 1)), np.stack([np.cos(angle), np.sin(angle), 0 * angle], 1)], 1)
    around, degree = np.full((4, MOST), -1), np.full(4, 2)
    around[:, :2] = [[1, 3], [0, 2], [1, 3], [2, 0]]
    assert defect(frames, around, degree) == 1
    assert remove_handles(frames, around, degree, np.arange(4)) == 1
    assert 3 not in around[2], "the planes of 2 and 3 differ most"
    assert defect(frames, around, degree) == 0


def saddle(count, seed):
    """Two sharp seams that cross, one up and one down, as where the legs of trousers meet."""
    x, y = np.random.default_rng(seed).uniform(-1.0, 1.0, size=(2, count))
    return np.stack([x, y, 1.6 * np.abs(y) - 1.6 * np.abs(x)], axis=1)


def test_sharp_saddles_are_discs_and_what_was_mended_is_a_doubt(monkeypatch):
    clouds = [saddle(2000, seed) for seed in range(6)]
    found = [reconstruct(cloud) for cloud in clouds]
    assert all(f.invariants == (1, 1, 1, True) for f in found)
    mended = [f for f in found if f.stages.mended]
    assert mended
    assert all("handle" in [doubt.what for doubt in f.doubts] for f in mended)
    monkeypatch.setattr(triangulate, "REMOVALS", 0)
    assert reconstruct(mended[0].given).euler_characteristic < 1


def test_a_true_handle_is_not_taken_for_a_mistake():
    found = reconstruct(surface("torus").sample(600, seed=0))
    assert found.invariants == (1, 0, 0, True)
    assert found.stages.mended == 0
