"""Fitting parameters to recordings."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError, RecordingError
from isocloth.base.files import atomic_path
from isocloth.base.typing import FloatArray
from isocloth.calibration import baselines
from isocloth.calibration.errors import Errors
from isocloth.calibration.evaluations import Evaluations, Linear
from isocloth.calibration.experiment import Experiment, Simulated, prepare
from isocloth.calibration.parameters import SYMBOLS, Parameter, as_parameters, fabric_at, values_at
from isocloth.calibration.pool import make_pool
from isocloth.calibration.search import METHODS, SearchOptions, paraboloid_spread
from isocloth.calibration.work import Setting
from isocloth.fabric import Fabric
from isocloth.recordings import Recording

Window = tuple[float, float]

#: parts of the ranges within which points say how rough the loss is
NEAR = 0.08


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How well one recording is met with the fitted parameters.

    train, test: s, the two windows. errors: of every frame, m. baselines: name -> errors of what predicts without a
    model. simulated: the motion.
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
class Calibration:
    """Fitted parameters.

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
    def mean_error(self) -> float:
        """Mean of e over the test windows, m."""
        return float(np.mean([f.row()["mean"] for f in self.fits]))

    def summary(self) -> str:
        """What was found, as text."""
        lines = []
        for p in self.parameters:
            bound = "   at a bound of its range" if p.name in self.at_bounds else ""
            lines.append(
                f"{p.name:16s} {SYMBOLS[p.name]:9s} {self.values[p.name]:10.5g} +- {self.uncertainty[p.name]:.2g}"
                f"   (range {p.low:.4g} to {p.high:.4g}){bound}"
            )
        lines.append("")
        lines += table(self.fits)
        lines.append("")
        lines.append(
            f"{self.method}: {self.simulations} simulations in {self.seconds:.1f} s, {self.unconverged} steps not "
            f"converged; training error {1e2 * self.loss:.3f} cm"
        )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "method": self.method, "values": dict(self.values), "uncertainty": dict(self.uncertainty),
            "ranges": {p.name: [p.low, p.high] for p in self.parameters}, "at_bounds": list(self.at_bounds),
            "correlation": self.correlation.tolist(), "loss_m": self.loss, "mean_error_m": self.mean_error,
            "simulations": self.simulations, "seconds": self.seconds, "unconverged": self.unconverged,
            "recordings": [
                {
                    "name": f.experiment.recording.name, "train_s": list(f.train), "test_s": list(f.test),
                    "model": f.row(),
                    "baselines_mean_m": {n: e.within(*f.test).mean for n, e in f.baselines.items()},
                    "notes": [*f.experiment.recording.notes, *f.experiment.notes],
                }
                for f in self.fits
            ],
        }  # fmt: skip

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the numbers as JSON."""
        with atomic_path(path) as temporary:
            temporary.write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")

    def report(self, path: str | os.PathLike[str], **options: Any) -> None:
        """Write a page (HTML, one file) with plots of all this."""
        from isocloth.calibration.report import save_report

        save_report(self, path, **options)


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


def calibrate(
    recording: Recording | Sequence[Recording] | Experiment | Sequence[Experiment],
    parameters: Sequence[Any] | Mapping[str, Any] = ("gravity_density", "damping"),
    method: str = "multistart",
    *,
    train: Window | None = None,
    test: Window | None = None,
    loss: str = "rms",
    workers: int | None = None,
    dask: Any = None,
    save: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    search: SearchOptions | None = None,
    **options: Any,
) -> Calibration:
    """Find the parameters with which the simulation meets one or several recordings best.

    Args:
        recording: one or several; or what `prepare` made of them.
        parameters: names of a fabric's fields, with the papers' ranges; or a mapping name -> (low, high).
        method: "multistart" (many places, then Gauss-Newton from the best), "sweep" and "nelder_mead" (the papers'),
            or "cma" (an evolution strategy, for many parameters or a rough loss).
        train, test: windows in s, on the recording's clock; by default the first and the second half.
        loss: "rms" (root of the mean of e^2 over time, thesis eq. 4.2) or "mean" (mean of e, eq. 4.8).
        workers: processes on this machine; None = one per core.
        dask: a Dask client, or the address of a scheduler.
        save: file (.json) in which every result is kept, with the best so far.
        resume: go on from `save` if it exists; the result is the same as without the interruption.
        progress: show a line on standard error.
        search: how thoroughly to look.
        options: for `prepare`: fabric, shape, timestep, drive, obstacles, model, ...
    """
    if method not in METHODS:
        raise InputError(f"method {method!r} is unknown; choose one of {', '.join(METHODS)}")
    if loss not in ("rms", "mean"):
        raise InputError(f"loss {loss!r} is unknown; choose 'rms' or 'mean'")
    begin = time.monotonic()
    experiments = as_experiments(recording, options)
    chosen = as_parameters(parameters, experiments[0].fabric)
    windows = [_windows(e, train, test) for e in experiments]
    setting = Setting(experiments, chosen, tuple(w[0] for w in windows))
    pool = make_pool(setting, workers, dask)
    file = None if save is None else Path(save)
    try:
        seen = Evaluations(setting, pool, loss=loss, file=file, resume=resume, progress=progress)
        best = METHODS[method](seen, search or SearchOptions())
        if not np.isfinite(seen.best[0]):
            raise RecordingError(
                "no simulation of this recording came to its end, whatever the parameters; look at its start and at "
                "the paths of the held markers"
            )
        least = seen.losses([best])[0]
        linear = seen.linear([best])[0]
        seen.end_progress()
    finally:
        pool.close()
    tried = (np.array([h[0] for h in seen.history]), np.array([h[1] for h in seen.history]))
    u = best
    spread, correlation = _uncertainty(best, linear, paraboloid_spread(tried[0], tried[1] ** 2, best, NEAR))
    values = values_at(chosen, u)
    named = {p.name: float(v) for p, v in zip(chosen, values, strict=True)}
    sigma = {p.name: float(abs(p.slope(x)) * s) for p, x, s in zip(chosen, u, spread, strict=True)}
    fits = tuple(
        fit_of(e, fabric_at(e.fabric, chosen, [named[p.name] for p in chosen]), *w)
        for e, w in zip(experiments, windows, strict=True)
    )
    return Calibration(
        parameters=chosen, values=named, uncertainty=sigma, correlation=correlation,
        fabric=replace(experiments[0].fabric, **named), fits=fits, method=method, loss=least,
        simulations=seen.computed, asked=seen.asked, unconverged=seen.unconverged,
        seconds=time.monotonic() - begin, evaluated=tried,
        at_bounds=tuple(p.name for p, x in zip(chosen, u, strict=True) if x < 2e-3 or x > 1.0 - 2e-3),
        options={"loss": loss, **{k: v for k, v in options.items() if isinstance(v, str | int | float | bool)}},
    )  # fmt: skip


def as_experiments(given: Any, options: Mapping[str, Any]) -> tuple[Experiment, ...]:
    """Recordings made ready; experiments stay as they are."""
    items = [given] if isinstance(given, Recording | Experiment) else list(given)
    if not items:
        raise RecordingError("there is no recording to calibrate with")
    for item in items:
        if not isinstance(item, Recording | Experiment):
            raise InputTypeError(f"recording is {type(item).__name__}: expected an isocloth.Recording")
        if isinstance(item, Experiment) and options:
            raise InputTypeError(f"{', '.join(options)} belong to prepare(), which has been called already")
    return tuple(x if isinstance(x, Experiment) else prepare(x, **options) for x in items)


def _windows(experiment: Experiment, train: Window | None, test: Window | None) -> tuple[Window, Window]:
    first, second = experiment.halves()
    a, b = train or first, test or second
    times = experiment.recording.times
    for name, window in (("train", a), ("test", b)):
        try:
            low, high = (float(x) for x in window)
        except (TypeError, ValueError):
            raise InputError(f"{name} = {window!r}: expected two times in s") from None
        inside = (times >= low - 1e-9) & (times <= high + 1e-9)
        seen = np.isfinite(experiment.recording.positions[inside]).any() if inside.any() else False
        if not low < high or not seen:
            raise RecordingError(
                f"the {name} window from {low:g} to {high:g} s holds no marker; the recording runs from {times[0]:g} "
                f"to {times[-1]:g} s"
            )
    return (float(a[0]), float(a[1])), (float(b[0]), float(b[1]))


def fit_of(experiment: Experiment, fabric: Fabric, train: Window, test: Window) -> Fit:
    """Simulate a recording with a fabric, and hold it beside the recording and the baselines."""
    experiment.simulate(fabric, float(experiment.recording.times[0]))  # kernels are loaded, which takes time once
    begin = time.thread_time()
    simulated = experiment.simulate(fabric)
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


def _uncertainty(u: FloatArray, linear: Linear | None, rough: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations (p,) of parts of the ranges, and correlations (p, p).

    (J^T J)^-1 S (J^T J)^-1, with S from the gradients of blocks of a second: residuals within a block may be as
    dependent as they like. To this is added how uncertain the minimum of a rough loss is. It knows how well the data
    fix the parameters of this model, not whether the model is right.
    """
    p = len(u)
    if linear is None:
        return np.full(p, np.nan), np.eye(p)
    inverse = np.linalg.pinv(linear.normal, hermitian=True)
    covariance = inverse @ linear.scores @ inverse + rough
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covariance / np.outer(spread, spread)
    return spread, np.where(np.isfinite(correlation), correlation, 0.0)
