"""A page about a calibration: values, errors over time, shapes, what was tried; one file, nothing else needed."""

from __future__ import annotations

import html
import os

import numpy as np

from isocloth.base.files import atomic_path
from isocloth.base.typing import FloatArray
from isocloth.calibration.charts import line_chart, scatter_chart, shape_chart
from isocloth.calibration.fit import Fit, FittedParameters
from isocloth.calibration.sensitivity import SensitivityMap

STYLE = """
body { font: 16px/1.5 sans-serif; max-width: 62em; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: 0.2em 1.1em 0.2em 0; text-align: left; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; } .doubt { color: #a03010; }
svg { max-width: 100%; }
.row svg { max-width: 32%; }
"""


def save_report(
    found: FittedParameters,
    path: str | os.PathLike[str],
    *,
    title: str = "Calibration",
    map: SensitivityMap | None = None,
) -> None:
    """Write the page; `map` is shown if it is given."""
    with atomic_path(path) as temporary:
        temporary.write_text(page(found, title, map), encoding="utf-8")


def page(found: FittedParameters, title: str, map: SensitivityMap | None = None) -> str:
    """The text of the page."""
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>',
        f"<style>{STYLE}</style><h1>{html.escape(title)}</h1>",
        _values(found),
        f"<p>{html.escape(found.method)}: {found.effort}; {found.unconverged} steps not converged. "
        f"Training error {1e2 * found.loss:.3f} cm "
        f"({html.escape(str(found.options.get('loss', 'rms')))}).</p>",
    ]
    parts += [
        f'<p class="doubt">{html.escape(name)} ended at a bound of its range: the best value may lie beyond.</p>'
        for name in found.at_bounds
    ]
    for fit in found.fits[:8]:
        parts += _recording(fit)
    if len(found.fits) > 8:
        parts.append(f"<p>{len(found.fits) - 8} further recordings are in the table of the JSON file.</p>")
    if map is not None:
        parts.append("<h2>Sensitivity</h2><p>Mean error over two parameters; the cross is at the fitted values.</p>")
        names = [p.name for p in map.parameters]
        mark = (found.values[names[0]], found.values[names[1]]) if set(names) <= set(found.values) else None
        parts.append(map.chart(mark))
    parts += _tried(found)
    return "\n".join([*parts, "</html>"]) + "\n"


def _values(found: FittedParameters) -> str:
    rows = "".join(
        f"<tr><td>{html.escape(p.name)}</td><td>{html.escape(p.symbol)}</td><td class=n>{found.values[p.name]:.5g}</td>"
        f"<td class=n>{found.uncertainty[p.name]:.2g}</td><td>{p.low:.4g} to {p.high:.4g}</td></tr>"
        for p in found.parameters
    )
    head = "<tr><th>parameter</th><th></th><th>value</th><th>standard deviation</th><th>range</th></tr>"
    return f"<table>{head}{rows}</table>"


def _recording(fit: Fit) -> list[str]:
    name = fit.experiment.recording.name or "recording"
    head = "<tr><th>test window</th><th>mean error, cm</th><th>mean s, cm</th><th>largest d, cm</th></tr>"
    rows = ""
    for who, errors in {"model": fit.errors, **fit.baselines}.items():
        e = errors.within(*fit.test)
        rows += (
            f"<tr><td>{html.escape(who)}</td><td class=n>{1e2 * e.mean:.3f}</td><td class=n>{1e2 * e.deviation:.3f}"
            f"</td><td class=n>{1e2 * e.largest_dispersion:.3f}</td></tr>"
        )
    notes = "".join(
        f"<li>{html.escape(note)}</li>" for note in (*fit.experiment.recording.notes, *fit.experiment.notes)
    )
    times = fit.errors.times
    curves = {"model": 1e2 * fit.errors.e} | {n: 1e2 * e.e for n, e in fit.baselines.items()}
    return [
        f"<h2>{html.escape(name)}</h2><table>{head}{rows}</table>",
        f"<ul>{notes}</ul>" if notes else "",
        line_chart("error e over time (test window shaded)", "time, s", "cm", times, curves, shaded=fit.test),
        line_chart(
            "model: error and dispersion e + 2 s", "time, s", "cm", times,
            {"e": 1e2 * fit.errors.e, "e + 2 s": 1e2 * fit.errors.d}, shaded=fit.test,
        ),
        "<p>Simulated mesh (blue) and recorded markers (red) at three instants of the test window.</p>",
        f'<div class="row">{"".join(shapes(fit))}</div>',
    ]  # fmt: skip


def shapes(fit: Fit) -> list[str]:
    """Drawings of three instants of the test window."""
    experiment = fit.experiment
    assert experiment.recording.mesh is not None
    view = _view(experiment.path)
    out = []
    for share in (0.1, 0.5, 0.9):
        t = fit.test[0] + share * (fit.test[1] - fit.test[0])
        k = int(np.argmin(np.abs(fit.errors.times - t)))
        step = int(np.clip(round((fit.errors.times[k] - experiment.times[0]) / experiment.timestep), 0,
                           len(fit.simulated.frames) - 1))  # fmt: skip
        label = f"{fit.errors.times[k]:.2f} s, e = {1e2 * fit.errors.e[k]:.2f} cm"
        out.append(
            shape_chart(
                label, experiment.mesh.edges, fit.simulated.frames[step], experiment.recording.mesh.edges,
                experiment.recording.positions[k], view,
            )
        )  # fmt: skip
    return out


def _view(path: FloatArray) -> FloatArray:
    """Directions (2, 3) of the picture: askew from the side, z up."""
    axis = path[0, -1] - path[0, 0] if path.shape[1] > 1 else np.array([1.0, 0.0, 0.0])
    axis = np.array([axis[0], axis[1], 0.0])
    axis /= max(float(np.linalg.norm(axis)), 1e-9)
    side = np.cross([0.0, 0.0, 1.0], axis)
    right = 0.5 * axis + 0.866 * side
    return np.array([right, [0.0, 0.0, 1.0]])


def _tried(found: FittedParameters) -> list[str]:
    places, losses = found.evaluated
    known = np.isfinite(losses)
    parts = ["<h2>What was tried</h2>"]
    best = np.minimum.accumulate(np.where(known, losses, np.inf))
    shown = np.where(np.isfinite(best), 1e3 * best, np.nan)
    parts.append(
        line_chart(
            "best training error so far",
            "evaluation",
            "mm",
            np.arange(1.0, len(best) + 1.0, dtype=np.float64),
            {"best": shown},
        )
    )
    p = found.parameters
    values = np.array([[q.value(float(x)) for q, x in zip(p, u, strict=True)] for u in places[known]])
    for i in range(len(p)):
        for j in range(i + 1, len(p)):
            mark = (found.values[p[i].name], found.values[p[j].name])
            parts.append(
                scatter_chart(
                    "training error (dark is small)", (p[i].name, p[j].name), values[:, i], values[:, j],
                    1e3 * losses[known], mark,
                )
            )  # fmt: skip
    return parts
