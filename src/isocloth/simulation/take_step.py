"""One time step: what is asked of it, its parts, and the report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.numeric import shown
from isocloth.base.typing import FloatArray
from isocloth.simulation.arguments import read_only
from isocloth.simulation.diagnosis import diagnose, unsolved
from isocloth.simulation.forces import forces_in
from isocloth.simulation.report import Report
from isocloth.simulation.state import State
from isocloth.simulation.steppers import Targets
from isocloth.simulation.steppers.stepper import ARRIVED, ENOUGH, NOBODY, ExtraForce, largest_press
from isocloth.simulation.steppers.work import counted
from isocloth.simulation.substeps import DEEPEST, advance

if TYPE_CHECKING:
    from isocloth.simulation.simulation import Simulation


def take_step(sim: Simulation) -> tuple[State, Report]:
    """The state after one time step, and its certificate; the simulation keeps the state it has."""
    before, fallbacks, hands, stepper = sim.state, sim.stepper.fallbacks, sim.hands, sim.stepper
    try:
        found = advance(stepper, before, sim.timestep, partial(_ask, sim))
    except BaseException:  # a path that raises, say: half a step must not remain
        stepper.restore(before.memory)
        raise
    after, worst = found.state, found.worst
    after.work = counted(stepper, before)
    held = hands.taken(before) if hands.grippers else hands.held
    problem = worst.problem or diagnose(sim.cloth, after.positions, held, worst.isometry_error, worst.contacts > 0)
    if not problem and not worst.converged:
        problem = unsolved(worst, sim.timestep)
    return after, Report(
        time=after.time, iterations=found.iterations, isometry_error=worst.isometry_error, converged=not problem,
        substeps=found.parts, strain_gap=worst.strain_gap, force_residual=worst.force_residual,
        contacts=worst.contacts, min_gap=worst.min_gap, friction_residual=worst.friction_residual,
        fallbacks=stepper.fallbacks - fallbacks, sweeps=worst.sweeps, problem=problem,
        _measured=(sim.cloth.shape or sim.cloth.mesh, after.positions),
        _forces=partial(forces_in, after, hands.grasps, hands.grippers, sim.obstacles),
    )  # fmt: skip


def _ask(sim: Simulation, state: State, h: float, depth: int, before: State) -> Targets:
    """What is asked of a (sub)step from a state; `before`: at the begin of the whole step."""
    hands, end, share = sim.hands, state.time + h, 1.0
    late = NOBODY
    if hands.grasps and sim.world is not None and not sim.world.empty:
        late = hands.late(state, ARRIVED * sim.fabric.thickness, 0.9 * ENOUGH * largest_press(sim.cloth))
    if depth:
        share = (end - before.time) / sim.timestep
        share = 1.0 if share > 1.0 - 1e-9 else share  # parts of a step add up to it but for rounding
    start = state.positions + h * state.velocities
    hands.prescribe(start, state, end, share, before)
    poses, placed = before.poses, before.placed
    if hands.grippers:
        poses = hands.poses(before, end, share)
    if hands.obstacles is not placed:
        placed = hands.placed(before, share, sim.obstacles)
    force = None if sim.extra_force is None else partial(_extra, sim.extra_force, state, h)
    return Targets(
        start, hands.held, hands.grippers, poses, placed, force, before, 2**depth, depth >= DEEPEST, hands.limits, late
    )  # fmt: skip


def _extra(extra: ExtraForce, state: State, h: float, start: FloatArray) -> FloatArray:
    """The extra force (n, 3), N, at the end of a (sub)step, where the cloth is expected at `start`.

    Velocities are extrapolated, so that a second-order integrator stays one.
    """
    velocities = state.velocities
    if state.previous_timestep > 0.0:
        velocities = velocities + h / state.previous_timestep * (velocities - state.previous_velocities)
    given = extra(state.time + h, read_only(start), read_only(velocities))
    force = np.asarray(given)
    if force.shape != start.shape or force.dtype.kind not in "iuf" or not np.isfinite(force).all():
        what = "is not finite" if force.dtype.kind in "iuf" else f"is of type {force.dtype}"
        if force.shape != start.shape:
            what = f"has shape {force.shape}" if force.ndim else f"is {shown(given)}"
        raise InputError(
            f"the extra force at t = {state.time + h:g} s {what}: expected finite forces {start.shape} in N"
        )
    return np.asarray(force, dtype=np.float64)
