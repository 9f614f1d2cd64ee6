"""How held nodes move: every motion turns where they start (k, 3) into a path of time.

Paths are values, `partial` of functions of this module, so that obstacles and scenes can be pickled and compared.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.interpolate import BSpline, make_interp_spline

from isocloth.base.typing import FloatArray
from isocloth.scenes import smooth

PathFunction = Callable[[float], FloatArray]


@dataclass(frozen=True)
class Hold:
    """Stay."""

    def path(self, start: FloatArray) -> PathFunction | None:
        """None: the nodes stay where they are."""
        return None


@dataclass(frozen=True, kw_only=True)
class Oscillate:
    """amplitude (m) times sin(2 pi frequency (t - start)), from `start` to `stop`, with ramps of `ramp` s.

    Without a ramp the nodes keep the place that they have reached at `stop`; with one they come back.
    """

    amplitude: tuple[float, float, float]
    frequency: float
    start: float = 0.0
    stop: float = math.inf
    ramp: float = 0.0

    def path(self, start: FloatArray) -> PathFunction:
        """From where the nodes start (k, 3) m."""
        return partial(Oscillate._at, self, start, np.array(self.amplitude))

    def _at(self, start: FloatArray, direction: FloatArray, t: float) -> FloatArray:
        now = min(max(t, self.start), self.stop)
        share = smooth.envelope(now, self.start, self.stop, self.ramp)
        phase = 2.0 * math.pi * self.frequency * (now - self.start)
        return start + share * math.sin(phase) * direction


@dataclass(frozen=True, kw_only=True)
class Line:
    """Move straight, all nodes alike: their centre to `to`, or all of them by `by`, from `start` to `stop`."""

    to: tuple[float, float, float] | None = None
    by: tuple[float, float, float] | None = None
    start: float = 0.0
    stop: float = 1.0
    smooth: bool = True

    def path(self, start: FloatArray) -> PathFunction:
        """From where the nodes start (k, 3) m."""
        shift = np.array(self.by) if self.to is None else np.array(self.to) - start.mean(axis=0)
        return partial(Line._at, self, start, shift)

    def _at(self, start: FloatArray, shift: FloatArray, t: float) -> FloatArray:
        s = min(max((t - self.start) / (self.stop - self.start), 0.0), 1.0)
        return start + (smooth.step(s) if self.smooth else s) * shift


@dataclass(frozen=True, kw_only=True, eq=False)
class Follow:
    """Go through points in time.

    positions: (T, 1, 3), the centre of the nodes, which keep their arrangement; or (T, k, 3), every node.
    relative: the positions are shifts from the start. smooth: a quintic spline that starts and ends at rest.
    """

    times: FloatArray
    positions: FloatArray
    relative: bool = False
    smooth: bool = False

    def points(self, start: FloatArray) -> FloatArray:
        """(T, k, 3) points of every node."""
        if self.relative:
            return start + self.positions
        if self.positions.shape[1] == len(start) and len(start) > 1:
            return self.positions
        return self.positions + (start - start.mean(axis=0))

    def path(self, start: FloatArray) -> PathFunction:
        """From where the nodes start (k, 3) m."""
        points, times = self.points(start), self.times
        if not self.smooth:
            return partial(_straight, times, points)
        rest = [(1, np.zeros(points.shape[1:])), (2, np.zeros(points.shape[1:]))]
        # the stubs know conditions by name only
        spline = make_interp_spline(times, points, k=5, bc_type=(rest, rest))  # type: ignore[arg-type]
        return partial(_curved, times, spline.t, spline.c)


def _straight(times: FloatArray, points: FloatArray, t: float) -> FloatArray:
    k = int(np.clip(np.searchsorted(times, t) - 1, 0, len(times) - 2))
    s = float(np.clip((t - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0))
    return (1.0 - s) * points[k] + s * points[k + 1]


def _curved(times: FloatArray, knots: FloatArray, coefficients: FloatArray, t: float) -> FloatArray:
    spline = BSpline.construct_fast(knots, coefficients, 5)
    return np.asarray(spline(min(max(t, times[0]), times[-1])))


Motion = Hold | Oscillate | Line | Follow
