"""The recording of the check that compares models: how it moves, and that what is fitted does not know of the air."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.calibration import prepare
from validation import cross_model


def test_the_recording_moves_as_it_says_and_the_air_matters() -> None:
    seen, unconverged = cross_model.recorded(9, 0.01, 2.0)
    assert unconverged == 0
    assert len(seen.labels) == 25
    assert seen.rate == pytest.approx(cross_model.RATE)
    moved = seen.positions[:, seen.held, 1]
    assert moved == pytest.approx(np.array([cross_model.shift(t) for t in seen.times])[:, None] * [1.0, 1.0], abs=1e-9)
    assert seen.fabric == cross_model.CLOTH
    # the same sheet on the same mesh without the air: what a model that does not know it would do undamped
    experiment = prepare(seen)
    assert experiment.mesh.n_vertices == 81
    assert "extra_force" not in experiment.options
    assert 1e3 * experiment.errors(experiment.simulate(cross_model.CLOTH)).mean > 5.0


def test_the_distance_of_two_recordings_is_that_of_their_markers() -> None:
    seen, _ = cross_model.recorded(5, 0.01, 0.05)
    shifted = seen.with_(positions=seen.positions + np.array([0.0, 3e-3, 4e-3]))
    assert cross_model.apart(seen, shifted) == pytest.approx(5.0)
