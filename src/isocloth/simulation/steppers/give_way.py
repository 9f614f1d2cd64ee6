"""Hands that give way: a grasp with a largest force, and a held node that is pressed into something.

A hand that gives way does not prescribe its nodes: it pulls each to where it is sent by a spring of stiffness k, and k
is found such that all springs together bear the largest force F, or less with the stiffest spring, F over a tenth of
the thickness: then the node is as good as there. The minimisation of a step is the same with springs, which act as more
inertia does, and contact holds the nodes off whatever is in their way.

A grasp without a limit gives way only where a step has no solution that it is pressed into, beyond 100 times the weight
of the cloth: its nodes stop there, and the step is reported as not converged.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.detector import ContactDetector
from isocloth.contact.starts import body_at
from isocloth.simulation.memory import NewtonMemory
from isocloth.simulation.state import State
from isocloth.simulation.steppers.contact import ContactStepper
from isocloth.simulation.steppers.free import FreeStepper
from isocloth.simulation.steppers.stepper import (
    ARRIVED,
    ENOUGH,
    NOBODY,
    PRESS,
    Limit,
    Part,
    Springs,
    Stepper,
    Targets,
    largest_press,
)
from isocloth.terms.rows import add_forces, evaluate, shorter

#: by which part a force may be off the largest one ...
MET = 0.01
#: ... and how many springs are tried for that
TRIES = 8

#: logarithm of the factor by which a spring changes at most from try to try
FURTHEST = 7.0

#: parts of a step, at most, in which it is tried whether hands without a limit are pressed into something
CUT = 2

#: part of the largest force at which a grasp gave way in the step before
AT_LIMIT = 0.97


def advance_part(stepper: Stepper, state: State, targets: Targets, h: float) -> Part:
    """A (sub)step of a stepper, with hands that give way where they must."""
    if not isinstance(stepper, ContactStepper) and not targets.limits:
        return stepper.advance(state, targets, h)
    if not isinstance(stepper, FreeStepper) or not targets.held.any():
        return stepper.advance(state, targets, h)
    buried, late = _buried(stepper, state, targets, h)
    sure = [s for s in targets.limits if _bore(state, s) > AT_LIMIT * s.force or np.isin(s.nodes, buried).any()]
    sure += _alone(stepper, _unlimited(buried, targets))
    soft = sure + _alone(stepper, _unlimited(late, targets))
    if not soft and not targets.limits and targets.parts > CUT:
        return stepper.advance(state, targets, h)
    tried = targets._replace(last=False)
    part = _solve(stepper, state, tried, h, soft)
    spent = part.outcome.iterations
    if part.state is None and len(soft) > len(sure):
        soft = list(sure)  # the others may be free again, or hold a cloth that is too short
        part = _solve(stepper, state, tried, h, soft)
        spent += part.outcome.iterations
    if part.state is not None:
        more = [limit for limit in targets.limits if _bore(part.state, limit) > (1.0 + MET) * limit.force]
    else:
        more = list(targets.limits)
        if targets.parts <= CUT:
            more += _alone(stepper, _pressed(stepper, state, targets, h))
    taken = {int(i) for limit in soft for i in limit.nodes}
    more = [limit for limit in more if int(limit.nodes[0]) not in taken]
    if more:
        soft += more
        part = _solve(stepper, state, tried, h, soft)
        spent += part.outcome.iterations
    if part.state is None and targets.last:
        # hands without a limit that are not pressed, but hold a cloth that is too short, do not give way
        soft = [limit for limit in soft if _is_limit(limit, targets) or any(limit is known for known in sure)]
        part = _solve(stepper, state, targets, h, soft)
        spent += part.outcome.iterations
    part = part._replace(outcome=part.outcome._replace(iterations=spent))
    return _reported(stepper, part, targets, [s for s in soft if not _is_limit(s, targets)], state.time + h)


def _is_limit(limit: Limit, targets: Targets) -> bool:
    """Whether it is that of a grasp, and not a node of one without."""
    return any(limit is known for known in targets.limits)


def _bore(state: State, limit: Limit) -> float:
    """N: with what force a grasp held its nodes in the step that led to a state."""
    return float(np.linalg.norm(state.reactions[limit.nodes].sum(axis=0)))


def _alone(stepper: FreeStepper, nodes: IntArray) -> list[Limit]:
    """Each of some nodes as a hand that presses as much as one may without a limit."""
    most = largest_press(stepper.cloth)
    return [Limit(np.array([i]), most) for i in nodes]


def _unlimited(nodes: IntArray, targets: Targets) -> IntArray:
    """Those of some nodes whose grasps have no largest force."""
    for limit in targets.limits:
        nodes = nodes[~np.isin(nodes, limit.nodes)]
    return nodes


def _buried(stepper: FreeStepper, state: State, targets: Targets, h: float) -> tuple[IntArray, IntArray]:
    """Held nodes that are sent below the surface of a solid, and others that gave way in the step before."""
    if not isinstance(stepper, ContactStepper) or stepper.world.empty:
        return NOBODY, NOBODY
    nodes, end = np.flatnonzero(targets.held), state.time + h
    stepper.world.place(state.placed, targets.placed, state.time, end)
    late, deep = state.memory.touching[nodes] & np.isin(nodes, targets.late), np.zeros(len(nodes), dtype=bool)
    for _, solid in stepper.world.solids:
        gap, _ = solid.gaps(targets.start[nodes], end)
        deep |= gap < 0.0
    return nodes[deep], nodes[late & ~deep]


def _pressed(stepper: FreeStepper, state: State, targets: Targets, h: float) -> IntArray:
    """Held nodes that touch, or pass, something where they are sent."""
    if not isinstance(stepper, ContactStepper) or stepper.world.empty:
        return NOBODY
    nodes = _unlimited(np.flatnonzero(targets.held), targets)
    detector = ContactDetector(stepper.world, state.positions, stepper.cloth.nobody, state.time, state.time + h)
    found = detector.find(targets.start)
    return nodes[np.isin(nodes, found.nodes[found.weights != 0.0])]


def _solve(stepper: FreeStepper, state: State, targets: Targets, h: float, soft: list[Limit]) -> Part:
    """A (sub)step in which some hands pull by springs."""
    if not soft:
        return stepper.advance(state, targets, h)
    arrived = ARRIVED * stepper.cloth.fabric.thickness
    goal, held, start = targets.start, targets.held.copy(), targets.start.copy()
    for limit in soft:
        held[limit.nodes] = False
        start[limit.nodes] = state.positions[limit.nodes] + h * state.velocities[limit.nodes]
    stiffest = np.array([limit.force / (len(limit.nodes) * arrived) for limit in soft])
    far = np.array([np.linalg.norm((goal - state.positions)[limit.nodes].sum(axis=0)) for limit in soft])
    most = np.array([limit.force for limit in soft])
    stiffness = np.minimum(stiffest, most / np.maximum(far, 1e-300))
    least = np.array([(1.0 - MET if _is_limit(limit, targets) else ENOUGH) * limit.force for limit in soft])
    search, spent = SpringSearch(stiffest, most), 0
    end: State | None = None
    for _ in range(TRIES):
        springs = np.zeros(len(held))
        for limit, k in zip(soft, stiffness, strict=True):
            springs[limit.nodes] = k
        asked = targets._replace(start=start.copy(), held=held, springs=Springs(springs, goal))
        part = stepper.advance(state, asked, h)
        spent, end = spent + part.outcome.iterations, part.state
        if end is None:
            return part._replace(outcome=part.outcome._replace(iterations=spent))
        pull = springs[:, None] * (goal - end.positions)
        force = np.array([np.linalg.norm(pull[limit.nodes].sum(axis=0)) for limit in soft])
        fits = (force <= (1.0 + MET) * most) & ((force >= least) | (stiffness >= stiffest))
        if fits.all() or not part.outcome.converged:
            break
        stiffness = np.where(fits, stiffness, search.next(stiffness, force))
    assert end is not None  # there is one try at least
    late = [s for s in soft if not _is_limit(s, targets) and _lag(s, goal, end) > 1.1 * arrived]
    if not targets.last and _taut(stepper, end, pull, late):
        return Part(part.outcome._replace(iterations=spent, converged=False), None)
    reactions = end.reactions.copy()
    for limit in soft:
        reactions[limit.nodes] = pull[limit.nodes]
    return Part(
        part.outcome._replace(iterations=spent), replace(end, held=targets.held, reactions=reactions)
    )  # fmt: skip


class SpringSearch:
    """The stiffness (g,) N/m of hands that bear their largest force (g,) N, at most `stiffest`.

    A stiffer spring bears more. The first guess is a node that does not move; the next are from a line through the last
    two in logarithms, and in the middle of what is left where that would leave the bracket.
    """

    def __init__(self, stiffest: FloatArray, most: FloatArray) -> None:
        self._most = np.log(most)
        self._low, self._high = np.full(len(most), -np.inf), np.log(stiffest)
        self._last: tuple[FloatArray, FloatArray] | None = None

    def next(self, stiffness: FloatArray, force: FloatArray) -> FloatArray:
        """The stiffness to try after one that led to a force (g,) N."""
        k, f = np.log(stiffness), np.log(np.maximum(force, 1e-300))
        much = f > self._most
        self._high, self._low = np.where(much, np.minimum(k, self._high), self._high), np.where(much, self._low, k)
        slope = np.ones(len(k))
        if self._last is not None:
            run, rise = k - self._last[0], f - self._last[1]
            slope = np.clip(np.divide(rise, run, out=slope, where=np.abs(run) > 1e-12), 0.1, 1.0)
        self._last = (k, f)
        guess = k + np.clip((self._most - f) / slope, -FURTHEST, FURTHEST)
        known = np.isfinite(self._low)
        middle = np.where(known, 0.5 * (np.where(known, self._low, 0.0) + self._high), guess)
        inside = (guess > self._low) & (guess <= self._high)
        return np.asarray(np.exp(np.where(inside, guess, np.minimum(middle, self._high))))


def _lag(limit: Limit, goal: FloatArray, state: State) -> float:
    """m: how far the first node of a hand is from where it is sent."""
    return float(np.linalg.norm((goal - state.positions)[limit.nodes[0]]))


def _taut(stepper: FreeStepper, state: State, pull: FloatArray, late: list[Limit]) -> bool:
    """Whether the cloth itself holds back one of the nodes that lag, and not what is in their way."""
    if not late or not isinstance(stepper, ContactStepper) or not isinstance(state.memory, NewtonMemory):
        return False
    rows, cloth = stepper.contact.newton.arrays.rows, stepper.cloth
    values, jacobian = np.empty(len(cloth.rows)), np.empty((len(cloth.rows.nodes), 3))
    tension = np.zeros_like(pull)
    evaluate(rows, cloth.rows.rest, shorter(rows, state.positions), state.positions, values, jacobian)
    add_forces(rows, jacobian, state.memory.multipliers, tension)
    nodes = np.array([limit.nodes[0] for limit in late])
    along = np.einsum("kd,kd->k", tension[nodes], pull[nodes])
    return bool((along > 0.5 * np.einsum("kd,kd->k", pull[nodes], pull[nodes])).any())


def _reported(stepper: FreeStepper, part: Part, targets: Targets, soft: list[Limit], end: float) -> Part:
    """What came of a (sub)step in which hands without a limit may have stopped."""
    if part.state is None or not soft:
        return part
    lag = np.array([_lag(limit, targets.start, part.state) for limit in soft])
    worst = int(lag.argmax())
    if lag[worst] <= 1.1 * ARRIVED * stepper.cloth.fabric.thickness:
        return part
    node = int(soft[worst].nodes[0])
    body = "what is in its way"
    if isinstance(stepper, ContactStepper):
        body = body_at(stepper.world, part.state.positions, node, end)
    problem = (
        f"node {node} is pressed into {body} and stopped {1e3 * lag[worst]:.3g} mm short of where it is sent, with a "
        f"force of {soft[worst].force:.3g} N, {PRESS:g} times the weight of the cloth; check the path of its grasp, or "
        "give it a max_force"
    )
    return part._replace(outcome=part.outcome._replace(converged=False, problem=problem))
