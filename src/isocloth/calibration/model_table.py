"""The papers' table of cloth models: errors, times and parameters of each, with baselines."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from isocloth.base.files import atomic_path
from isocloth.calibration.errors import Errors
from isocloth.calibration.result import Calibration


@dataclass(frozen=True, kw_only=True)
class Row:
    """A line of the papers' table, of the test windows of all recordings.

    mean, deviation: m, means of e and s. largest_dispersion: m, of e + 2 s. seconds: processor time for all recordings.
    iterations: projections or factorisations per step. timestep: s. Baselines have none of these, and no parameters.
    """

    name: str
    mean: float
    deviation: float
    largest_dispersion: float
    seconds: float | None = None
    iterations: float | None = None
    timestep: float | None = None
    unconverged: int = 0
    simulations: int | None = None
    values: Mapping[str, float] = field(default_factory=dict)

    def cells(self) -> list[str]:
        """The line as text, lengths in cm; of a baseline only its errors."""
        found = [self.name, *(f"{1e2 * x:.3f}" for x in (self.mean, self.deviation, self.largest_dispersion))]
        if self.seconds is not None and self.iterations is not None and self.timestep is not None:
            found += [f"{self.seconds:.2f}", f"{1e3 * self.timestep:.3g}", f"{self.iterations:.2f}"]
            found += [*(f"{v:#.4g}" for v in self.values.values()), str(self.simulations)]
        return found


@dataclass(frozen=True, kw_only=True)
class ModelTable:
    """The papers' table of models fitted to the same recordings.

    fitted: name of a model -> its calibration. left_out: name -> why it could not be fitted. wanted: all names.
    """

    fitted: Mapping[str, Calibration]
    left_out: Mapping[str, str]
    wanted: tuple[str, ...]

    @property
    def recorded(self) -> float:
        """Length of all recordings together, s."""
        return float(sum(f.experiment.recording.duration for f in self._any.fits))

    @property
    def _any(self) -> Calibration:
        return next(iter(self.fitted.values()))

    def rows(self) -> list[Row]:
        """The models in the order in which they were asked for."""
        return [_model_row(name, found) for name, found in self.fitted.items()]

    def baselines(self) -> list[Row]:
        """What predicts without a model of cloth: frozen, carried along, a damped pendulum."""
        fits = self._any.fits
        found: list[Row] = []
        for k, first in enumerate(fits[0].baselines):
            # the pendulum's name carries its damping, which differs from recording to recording
            name = first if len(fits) == 1 else first.partition(",")[0]
            found.append(_row(name, [list(f.baselines.values())[k].within(*f.test) for f in fits]))
        return found

    def heads(self) -> list[str]:
        """What stands over the columns of the table."""
        fitted = [p.symbol for p in self._any.parameters]
        timed = [f"{self.recorded:.3g} s take, s", "step, ms", "solves/step"]
        return ["test window, cm", "mean e", "mean s", "max d", *timed, *fitted, "simulations"]

    def summary(self) -> str:
        """The papers' table as text."""
        table = [r.cells() for r in [*self.rows(), *self.baselines()]]
        names = max(len(cells[0]) for cells in table)
        heads = self.heads()
        wide = [max(8, len(head) + 2) for head in heads[1:]]
        lines = [f"{heads[0]:{names}s}" + "".join(f"{head:>{w}s}" for head, w in zip(heads[1:], wide, strict=True))]
        for name, *numbers in table:  # baselines have fewer columns
            lines.append(f"{name:{names}s}" + "".join(f"{x:>{w}s}" for x, w in zip(numbers, wide, strict=False)))
        return "\n".join([*lines, *self.remarks()])

    def remarks(self) -> list[str]:
        """What a reader of the table should know, a line each."""
        found = [f"{name}: left out: {why}" for name, why in self.left_out.items()]
        for p in self._any.parameters:
            stopped = [name for name, calibration in self.fitted.items() if p.name in calibration.at_bounds]
            if stopped:
                found.append(f"{p.name} ended at a bound of its range: {', '.join(stopped)}")
        found += [
            f"{name}: {calibration.unconverged} steps of all simulations did not converge"
            for name, calibration in self.fitted.items()
            if calibration.unconverged
        ]
        missing = [n for n in self.wanted if n not in self.fitted and n not in self.left_out]
        return [*found, f"not fitted yet: {', '.join(missing)}"] if missing else found

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "complete": all(n in self.fitted or n in self.left_out for n in self.wanted),
            "recorded_s": self.recorded,
            "rows": [asdict(r) for r in [*self.rows(), *self.baselines()]],
            "left_out": dict(self.left_out),
            "fitted": {name: found.to_dict() for name, found in self.fitted.items()},
        }

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the numbers as JSON."""
        with atomic_path(path) as temporary:
            temporary.write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")


def _model_row(name: str, found: Calibration) -> Row:
    rows = [f.row() for f in found.fits]
    return _row(
        name, [f.errors.within(*f.test) for f in found.fits],
        seconds=float(sum(r["seconds"] for r in rows)), iterations=float(np.mean([r["iterations"] for r in rows])),
        timestep=found.fits[0].experiment.timestep, unconverged=sum(f.simulated.unconverged for f in found.fits),
        simulations=found.asked, values=dict(found.values),
    )  # fmt: skip


def _row(name: str, errors: Sequence[Errors], **others: Any) -> Row:
    return Row(
        name=name, mean=float(np.mean([e.mean for e in errors])),
        deviation=float(np.mean([e.deviation for e in errors])),
        largest_dispersion=float(max(e.largest_dispersion for e in errors)), **others,
    )  # fmt: skip
