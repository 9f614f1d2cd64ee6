"""Impacts: which nodes take the first-order scheme in a step, and the mean force with which a node was held.

What begins to touch changes its velocity at once, and so does all that hangs on it: the isometry hands an impulse on.
Where the motion of a step is given, by what is touched or held and by the lengths of the cloth, a second-order scheme
makes of a jump w of the velocity an impulse of 9/4 m w, and remembers it: the cloth would bounce off, and spin. The
first-order scheme makes m w of it, which is the change of momentum. So a step with an impact is solved again, with the
first-order scheme for whatever was struck. A node takes it until its velocity changes by the same in two steps in a
row: that is an acceleration again, which a second-order scheme may remember. So do nodes that stick to something, and
those that slide along it, until they do so steadily. All the rest stays of second order.
"""

from __future__ import annotations

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.step import Past, Scheme

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
    past: Past, positions: FloatArray, velocities: FloatArray, touched: BoolArray, held: BoolArray, h: float,
    early: BoolArray, out: BoolArray,
) -> int:  # fmt: skip
    """Which nodes (n,) are struck in a (sub)step of h seconds that ends with positions and velocities (n, 3): `out`.

    touched, held: (n,) which are in contact, and which are prescribed. Returns how many of those that are struck are
    not among the nodes `early` (n,).
    """
    largest = 0.0
    for i in range(len(positions)):
        if touched[i] or held[i]:
            square = 0.0
            for d in range(3):
                step = (positions[i, d] - past.positions[i, d]) / h
                square += (step - 2.0 * past.velocities[i, d] + past.previous_velocities[i, d]) ** 2
            if square > ((GENTLE if touched[i] else JERK) * h) ** 2:
                largest = max(largest, square)
    late = 0
    for i in range(len(positions)):
        square = 0.0
        for d in range(3):  # beyond what the velocity does if the acceleration goes on
            square += (velocities[i, d] - 2.0 * past.velocities[i, d] + past.previous_velocities[i, d]) ** 2
        out[i] = largest > 0.0 and square > CARRIED**2 * largest
        if out[i] and not early[i]:
            late += 1
    return late


@kernel
def unsteady(
    past: Past, velocities: FloatArray, touched: BoolArray, stuck: BoolArray, h: float, out: BoolArray
) -> None:
    """Add to `out` the nodes (n,) that touched something in a (sub)step of h seconds, unless they slide steadily."""
    for i in range(len(velocities)):
        if touched[i]:
            square = 0.0
            for d in range(3):
                square += (velocities[i, d] - 2.0 * past.velocities[i, d] + past.previous_velocities[i, d]) ** 2
            out[i] = out[i] or stuck[i] or square > (STEADY * h) ** 2


def mean_reactions(
    scheme: Scheme, h: float, before: float, reactions: FloatArray, known: FloatArray, early: BoolArray,
    held: BoolArray, again: BoolArray,
) -> FloatArray:  # fmt: skip
    """Mean forces (n, 3) N over a step, of those at its end, with which nodes (n,) are held.

    A node of the second-order scheme changes its velocity by v - v_0 = h' f / m - far (v_0 - v_prev): the force at the
    end counts in part, and what came before in part. `known`: those of the step before, which took `before` seconds, of
    nodes held then, again (n,).
    """
    late = held & again & ~early
    if scheme.far == 0.0 or not late.any():
        return reactions
    mean = reactions.copy()
    mean[late] = (scheme.h * reactions[late] - scheme.far * before * known[late]) / h
    return mean
