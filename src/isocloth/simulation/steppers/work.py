"""The work of a step, counted in factorisations, and what becomes of a step that has taken all it may.

It is counted, not timed: the same step is given up at the same place on every machine. The cloth then stays where it
is until the end of the step, at rest, with the hands that hold it: finite, and as whole as it was.

What a step may take is measured by the median of the steps before it. Their work is part of the state, as a count of
the steps of each work, so that a run that is resumed gives the same steps up as one that was not.
"""

from __future__ import annotations

import math

import numpy as np

from isocloth.base.typing import IntArray
from isocloth.simulation.state import State
from isocloth.simulation.steppers.contact import ContactStepper
from isocloth.simulation.steppers.free import after
from isocloth.simulation.steppers.stepper import Part, Stepper, Targets
from isocloth.solvers.outcome import Outcome

GIVEN_UP = (
    "the step took all the work that it may (ContactOptions.max_work) and was given up: the cloth stays where it was; "
    "use gentler paths, a smaller timestep, or allow more work"
)


#: part of the work of a step after which its parts are not cut any further
HURRY = 0.75


def begin_work(stepper: Stepper, state: State) -> None:
    """A step from a state begins, of which nothing is done yet."""
    if isinstance(stepper, ContactStepper):
        stepper.contact.work = 0
        stepper.contact.most_work = stepper.contact.contact.most_work(median_work(state.work))


def counted(stepper: Stepper, before: State) -> IntArray:
    """The work of the steps to a state, and of the one that a stepper has just taken from it: see `State.work`."""
    if not isinstance(stepper, ContactStepper):
        return before.work
    counts = before.work.copy()
    counts[min(stepper.contact.work, len(counts) - 1)] += 1
    return counts


def median_work(counts: IntArray) -> int:
    """The median, the lower of two, of what was counted by `counted`; 0 of nothing."""
    total = np.cumsum(counts)
    return int(np.searchsorted(total, 0.5 * total[-1])) if total[-1] else 0


def exhausted(stepper: Stepper) -> bool:
    """Whether a step has taken all the work that it may."""
    return isinstance(stepper, ContactStepper) and stepper.contact.exhausted


def in_a_hurry(stepper: Stepper) -> bool:
    """Whether so much of the work is done that parts of the step are not to be cut any further."""
    return isinstance(stepper, ContactStepper) and stepper.contact.work >= HURRY * stepper.contact.most_work


def stood_still(before: State, after: State) -> bool:
    """Whether nothing moved, because nothing that was found could be taken."""
    return np.array_equal(before.positions, after.positions) and not after.velocities.any()


def wait(state: State, targets: Targets, h: float) -> Part:
    """A (sub)step in which nothing moves, because it is not solved."""
    still = np.zeros_like(state.positions)
    outcome = Outcome(
        state.positions, np.zeros(0), still, 0, False, 0.0, 0.0, math.inf, 0, math.inf, 0.0, GIVEN_UP
    )  # fmt: skip
    return Part(outcome, after(state, targets, h, state.positions, still, still.copy(), state.memory))
