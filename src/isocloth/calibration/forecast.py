"""delta and alpha without fitting, from density, size and speed (thesis, section 4.2.3); fitting that formula anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import minimize

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.typing import FloatArray
from isocloth.calibration.experiment import Experiment
from isocloth.calibration.parameters import Parameter
from isocloth.calibration.pool import make_pool
from isocloth.calibration.preparation import as_experiments
from isocloth.calibration.task import Setting, Task
from isocloth.fabric import Fabric
from isocloth.recordings import Recording

#: m^2, the area that counts as size 1
A3 = 0.297 * 0.420
#: m/s, below this share of the density a forecast would be no cloth any more
LEAST_DELTA = 0.02
#: s, over which velocities of markers are taken: noise matters less, and cloth moves slower
SPAN = 0.1


def features(size: tuple[float, float], speed: float, density: float) -> FloatArray:
    """(1, S, V, rho): area relative to A3, V in m^2/s^2, kg/m^2."""
    return np.array([1.0, size[0] * size[1] / A3, speed, density])


def speed_measure(recording: Recording) -> float:
    """V: mean over time and markers of the upper half of the squared speeds, m^2/s^2.

    Velocities are differences over a tenth of a second. The noise of the positions is estimated from third differences
    and its share taken off.
    """
    part = recording.longest_segment()
    times, points = part.times, part.positions
    half = max(1, round(0.5 * SPAN * part.rate))
    if len(times) <= 2 * half + 3:
        half = max(1, (len(times) - 4) // 2)
    span = (times[2 * half :] - times[: -2 * half])[:, None]
    away = points[2 * half :] - points[: -2 * half]
    squares = (away**2).sum(axis=2) / span**2
    third = np.diff(points, n=3, axis=0)
    variance = float(np.nanmedian(third**2)) / 0.4549 / 20.0  # median of chi-squared with one degree of freedom
    known = np.sort(squares[np.isfinite(squares)])
    if len(known) == 0:
        return 0.0
    upper = float(known[len(known) // 2 :].mean())
    return max(0.0, upper - 6.0 * variance / float(np.median(span)) ** 2)


@dataclass(frozen=True)
class Forecast:
    """delta = d . (1, S, V, rho) and alpha = a . (1, S, V, rho)."""

    delta: tuple[float, float, float, float]
    alpha: tuple[float, float, float, float]

    def parameters(self, size: tuple[float, float], speed: float, density: float) -> tuple[float, float]:
        """delta in kg/m^2 and alpha in kg/(m^2 s), kept within what a cloth can have."""
        x = features(size, speed, density)
        delta = float(np.clip(np.dot(self.delta, x), LEAST_DELTA * density, density))
        return delta, max(0.0, float(np.dot(self.alpha, x)))

    def fabric(self, recording: Recording, fabric: Fabric | None = None, speed: float | None = None) -> Fabric:
        """The fabric that is forecast for a recorded motion; of a planned one give its speed measure V."""
        cloth = fabric or recording.fabric
        if cloth is None or recording.size is None:
            raise InputError("a forecast needs the density and the size of the cloth; give fabric=ic.Fabric(...)")
        v = speed_measure(recording) if speed is None else speed
        delta, alpha = self.parameters(recording.size, v, cloth.density)
        return replace(cloth, gravity_density=delta, damping=alpha)


#: the papers' coefficients: cloth held by a hanger, and by bare hands (thesis, table 4.6)
HANGER = Forecast((-0.0223, -0.0178, 0.0714, 0.7664), (0.2082, -0.1481, 1.1804, 1.7440))
HANDS = Forecast((-0.0359, -0.0117, 0.0780, 0.7890), (0.2155, -0.1711, 1.4410, 1.9387))


def forecast(recording: Recording, *, holder: str | None = None, fabric: Fabric | None = None) -> Fabric:
    """The papers' forecast for a recording; `holder` is "hanger" or "hands" (None: as the file says, else hanger)."""
    if not isinstance(recording, Recording):
        raise InputTypeError(f"recording is {type(recording).__name__}: expected an isocloth.Recording")
    who = holder if holder is not None else str(recording.metadata.get("holder", "hanger"))
    if who not in ("hanger", "hands"):
        raise InputError(f"holder = {who!r}: expected 'hanger' or 'hands'")
    return (HANDS if who == "hands" else HANGER).fabric(recording, fabric)


