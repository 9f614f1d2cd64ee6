"""Still pictures: one frame, or several of them side by side."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.files import atomic_path
from isocloth.base.numeric import as_float
from isocloth.base.typing import FloatArray
from isocloth.pictures.arguments import check_pixels
from isocloth.pictures.colour import to_linear, to_srgb
from isocloth.pictures.ground import PAPER
from isocloth.pictures.labels import FAINT, bar_width, colour_bar, seconds, text_size, write
from isocloth.pictures.studio import Colour, Obstacle, Studio, set_up
from isocloth.trajectory import Trajectory

__all__ = ["contact_sheet", "frame", "save_png"]


def frame(
    trajectory: Trajectory,
    when: int | float,
    *,
    width: int = 960,
    height: int = 720,
    colour: Colour = "cloth",
    wireframe: bool = True,
    title: str | None = None,
    obstacles: Iterable[Obstacle] = (),
) -> np.ndarray:
    """(height, width, 3) uint8 picture of one instant.

    when: an int is the index of a frame, a float a time in seconds. colour: "cloth" (blue in front, orange
    behind) or "strain". obstacles: bodies beside those of the trajectory, (vertices (v, 3) in
    metres, or (T, v, 3) of every frame, faces).
    """
    studio = set_up(
        trajectory,
        width=width,
        height=height,
        colour=colour,
        wireframe=wireframe,
        obstacles=obstacles,
        margin=margin_for(width, height, colour),
    )
    time, positions = instant(trajectory, when)
    return labelled(studio, positions, time, title)


def contact_sheet(
    trajectory: Trajectory,
    *,
    count: int = 6,
    width: int = 960,
    height: int = 720,
    colour: Colour = "cloth",
    wireframe: bool = True,
    title: str | None = None,
    obstacles: Iterable[Obstacle] = (),
    captions: Sequence[str] | None = None,
) -> np.ndarray:
    """(height, width, 3) uint8 picture of `count` instants, from first to last, with their times or captions below."""
    check_pixels(width, height)
    if isinstance(count, bool) or not isinstance(count, int | np.integer):
        raise InputTypeError(f"count is {count!r}: expected a whole number of pictures, 1 or more")
    if count < 1:
        raise InputError(f"a contact sheet needs at least one frame, but count is {count}: expected 1 or more")
    count = min(count, len(trajectory))
    if captions is not None and len(captions) != count:
        raise InputError(f"{len(captions)} captions are given for {count} pictures; give one for each")
    size = text_size(height)
    head = 2 * size if title else 0
    side = bar_width(height) if colour == "strain" else 0
    columns = best_columns(count, width - side, height - head)
    rows = -(-count // columns)
    cell_width, cell_height = (width - side) // columns, (height - head) // rows
    caption = int(1.8 * size)
    studio = set_up(
        trajectory,
        width=cell_width,
        height=max(16, cell_height - caption),
        colour=colour,
        wireframe=wireframe,
        obstacles=obstacles,
    )
    paper = np.round(255 * to_srgb(to_linear(PAPER))).astype(np.uint8)
    sheet = np.full((height, width, 3), paper, dtype=np.uint8)
    times = np.linspace(trajectory.times[0], trajectory.times[-1], count)
    for k, time in enumerate(times):
        top, left = head + k // columns * cell_height, k % columns * cell_width
        picture = studio.picture(trajectory.at(float(time)), float(time))
        sheet[top : top + picture.shape[0], left : left + cell_width] = picture
        place = (left + 0.5 * cell_width, top + picture.shape[0] + 0.5 * caption)
        text = captions[k] if captions else seconds(time, trajectory.duration / max(count - 1, 1) / 9)
        sheet = np.array(write(sheet, text, place, size=size, anchor="mm"))
    if title:
        sheet = write(sheet, title, (0.5 * width, 0.6 * head), size=int(1.2 * size), anchor="mm")
    return colour_bar(sheet, studio.strain_limit) if studio.strain_limit is not None else sheet


def save_png(picture: np.ndarray, path: str | os.PathLike[str]) -> None:
    """Write an (h, w, 3) uint8 picture as PNG, whole or not at all."""
    with atomic_path(path) as temporary:
        Image.fromarray(picture).save(temporary, format="PNG", optimize=True)


def margin_for(width: int, height: int, colour: Colour) -> tuple[float, float]:
    """The parts of half width and half height left free: for the text, and for the colour bar."""
    bar = 2.0 * bar_width(height) / width if colour == "strain" else 0.0
    return max(0.1, min(0.5, bar)), 0.16


def instant(trajectory: Trajectory, when: int | float | Any) -> tuple[float, FloatArray]:
    """The time (s) and the vertices (n, 3) of a frame's index (int) or of a time (float)."""
    if isinstance(when, int | np.integer):
        if not -len(trajectory) <= when < len(trajectory):
            raise InputError(
                f"there is no frame {when} in a trajectory of {len(trajectory)} frames; "
                "an int is an index of a frame, write a time in seconds as a float"
            )
        return float(trajectory.times[when]), trajectory.positions[when]
    time = as_float(when)
    if time is None:
        raise InputTypeError(f"when is {when!r}: expected the index of a frame (int) or a time in s (float)")
    return time, trajectory.at(time)


def labelled(studio: Studio, positions: FloatArray, time: float, title: str | None) -> np.ndarray:
    """The picture of the cloth at `positions` with its time, title and colour bar."""
    picture = studio.picture(positions, time)
    height = picture.shape[0]
    size = text_size(height)
    text = f"t = {seconds(time, 0.01)}"
    picture = write(picture, text, (size, height - size), size=size, anchor="ls", ink=FAINT)
    if title:
        picture = write(picture, title, (size, size), size=int(1.2 * size))
    return colour_bar(picture, studio.strain_limit) if studio.strain_limit is not None else picture


def best_columns(count: int, width: int, height: int) -> int:
    """The number of columns that makes the cells of a sheet largest, measured by the shorter side."""

    def shorter_side(columns: int) -> float:
        return min(width / columns, height / -(-count // columns))

    return max(range(1, count + 1), key=shorter_side)
