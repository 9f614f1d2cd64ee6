"""Charts as SVG text: lines over time, a map of two parameters, shapes beside each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray

WIDTH, HEIGHT = 760, 340
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 34, 46
COLOURS = ("#1f5fa8", "#c8553d", "#2e8b57", "#8a5fbf", "#b58900", "#444444", "#8c8c8c", "#b9a58c")


class _Axes(NamedTuple):
    """Linear axes of a chart: the ranges of x and y, and the size of the picture in pixels."""

    x0: float
    x1: float
    y0: float
    y1: float
    width: float
    height: float
    right: float  # margin; the others are LEFT, TOP and BOTTOM

    def px(self, x: float) -> float:
        """Pixels from the left."""
        return LEFT + (x - self.x0) / max(self.x1 - self.x0, 1e-12) * (self.width - LEFT - self.right)

    def py(self, y: float) -> float:
        """Pixels from the top."""
        return self.height - BOTTOM - (y - self.y0) / max(self.y1 - self.y0, 1e-12) * (self.height - TOP - BOTTOM)

    def drawn(self, x_label: str, y_label: str) -> list[str]:
        """Grid lines, their values and the labels."""
        w, h = self.width, self.height
        parts = []
        for value, label in ticks(self.x0, self.x1):
            x = self.px(value)
            parts.append(_line(x, TOP, x, h - BOTTOM, "#e4e4e4"))
            parts.append(f'<text x="{x:.1f}" y="{h - BOTTOM + 16}" text-anchor="middle">{label}</text>')
        for value, label in ticks(self.y0, self.y1):
            y = self.py(value)
            parts.append(_line(LEFT, y, w - self.right, y, "#e4e4e4"))
            parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
        parts.append(
            f'<text x="{(LEFT + w - self.right) / 2:.0f}" y="{h - 10}" text-anchor="middle">{escape(x_label)}</text>'
            f'<text transform="translate(16 {h / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(y_label)}</text>'
        )
        return parts


def line_chart(
    title: str,
    x_label: str,
    y_label: str,
    x: FloatArray,
    columns: Mapping[str, FloatArray],
    *,
    shaded: tuple[float, float] | None = None,
    dashed: Sequence[str] = (),
    most: int = 900,
) -> str:
    """Lines over x; NaN breaks a line. `shaded` marks a range of x, `dashed` names lines that are to stand back."""
    every = max(1, len(x) // most)
    x = x[::every]
    ys = {name: y[::every] for name, y in columns.items()}
    x0, x1 = float(x.min()), float(x.max())
    high = max((float(np.nanmax(y)) for y in ys.values() if np.isfinite(y).any()), default=1.0)
    high = 1.06 * high or 1.0

    axes = _Axes(x0, x1, 0.0, high, WIDTH, HEIGHT, RIGHT)
    parts = [_head(WIDTH, HEIGHT, title)]
    if shaded is not None:
        a, b = axes.px(max(shaded[0], x0)), axes.px(min(shaded[1], x1))
        parts.append(
            f'<rect x="{a:.1f}" y="{TOP}" width="{max(b - a, 0):.1f}" height="{HEIGHT - TOP - BOTTOM}" fill="#f1f4f8"/>'
        )
    parts += axes.drawn(x_label, y_label)
    for k, (name, y) in enumerate(ys.items()):
        colour = COLOURS[k % len(COLOURS)]
        dash = ' stroke-dasharray="5 4"' if name in dashed else ""
        for run in _runs(y):
            points = " ".join(
                f"{axes.px(a):.1f},{axes.py(min(b, high)):.1f}" for a, b in zip(x[run], y[run], strict=True)
            )
            parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 10}" y="{TOP + 14 + 17 * k}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def scatter_chart(
    title: str, labels: tuple[str, str], x: FloatArray, y: FloatArray, shade: FloatArray, mark: tuple[float, float]
) -> str:  # fmt: skip
    """Points coloured by a loss in mm (dark is small), with a cross at the best."""
    w, h = 520, 380
    x0, x1, y0, y1 = float(x.min()), float(x.max()), float(y.min()), float(y.max())

    axes = _Axes(x0, x1, y0, y1, w, h, 30)
    parts = [_head(w, h, title)]
    parts += axes.drawn(*labels)
    part = _ranks(shade)
    parts += [
        f'<circle cx="{axes.px(a):.1f}" cy="{axes.py(b):.1f}" r="4" fill="{_colour(float(c))}">'
        f"<title>{s:.3f} mm</title></circle>"
        for a, b, c, s in zip(x, y, part, shade, strict=True)
    ]
    parts.append(_cross(axes.px(mark[0]), axes.py(mark[1])))
    return "\n".join([*parts, "</svg>"]) + "\n"


def map_chart(
    names: tuple[str, str],
    values: tuple[FloatArray, FloatArray],
    errors: FloatArray,
    mark: tuple[float, float] | None = None,
) -> str:
    """Mean errors (a, b) in m over values (a,), (b,) of two parameters, as coloured cells with numbers in cm.

    A frame is about the least; mark: values at which a cross is drawn.
    """
    a, b = values
    cell_w, cell_h = max(34, min(60, 560 // len(a))), max(20, min(34, 360 // len(b)))
    w, h = 90 + cell_w * len(a) + 20, 44 + cell_h * len(b) + 60
    parts = [_head(w, h, "mean error, cm")]
    part = _ranks(errors.ravel()).reshape(errors.shape)
    i0, j0 = np.unravel_index(int(np.nanargmin(errors)), errors.shape)
    for i in range(len(a)):
        for j in range(len(b)):
            x, y = 90 + cell_w * i, 34 + cell_h * (len(b) - 1 - j)
            value = errors[i, j]
            fill = _colour(float(part[i, j])) if np.isfinite(value) else "#ffffff"
            ink = "#ffffff" if part[i, j] < 0.5 else "#222222"
            text = f"{1e2 * value:.2f}" if np.isfinite(value) else "-"
            parts.append(f'<rect x="{x}" y="{y}" width="{cell_w}" height="{cell_h}" fill="{fill}"/>')
            parts.append(
                f'<text x="{x + cell_w / 2:.0f}" y="{y + cell_h / 2 + 4:.0f}" text-anchor="middle" font-size="11" '
                f'fill="{ink}">{text}</text>'
            )
    x, y = 90 + cell_w * int(i0), 34 + cell_h * (len(b) - 1 - int(j0))
    parts.append(
        f'<rect x="{x}" y="{y}" width="{cell_w}" height="{cell_h}" fill="none" stroke="#d02020" stroke-width="2.5"/>'
    )
    for i, v in enumerate(a):
        parts.append(
            f'<text x="{90 + cell_w * (i + 0.5):.0f}" y="{34 + cell_h * len(b) + 16}" text-anchor="middle" '
            f'font-size="10">{v:.3g}</text>'
        )
    for j, v in enumerate(b):
        y = 34 + cell_h * (len(b) - 1 - j)
        parts.append(f'<text x="84" y="{y + cell_h / 2 + 4:.0f}" text-anchor="end" font-size="10">{v:.3g}</text>')
    middle = 90 + cell_w * len(a) / 2
    parts.append(
        f'<text x="{middle:.0f}" y="{34 + cell_h * len(b) + 38}" text-anchor="middle">{escape(names[0])}</text>'
    )
    parts.append(
        f'<text transform="translate(16 {34 + cell_h * len(b) / 2:.0f}) rotate(-90)" text-anchor="middle">'
        f"{escape(names[1])}</text>"
    )
    if mark is not None and a[-1] > a[0] and b[-1] > b[0]:
        x = 90 + cell_w * (0.5 + (mark[0] - a[0]) / (a[-1] - a[0]) * (len(a) - 1))
        y = 34 + cell_h * (len(b) - 0.5 - (mark[1] - b[0]) / (b[-1] - b[0]) * (len(b) - 1))
        parts.append(_cross(x, y))
    return "\n".join([*parts, "</svg>"]) + "\n"


def shape_chart(
    title: str, edges: IntArray, simulated: FloatArray, marker_edges: IntArray, recorded: FloatArray, view: FloatArray
) -> str:
    """Simulated mesh (lines) and recorded markers (circles and dashed lines) seen along a direction; view (2, 3)."""
    w, h = 250, 300
    both = np.vstack([simulated @ view.T, (recorded @ view.T)[np.isfinite(recorded[:, 0])]])
    low, high = both.min(axis=0), both.max(axis=0)
    scale = min((w - 30) / max(high[0] - low[0], 1e-6), (h - 60) / max(high[1] - low[1], 1e-6))
    middle = 0.5 * (low + high)

    def put(p: FloatArray) -> FloatArray:
        q: FloatArray = (p @ view.T - middle) * scale * np.array([1.0, -1.0]) + np.array([w / 2, h / 2 + 12])
        return q

    parts = [_head(w, h, title)]
    s, r = put(simulated), put(np.nan_to_num(recorded))
    seen = np.isfinite(recorded[:, 0])
    parts += [_line(s[a, 0], s[a, 1], s[b, 0], s[b, 1], COLOURS[0], 0.9) for a, b in edges]
    parts += [
        _line(r[a, 0], r[a, 1], r[b, 0], r[b, 1], COLOURS[1], 1.0, dash=True)
        for a, b in marker_edges
        if seen[a] and seen[b]
    ]
    parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.6" fill="{COLOURS[1]}"/>' for x, y in r[seen]]
    return "\n".join([*parts, "</svg>"]) + "\n"


def _head(width: float, height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        'font-family="sans-serif" font-size="12">'
        f'<rect width="{width:.0f}" height="{height:.0f}" fill="white"/>'
        f'<text x="12" y="20" font-size="14">{escape(title)}</text>'
    )


def ticks(low: float, high: float) -> list[tuple[float, str]]:
    """Round values from low to high."""
    if not high > low:
        return [(low, f"{low:.4g}")]
    step = 10.0 ** np.floor(np.log10((high - low) / 4))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= 6)
    values = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    return [(float(v), f"{v + 0.0:.6g}") for v in values]  # 0.0 takes the sign off a zero


def _runs(y: FloatArray) -> Sequence[slice]:
    """Stretches without NaN."""
    known = np.isfinite(y)
    edges = np.flatnonzero(np.diff(np.concatenate([[0], known.astype(int), [0]])))
    return [slice(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 1]


def _ranks(values: FloatArray) -> FloatArray:
    """0 for the least, 1 for the largest, by logarithm."""
    known = np.isfinite(values)
    out = np.ones(values.shape)
    logs = np.log(np.maximum(values[known], 1e-12))
    if len(logs) and np.ptp(logs) > 0:
        out[known] = (logs - logs.min()) / np.ptp(logs)
    return out


def _colour(part: float) -> str:
    """From dark blue (0) over green to pale yellow (1)."""
    stops = np.array([[38, 46, 110], [33, 113, 145], [77, 168, 120], [190, 214, 108], [250, 240, 190]], dtype=float)
    place = min(max(part, 0.0), 1.0) * (len(stops) - 1)
    k = min(int(place), len(stops) - 2)
    r, g, b = stops[k] + (place - k) * (stops[k + 1] - stops[k])
    return f"rgb({r:.0f},{g:.0f},{b:.0f})"


def _cross(x: float, y: float) -> str:
    return _line(x - 7, y, x + 7, y, "#d02020", 2.0) + _line(x, y - 7, x, y + 7, "#d02020", 2.0)


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, width: float = 1.0, dash: bool = False) -> str:
    dashes = ' stroke-dasharray="3 3"' if dash else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width}"{dashes}/>'
    )
