"""Checked arguments of pictures, in one place for all formats."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.numeric import is_one_of
from isocloth.trajectory import Trajectory

#: pixels of a side
LEAST, MOST = 16, 8192

COLOURS = ("cloth", "strain")


def check_trajectory(trajectory: Any) -> Trajectory:
    """What is pictured."""
    if not isinstance(trajectory, Trajectory):
        raise InputTypeError(
            f"trajectory is {type(trajectory).__name__}: expected an isocloth.Trajectory, e.g. what sim.run() returned"
        )
    return trajectory


def check_pixels(width: Any, height: Any) -> None:
    """Sides of a picture."""
    for name, value in (("width", width), ("height", height)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            raise InputTypeError(f"{name} is {value!r}: expected a whole number of pixels, {LEAST} to {MOST}")
    if min(width, height) < LEAST or max(width, height) > MOST:
        raise InputError(
            f"a picture must have {LEAST} to {MOST} pixels each way, but {width} x {height} was given: expected other "
            "width and height"
        )


def check_colour(colour: Any) -> None:
    """What the colours of the cloth show."""
    if not is_one_of(colour, COLOURS):
        raise InputError(f"colour must be 'cloth' or 'strain', but it is {colour!r}: expected one of these")


def check_every(every: Any) -> None:
    """Of how many frames one is shown."""
    if every is None:
        return
    if isinstance(every, bool) or not isinstance(every, int | np.integer):
        raise InputTypeError(f"every is {every!r}: expected a whole number, each every-th frame is shown")
    if every < 1:
        raise InputError(
            f"every must be 1 or more (each every-th frame is shown), but it is {every}: expected 1 or more"
        )


def check_rate(fps: Any) -> None:
    """Pictures per second that players can show."""
    if isinstance(fps, bool) or not isinstance(fps, Real):
        raise InputTypeError(f"fps is {fps!r}: expected a number of pictures per second, 0.1 to 240")
    if not 0.1 <= float(fps) <= 240.0:  # false of NaN
        raise InputError(f"fps must be 0.1 to 240 pictures per second, but it is {fps}: expected such a number")


def check_title(title: Any) -> None:
    """Text above a picture."""
    if title is not None and not isinstance(title, str):
        raise InputTypeError(f"title is {title!r}: expected a text, or None")


def check_progress(progress: Callable[[int, int], None] | None) -> None:
    """What is told of every frame."""
    if progress is not None and not callable(progress):
        raise InputTypeError(f"progress is {progress!r}: expected a function of (done, total), or None")
