"""What a calibration finds: fitted parameters, and how well each recording is met with them."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.calibration import baselines
from isocloth.calibration.errors import Errors
from isocloth.calibration.experiment import Experiment, Simulated, Window
from isocloth.calibration.parameters import Parameter
from isocloth.fabric import Fabric
from isocloth.models import Model
from isocloth.obstacles import Obstacle


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How well one recording is met with the fitted parameters.

    train, test: s, the two windows. errors: of every frame, m. baselines: name -> errors of what predicts without a
    model. simulated: the motion. experiment: with the fitted values in it.
    """

    experiment: Experiment
    train: Window
    test: Window
    simulated: Simulated
    errors: Errors
    baselines: Mapping[str, Errors]
    seconds: float  # processor time of one simulation of the whole recording

    def row(self) -> dict[str, float]:
        """The numbers of the papers' tables, of the test window; lengths in m."""
        test = self.errors.within(*self.test)
        return {
            "train_mean": self.errors.within(*self.train).mean, "mean": test.mean, "deviation": test.deviation,
            "largest_dispersion": test.largest_dispersion, "seconds": self.seconds,
            "iterations": self.simulated.iterations / max(len(self.experiment.path) - 1, 1),
            "unconverged": float(self.simulated.unconverged),
        }  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class FittedParameters:
    """What a calibration found.

    values: name -> fitted value, SI. uncertainty: name -> standard deviation. fabric: the fabric with the values.
    loss: m, in the training windows. at_bounds: names of parameters that ended at a bound of their range.
    evaluated: (parts of the ranges (N, p), losses (N,)) of everything that was tried.
    simulations: computed now; asked: all that the search asked for, those of an interrupted run included.
    """

    parameters: tuple[Parameter, ...]
    values: Mapping[str, float]
    uncertainty: Mapping[str, float]
    correlation: FloatArray
    fabric: Fabric
    fits: tuple[Fit, ...]
    method: str
    loss: float
    simulations: int
    unconverged: int
    seconds: float
    at_bounds: tuple[str, ...]
    evaluated: tuple[FloatArray, FloatArray]
    asked: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def effort(self) -> str:
        """How many simulations the search took, and how many of them were not known from a run before."""
        known = "" if self.simulations == self.asked else f" ({self.simulations} now, the others resumed)"
        return f"{self.asked} simulations{known} in {self.seconds:.1f} s"

    @property
    def model(self) -> Model:
        """The cloth model with the values that were fitted to it."""
        return self.fits[0].experiment.model

    @property
    def obstacles(self) -> tuple[Obstacle, ...]:
        """Obstacles of all recordings, each with the friction that was fitted to it."""
        return tuple(obstacle for f in self.fits for obstacle in f.experiment.obstacles)

    @property
    def mean_error(self) -> float:
        """Mean of e over the test windows, m."""
        return float(np.mean([f.row()["mean"] for f in self.fits]))


def fit_of(experiment: Experiment, train: Window, test: Window) -> Fit:
    """Simulate a recording with fitted values in it, and hold it beside the recording and the baselines."""
    # kernels are loaded, which takes time once
    experiment.simulate(experiment.fabric, float(experiment.recording.times[0]))
    begin = time.thread_time()
    simulated = experiment.simulate(experiment.fabric)
    seconds = time.thread_time() - begin
    rate, swung = baselines.fitted_pendulum(experiment, train)
    rivals = {
        "frozen": baselines.frozen(experiment),
        "rigid translation": baselines.rigid_translation(experiment),
        f"pendulum, {rate:g} 1/s": swung,
    }
    return Fit(
        experiment=experiment, train=train, test=test, simulated=simulated, errors=experiment.errors(simulated),
        baselines={name: experiment.errors(points) for name, points in rivals.items()}, seconds=seconds,
    )  # fmt: skip


def table(fits: Sequence[Fit]) -> list[str]:
    """The papers' table: mean error, mean standard deviation, largest dispersion in the test window, with baselines."""
    width = max([9, *(len(f.experiment.recording.name) for f in fits)]) + 2
    out = [f"{'test window, cm':{width}s}{'':20s}{'mean e':>8s}{'mean s':>8s}{'max d':>8s}"]
    for f in fits:
        rows = {"model": f.errors, **f.baselines}
        for k, (name, errors) in enumerate(rows.items()):
            test = errors.within(*f.test)
            head = f.experiment.recording.name if k == 0 else ""
            out.append(
                f"{head:{width}s}{name:20s}{1e2 * test.mean:8.3f}{1e2 * test.deviation:8.3f}"
                f"{1e2 * test.largest_dispersion:8.3f}"
            )
    return out
