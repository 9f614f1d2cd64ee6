"""BFGS with a weak Wolfe line search, for losses that are costly, and kinked in places.

The inverse matrix is updated by two symmetric products of rank one and two, n^2 work, where `scipy.optimize` multiplies
full matrices, n^3, which for a few hundred nodes costs more than a drape. Steps satisfy the weak conditions of Wolfe,
found by doubling and halving (Lewis and Overton, Nonsmooth optimization via quasi-Newton methods, 2013): at a kink the
strong ones cannot be met, and these can. It ends as the thesis does, by the largest component of a step, or of the
gradient, or by the number of iterations; or where no step lowers the loss any more, which rounding sees to; or when
time is up. The same loop takes the steps of other methods (`curvatures.py`).
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.inverse.thesis.curvatures import Curvature, FullBFGS

#: of the slope: how much a step must lower the loss, and how much of it may be left after it
SUFFICIENT, CURVED = 1e-4, 0.9
#: halvings and doublings of a step
TRIALS = 50

#: value and gradient (c,) at a point (c,)
Loss = Callable[[FloatArray], tuple[float, FloatArray]]


class Stop(NamedTuple):
    """Where it ends: at a step, or a gradient, no component of which is larger; after so many iterations; or when
    `time.monotonic()` is beyond a moment."""

    step: float = 1e-15
    gradient: float = 1e-15
    iterations: int = 2000
    deadline: float = np.inf


class Minimum(NamedTuple):
    """point (c,), its value and the largest component of its gradient; iterations and evaluations of the loss;
    reason: "gradient", "step", "no descent", "iterations", "time", or "no value" where there is none at the start;
    seconds: of wall-clock time."""

    point: FloatArray
    value: float
    gradient: float
    iterations: int
    evaluations: int
    reason: str
    seconds: float


def minimise(
    loss: Loss, start: FloatArray, stop: Stop, first: float, tell: Callable[[int, float], None] | None = None,
    curvature: Curvature | None = None,
) -> Minimum:  # fmt: skip
    """first: length of the first step at most, as nothing is known of the curvature yet; tell: is told the iterations
    and the value; curvature: what is known from before, and is learnt here; None: BFGS."""
    known = FullBFGS() if curvature is None else curvature
    begin, x = time.monotonic(), np.array(start, dtype=np.float64)
    value, gradient = loss(x)
    iterations, evaluations, reason = 0, 1, "" if np.isfinite(value) else "no value"
    while not reason:
        worst = float(np.abs(gradient).max(initial=0.0))
        if worst <= stop.gradient:
            reason = "gradient"
        elif iterations == stop.iterations:
            reason = "iterations"
        elif time.monotonic() > stop.deadline:
            reason = "time"
        if reason:
            break
        slope_only = not known.known
        if slope_only:
            way = -gradient * min(1.0, first / float(np.linalg.norm(gradient)))
        else:
            way = known.way(x, gradient)
            if not float(way @ gradient) < 0.0:  # rounding: begin anew
                known.forget()
                continue
        found = _search(loss, x, value, gradient, way, stop.deadline)
        evaluations += found.evaluations
        if found.point is None:
            if not slope_only and time.monotonic() <= stop.deadline:
                known.forget()  # the slope itself may still descend
                continue
            reason = "time" if time.monotonic() > stop.deadline else "no descent"
            break
        step, change = found.point - x, found.gradient - gradient
        x, value, gradient = found.point, found.value, found.gradient
        iterations += 1
        if tell is not None:
            tell(iterations, value)
        if float(np.abs(step).max()) <= stop.step:
            reason = "step"
        known.learn(step, change)
    worst = float(np.abs(gradient).max(initial=0.0))
    return Minimum(x, value, worst, iterations, evaluations, reason, time.monotonic() - begin)


class _Found(NamedTuple):
    point: FloatArray | None
    value: float
    gradient: FloatArray
    evaluations: int


def _search(
    loss: Loss, x: FloatArray, value: float, gradient: FloatArray, way: FloatArray, deadline: float
) -> _Found:  # fmt: skip
    """A step along a way that satisfies the weak conditions of Wolfe, or the best one that lowers the loss at all."""
    slope = float(way @ gradient)
    low, high, share = 0.0, np.inf, 1.0
    best = _Found(None, value, gradient, 0)
    for trial in range(1, TRIALS + 1):
        point = x + share * way
        if np.array_equal(point, x):
            break
        now, then = loss(point)
        if not now <= value + SUFFICIENT * share * slope:  # too far, or no number
            high = share
        else:
            if now < best.value:
                best = _Found(point, now, then, trial)
            if float(way @ then) >= CURVED * slope:
                return _Found(point, now, then, trial)
            low = share
        share = 0.5 * (low + high) if np.isfinite(high) else 2.0 * low
        if time.monotonic() > deadline:
            break
    return best._replace(evaluations=trial)
