"""Impacts: which nodes take the first-order scheme in a step, and the mean force with which a node was held.

What begins to touch changes its velocity at once, and so does all that hangs on it: the isometry hands an impulse on.
Where the motion of a step is given, by what is touched or held and by the lengths of the cloth, a second-order scheme
makes of a jump w of the velocity an impulse of 9/4 m w, and remembers it: the cloth would bounce off, and spin. The
first-order scheme makes m w of it, which is the change of momentum. So a step with an impact is solved again, with the
first-order scheme for whatever was struck. A node takes it until its velocity changes by the same in two steps in a
row: that is an acceleration again, which a second-order scheme may remember. So do nodes in contact, unless the whole
cloth slides steadily: nodes that hang on others of second order have a velocity that lags by half a step, and would be
jerked if they changed their scheme again and again. All the rest stays of second order.
"""

from __future__ import annotations

import math

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray

#: m/s^2: nothing is struck unless the acceleration of a node in contact changes by more from one step to the next ...
GENTLE = 2.5

#: ... or that of a held node by as much as this; hands that follow a recording tremble by less
JERK = 30.0

#: m/s^2: what slides does so steadily if its acceleration changes by less from one step to the next
STEADY = 0.25

#: part of the largest of these changes, above which that of any other node is a jump
CARRIED = 0.01

#: how often a step is solved at most, until no other node is struck
TRIES = 4


@kernel
def struck(
    before: FloatArray, velocities: FloatArray, previous: FloatArray, positions: FloatArray, end: FloatArray,
    touched: BoolArray, held: BoolArray, early: BoolArray, h: float,
) -> tuple[float, int, BoolArray]:  # fmt: skip
    """The largest jump of velocity of a node that is touched (n,) or held (n,), m/s; how many nodes it strikes that are
    not among the nodes `early` (n,); and all that it strikes (n,). Zero, and none, if there is no such jump.

    The (sub)step of h seconds goes from `before` (n, 3), with `velocities` (n, 3), to `positions` (n, 3), with the
    velocities `end` (n, 3); `previous` are the velocities one step before. A jump is what goes beyond the acceleration
    so far.
    """
    largest = 0.0
    for i in range(len(positions)):
        if touched[i] or held[i]:
            square = 0.0
            for d in range(3):
                step = (positions[i, d] - before[i, d]) / h
                square += (step - 2.0 * velocities[i, d] + previous[i, d]) ** 2
            if square > ((GENTLE if touched[i] else JERK) * h) ** 2:
                largest = max(largest, square)
    largest = math.sqrt(largest)
    out, late = np.zeros(len(end), dtype=np.bool_), 0
    if largest > 0.0:
        for i in range(len(end)):
            square = 0.0
            for d in range(3):
                square += (end[i, d] - 2.0 * velocities[i, d] + previous[i, d]) ** 2
            out[i] = square > (CARRIED * largest) ** 2
            if out[i] and not early[i]:
                late += 1
    return largest, late, out


@kernel
def add_unsteady(
    end: FloatArray, velocities: FloatArray, previous: FloatArray, touched: BoolArray, stuck: BoolArray, h: float,
    out: BoolArray,
) -> None:  # fmt: skip
    """Add to `out` the nodes (n,) that touched something in a (sub)step of h seconds, unless all nodes did, and slide
    steadily."""
    steady = True
    for i in range(len(end)):
        square = 0.0
        for d in range(3):
            square += (end[i, d] - 2.0 * velocities[i, d] + previous[i, d]) ** 2
        steady = steady and touched[i] and not stuck[i] and square <= (STEADY * h) ** 2
    for i in range(len(end)):
        out[i] = out[i] or (touched[i] and not steady)


@kernel
def average(
    reactions: FloatArray, known: FloatArray, held: BoolArray, again: BoolArray, early: BoolArray, now: float,
    before: float,
) -> None:  # fmt: skip
    """Make mean forces (n, 3) N over a step of those at its end, with which nodes (n,) are held.

    A node of the second-order scheme changes its velocity by v - v_0 = h' f / m - far (v_0 - v_prev): the force at the
    end counts in part, `now`, and that of the step before, `known` (n, 3), in part, `before`, of nodes held then too,
    again (n,).
    """
    for i in range(len(reactions)):
        if held[i] and again[i] and not early[i]:
            for d in range(3):
                reactions[i, d] = now * reactions[i, d] + before * known[i, d]
