"""Ideal folds are isometries, land where they should, and do not pass through what lies there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth import meshes
from isocloth.states import Fold, coordinates, distance, fold, folded, ideal_sequence, ideal_states
from isocloth.states.folds import CLEARANCE, sequence
from isocloth.states.napkin import CLASSES, SEQUENCES, crossings

NAPKIN = meshes.rectangle(1.0, 1.0, (20, 20))


def plane(n):
    """A fine grid of the unit square (n, n, 3)."""
    s = np.linspace(0.0, 1.0, n)
    x, y = np.meshgrid(s, s, indexing="ij")
    return np.stack([x, y, 0.0 * x], axis=-1)


def metric_error(shape, n, h):
    """Largest error of E, F, G of a grid of a unit square, where all is smooth."""
    x = shape.reshape(n, n, 3)
    u, v = (x[2:, 1:-1] - x[:-2, 1:-1]) / (2 * h), (x[1:-1, 2:] - x[1:-1, :-2]) / (2 * h)
    return np.abs(np.stack([(u * u).sum(-1) - 1.0, (v * v).sum(-1) - 1.0, (u * v).sum(-1)])).max(axis=0)


@given(
    st.floats(0.2, 0.8), st.floats(0.2, 0.8), st.floats(0.0, 6.3), st.floats(0.0, np.pi), st.floats(0.02, 0.1),
    st.booleans(),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_a_fold_of_a_flat_sheet_is_an_isometry(x, y, angle, turn, radius, under):
    n = 401
    h = 1.0 / (n - 1)
    by = Fold((x, y), (np.cos(angle), np.sin(angle)), angle=turn, radius=radius, under=under)
    shape = fold(plane(n).reshape(-1, 3), by)
    error = metric_error(shape, n, h)
    # second differences: chords of the arcs; beside the lines where curvature jumps the same order in h
    assert error.max() < (h / radius) ** 2


def test_a_corner_lands_on_its_mirror_image_less_the_bend():
    by = Fold((0.25, 0.25), (-1.0, -1.0), radius=0.005)
    x = fold(NAPKIN.vertices, by)
    # twice the distance of the corner from the line, shortened by the half circle
    reach = 2 * 0.25 * np.sqrt(2.0) - np.pi * 0.005
    assert np.hypot(*x[0, :2]) == pytest.approx(reach)
    assert x[0, 2] == pytest.approx(0.010)
    assert x[-1] == pytest.approx([1.0, 1.0, 0.0])


def test_a_fold_under_is_the_mirror_image_of_a_fold_over_and_dgli_cannot_tell():
    over = Fold((0.3, 0.2), (-1.0, -0.8))
    under = replace(over, under=True)
    up, down = fold(NAPKIN.vertices, over), fold(NAPKIN.vertices, under)
    assert down[:, :2] == pytest.approx(up[:, :2])
    assert down[:, 2] == pytest.approx(up[:, 2].max() - up[:, 2])
    assert distance(coordinates(NAPKIN, up), coordinates(NAPKIN, down)) == pytest.approx(0.0, abs=1e-12)


def test_a_second_flap_lies_on_the_first():
    first, second = Fold((0.3, 0.3), (-1.0, -1.0)), Fold((0.7, 0.7), (1.0, 1.0))
    x = folded(NAPKIN.vertices, [first, second])
    before = fold(NAPKIN.vertices, first)
    assert x[-1, 2] >= before[:, 2].max() + CLEARANCE - 1e-12
    assert x[:, 2].min() == 0.0


def test_layers_bent_together_stay_apart():
    half = Fold((0.5, 0.5), (0.0, -1.0))
    x = folded(NAPKIN.vertices, [half, Fold((0.5, 0.5), (-1.0, 0.0))])
    corners = x[NAPKIN.corners, 2]
    assert np.diff(np.sort(corners)).min() > 0.005
    assert x[:, :2].min() > 0.48  # a quarter of the napkin and its bends
    # the two layers are concentric: nothing meets
    upper, lower = x[NAPKIN.nearest([[0.0, 0.0, 0.0]])], x[NAPKIN.nearest([[0.0, 1.0, 0.0]])]
    assert abs(upper[0, 2] - lower[0, 2]) > 0.005


def test_a_line_beside_the_sheet_folds_nothing():
    assert fold(NAPKIN.vertices, Fold((2.0, 0.0), (1.0, 0.0))) == pytest.approx(NAPKIN.vertices)


def test_a_sequence_begins_flat_and_ends_folded():
    folds = CLASSES["opposite in"](np.random.default_rng(0))
    shapes, angles = sequence(NAPKIN.vertices, folds, 7)
    assert shapes.shape == (15, 400, 3)
    assert shapes[0] == pytest.approx(NAPKIN.vertices)
    assert shapes[-1] == pytest.approx(folded(NAPKIN.vertices, folds))
    assert angles[7].tolist() == [np.pi, 0.0]
    assert angles[-1].tolist() == [np.pi, np.pi]
    with pytest.raises(ValueError, match="frames is 0"):
        sequence(NAPKIN.vertices, folds, 0)


def test_the_database_is_the_same_for_the_same_seed_and_grows_at_the_end():
    few, more, other = ideal_states(2), ideal_states(3), ideal_states(2, seed=1)
    assert few.checksum == ideal_states(2).checksum != other.checksum
    assert more.positions[[0, 1, 3, 4]].tolist() == few.positions[:4].tolist()
    assert len(few) == 24
    assert few.classes == tuple(CLASSES)
    coarse = ideal_states(1, shape=(10, 10))
    assert coarse.positions[5, 0] == pytest.approx(ideal_states(1, shape=(19, 19)).positions[5, 0], abs=2e-3)


def test_the_checksum_of_the_database_is_known():
    """What ships as a generator must not change unnoticed: results quoted in the documents belong to this one."""
    assert ideal_states().checksum.startswith("b1f961c75a68")


@pytest.mark.parametrize("name", SEQUENCES)
def test_labels_of_a_sequence_change_with_what_is_seen(name):
    mesh, positions, labels = ideal_sequence(name)
    assert len(positions) == len(labels)
    assert labels[0] == 0
    assert set(np.diff(labels).tolist()) == {0, 1}
    assert labels[-1] >= {"two opposite corners": 2, "four corners inwards": 4, "in half": 2}[name]
    assert mesh.n_vertices == 400


def test_crossings_are_counted():
    square = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 5]])
    assert crossings(square) == 0
    assert crossings(square[[0, 2, 1, 3]]) == 1
    angle = 2 * np.pi * 2 * np.arange(5) / 5
    star = np.stack([np.cos(angle), np.sin(angle), 0 * angle], axis=1)
    assert crossings(star) == 5


def test_bad_folds_are_named():
    for bad, said in (
        ({"towards": (0.0, 0.0)}, "towards is"),
        ({"angle": 4.0}, "angle is 4.0 rad"),
        ({"radius": 0.0}, "radius is 0.0 m"),
        ({"point": (np.nan, 0.0)}, "finite numbers"),
    ):
        with pytest.raises(ValueError, match=said):
            Fold(**{"point": (0.0, 0.0), "towards": (1.0, 0.0)} | bad)
    with pytest.raises(ValueError, match="positions have shape"):
        fold(np.zeros((3, 2)), Fold((0.0, 0.0), (1.0, 0.0)))
    with pytest.raises(KeyError, match="'in thirds' is unknown"):
        ideal_sequence("in thirds")
    with pytest.raises(ValueError, match="samples is 0"):
        ideal_states(0)
