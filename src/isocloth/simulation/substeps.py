"""The recursion of substeps: a step that does not converge is cut in two, and each half again, down to a limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from isocloth.simulation.state import State
from isocloth.simulation.steppers.give_way import advance_part
from isocloth.simulation.steppers.stepper import Part, Stepper, Targets
from isocloth.simulation.steppers.work import begin_work, exhausted, in_a_hurry, stood_still, wait
from isocloth.solvers.outcome import Outcome, worst_of

#: a step is cut in two at most this many times in a row
DEEPEST = 5

#: state, length and depth of a (sub)step, and the state at the begin of the whole step -> what is asked of it
Ask = Callable[[State, float, int, State], Targets]


class Advanced(NamedTuple):
    """A whole step: the state at its end, the worst of the certificates of its parts, and what it took."""

    state: State
    worst: Outcome
    parts: int
    iterations: int  # factorisations, those of parts that failed included


def advance(stepper: Stepper, state: State, timestep: float, ask: Ask) -> Advanced:
    """Take a step, in as many parts as it needs."""
    begin_work(stepper, state)
    part = advance_part(stepper, state, ask(state, timestep, 0, state), timestep)
    if part.state is not None:
        return Advanced(part.state, part.outcome, 1, part.outcome.iterations)
    done: list[tuple[float, Part, State]] = []
    end, iterations = _in_two(stepper, state, timestep, 0, state, ask, done)
    iterations += part.outcome.iterations
    return Advanced(_averaged(end, timestep, done), worst_of([p.outcome for _, p, _ in done]), len(done), iterations)


def _advance(
    stepper: Stepper, state: State, h: float, depth: int, before: State, ask: Ask,
    done: list[tuple[float, Part, State]],
) -> tuple[State, int]:  # fmt: skip
    """One part; if it does not converge, two of half the length. Returns the state at its end, and what was spent."""
    targets = ask(state, h, depth, before)
    hurried = in_a_hurry(stepper) and not targets.last
    if exhausted(stepper):
        part = wait(state, targets, h)
    else:
        part = advance_part(stepper, state, targets._replace(last=True) if hurried else targets, h)
    spent = part.outcome.iterations
    if part.state is not None and not (hurried and stood_still(state, part.state) and not exhausted(stepper)):
        done.append((h, part, part.state))
        return part.state, spent
    end, further = _in_two(stepper, state, h, depth, before, ask, done)
    return end, spent + further


def _in_two(
    stepper: Stepper, state: State, h: float, depth: int, before: State, ask: Ask,
    done: list[tuple[float, Part, State]],
) -> tuple[State, int]:  # fmt: skip
    """A (sub)step as two parts of half the length."""
    middle, first = _advance(stepper, state, h / 2, depth + 1, before, ask, done)
    end, second = _advance(stepper, middle, h / 2, depth + 1, before, ask, done)
    return end, first + second


def _averaged(end: State, timestep: float, done: list[tuple[float, Part, State]]) -> State:
    """The last state of a cut step with the forces of all of its parts: their impulses over the length of the step."""
    share = [h / timestep for h, _, _ in done]
    states = [after for _, _, after in done]

    def mean(arrays: list[np.ndarray]) -> np.ndarray:
        return np.asarray(sum(s * a for s, a in zip(share, arrays, strict=True)))

    return replace(
        end,
        reactions=mean([s.reactions for s in states]),
        moments=mean([np.cross(s.positions, s.reactions) for s in states]),
        obstacle_wrenches=mean([s.obstacle_wrenches for s in states]),
        gripper_wrenches=mean([s.gripper_wrenches for s in states]),
    )
