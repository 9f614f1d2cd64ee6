"""One simulation takes one step at a time: a second thread, or a force that steps, is refused."""

from __future__ import annotations

import copy
import pickle
import threading
import time

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import BusyError

SHEET = ic.meshes.rectangle(0.3, 0.4, shape=(5, 6))


def still(t, x, v):
    return 0.0 * x


def slow(t, x, v):
    time.sleep(0.02)
    return 0.0 * x


def test_two_threads_lose_no_step_silently():
    sim = ic.Simulation(SHEET, extra_force=slow)
    sim.step()
    done, refused = [], []

    def run():
        for _ in range(10):
            try:
                done.append(sim.step().time)
            except BusyError as error:
                refused.append(str(error))

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert refused
    assert "copy.deepcopy(sim)" in refused[0]
    assert sim.state.steps == 1 + len(done)
    assert sim.time == pytest.approx(0.01 * sim.state.steps)


def test_a_step_that_fails_gives_the_turn_back():
    sim = ic.Simulation(SHEET, extra_force=lambda t, x, v: np.full_like(x, np.nan))
    for _ in range(2):
        with pytest.raises(ValueError, match="not finite"):
            sim.step()


def test_copies_have_a_turn_of_their_own():
    sim = ic.Simulation(SHEET, extra_force=still)
    sim.step()
    for other in (copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        other.step()
        assert other.time == pytest.approx(0.02)
    copies = []
    sim.extra_force = lambda t, x, v: copies.append(copy.deepcopy(sim)) or 0.0 * x
    sim.step()
    copies[0].extra_force = None
    copies[0].step()  # made in the middle of a step of the other
