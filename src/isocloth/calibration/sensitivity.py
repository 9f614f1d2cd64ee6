"""The mean error over two parameters: how much it matters to know them."""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.files import atomic_path
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray
from isocloth.calibration.charts import map_chart
from isocloth.calibration.choice import parameters_of
from isocloth.calibration.evaluations import Evaluations
from isocloth.calibration.experiment import Window
from isocloth.calibration.parameters import Parameter, values_at
from isocloth.calibration.pool import make_pool
from isocloth.calibration.preparation import as_experiments
from isocloth.calibration.task import Setting


@dataclass(frozen=True, kw_only=True)
class SensitivityMap:
    """Mean error over a grid of two parameters.

    values: two arrays, the values of both parameters. errors: (a, b) m, NaN where there is no motion.
    """

    parameters: tuple[Parameter, Parameter]
    values: tuple[FloatArray, FloatArray]
    errors: FloatArray
    window: Window
    simulations: int
    unconverged: int

    @property
    def best(self) -> dict[str, float]:
        """The values with the smallest error on the grid."""
        i, j = np.unravel_index(int(np.nanargmin(self.errors)), self.errors.shape)
        return {self.parameters[0].name: float(self.values[0][i]), self.parameters[1].name: float(self.values[1][j])}

    def chart(self, mark: tuple[float, float] | None = None) -> str:
        """A picture of the map as SVG text; mark: values at which a cross is drawn."""
        return map_chart((self.parameters[0].name, self.parameters[1].name), self.values, self.errors, mark)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the map: .csv (numbers) or .svg (picture)."""
        suffix = Path(path).suffix.lower()
        if suffix not in (".csv", ".svg"):
            raise InputError(f"a sensitivity map is saved as .csv or .svg, but {str(path)!r} was given")
        if suffix == ".svg":
            with atomic_path(path) as temporary:
                temporary.write_text(self.chart(), encoding="utf-8")
            return
        with atomic_path(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow([self.parameters[0].name, self.parameters[1].name, "mean_error_m"])
            for i, a in enumerate(self.values[0]):
                for j, b in enumerate(self.values[1]):
                    writer.writerow([f"{a:.9g}", f"{b:.9g}", f"{self.errors[i, j]:.9g}"])


def sensitivity(
    recording: Any,
    parameters: Sequence[Any] | Mapping[str, Any] = ("gravity_density", "damping"),
    *,
    points: int | tuple[int, int] = 10,
    window: Window | None = None,
    workers: int | None = None,
    dask: Any = None,
    save: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    **options: Any,
) -> SensitivityMap:
    """The mean error of one or several recordings over two parameters.

    points: values of each. window: s; by default the second half, as in the thesis (section 4.1.3). Other arguments as
    of `calibrate`.
    """
    check_flag(resume, "resume")
    check_flag(progress, "progress")
    experiments = as_experiments(recording, options)
    chosen = parameters_of(parameters, experiments)
    if len(chosen) != 2:
        raise InputError(f"a map has two parameters, but {[p.name for p in chosen]} were given")
    counts = tuple(points) if isinstance(points, tuple | list) else (points, points)
    if len(counts) != 2 or not all(isinstance(n, int | np.integer) for n in counts) or min(counts) < 2:
        raise InputError(f"points = {points!r}: expected at least 2 values of each parameter")
    windows = tuple(window or e.halves()[1] for e in experiments)
    setting = Setting(experiments, chosen, windows)
    pool = make_pool(setting, workers, dask)
    axes = [np.linspace(0.0, 1.0, n) for n in counts]
    try:
        file = None if save is None else Path(save)
        seen = Evaluations(setting, pool, loss="mean", file=file, resume=resume, progress=progress)
        losses = np.array(seen.losses([np.array([a, b]) for a in axes[0] for b in axes[1]]))
        seen.end_progress()
    finally:
        pool.close()
    values = [np.array([values_at((p,), np.array([u]))[0] for u in axis]) for p, axis in zip(chosen, axes, strict=True)]
    errors = np.where(np.isfinite(losses), losses, np.nan).reshape(counts)
    return SensitivityMap(
        parameters=(chosen[0], chosen[1]), values=(values[0], values[1]), errors=errors, window=windows[0],
        simulations=seen.computed, unconverged=seen.unconverged,
    )  # fmt: skip
