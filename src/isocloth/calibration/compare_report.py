"""A page about cloth models side by side: the papers' table, errors over time, shapes; one file."""

from __future__ import annotations

import html
import os

from isocloth.base.files import atomic_path
from isocloth.calibration.charts import line_chart
from isocloth.calibration.model_table import ModelTable
from isocloth.calibration.report import STYLE, shapes

#: recordings that are drawn; all are in the table
DRAWN = 4


def save_report(found: ModelTable, path: str | os.PathLike[str], *, title: str) -> None:
    """Write the page."""
    with atomic_path(path) as temporary:
        temporary.write_text(page(found, title), encoding="utf-8")


def page(found: ModelTable, title: str) -> str:
    """The text of the page."""
    fits = next(iter(found.fitted.values())).fits
    parts = [
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(title)}</title>',
        f"<style>{STYLE}</style><h1>{html.escape(title)}</h1>",
        "<p>Every model fitted to the same recordings in the training window by the same search; errors are those of "
        "the test window. Solves are projections or factorisations.</p>",
        _table(found),
        *(f'<p class="doubt">{html.escape(line)}</p>' for line in found.remarks()),
    ]
    for number in range(min(len(fits), DRAWN)):
        parts += _recording(found, number)
    if len(fits) > DRAWN:
        parts.append(f"<p>{len(fits) - DRAWN} further recordings are in the JSON file.</p>")
    return "\n".join([*parts, "</html>"]) + "\n"


def _table(found: ModelTable) -> str:
    rows = ""
    for name, *numbers in (r.cells() for r in [*found.rows(), *found.baselines()]):
        rows += f"<tr><td>{html.escape(name)}</td>{''.join(f'<td class=n>{x}</td>' for x in numbers)}</tr>"
    head = "".join(f"<th{' class=n' if k else ''}>{html.escape(h)}</th>" for k, h in enumerate(found.heads()))
    return f"<table><tr>{head}</tr>{rows}</table>"


def _recording(found: ModelTable, number: int) -> list[str]:
    fits = {name: c.fits[number] for name, c in found.fitted.items()}
    any_fit = next(iter(fits.values()))
    name = any_fit.experiment.recording.name or "recording"
    errors = {name: f.errors for name, f in fits.items()}
    parts = [f"<h2>{html.escape(name)}</h2>"]
    for what, of in (("error e", "e"), ("dispersion e + 2 s", "d")):
        parts.append(
            line_chart(
                f"{what} over time (test window shaded)", "time, s", "cm", any_fit.errors.times,
                {n: 1e2 * getattr(e, of) for n, e in errors.items()}, shaded=any_fit.test,
            )
        )  # fmt: skip
    both = {n: 1e2 * e.e for n, e in {**errors, **any_fit.baselines}.items()}
    parts.append(
        line_chart(
            "error e, with what predicts without a model (dashed)", "time, s", "cm", any_fit.errors.times, both,
            shaded=any_fit.test, dashed=tuple(any_fit.baselines),
        )
    )  # fmt: skip
    parts.append("<p>Simulated meshes (blue) and recorded markers (red) at three instants of the test window.</p>")
    for model, fit in fits.items():
        notes = "; ".join(fit.experiment.notes)
        parts.append(f"<h3>{html.escape(model)}</h3>" + (f"<p>{html.escape(notes)}</p>" if notes else ""))
        parts.append(f'<div class="row">{"".join(shapes(fit))}</div>')
    return parts
