"""A run ends when it was asked to: its last step is shorter, or longer by less than a tenth."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import BusyError
from isocloth.base.locks import locked

SHEET = ic.meshes.rectangle(0.3, 0.4, shape=(5, 6))


def held(**options):
    sim = ic.Simulation(SHEET, **options)
    sim.grasp([0])
    return sim


@pytest.mark.parametrize(
    ("duration", "times"),
    [
        (0.015, [0, 0.01, 0.015]),
        (0.0105, [0, 0.0105]),
        (0.03, [0, 0.01, 0.02, 0.03]),
        (3 * 0.01 + 1e-10, [0, 0.01, 0.02, 0.03]),
        (0.0299, [0, 0.01, 0.02, 0.0299]),
    ],
)
def test_the_last_frame_is_at_the_end_of_the_duration(duration, times):
    sim = held()
    assert sim.run(duration).times == pytest.approx(times)
    assert sim.timestep == 0.01


def test_frames_fall_on_steps_and_on_the_end():
    assert held().run(0.055, every=0.02).times == pytest.approx([0, 0.02, 0.04, 0.055])


def test_whole_steps_are_the_same_bits_as_before():
    sim = held()
    for _ in range(3):
        sim.step()
    np.testing.assert_array_equal(held().run(0.03).positions[-1], sim.positions)


def test_a_shorter_last_step_falls_as_far_as_it_should():
    sim = ic.Simulation(SHEET, ic.Fabric(density=0.2))
    found = sim.run(0.025)
    # implicit Euler first, BDF2 afterwards: near g t^2 / 2, and nearer to it than a step more or less
    drop = -float(found.positions[-1][:, 2].mean())
    assert drop == pytest.approx(0.5 * 9.81 * 0.025**2, rel=0.3)
    assert -float(sim.velocities[:, 2].mean()) == pytest.approx(9.81 * 0.025, rel=1e-9)


def test_a_short_last_step_is_resumed_with_the_same_bits(tmp_path):
    whole = held().run(0.045)
    stop = iter([None, None, KeyboardInterrupt])

    def interrupt(sim):
        if (error := next(stop)) is not None:
            raise error

    file = tmp_path / "run.npz"
    with pytest.raises(KeyboardInterrupt):
        held().run(0.045, checkpoint=file, on_frame=interrupt)
    resumed = held().run(0.045, checkpoint=file)
    np.testing.assert_array_equal(resumed.positions, whole.positions)
    np.testing.assert_array_equal(resumed.times, whole.times)
    assert list(tmp_path.iterdir()) == []


def test_two_runs_do_not_share_a_checkpoint(tmp_path):
    file = tmp_path / "run.npz"
    with locked(file, "running"), pytest.raises(BusyError, match="one run at a time"):
        held().run(0.02, checkpoint=file)
