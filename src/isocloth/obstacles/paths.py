"""Positions over time, from a function or from samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.typing import FloatArray
from isocloth.obstacles.arguments import array, rotation
from isocloth.obstacles.value import Value

#: of time in s; returns positions in m
PathFunction = Callable[[float], FloatArray]


class PositionsOfTime(Value):
    """A user's function of time (s) that returns positions in m, checked whenever it is called."""

    def __init__(self, function: Callable[[float], Any], shape: tuple[int, ...]) -> None:
        self.function, self.shape = function, shape
        self(0.0)

    def __call__(self, t: float) -> FloatArray:
        return array(self.function(t), f"path({t:.6g})", self.shape)


class RotationOfTime(Value):
    """A user's function of time (s) that returns a rotation (3, 3), checked whenever it is called."""

    def __init__(self, function: Callable[[float], Any]) -> None:
        self.function = function

    def __call__(self, t: float) -> FloatArray:
        return rotation(self.function(t), f"rotation({t:.6g})")


class Samples(Value):
    """Straight from sample to sample; before the first and after the last it stays.

    times: (T,) s, increasing. points: (T, *shape) m.
    """

    def __init__(self, times: Any, points: Any, shape: tuple[int, ...]) -> None:
        self.times = array(times, "path times", (None,), "s")
        if len(self.times) < 2 or not (np.diff(self.times) > 0.0).all():
            raise InputError(f"path times are {_some(self.times)}: expected at least two, increasing, in s")
        self.points = array(points, "path positions", (len(self.times), *shape))
        self.shape = shape

    def __call__(self, t: float) -> FloatArray:
        times, points = self.times, self.points
        k = min(max(int(np.searchsorted(times, t)) - 1, 0), len(times) - 2)
        s = min(max((t - times[k]) / (times[k + 1] - times[k]), 0.0), 1.0)
        return np.asarray((1.0 - s) * points[k] + s * points[k + 1])


def as_path(path: Any, shape: tuple[int, ...]) -> PathFunction:
    """A checked function of time from a function, or from a pair (times (T,), positions (T, *shape))."""
    if isinstance(path, PositionsOfTime | Samples) and path.shape == shape:
        return path
    if callable(path):
        return PositionsOfTime(path, shape)
    if isinstance(path, tuple) and len(path) == 2:
        return Samples(path[0], path[1], shape)
    size = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    raise InputTypeError(
        f"path is {type(path).__name__}: expected a function of time in s that returns positions ({size}) in m, or a "
        f"pair (times, positions) of shapes (T,) and {('T', *shape)}".replace("'", "")
    )


def functions_of(**parts: Any) -> dict[str, Callable[..., Any]]:
    """The users' functions among checked ones, by name: those that pickle may not be able to keep."""
    wrapped = {name: part for name, part in parts.items() if isinstance(part, PositionsOfTime | RotationOfTime)}
    return {name: part.function for name, part in wrapped.items()}


def _some(times: FloatArray) -> str:
    text = ", ".join(f"{t:g}" for t in times[:6])
    return f"[{text}, ...]" if len(times) > 6 else f"[{text}]"
