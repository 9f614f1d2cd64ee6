"""Cloth models side by side: each fitted to the same recordings in the same way."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from isocloth.base.errors import ConvergenceError, InputError, InputTypeError, RecordingError
from isocloth.base.numeric import check_flag
from isocloth.calibration.calibrate import calibrate
from isocloth.calibration.choice import parameters_of
from isocloth.calibration.compare_report import save_report
from isocloth.calibration.experiment import Experiment
from isocloth.calibration.model_table import ModelTable
from isocloth.calibration.preparation import as_experiments
from isocloth.calibration.result import Calibration
from isocloth.models import MODELS, Model, as_model
from isocloth.recordings import Recording


class Comparison(ModelTable):
    """Models fitted to the same recordings, and the page about them."""

    def report(self, path: str | os.PathLike[str], *, title: str = "Cloth models side by side") -> None:
        """Write a page (HTML, one file) with the table, errors over time and shapes of all models."""
        save_report(self, path, title=title)


def compare_models(
    recording: Recording | Sequence[Recording],
    parameters: Sequence[Any] | Mapping[str, Any] = ("gravity_density", "damping"),
    method: str = "multistart",
    *,
    models: Sequence[str | Model] = MODELS,
    folder: str | os.PathLike[str] | None = None,
    resume: bool = False,
    progress: bool = False,
    **options: Any,
) -> Comparison:
    """Fit every model to the same recordings, in the same windows, by the same search, and put them side by side.

    Args:
        recording: one or several, which are fitted together.
        parameters: of the fabric and of obstacles, as in `calibrate`; they mean the same in every model. One of a
            model, "model.stretch", is for models that all have it.
        method: of the search, as in `calibrate`; all models get the same options and so the same budget.
        models: names, or models with parameters, e.g. `ic.models.Elastic(stretch=2000)`.
        folder: where all evaluations are kept (evaluations-<model>.json), with the best so far, and the numbers of the
            models that are done (comparison.json); made if needed.
        resume: go on from what the folder holds; the result is the same as without the interruption.
        progress: show lines on standard error.
        options: for `calibrate` (train, test, loss, workers, search, ...) and `prepare` (fabric, shape, timestep, ...).

    A model that cannot be simulated on the recordings is left out, and `left_out` says why.
    """
    check_flag(resume, "resume")
    check_flag(progress, "progress")
    chosen = _named(models)
    if isinstance(recording, Experiment) or (
        not isinstance(recording, Recording) and any(isinstance(r, Experiment) for r in recording)
    ):
        raise InputTypeError(
            "recording is an Experiment: expected an isocloth.Recording, which every model prepares anew"
        )
    of_search = {k: options.pop(k) for k in ("train", "test", "loss", "workers", "dask", "search") if k in options}
    if "model" in options:
        raise InputTypeError(f"model = {options['model']!r}: expected models=[...], the ones to compare")
    if folder is not None:
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
    ready: dict[str, tuple[Experiment, ...]] = {}
    left_out: dict[str, str] = {}
    refusals: list[InputError | ConvergenceError] = []
    for name, model in chosen.items():  # before anything takes long
        try:
            ready[name] = as_experiments(recording, {**options, "model": model})
        except (InputError, ConvergenceError) as error:
            left_out[name] = str(error)
            refusals.append(error)
    if not ready:
        raise refusals[0]
    for experiments in ready.values():
        parameters_of(parameters, experiments)
    fitted: dict[str, Calibration] = {}
    for number, (name, experiments) in enumerate(ready.items(), start=1):
        if progress:
            print(f"isocloth: {name} ({number} of {len(ready)})", file=sys.stderr, flush=True)
        try:
            fitted[name] = calibrate(
                experiments, parameters, method, progress=progress, resume=resume,
                save=None if folder is None else folder / f"evaluations-{_slug(name)}.json", **of_search,
            )  # fmt: skip
        except RecordingError as error:
            left_out[name] = str(error)
            refusals.append(error)
        if folder is not None and fitted:
            Comparison(fitted=fitted, left_out=left_out, wanted=tuple(chosen)).save(folder / "comparison.json")
    if not fitted:
        raise refusals[-1]
    return Comparison(fitted=fitted, left_out=left_out, wanted=tuple(chosen))


def _named(models: Sequence[str | Model]) -> dict[str, Model]:
    """Name -> model; parameters that are not the defaults are part of the name."""
    found: dict[str, Model] = {}
    for given in [models] if isinstance(models, str | Model) else models:
        model = as_model(given)
        default = asdict(type(model)())
        changed = {k: v for k, v in asdict(model).items() if v != default[k]}
        named = [f"{k} {v}" if isinstance(v, str) else f"{k} {v:g}" for k, v in changed.items()]
        name = ", ".join([model.name, *named])
        if name in found:
            raise InputError(f"models: {name!r} is named twice; expected different ones, or other parameters")
        found[name] = model
    if not found:
        raise InputError(f"models is empty: expected at least one of {', '.join(MODELS)}")
    return found


def _slug(name: str) -> str:
    """The name as part of a file's; signs of exponents stay, so that 1e+06 and 1e-06 do not share a file."""
    return re.sub(r"[^\w.+-]+", "-", name)
