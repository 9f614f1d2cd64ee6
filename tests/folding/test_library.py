"""Simulated states are the ideal folds with mechanics; labels of sequences follow what is seen from above."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.folding import library
from isocloth.folding.library import (
    corner_error,
    crossed_sides,
    labels_from_above,
    simulated_sequence,
    simulated_state,
    turned_corners,
    without_transients,
)
from isocloth.meshes import rectangle
from isocloth.states import Fold, boundary_of, fold, folded, ideal_sequence
from isocloth.states.napkin import SEQUENCES

MESH = rectangle(1.0, 1.0, (20, 20))


def test_ideal_folds_do_not_stray_and_an_unfolded_one_does():
    folds = [Fold(point=(0.2, 0.2), towards=(-1.0, -1.0))]
    assert corner_error(MESH, folded(MESH.vertices, folds), folds) == pytest.approx(0.0, abs=1e-12)
    assert corner_error(MESH, MESH.vertices, folds) == pytest.approx(2 * 0.2 * np.sqrt(2.0), abs=0.03)


def test_a_corner_that_is_folded_over_shows_its_other_side():
    assert turned_corners(boundary_of(MESH)) == (False,) * 4
    one = fold(MESH.vertices, Fold(point=(0.3, 0.3), towards=(-1.0, -1.0)))
    assert sum(turned_corners(boundary_of(MESH, one))) == 1


def test_sides_cross_when_flaps_do():
    assert not any(crossed_sides(boundary_of(MESH)))
    apart = [Fold(point=(0.2, 0.2), towards=(-1.0, -1.0)), Fold(point=(0.8, 0.8), towards=(1.0, 1.0))]
    assert not any(crossed_sides(boundary_of(MESH, folded(MESH.vertices, apart))))
    over = [Fold(point=(0.33, 0.31), towards=(-1.0, -1.0)), Fold(point=(0.68, 0.68), towards=(1.0, 1.0))]
    # the first corner's two sides, 0 and 3, with those of the opposite corner, 1 and 2: (0, 1) and (2, 3)
    assert crossed_sides(boundary_of(MESH, folded(MESH.vertices, over))) == (True, False, False, False, False, True)


@pytest.mark.parametrize("name", SEQUENCES)
def test_the_labels_from_above_are_those_of_the_ideal_sequences(name):
    mesh, positions, labels = ideal_sequence(name)
    found, wanted = labels_from_above(mesh, positions), without_transients(labels)
    # a flap past the vertical and a corner that shows its other side are the same, but for the frame in which
    assert found.max() == wanted.max()
    assert (found == wanted).mean() > 0.8


def test_a_view_of_a_single_frame_is_a_passage():
    assert without_transients(np.array([0, 0, 1, 1, 2, 3, 4, 4])).tolist() == [0, 0, 1, 1, 1, 1, 2, 2]
    assert without_transients(np.array([0, 1, 1])).tolist() == [0, 1, 1]


def test_a_view_that_comes_back_after_a_single_frame_has_not_changed():
    assert without_transients(np.array([0, 0, 1, 0, 0, 2, 2])).tolist() == [0, 0, 0, 0, 0, 1, 1]
    assert without_transients(np.array([0, 0, 1, 1, 0, 0])).tolist() == [0, 0, 1, 1, 2, 2], "one that lasted has"


def test_a_frame_that_flickers_gets_no_label_of_its_own():
    one = fold(MESH.vertices, Fold(point=(0.3, 0.3), towards=(-1.0, -1.0)))
    frames = np.array([MESH.vertices, MESH.vertices, one, MESH.vertices, MESH.vertices, one, one])
    assert labels_from_above(MESH, frames).tolist() == [0, 0, 0, 0, 0, 1, 1]


def test_a_state_is_the_same_for_the_same_seed_and_another_for_another():
    first, again = (simulated_state("flat", 0, shape=(6, 6)).positions for _ in range(2))
    assert np.array_equal(first, again)
    other = simulated_state("flat", 1, shape=(6, 6)).positions
    assert not np.allclose(first, other)


def test_draws_that_go_astray_are_left_out_and_too_many_are_an_error(monkeypatch):
    far = iter([0.5, 0.5, 0.01])
    monkeypatch.setattr(library, "corner_error", lambda *_: next(far))
    made = simulated_state("flat", 0, shape=(6, 6))
    assert (made.draw, made.astray) == (2, 0.01)
    monkeypatch.setattr(library, "corner_error", lambda *_: 1.0)
    monkeypatch.setattr(library, "DRAWS", 1)
    with pytest.raises(RuntimeError, match="take another seed"):
        simulated_state("flat", 0, shape=(6, 6))


def test_a_simulated_sequence_begins_flat_and_ends_folded():
    mesh, positions, labels = simulated_sequence("in half", frames=18, shape=(8, 8))
    assert positions.shape == (19, 64, 3)
    assert labels[0] == 0
    assert labels[-1] >= 2
    assert np.ptp(positions[0][:, 1]) == pytest.approx(1.0, abs=0.02)
    # the side past the opposite one, as in the ideal sequence: 1.18 m +- 0.06 from where it was
    assert positions[-1][mesh.nearest([0.0, 0.0, 0.0]), 1] > 1.0


def test_unknown_names_are_refused_with_the_known_ones():
    with pytest.raises(KeyError, match="corner in"):
        simulated_state("corner inn")
    with pytest.raises(KeyError, match="in half"):
        simulated_sequence("in halves")
