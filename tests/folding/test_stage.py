"""A small napkin is folded on a table: it lies where it was put, over and under, and nothing passes through."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.folding import Stage
from isocloth.folding.library import corner_error
from isocloth.meshes import rectangle
from isocloth.states import Fold

MESH = rectangle(1.0, 1.0, (10, 10))
EDGE = 1.0 / 9.0  # m; a crease is as round as an edge is long, and takes as much from the flap
CORNER = Fold(point=(0.25, 0.25), towards=(-1.0, -1.0))


def test_a_corner_is_folded_over_and_comes_to_rest():
    seen = []
    stage = Stage(MESH, look=lambda sim: seen.append(sim.time))
    stage.fold(CORNER, 1.0)
    assert corner_error(MESH, stage.positions, [CORNER]) < EDGE
    assert stage.record.unconverged == 0
    assert len(seen) == stage.record.steps
    assert stage.record.speed < 0.05
    assert stage.positions[:, 2].min() > 0.4e-3  # on the table, half of a thickness over it
    tip = MESH.nearest([0.0, 0.0, 0.0])
    assert stage.positions[tip, 2] > 1.2e-3  # on a layer


def test_a_corner_is_folded_under():
    stage = Stage(MESH)
    stage.fold(Fold(point=CORNER.point, towards=CORNER.towards, under=True), 1.0)
    assert corner_error(MESH, stage.positions, [CORNER]) < EDGE
    tip, over = MESH.nearest([0.0, 0.0, 0.0]), MESH.nearest([0.5, 0.5, 0.0])
    assert stage.positions[tip, 2] < stage.positions[over, 2]
    assert stage.record.unconverged == 0


def test_a_lifted_corner_leaves_the_cloth_nearly_flat():
    stage = Stage(MESH)
    stage.lift(2, (-0.01, -0.01), 0.1)
    assert 1e-4 < np.abs(stage.positions[:, :2] - MESH.vertices[:, :2]).max() < 0.05
    assert stage.record.unconverged == 0


def test_a_start_above_or_below_is_put_on_the_table():
    stage = Stage(MESH, MESH.vertices + np.array([0.0, 0.0, -3.0]))
    assert stage.positions[:, 2] == pytest.approx(0.5e-3)
