"""Pictures of a trajectory: PNG, GIF, MP4, and a page to turn the cloth around in."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

from isocloth.base.errors import InputError
from isocloth.base.files import as_path, check_place
from isocloth.base.numeric import check_flag
from isocloth.pictures.animation import save_gif, save_mp4
from isocloth.pictures.arguments import (
    check_colour,
    check_every,
    check_pixels,
    check_progress,
    check_rate,
    check_title,
    check_trajectory,
)
from isocloth.pictures.image import contact_sheet, frame, margin_for, save_png
from isocloth.pictures.matrix import table_picture
from isocloth.pictures.page import save_page
from isocloth.pictures.studio import Colour, Obstacle, set_up, with_obstacles
from isocloth.trajectory import Trajectory

__all__ = ["SUFFIXES", "contact_sheet", "frame", "render", "save_png", "table_picture"]

SUFFIXES = (".png", ".gif", ".mp4", ".html")


def render(
    trajectory: Trajectory,
    path: str | os.PathLike[str],
    *,
    width: int = 960,
    height: int = 720,
    fps: float = 30.0,
    colour: Colour = "cloth",
    wireframe: bool = True,
    every: int | None = None,
    title: str | None = None,
    obstacles: Iterable[Obstacle] = (),
    progress: Callable[[int, int], None] | None = None,
) -> None:
    """Picture a trajectory in the format that the suffix of `path` names.

    .png: six instants with their times. .gif, .mp4: an animation in real time at `fps` pictures per second;
    with `every`, each every-th recorded frame once instead. .html: one page, without any other file, to
    watch the cloth from all sides, with the certificate of every frame.

    width, height: pixels (.mp4 rounds up to even numbers; a page fills its window). colour: "cloth" or
    "strain". obstacles: bodies beside those of the trajectory, (vertices, faces), with vertices (v, 3) in metres that
    stand still or (T, v, 3) of every frame. progress: called with (done, total) after every frame of an animation.
    """
    suffix = as_path(path, "picture").suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(
            f"a picture file ends in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}, "
            f"but {str(path)!r} was given; choose one of these"
        )
    check_place(path)
    check_trajectory(trajectory)
    check_pixels(width, height)
    check_rate(fps)
    check_colour(colour)
    check_every(every)
    check_flag(wireframe, "wireframe")
    check_title(title)
    check_progress(progress)
    trajectory = with_obstacles(trajectory, obstacles)
    if suffix == ".html":
        save_page(
            trajectory,
            path,
            colour=colour,
            wireframe=wireframe,
            every=every,
            title=title,
        )
        return
    if suffix == ".png":
        sheet = contact_sheet(
            trajectory if every is None else trajectory[::every],
            width=width,
            height=height,
            colour=colour,
            wireframe=wireframe,
            title=title,
        )
        save_png(sheet, path)
        return
    if suffix == ".mp4":  # the colours of H.264 are stored for blocks of 2 x 2 pixels
        width, height = width + width % 2, height + height % 2
    studio = set_up(
        trajectory,
        width=width,
        height=height,
        colour=colour,
        wireframe=wireframe,
        margin=margin_for(width, height, colour),
    )
    save = save_gif if suffix == ".gif" else save_mp4
    save(studio, path, fps=fps, every=every, title=title, progress=progress)
