"""The result of a calibration: fitted parameters as text, JSON and a page."""

from __future__ import annotations

import json
import os
from typing import Any

from isocloth.base.files import atomic_path
from isocloth.calibration.fit import FittedParameters, table
from isocloth.calibration.report import save_report


class Calibration(FittedParameters):
    """Fitted parameters, and how they are shown and saved."""

    def summary(self) -> str:
        """What was found, as text."""
        lines = []
        for p in self.parameters:
            bound = "   at a bound of its range" if p.name in self.at_bounds else ""
            lines.append(
                f"{p.name:16s} {p.symbol:9s} {self.values[p.name]:10.5g} +- {self.uncertainty[p.name]:.2g}"
                f"   (range {p.low:.4g} to {p.high:.4g}){bound}"
            )
        lines.append("")
        lines += table(self.fits)
        lines.append("")
        lines.append(
            f"{self.method}: {self.effort}, {self.unconverged} steps not converged; training error "
            f"{1e2 * self.loss:.3f} cm"
        )
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "method": self.method, "values": dict(self.values), "uncertainty": dict(self.uncertainty),
            "ranges": {p.name: [p.low, p.high] for p in self.parameters}, "at_bounds": list(self.at_bounds),
            "correlation": self.correlation.tolist(), "loss_m": self.loss, "mean_error_m": self.mean_error,
            "simulations": self.asked, "simulations_now": self.simulations, "seconds": self.seconds,
            "unconverged": self.unconverged,
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
        save_report(self, path, **options)
