"""From a start to an equilibrium: Newton's method where the start is one already, else damped motion, then Newton.

A start that is an equilibrium, or nearly, is taken for one, stable or not: who asks whether a strip can stand gets it
standing. From any other start the energy falls all the way, and where the cloth comes to rest at a point from which it
could fall further (a strip that is pressed together and does not know where to buckle), it is pushed along its softest
mode, by the same each time.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import FloatArray
from isocloth.contact.history import NO_HISTORY, ContactHistory
from isocloth.simulation.diagnosis import diagnose
from isocloth.simulation.memory import NewtonMemory
from isocloth.statics.polish import Polished, Polisher, residual_of
from isocloth.statics.problem import Problem, Scene
from isocloth.statics.relax import Relaxation
from isocloth.statics.stability import lasts, smallest_mode
from isocloth.statics.touching import Touching

#: part of the cloth by which a start may be off the equilibrium it is taken for
NEAR = 1e-3

#: steps between two tries of Newton's method, and sizes of the cloth per second from which none is made
EVERY, FAST = 5, 0.3

#: steps, and factorisations, after which it is given up
MOST_STEPS, MOST_WORK = 1500, 15000

#: part of the cloth that a step moves at most where it has come to rest, and by which it is then pushed
STILL, PUSH = 1e-7, 2e-3
#: of the size of the cloth: how flat it is if it is; how far its middle is lifted then before it moves
FLAT, UNEVEN = 1e-9, 1e-3
#: how often it may be pushed
PUSHES = 8

#: residual, of the weight, to which a cloth that damped motion alone brought to rest must be balanced ...
AT_REST = 1e-4
#: ... and tries in a row at which it was, by as little motion as this part of the cloth, after which that will do: the
#: forces of contacts at sharp edges may go to and fro for ever
QUIET_TRIES, QUIET = 20, 1e-5

#: parts of gravity through which it goes where it was not found at once
RAMP = (0.02, 0.1, 0.3, 1.0)


class Found(NamedTuple):
    """An equilibrium, or what there is in its place."""

    positions: FloatArray  # (n, 3) m
    tension: FloatArray  # (r,) J, multipliers of the rows
    touching: Touching | None
    residual: float  # net force on the free nodes, of the weight
    converged: bool
    problem: str  # empty, or why it is not what was asked for
    work: int  # factorisations


def find(
    problem: Problem, start: FloatArray, tension: FloatArray | None = None, history: ContactHistory = NO_HISTORY, *,
    progress: bool = False, ramp: bool = True, stable: bool = False,
) -> Found:  # fmt: skip
    """The equilibrium that positions (n, 3), with multipliers (r,) and contact forces if they are known, lead to.

    stable: a start that is an unstable equilibrium is left.
    """
    scene = Scene(problem, start)
    if tension is not None and len(tension) != len(scene.cloth.rows):
        tension = None  # those of another model
    solver = Polisher(scene.cloth, scene.held)
    begin = start.copy()
    begin[problem.nodes] = problem.places
    if float(np.abs(begin - start).max(initial=0.0)) <= NEAR * scene.size:
        known = _tension_at(solver, begin) if tension is None else tension
        touching = _touching(scene, begin, history)
        near = solver.solve(
            begin, known, touching, most=12, patience=4, indefinite=True, reach=NEAR * scene.size
        )  # fmt: skip
        lasting = near.definite or not stable or lasts(solver, near.tension, touching)
        if near.converged and lasting:
            _say(progress, f"the start is an equilibrium, residual {near.residual:.1e}")
            return _found(scene, near, touching, near.iterations)
    found = _moved(scene, solver, tension, history, progress)
    if found.converged or not ramp or problem.gravity == 0.0:
        return found
    _say(progress, "not found at once: through less gravity")
    return _ramped(problem, start, found, progress)


def _tension_at(solver: Polisher, positions: FloatArray) -> FloatArray:
    """(r,) J: what the strains at positions (n, 3) say, if they may be those of a cloth at rest; else zero."""
    potential = solver.potential
    potential.move(positions)
    none = np.zeros_like(potential.tension)
    strained, slack = (float(np.linalg.norm(potential.gradient(t))) for t in (potential.tension, none))
    return potential.tension if strained < 2.0 * slack else none


def _ramped(problem: Problem, start: FloatArray, found: Found, progress: bool) -> Found:
    """The same through growing gravity; where that fails too, what was found before."""
    positions, work = start, found.work
    for part in RAMP:
        try:
            now = find(
                problem.changed("gravity", part * problem.gravity), positions, progress=progress, ramp=False
            )  # fmt: skip
        except ConvergenceError:
            return found._replace(work=work)
        work += now.work
        if not now.converged:
            return found._replace(work=work)
        positions = now.positions
    return now._replace(work=work)


def _moved(
    scene: Scene, solver: Polisher, tension: FloatArray | None, history: ContactHistory, progress: bool
) -> Found:
    """By damped motion, and Newton's method as soon as the energy is convex."""
    state = scene.sim.state
    if tension is not None:
        memory = state.memory
        assert isinstance(memory, NewtonMemory)
        state.memory = memory._replace(multipliers=tension.copy(), history=history)
    relaxation = Relaxation(scene, state)
    bump = _bump(scene, state.positions)
    if bump is not None:
        memory = state.memory
        assert isinstance(memory, NewtonMemory)
        relaxation.put(state.positions + UNEVEN * scene.size * bump, memory)
    pushes, work, quiet = 0, 0, 0
    while relaxation.steps < MOST_STEPS and relaxation.work < MOST_WORK and not relaxation.lost:
        relaxation.advance(EVERY)
        if relaxation.falls:
            raise ConvergenceError(
                f"the cloth falls: nothing holds it, and after {relaxation.fallen:.3g} m it touches nothing; expected "
                "held nodes, or obstacles on which it can rest"
            )
        _say(progress, f"step {relaxation.steps}: {1e3 * relaxation.motion:.2g} mm, {relaxation.speed:.2g} m/s")
        if not relaxation.arrived or relaxation.speed > FAST * scene.size:
            continue
        memory = relaxation.state.memory
        assert isinstance(memory, NewtonMemory)
        positions = relaxation.state.positions
        touching = _touching(scene, positions, memory.history)
        tried = solver.solve(positions, memory.multipliers, touching, most=20, patience=4, convex=True)
        work += tried.iterations
        if tried.converged:
            _say(progress, f"Newton's method: residual {tried.residual:.1e}")
            return _found(scene, tried, touching, relaxation.work + work)
        solver.potential.move(positions)
        touching = _touching(scene, positions, memory.history)
        balanced = residual_of(solver.potential, memory.multipliers, scene.held, touching) < AT_REST
        quiet = quiet + 1 if balanced and relaxation.motion < QUIET * scene.size else 0
        if quiet == QUIET_TRIES:
            break
        if relaxation.motion > STILL * scene.size:
            continue
        # at rest, and not where the energy is least: at a saddle, or among contacts that Newton's method cannot settle
        if pushes == PUSHES or (touching is not None and touching.active.any()):
            break
        pushes += 1
        eigenvalue, mode = smallest_mode(solver.hessian(memory.multipliers, touching))
        if not eigenvalue < 0.0:
            break
        _say(progress, f"at rest, but unstable ({eigenvalue:.2g} 1/s^2): pushed along its softest mode")
        relaxation.put(positions + PUSH * scene.size * mode, memory)
    return _unfinished(scene, solver, relaxation, work, progress)


