"""Series to files: a CSV and a simple line chart as SVG."""

from __future__ import annotations

import csv
from html import escape
from pathlib import Path

import numpy as np

from isocloth.base.files import atomic_path
from isocloth.base.typing import FloatArray
from isocloth.pictures.axes import span, ticks
from validation.result import Series

WIDTH, HEIGHT = 860, 420
#: the names of the curves stand at the right, beside the chart
LEFT, RIGHT, TOP, BOTTOM = 70, 210, 40, 50
COLOURS = ("#1f5fa8", "#c8553d", "#2e8b57", "#8a5fbf", "#b58900", "#444444", "#d0539a", "#3aa6b9")


def write_csv(series: Series, path: Path) -> None:
    """One row per abscissa."""
    with atomic_path(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([series.x_label, *series.columns])
        for k, x in enumerate(series.x):
            writer.writerow([f"{x:.9g}", *(f"{column[k]:.9g}" for column in series.columns.values())])


def write_svg(series: Series, path: Path) -> None:
    """A line chart with axes, ticks and a legend."""
    with atomic_path(path) as temporary:
        Path(temporary).write_text(svg(series), encoding="utf-8")


def svg(series: Series) -> str:
    """The chart as text."""
    x, ys = series.x, list(series.columns.values())
    change = _logarithm if series.log else np.asarray
    sx, sys = change(x), [change(y) for y in ys]
    x0, x1 = span([sx])
    y0, y1 = span(sys if series.log else [*sys, np.zeros(1)])

    def px(value: float) -> float:
        return LEFT + (value - x0) / (x1 - x0) * (WIDTH - LEFT - RIGHT)

    def py(value: float) -> float:
        return HEIGHT - BOTTOM - (value - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" '
        'font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="14">{escape(series.name)}</text>',
    ]
    for value, label in ticks(x0, x1, series.log):
        parts.append(_line(px(value), TOP, px(value), HEIGHT - BOTTOM, "#e4e4e4"))
        parts.append(f'<text x="{px(value):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{label}</text>')
    for value, label in ticks(y0, y1, series.log):
        parts.append(_line(LEFT, py(value), WIDTH - RIGHT, py(value), "#e4e4e4"))
        parts.append(f'<text x="{LEFT - 6}" y="{py(value) + 4:.1f}" text-anchor="end">{label}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 12}" text-anchor="middle">{escape(series.x_label)}</text>')
    parts.append(
        f'<text transform="translate(16 {HEIGHT / 2:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(series.y_label)}</text>"
    )
    for k, (name, y) in enumerate(zip(series.columns, sys, strict=True)):
        colour = COLOURS[k % len(COLOURS)]
        seen = np.isfinite(sx) & np.isfinite(y)
        points = " ".join(f"{px(a):.1f},{py(b):.1f}" for a, b in zip(sx[seen], y[seen], strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        if seen.sum() <= 40:
            parts += [
                f'<circle cx="{px(a):.1f}" cy="{py(b):.1f}" r="3" fill="{colour}"/>'
                for a, b in zip(sx[seen], y[seen], strict=True)
            ]
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 14 + 16 * k}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _logarithm(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.log10(values)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}"/>'
