"""Curves over one number as a picture: axes, ticks, lines or marks, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from PIL import Image, ImageDraw

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.pictures.axes import span, ticks
from isocloth.pictures.labels import FAINT, INK, font

_COLOURS = ((52, 58, 66), (31, 95, 168), (200, 85, 61), (46, 139, 87), (138, 95, 191), (181, 137, 0), (58, 166, 185))
_GRID = (228, 228, 228)
#: powers of ten that are written out
_PLAIN = 2


class Curve(NamedTuple):
    """Points (k,), (k,) with a name; drawn as a line, or as marks."""

    name: str
    x: FloatArray
    y: FloatArray
    line: bool = True


def curves_picture(
    curves: Sequence[Curve], *, title: str = "", x_label: str = "", y_label: str = "", log: bool = False,
    width: int = 900, height: int = 600,
) -> np.ndarray:  # fmt: skip
    """(height, width, 3) uint8 picture; log: both axes are logarithmic. Points that are not finite are left out."""
    shown = [(curve, *_seen(curve, log)) for curve in curves]
    if not any(len(x) for _, x, _ in shown):
        raise InputError("there is no point to draw: expected curves with finite numbers, positive on logarithmic axes")
    text = max(11, height // 40)
    left, right, top, bottom = 6 * text, 2 * text, 3 * text, 4 * text
    x0, x1 = span([x for _, x, _ in shown])
    y0, y1 = span([y for _, _, y in shown])
    twice = 2  # drawn twice as large, and made smaller: smooth lines
    image = Image.new("RGB", (twice * width, twice * height), (255, 255, 255))
    draw = ImageDraw.Draw(image)

    def place(x: float, y: float) -> tuple[float, float]:
        across = left + (x - x0) / (x1 - x0) * (width - left - right)
        down = height - bottom - (y - y0) / (y1 - y0) * (height - top - bottom)
        return twice * across, twice * down

    for value, label in ticks(x0, x1, log, plain=_PLAIN):
        draw.line((*place(value, y0), *place(value, y1)), fill=_GRID, width=twice)
        x, y = place(value, y0)
        draw.text((x, y + twice * 0.5 * text), label, font=font(twice * text), fill=FAINT, anchor="ma")
    for value, label in ticks(y0, y1, log, plain=_PLAIN):
        draw.line((*place(x0, value), *place(x1, value)), fill=_GRID, width=twice)
        x, y = place(x0, value)
        draw.text((x - twice * 0.5 * text, y), label, font=font(twice * text), fill=FAINT, anchor="rm")
    draw.rectangle((*place(x0, y1), *place(x1, y0)), outline=FAINT, width=twice)
    for k, (curve, xs, ys) in enumerate(shown):
        colour = _COLOURS[k % len(_COLOURS)]
        points = [place(float(a), float(b)) for a, b in zip(xs, ys, strict=True)]
        if curve.line and len(points) > 1:
            draw.line(points, fill=colour, width=2 * twice, joint="curve")
        elif not curve.line:
            for x, y in points:
                _mark(draw, x, y, twice * 0.36 * text, k, colour)
        begin, row = twice * (left + text), twice * (top + text + 1.5 * text * k)
        if curve.line:
            draw.line((begin, row, begin + twice * 2 * text, row), fill=colour, width=2 * twice)
        else:
            _mark(draw, begin + twice * text, row, twice * 0.36 * text, k, colour)
        draw.text((begin + twice * 2.6 * text, row), curve.name, font=font(twice * text), fill=INK, anchor="lm")
    large, middle = font(int(twice * 1.2 * text)), twice * 0.5 * (left + width - right)
    draw.text((twice * left, twice * 1.5 * text), title, font=large, fill=INK, anchor="lm")
    draw.text((middle, twice * (height - text)), x_label, font=font(twice * text), fill=INK, anchor="ms")
    draw.text((twice * (width - right), twice * 1.5 * text), y_label, font=font(twice * text), fill=INK, anchor="rm")
    return np.asarray(image.resize((width, height), Image.Resampling.LANCZOS))


def _mark(draw: ImageDraw.ImageDraw, x: float, y: float, size: float, k: int, colour: tuple[int, int, int]) -> None:
    """A mark of its own for every curve: those of several models lie on each other."""
    if k % 3 == 1:
        draw.ellipse((x - size, y - size, x + size, y + size), outline=colour, width=3)
    elif k % 3 == 2:
        draw.line((x - size, y - size, x + size, y + size), fill=colour, width=3)
        draw.line((x - size, y + size, x + size, y - size), fill=colour, width=3)
    else:
        draw.polygon([(x, y - size), (x + size, y + size), (x - size, y + size)], outline=colour, width=3)


def _seen(curve: Curve, log: bool) -> tuple[FloatArray, FloatArray]:
    x, y = np.asarray(curve.x, dtype=np.float64), np.asarray(curve.y, dtype=np.float64)
    if x.shape != y.shape or x.ndim != 1:
        raise InputError(f"curve {curve.name!r} has x {x.shape} and y {y.shape}: expected as many of both, (k,)")
    if log:
        with np.errstate(divide="ignore", invalid="ignore"):
            x, y = np.log10(x), np.log10(y)
    seen = np.isfinite(x) & np.isfinite(y)
    return x[seen], y[seen]
