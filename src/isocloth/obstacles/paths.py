"""Positions over time, from a function or from samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.obstacles.arguments import array

#: of time in s; returns positions in m
PathFunction = Callable[[float], FloatArray]


def as_path(path: Any, shape: tuple[int, ...]) -> PathFunction:
    """A checked function of time from a function, or from a pair (times (T,), positions (T, *shape)).

    Between samples the path is straight; before the first and after the last it stays.
    """
    if callable(path):

        def checked(t: float) -> FloatArray:
            return array(path(t), f"path({t:.6g})", shape)

        checked(0.0)
        return checked
    if isinstance(path, tuple) and len(path) == 2:
        times = array(path[0], "path times", (None,), "s")
        if len(times) < 2 or not (np.diff(times) > 0.0).all():
            raise ValueError(f"path times are {_some(times)}: expected at least two, increasing, in s")
        points = array(path[1], "path positions", (len(times), *shape))

        def between(t: float) -> FloatArray:
            k = min(max(int(np.searchsorted(times, t)) - 1, 0), len(times) - 2)
            s = min(max((t - times[k]) / (times[k + 1] - times[k]), 0.0), 1.0)
            return np.asarray((1.0 - s) * points[k] + s * points[k + 1])

        return between
    size = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    raise TypeError(
        f"path is {type(path).__name__}: expected a function of time in s that returns positions ({size}) in m, or a "
        f"pair (times, positions) of shapes (T,) and {('T', *shape)}".replace("'", "")
    )


def _some(times: FloatArray) -> str:
    text = ", ".join(f"{t:g}" for t in times[:6])
    return f"[{text}, ...]" if len(times) > 6 else f"[{text}]"
