"""Text and colour bars drawn on pictures."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from isocloth.pictures.colour import strain_colours, strain_unit, to_srgb

INK = (52, 58, 66)
FAINT = (108, 115, 125)


@lru_cache(maxsize=16)
def font(size: int) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    return ImageFont.load_default(size=size)


def text_size(height: int) -> int:
    """A readable size of text (pixels) for a picture of the given height (pixels)."""
    return int(np.clip(height / 32, 11, 40))


def write(
    picture: np.ndarray,
    text: str,
    place: tuple[float, float],
    *,
    size: int,
    anchor: str = "la",
    ink: tuple[int, int, int] = INK,
) -> np.ndarray:
    """The picture (height, width, 3) with text at (x, y) pixels; anchors are those of Pillow."""
    image = Image.fromarray(picture)
    ImageDraw.Draw(image).text(place, text, font=font(size), fill=ink, anchor=anchor)
    return np.asarray(image)


def bar_width(height: int) -> int:
    """Pixels that `colour_bar` takes at the right of a picture of the given height."""
    return 6 * text_size(height)


def colour_bar(picture: np.ndarray, limit: float) -> np.ndarray:
    """The picture with the colour map of strain, its ticks and its unit at the right."""
    height, width = picture.shape[:2]
    size = text_size(height)
    factor, unit = strain_unit(limit)
    top, bottom = int(0.3 * height), int(0.7 * height)
    left = width - bar_width(height) + size
    level = np.linspace(limit, -limit, bottom - top)
    bar = np.round(255 * to_srgb(strain_colours(level, limit))).astype(np.uint8)
    image = Image.fromarray(picture)
    image.paste(Image.fromarray(np.repeat(bar[:, None], size, axis=1)), (left, top))
    draw = ImageDraw.Draw(image)
    draw.rectangle((left - 1, top - 1, left + size, bottom), outline=FAINT)
    small = max(10, int(0.85 * size))
    for value in (limit, 0.5 * limit, 0.0, -0.5 * limit, -limit):
        y = top + (limit - value) / (2 * limit) * (bottom - top - 1)
        draw.line((left + size, y, left + size + 4, y), fill=FAINT)
        sign = "+" if value > 0 else ""
        draw.text((left + size + 8, y), f"{sign}{factor * value:.3g}", font=font(small), fill=INK, anchor="lm")
    draw.text((left, top - 0.6 * size), f"strain [{unit}]", font=font(small), fill=INK, anchor="ls")
    return np.asarray(image)


def seconds(time: float, step: float) -> str:
    """A time (s) with the digits needed to tell times `step` (s) apart."""
    digits = int(np.clip(np.ceil(-np.log10(max(step, 1e-9))), 1, 6))
    return f"{time:.{digits}f} s"