@dataclass(frozen=True, kw_only=True)
class Refit:
    """A forecast fitted to recordings. mean_error: R of thesis eq. 4.7, m; before: that of the start."""

    forecast: Forecast
    mean_error: float
    before: float
    simulations: int


def refit(
    recordings: Sequence[Any],
    *,
    start: Forecast = HANGER,
    fitted: Sequence[tuple[float, float]] | None = None,
    most: int = 200,
    workers: int | None = None,
    dask: Any = None,
    **options: Any,
) -> Refit:
    """Fit the coefficients of the forecast to a set of recordings.

    R, the mean over recordings of their mean errors, is minimised by the simplex method (thesis, eq. 4.7), from the
    better of two starts: given coefficients, and a regression on fitted pairs (delta, alpha), if these are given. With
    few recordings, or features that are all alike, coefficients stay near those of the start: the simplex begins with
    steps of a tenth of what each term contributes.

    Args:
        recordings: with sizes and fabrics.
        start: coefficients to begin with.
        fitted: (delta, alpha) of every recording, from `calibrate`.
        most: evaluations of R, each a simulation of every recording.
    """
    experiments = as_experiments(recordings, options)
    rows = [_features_of(e) for e in experiments]
    X = np.array(rows)
    rho = X[:, 3]
    bounds = (Parameter("gravity_density", 0.0, 2.0), Parameter("damping", 0.0, 40.0))
    whole = tuple((float(e.recording.times[0]), float(e.recording.times[-1])) for e in experiments)
    pool = make_pool(Setting(experiments, bounds, whole), workers, dask)
    spent = 0
    best: tuple[float, FloatArray] = (np.inf, np.zeros(8))

    def mean_error(c: FloatArray) -> float:
        nonlocal spent, best
        delta = np.clip(X @ c[:4], LEAST_DELTA * rho, rho)
        alpha = np.clip(X @ c[4:], 0.0, 40.0)
        tasks = [Task(k, (float(d) / 2.0, float(a) / 40.0)) for k, (d, a) in enumerate(zip(delta, alpha, strict=True))]
        found: dict[int, float] = {}

        def take(task: Task, result: dict[str, Any]) -> None:
            found[task.experiment] = float("inf") if result["mean"] is None else float(result["mean"])

        pool.run(tasks, take)
        spent += len(tasks)
        value = float(np.mean([found[k] for k in range(len(tasks))]))
        if value < best[0]:
            best = (value, c.copy())
        return min(value, 1e3)

    first = np.array([*start.delta, *start.alpha])
    try:
        before = mean_error(first)
        if fitted is not None:
            pairs = np.asarray(fitted, dtype=np.float64)
            if pairs.shape != (len(experiments), 2):
                raise InputError(f"fitted has shape {pairs.shape}: expected ({len(experiments)}, 2), delta and alpha")
            # nearest to the start where the recordings leave coefficients open
            change = np.linalg.pinv(X, rcond=1e-6) @ (pairs - np.stack([X @ first[:4], X @ first[4:]], axis=1))
            mean_error(first + change.T.ravel())
        middle = best[1].copy()
        scale = np.abs(np.concatenate([middle[:4] * X.mean(axis=0), middle[4:] * X.mean(axis=0)]))
        floor = np.repeat([0.05 * rho.mean(), 0.2 * rho.mean()], 4)
        step = 0.1 * np.maximum(scale, floor) / np.tile(np.maximum(X.mean(axis=0), 1e-9), 2)
        if spent < most * len(experiments):
            simplex = np.vstack([middle, middle + np.diag(step)])
            minimize(
                mean_error, middle, method="Nelder-Mead",
                options={"initial_simplex": simplex, "maxfev": most, "xatol": 1e-4, "fatol": 1e-6},
            )  # fmt: skip
    finally:
        pool.close()
    c = best[1]
    return Refit(
        forecast=Forecast(tuple(c[:4].tolist()), tuple(c[4:].tolist())),
        mean_error=best[0], before=before, simulations=spent,
    )  # fmt: skip


def _features_of(experiment: Experiment) -> FloatArray:
    size = experiment.recording.size
    if size is None:
        raise InputError("a forecast needs the size of the cloth")
    return features(size, speed_measure(experiment.recording), experiment.fabric.density)
