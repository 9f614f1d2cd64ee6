"""Continuous detection: when do two parts that move linearly first come as close as a given distance?

Conservative advancement in the spirit of ACCD (Li, Kaufman and Jiang 2021, Codimensional incremental potential
contact): time advances by steps in which the distance cannot fall to the target, until it almost has. There the bound
is distance over the largest speed; here it is sharper. The parts are convex, so with the unit vector n between their
closest points n . (a_i - b_j) >= distance holds for all vertices a_i and b_j of the two sides. Each of these is linear
in time and bounds the distance from below until the first of them reaches the target. Parts that slide along each
other are done in one step, where speed alone would creep.
"""

from __future__ import annotations

import math

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.contact.distance import NODE_FACE, Point, Points, closest, combine, dot, gather, minus

#: returned for pairs that never come as close as that
NEVER = 2.0

#: of the starting distance: the target that stands for a crossing, where the side is still well defined
TOUCH = 1e-3

#: how much above the target, relative to it, counts as having reached it
TOLERANCE = 1e-2

#: after these many advances the time reached is returned: early, never late
ADVANCES = 100


@kernel
def _between(a: Point, b: Point, time: float) -> Point:
    return a[0] + time * (b[0] - a[0]), a[1] + time * (b[1] - a[1]), a[2] + time * (b[2] - a[2])


@kernel
def _until(gap: float, rate: float, target: float) -> float:
    """When a height that changes at a constant rate falls to the target."""
    if gap <= target:
        return 0.0
    return (gap - target) / -rate if rate < 0.0 else NEVER


@kernel
def advance(kind: int, x0: Points, x1: Points, target: float) -> tuple[float, Points]:
    """As `time_of_approach` with a positive target; also the points at that time."""
    x, time = x0, 0.0
    move = minus(x1[3], x0[3])
    move_0 = minus(minus(x1[0], x0[0]), move)
    move_1 = minus(minus(x1[1], x0[1]), move)
    move_2 = minus(minus(x1[2], x0[2]), move)
    for _ in range(ADVANCES):
        square, w = closest(kind, x)
        length = math.sqrt(square)
        if length <= target * (1.0 + TOLERANCE):
            break
        n = combine(w, x)
        n = (n[0] / length, n[1] / length, n[2] / length)
        # heights over the last point along the normal, and their rates
        h0, h1, h2 = dot(n, minus(x[0], x[3])), dot(n, minus(x[1], x[3])), dot(n, minus(x[2], x[3]))
        r0, r1, r2 = dot(n, move_0), dot(n, move_1), dot(n, move_2)
        if kind == NODE_FACE:
            step = min(_until(h0 - h1, r0 - r1, target), _until(h0 - h2, r0 - r2, target))
        else:
            step = min(_until(h0 - h2, r0 - r2, target), _until(h1 - h2, r1 - r2, target), _until(h1, r1, target))
        step = min(step, _until(h0, r0, target))
        # any direction gives a true bound, also one spoilt by rounding, as for distances of 1e-8 of the edges: then the
        # heights tell that nothing is certain any more, and it is time to stop
        if step == 0.0:
            break
        time += step
        if time > 1.0:
            return NEVER, x
        x = (
            _between(x0[0], x1[0], time),
            _between(x0[1], x1[1], time),
            _between(x0[2], x1[2], time),
            _between(x0[3], x1[3], time),
        )
    return time, x


@kernel
def time_of_approach(kind: int, x0: FloatArray, x1: FloatArray, target: float) -> float:
    """First time in [0, 1] at which a pair moving linearly from x0 to x1 (4, 3) is within `target` m, or 2.0 if never.

    Never late; early by what it takes to cover the last hundredth of the target, or by more where rounding leaves the
    direction between the two uncertain. A target of zero asks for a
    crossing; it is replaced by a thousandth of the distance at the start.
    """
    start = gather(x0, 0, 1, 2, 3)
    if target <= 0.0:
        square, _ = closest(kind, start)
        target = TOUCH * math.sqrt(square)
    time, _ = advance(kind, start, gather(x1, 0, 1, 2, 3), target)
    return time
