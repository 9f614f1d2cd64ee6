"""A table of distances as a picture: dark where small, bright where large, with lines between classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image, ImageDraw

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.pictures.colour import oklab_to_linear, to_srgb
from isocloth.pictures.labels import FAINT, INK, font

# from near to far, as lightness, green-red and blue-yellow of the Oklab space; lightness rises evenly
_STOPS = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
_OKLAB = np.array(
    [
        [0.28, -0.010, -0.110],
        [0.44, -0.045, -0.070],
        [0.60, -0.085, 0.000],
        [0.76, -0.085, 0.100],
        [0.92, -0.020, 0.170],
    ]
)


def table_colours(values: FloatArray, limit: float) -> np.ndarray:
    """(..., 3) uint8 colours of values from 0 to limit; grey where a value is not finite."""
    at = np.clip(np.nan_to_num(values, nan=0.0) / limit, 0.0, 1.0)
    lab = np.stack([np.interp(at, _STOPS, _OKLAB[:, k]) for k in range(3)], axis=-1)
    colours = np.round(255 * to_srgb(oklab_to_linear(lab))).astype(np.uint8)
    colours[~np.isfinite(values)] = 200
    return colours


def table_picture(
    table: ArrayLike,
    *,
    groups: Sequence[tuple[str, int]] = (),
    limit: float | None = None,
    title: str = "",
    size: int = 640,
) -> np.ndarray:
    """(height, width, 3) uint8 picture of a square table of distances (n, n).

    groups : name and number of rows of every class, in order; lines are drawn between them. limit : value of the
    brightest colour, the largest of the table by default. size : side of the square in pixels.
    """
    values = np.asarray(table, dtype=np.float64)
    n = len(values)
    if values.shape != (n, n) or n == 0:
        raise InputError(f"table has shape {values.shape}, expected (n, n) with n at least 1")
    if groups and sum(count for _, count in groups) != n:
        raise InputError(f"groups have {sum(count for _, count in groups)} rows, expected {n}: as many as the table")
    top = float(np.nanmax(values)) if limit is None else float(limit)
    if not (np.isfinite(top) and top > 0.0):
        top = 1.0
    text = max(10, size // 44)
    left = int(0.62 * text * max([len(name) for name, _ in groups], default=0)) + text
    head, right = 2 * text if title else text, 6 * text
    image = Image.new("RGB", (left + size + right, head + size + text), (255, 255, 255))
    # nearest neighbour: a pixel is one number
    index = np.arange(size) * n // size
    image.paste(Image.fromarray(table_colours(values, top)[np.ix_(index, index)]), (left, head))
    draw = ImageDraw.Draw(image)
    if title:
        draw.text((left, text), title, font=font(int(1.2 * text)), fill=INK, anchor="lm")
    begin = 0
    for name, count in groups:
        low, high = (head + begin * size / n, head + (begin + count) * size / n)
        draw.text((left - text // 2, 0.5 * (low + high)), name, font=font(text), fill=INK, anchor="rm")
        begin += count
        if begin < n:
            draw.line((left, high, left + size, high), fill=(255, 255, 255))
            draw.line((left + high - head, head, left + high - head, head + size), fill=(255, 255, 255))
    _scale(image, draw, (left + size + text, head + size // 5), (text, 3 * size // 5), top, text)
    return np.asarray(image)


def _scale(
    image: Image.Image,
    draw: ImageDraw.ImageDraw,
    place: tuple[int, int],
    extent: tuple[int, int],
    top: float,
    text: int,
) -> None:
    bar = table_colours(np.linspace(top, 0.0, extent[1]), top)
    image.paste(Image.fromarray(np.repeat(bar[:, None], extent[0], axis=1)), place)
    draw.rectangle((place[0] - 1, place[1] - 1, place[0] + extent[0], place[1] + extent[1]), outline=FAINT)
    for part in (0.0, 0.5, 1.0):
        y = place[1] + (1.0 - part) * (extent[1] - 1)
        draw.text((place[0] + extent[0] + 6, y), f"{part * top:.2g}", font=font(text), fill=INK, anchor="lm")
