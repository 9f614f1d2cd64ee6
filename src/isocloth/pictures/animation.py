"""Moving pictures: GIF and MP4, at the speed of the recorded time."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import numpy as np
from PIL import Image

from isocloth.base.files import atomic_path
from isocloth.base.typing import FloatArray
from isocloth.pictures.arguments import check_every, check_rate
from isocloth.pictures.encoder import encode_h264
from isocloth.pictures.image import labelled
from isocloth.pictures.studio import Studio
from isocloth.trajectory import Trajectory

Progress = Callable[[int, int], None]


def playback_times(trajectory: Trajectory, *, interval: float, every: int | None = None) -> FloatArray:
    """Recorded times (s) of the pictures of an animation that shows one per `interval` (s).

    Real time by default; with `every`, each such frame of the recording once, whatever its time.
    """
    if every is not None:
        check_every(every)
        return trajectory.times[::every]
    # The slack keeps a last frame that rounding would lose.
    count = int(trajectory.duration / interval + 1e-6) + 1
    return np.minimum(trajectory.times[0] + interval * np.arange(count), trajectory.times[-1])


def save_gif(
    studio: Studio,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    every: int | None = None,
    title: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write a looping GIF. Its frames last whole hundredths of a second, at least two of them."""
    check_rate(fps)
    hundredths = max(2, round(100.0 / fps))
    times = playback_times(studio.trajectory, interval=hundredths / 100.0, every=every)
    palette = shared_palette(studio, times, title)
    frames = (
        Image.fromarray(picture).quantize(palette=palette, dither=Image.Dither.NONE)
        for picture in pictures(studio, times, title, progress)
    )
    with atomic_path(path) as temporary:
        next(frames).save(
            temporary,
            format="GIF",
            save_all=True,
            append_images=frames,
            duration=10 * hundredths,
            loop=0,
            optimize=False,  # would give every frame a palette of its own
        )


def save_mp4(
    studio: Studio,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    every: int | None = None,
    title: str | None = None,
    progress: Progress | None = None,
) -> None:
    """Write H.264 video (yuv420p, plays everywhere). Width and height must be even."""
    check_rate(fps)
    times = playback_times(studio.trajectory, interval=1.0 / fps, every=every)
    size = (studio.camera.width, studio.camera.height)
    with atomic_path(path) as temporary:
        encode_h264(pictures(studio, times, title, progress), temporary, size, fps)


def pictures(
    studio: Studio, times: FloatArray, title: str | None, progress: Progress | None = None
) -> Iterator[np.ndarray]:
    """The labelled picture of every time; progress(done, total) is called after each."""
    for done, time in enumerate(times, start=1):
        yield labelled(studio, studio.trajectory.at(float(time)), float(time), title)
        if progress is not None:
            progress(done, len(times))


def shared_palette(studio: Studio, times: FloatArray, title: str | None, samples: int = 6) -> Image.Image:
    """A palette for all frames, from some of them. One palette keeps still pixels still: they compress."""
    chosen = times[np.unique(np.linspace(0, len(times) - 1, min(samples, len(times))).astype(int))]
    strip = np.concatenate([picture[::2, ::2] for picture in pictures(studio, chosen, title)])
    # The plain backdrop would take most of the palette by its sheer area: keep one pixel of each run.
    runs = strip.reshape(-1, 3)
    changes = np.any(runs[1:] != runs[:-1], axis=1)
    distinct = runs[1:][changes]
    if len(distinct) == 0:
        distinct = runs[:1]
    # 255, so that the writer can mark pixels that do not change as transparent.
    return Image.fromarray(distinct[None]).quantize(colors=255, method=Image.Quantize.MEDIANCUT)
