"""Fitting parameters to recordings."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, RecordingError
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray
from isocloth.calibration.choice import parameters_of
from isocloth.calibration.evaluations import Evaluations, Linear
from isocloth.calibration.experiment import Experiment, Window
from isocloth.calibration.fit import fit_of
from isocloth.calibration.parameters import named_at, owned
from isocloth.calibration.pool import make_pool
from isocloth.calibration.preparation import as_experiments
from isocloth.calibration.result import Calibration
from isocloth.calibration.search import METHODS, SearchOptions, paraboloid_spread
from isocloth.calibration.task import Setting
from isocloth.recordings import Recording

#: parts of the ranges within which points say how rough the loss is
NEAR = 0.08
#: m; a parameter whose whole range moves the markers by less has no effect on the motion
IDLE = 1e-6


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
        parameters: names of a fabric's fields, with the papers' ranges; or a mapping name -> (low, high). "friction" is
            that of the cloth on itself, "friction:table" that of the obstacle called table, "model.stretch" a
            parameter of the model.
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
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method {method!r} is unknown; choose one of {', '.join(METHODS)}")
    if loss not in ("rms", "mean"):
        raise InputError(f"loss {loss!r} is unknown; choose 'rms' or 'mean'")
    check_flag(resume, "resume")
    check_flag(progress, "progress")
    begin = time.monotonic()
    experiments = as_experiments(recording, options)
    chosen = parameters_of(parameters, experiments)
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
    named = named_at(chosen, u)
    sigma = {p.name: float(abs(p.slope(x)) * s) for p, x, s in zip(chosen, u, spread, strict=True)}
    fits = tuple(fit_of(e.at(named), *w) for e, w in zip(experiments, windows, strict=True))
    return Calibration(
        parameters=chosen, values=named, uncertainty=sigma, correlation=correlation,
        fabric=replace(experiments[0].fabric, **owned(named).fabric), fits=fits, method=method, loss=least,
        simulations=seen.computed, asked=seen.asked, unconverged=seen.unconverged,
        seconds=time.monotonic() - begin, evaluated=tried,
        at_bounds=tuple(p.name for p, x in zip(chosen, u, strict=True) if x < 2e-3 or x > 1.0 - 2e-3),
        options={"loss": loss, **{k: v for k, v in options.items() if isinstance(v, str | int | float | bool)}},
    )  # fmt: skip


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
                f"to {times[-1]:g} s, choose one within"
            )
    return (float(a[0]), float(a[1])), (float(b[0]), float(b[1]))


def _uncertainty(u: FloatArray, linear: Linear | None, rough: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Standard deviations (p,) of parts of the ranges, and correlations (p, p).

    (J^T J)^-1 S (J^T J)^-1, with S from the gradients of blocks of a second: residuals within a block may be as
    dependent as they like. To this is added how uncertain the minimum of a rough loss is. It knows how well the data
    fix the parameters of this model, not whether the model is right.
    """
    p = len(u)
    if linear is None:
        return np.full(p, np.nan), np.eye(p)
    idle = np.diag(linear.normal) < IDLE**2  # a pseudoinverse would call what has no effect exactly known
    inverse = np.linalg.pinv(linear.normal, hermitian=True)
    covariance = inverse @ linear.scores @ inverse + rough
    spread = np.where(idle, np.inf, np.sqrt(np.maximum(np.diag(covariance), 0.0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = covariance / np.outer(spread, spread)
    return spread, np.where(np.isfinite(correlation), correlation, 0.0)