def _bump(scene: Scene, positions: FloatArray) -> FloatArray | None:
    """(n, 3), at most 1: across a flat cloth that no weight and no contact leads out of its plane; None of any other.

    No real cloth is that flat. One that is pressed together would be so in its plane, and torn up, before it buckles.
    """
    apart = positions - positions.mean(axis=0)
    _, spread, axes = np.linalg.svd(apart, full_matrices=False)
    normal = axes[2]
    weight = np.linalg.norm(scene.cloth.weight)
    if spread[2] > FLAT * spread[0] or np.linalg.norm(scene.cloth.weight @ normal) > FLAT * weight:
        return None
    if scene.sim.world is not None:
        return None
    square = np.einsum("nd,nd->n", apart, apart)
    height = np.where(scene.held, 0.0, 1.0 - square / square.max())
    return np.asarray(height[:, None] * normal)


def _unfinished(scene: Scene, solver: Polisher, relaxation: Relaxation, work: int, progress: bool) -> Found:
    """The best that can be said of a cloth at which damped motion ended: Newton's method from there, as it goes."""
    memory = relaxation.state.memory
    assert isinstance(memory, NewtonMemory)
    positions = relaxation.state.positions
    for indefinite in (False, True):
        touching = _touching(scene, positions, memory.history)
        tried = solver.solve(positions, memory.multipliers, touching, most=60, patience=15, indefinite=indefinite)
        work += tried.iterations
        if tried.converged:
            _say(progress, f"Newton's method: residual {tried.residual:.1e}")
            return _found(scene, tried, touching, relaxation.work + work)
    touching = _touching(scene, positions, memory.history)
    solver.potential.move(positions)
    residual = residual_of(solver.potential, memory.multipliers, scene.held, touching)
    from_motion = Polished(positions, memory.multipliers, residual, False, False, 0)
    return _found(scene, from_motion, touching, relaxation.work + work)


def _found(scene: Scene, polished: Polished, touching: Touching | None, work: int) -> Found:
    """What was found, with a word on what is wrong with it."""
    error = float(np.abs(scene.cloth.rows.values(polished.positions)[scene.cloth.rows.enforced]).max(initial=0.0))
    pressed = touching is not None and bool(touching.active.any())
    problem = diagnose(scene.cloth, polished.positions, scene.held, error, pressed)
    balanced = polished.converged or polished.residual < AT_REST
    if not problem and not balanced:
        problem = (
            f"no equilibrium was found within {MOST_STEPS} steps: forces of {polished.residual:.1e} of the weight are "
            "left; start nearer to one, or continue to it from another"
        )
    return Found(
        polished.positions, polished.tension, touching, polished.residual, balanced and not problem, problem, work
    )  # fmt: skip


def _touching(scene: Scene, positions: FloatArray, history: ContactHistory) -> Touching | None:
    world = scene.sim.world
    if world is None or world.empty:
        return None
    return Touching(world, scene.held, positions, history, scene.cloth.mass)


def _say(progress: bool, what: str) -> None:
    if progress:
        print(f"equilibrium: {what}", file=sys.stderr, flush=True)
