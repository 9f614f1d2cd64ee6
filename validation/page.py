"""One page (HTML) with the verdicts, pictures and series of all checks of a run."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from html import escape
from pathlib import Path

import isocloth
from isocloth.base.files import atomic_path
from validation.machine import machine
from validation.plot import svg
from validation.result import Result, worst_text

STYLE = """
body { font: 15px/1.45 sans-serif; color: #222; max-width: 1180px; margin: 2em auto; padding: 0 1em; }
h2 { margin: 1.4em 0 0; border-top: 1px solid #ccc; padding-top: 0.6em; font-size: 19px; }
p { margin: 0.3em 0; }
table { border-collapse: collapse; font-size: 13px; margin: 0.6em 0; }
td, th { padding: 2px 9px; border-bottom: 1px solid #e4e4e4; text-align: right; vertical-align: top; }
td:first-child, th:first-child, .text { text-align: left; }
.missed { color: #b3261e; font-weight: bold; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(540px, 1fr)); gap: 12px; align-items: start; }
.figures img, .figures svg { width: 100%; height: auto; border: 1px solid #e4e4e4; }
summary { cursor: pointer; color: #1f5fa8; }
"""


def write_page(results: Sequence[Result], path: Path, *, quick: bool) -> None:
    """Write the page beside the pictures, which it names by their files."""
    with atomic_path(path) as temporary:
        Path(temporary).write_text(page(results, quick=quick), encoding="utf-8")


def page(results: Sequence[Result], *, quick: bool) -> str:
    """The page as text."""
    wanted, missed = sum(r.targets for r in results), sum(len(r.missed) for r in results)
    day = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")
    about = ", ".join(f"{name} {value}" for name, value in machine().items())
    rows = "".join(_overview(result) for result in results)
    head = (
        f"<p>{wanted - missed} of {wanted} targets reached in {len(results)} checks, "
        f"{'small versions' if quick else 'whole checks'}, isocloth {isocloth.__version__}, {day}. {escape(about)}.</p>"
        '<table><tr><th>check</th><th>reached</th><th class="text">worst number (target)</th><th>s</th></tr>'
        f"{rows}</table>"
    )
    parts = "\n".join(_part(result) for result in results)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>isocloth reproduce</title>'
        f"<style>{STYLE}</style></head><body><h1>isocloth reproduce</h1>\n{head}\n{parts}\n</body></html>\n"
    )


def _overview(result: Result) -> str:
    kind = ' class="missed"' if result.missed else ""
    return (
        f'<tr><td><a href="#{result.name}">{result.name}</a></td>'
        f"<td{kind}>{result.targets - len(result.missed)} of {result.targets}</td>"
        f'<td class="text">{escape(worst_text(result))}</td><td>{result.seconds:.0f}</td></tr>\n'
    )


def _part(result: Result) -> str:
    """One check: pictures first, numbers on demand, those that are missed at once."""
    figures = [f'<img src="{escape(name)}" alt="{escape(name)}" title="{escape(name)}">' for name in result.pictures]
    figures += [svg(series) for series in result.series]
    missed = "".join(
        f'<p class="missed">missed: {escape(line.what)}: {escape(line.shown)} ({escape(line.target)})</p>'
        for line in result.missed
    )
    notes = "".join(f"<p>{escape(note)}</p>" for note in result.notes)
    shown = f'<div class="figures">{"".join(figures)}</div>' if figures else ""
    return (
        f'<h2 id="{result.name}">{result.name}</h2>'
        f"<p>{escape(result.title)} ({result.seconds:.0f} s)</p>{missed}{shown}"
        f"<details><summary>{len(result.lines)} numbers</summary>{_table(result)}{notes}</details>"
    )


def _table(result: Result) -> str:
    verdict = {None: "", True: "yes", False: '<span class="missed">NO</span>'}
    rows = "".join(
        f"<tr><td>{escape(x.what)}</td><td>{escape(x.shown)}</td><td>{escape(x.target)}</td>"
        f"<td>{escape(x.paper)}</td><td>{verdict[x.reached]}</td></tr>\n"
        for x in result.lines
    )
    return f"<table><tr><th></th><th>measured</th><th>target</th><th>paper</th><th>reached</th></tr>\n{rows}</table>"
