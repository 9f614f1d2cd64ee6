"""Hands that give way: a grasp with a largest force, and a held node that is pressed into something.

A hand that gives way does not prescribe its nodes: it pulls each to where it is sent by a spring of stiffness k, and k
is found such that all springs together bear the largest force F, or less with the stiffest spring, F over a tenth of
the thickness: then the node is as good as there. The minimisation of a step is the same with springs, which act as more
inertia does, and contact holds the nodes off whatever is in their way.

A grasp without a limit gives way only where a step has no solution that it is pressed into, beyond 100 times the weight
of the cloth: its nodes stop there, and the step is reported as not converged.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.detector import ContactDetector
from isocloth.contact.starts import body_at
from isocloth.simulation.state import State
from isocloth.simulation.steppers.contact import ContactStepper
from isocloth.simulation.steppers.free import FreeStepper
from isocloth.simulation.steppers.stepper import Limit, Part, Springs, Stepper, Targets

#: weights of the cloth, on earth, that a grasp without a limit presses with at most
PRESS = 100.0
EARTH = 9.81

#: by which part a force may be off the largest one ...
MET = 0.01
#: ... and how many springs are tried for that
TRIES = 8

#: part of the thickness to which a hand is as good as where it is sent
ARRIVED = 0.1

#: part of the largest force at which a grasp gave way in the step before
AT_LIMIT = 0.97


def advance_part(stepper: Stepper, state: State, targets: Targets, h: float) -> Part:
    """A (sub)step of a stepper, with hands that give way where they must."""
    if not isinstance(stepper, FreeStepper) or not targets.held.any():
        return stepper.advance(state, targets, h)
    limited = [limit for limit in targets.limits if _bore(state, limit) > AT_LIMIT * limit.force]
    soft = limited + _alone(stepper, _buried(stepper, state, targets, h))
    hardly = targets._replace(last=False)
    may_give = bool(targets.limits) or isinstance(stepper, ContactStepper)
    part = _solve(stepper, state, hardly if may_give else targets, h, soft)
    done = part.state is not None and part.outcome.converged
    if part.state is not None:
        more = [limit for limit in targets.limits if _bore(part.state, limit) > (1.0 + MET) * limit.force]
    else:
        more = [*targets.limits, *_alone(stepper, _pressed(stepper, state, targets, h))]
    taken = {int(i) for limit in soft for i in limit.nodes}
    more = [limit for limit in more if int(limit.nodes[0]) not in taken]
    if more:
        again = _solve(stepper, state, hardly, h, soft + more)
        part = again._replace(outcome=_with_spent(again, part))
        done, soft = part.state is not None and part.outcome.converged, soft + more
    if not done and targets.last and part.state is None:
        again = _solve(stepper, state, targets, h, soft)
        part = again._replace(outcome=_with_spent(again, part))
    return _reported(stepper, part, targets, [limit for limit in soft if not _of(limit, targets)], state.time + h)


def _with_spent(part: Part, before: Part):  # type: ignore[no-untyped-def]
    return part.outcome._replace(iterations=part.outcome.iterations + before.outcome.iterations)


def _of(limit: Limit, targets: Targets) -> bool:
    return any(limit is known for known in targets.limits)


def _bore(state: State, limit: Limit) -> float:
    """N: with what force a grasp held its nodes in the step that led to a state."""
    return float(np.linalg.norm(state.reactions[limit.nodes].sum(axis=0)))


def _alone(stepper: FreeStepper, nodes: IntArray) -> list[Limit]:
    """Each of some nodes as a hand that presses as much as one may without a limit."""
    return [Limit(np.array([i]), _most(stepper)) for i in nodes]


def _most(stepper: FreeStepper) -> float:
    """N, with which a grasp without a limit presses at most."""
    return PRESS * EARTH * stepper.cloth.fabric.density * float(stepper.cloth.area.sum())


def _unlimited(targets: Targets) -> IntArray:
    """Held nodes whose grasps have no largest force."""
    held = targets.held.copy()
    for limit in targets.limits:
        held[limit.nodes] = False
    return np.flatnonzero(held)


def _buried(stepper: FreeStepper, state: State, targets: Targets, h: float) -> IntArray:
    """Held nodes that are sent below the surface of a solid, or gave way in the step before."""
    if not isinstance(stepper, ContactStepper) or stepper.world.empty:
        return np.zeros(0, dtype=np.int64)
    nodes, end = _unlimited(targets), state.time + h
    stepper.world.place(state.placed, targets.placed, state.time, end)
    deep = np.linalg.norm(state.reactions[nodes], axis=1) > AT_LIMIT * _most(stepper)
    for _, solid in stepper.world.solids:
        gap, _ = solid.gaps(targets.start[nodes], end)
        deep |= gap < 0.0
    return nodes[deep]


def _pressed(stepper: FreeStepper, state: State, targets: Targets, h: float) -> IntArray:
    """Held nodes that touch, or pass, something where they are sent."""
    if not isinstance(stepper, ContactStepper) or stepper.world.empty:
        return np.zeros(0, dtype=np.int64)
    nobody, nodes = np.zeros(len(targets.held), dtype=bool), _unlimited(targets)
    detector = ContactDetector(stepper.world, state.positions, nobody, state.time, state.time + h)
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
    before: tuple[FloatArray, FloatArray] | None = None
    spent = 0
    for _ in range(TRIES):
        springs = np.zeros(len(held))
        for limit, k in zip(soft, stiffness, strict=True):
            springs[limit.nodes] = k
        asked = targets._replace(start=start.copy(), held=held, springs=Springs(springs, goal))
        part = stepper.advance(state, asked, h)
        spent += part.outcome.iterations
        if part.state is None:
            return part._replace(outcome=part.outcome._replace(iterations=spent))
        pull = springs[:, None] * (goal - part.state.positions)
        force = np.array([np.linalg.norm(pull[limit.nodes].sum(axis=0)) for limit in soft])
        fits = (force <= (1.0 + MET) * most) & ((force >= (1.0 - MET) * most) | (stiffness >= stiffest))
        if fits.all() or not part.outcome.converged:
            break
        now = (np.log(stiffness), np.log(np.maximum(force, 1e-300)))
        slope = np.ones(len(soft))
        if before is not None:
            run = now[0] - before[0]
            rise = now[1] - before[1]
            slope = np.clip(np.divide(rise, run, out=slope.copy(), where=np.abs(run) > 1e-12), 0.1, 1.0)
        before = now
        step = np.clip((np.log(most) - now[1]) / slope, -math.log(1e3), math.log(1e3))
        stiffness = np.where(fits, stiffness, np.minimum(stiffest, np.exp(now[0] + step)))
    reactions = part.state.reactions.copy()
    for limit in soft:
        reactions[limit.nodes] = pull[limit.nodes]
    return Part(
        part.outcome._replace(iterations=spent), replace(part.state, held=targets.held, reactions=reactions)
    )  # fmt: skip


def _reported(stepper: FreeStepper, part: Part, targets: Targets, soft: list[Limit], end: float) -> Part:
    """What came of a (sub)step in which hands without a limit may have stopped."""
    if part.state is None or not soft:
        return part
    lag = np.array([np.linalg.norm((targets.start - part.state.positions)[limit.nodes[0]]) for limit in soft])
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
