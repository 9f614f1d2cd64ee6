"""The parts of the benchmark, each against a second way."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import swing
from benchmarks.peer import MuJoCo
from benchmarks.phases import growth
from benchmarks.tables import table
from isocloth import measure


class Stub:
    """A simulator whose positions count its steps."""

    setup_seconds = 0.0

    def __init__(self) -> None:
        self.steps = 0

    def step(self) -> None:
        self.steps += 1

    def positions(self) -> np.ndarray:
        return np.full((2, 3), float(self.steps))


def test_a_recording_holds_the_start_and_the_end_of_every_step() -> None:
    recording = swing.record(Stub(), 4)
    assert np.array_equal(recording.positions[:, 0, 0], np.arange(5.0))
    assert recording.step_seconds.shape == (4,)


def test_corners_and_tip_are_where_they_should_be() -> None:
    mesh = swing.sheet(9)
    assert mesh.vertices[swing.upper_corners(9)] == pytest.approx(np.array([[0.075, 0.0, 0.594], [0.075, 0.42, 0.594]]))
    assert mesh.vertices[swing.tip(9)] == pytest.approx([0.075, 0.21, 0.0])


def test_growth_finds_the_exponent_of_a_power() -> None:
    sizes = [9, 17, 33]
    assert growth(sizes, [3.0 * (n * n) ** 1.5 for n in sizes]) == pytest.approx(1.5)


def test_tables_have_equal_lines() -> None:
    lines = table(["a", "bb"], [["x", "1"], ["longer", "22"]]).splitlines()
    assert len({len(line) for line in lines}) == 1


def test_the_rival_swings_the_same_cloth() -> None:
    pytest.importorskip("mujoco")
    rival, nodes, steps = MuJoCo(5), 5, 50
    recording = swing.record(rival, steps)
    assert rival.trouble() == ""
    corners = recording.positions[:, swing.upper_corners(nodes)]
    expected = [swing.shake(k * swing.TIMESTEP) for k in range(steps + 1)]
    assert corners[:, :, 0] == pytest.approx(np.stack([expected, expected], axis=1), abs=1e-5)
    assert rival.model.body_mass.sum() == pytest.approx(2e3 + 0.1 * 0.42 * 0.594 * (1 - 2 / 64), rel=1e-9)
    assert float(measure.edge_stretch(swing.sheet(nodes), recording.positions).max.max()) < 2e-3
