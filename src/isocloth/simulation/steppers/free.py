"""Steps without contact: one solve by Newton's method or by fast projection."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.cloth import Cloth, kinetic_energy, potential_energy
from isocloth.cloth.step import Past, Scheme, Step, build_step
from isocloth.simulation.announce import announce_compilation
from isocloth.simulation.integrators import BY_NAME, euler
from isocloth.simulation.memory import Memory, NewtonMemory
from isocloth.simulation.state import State
from isocloth.simulation.steppers.impacts import TRIES, average, struck
from isocloth.simulation.steppers.stepper import Part, Targets, body_wrenches
from isocloth.solvers import Newton, Solver
from isocloth.solvers.coupling import NO_COUPLING, CouplingPattern
from isocloth.solvers.outcome import Outcome


class Solved(NamedTuple):
    """A free (sub)step, and what came of it."""

    step: Step
    scheme: Scheme
    outcome: Outcome
    velocities: FloatArray  # (n, 3) m/s, at its end
    struck: BoolArray  # (n,) whose velocity jumped


class FreeStepper:
    """Steps of a cloth that touches nothing."""

    def __init__(self, cloth: Cloth, solver: Solver, integrator: str) -> None:
        self.cloth, self.solver, self.integrator = cloth, solver, integrator
        self._scheme = BY_NAME[integrator]

    @property
    def name(self) -> str:
        """Of the solver."""
        return self.solver.name

    def remember(self, positions: FloatArray, velocities: FloatArray) -> NewtonMemory:
        """No tension is known yet, and nothing touches."""
        return NewtonMemory(np.zeros(len(self.cloth.rows)), self.cloth.nobody, self.cloth.nobody)

    def moved(self, memory: Memory, positions: FloatArray | None, velocities: FloatArray) -> Memory:
        """Tensions and contacts stay the first guess."""
        return memory

    def restore(self, memory: Memory) -> None:
        """A free step leaves nothing behind."""

    def energy(self, state: State) -> Mapping[str, float]:
        """Kinetic and potential energy, J."""
        return {
            "kinetic": kinetic_energy(self.cloth, state.velocities),
            "potential": potential_energy(self.cloth, state.positions),
        }

    @property
    def fallbacks(self) -> int:
        """Convex problems that a library solved so far."""
        return 0

    def suits(self, timestep: float) -> bool:
        """Whether it can take steps of up to `timestep` s: in a longer step bending may no longer be soft."""
        solver = self.solver
        return not isinstance(solver, Newton) or not solver.soft or solver.softly_bent(self.cloth, timestep)

    def advance(self, state: State, targets: Targets, h: float) -> Part:
        """One (sub)step."""
        solved = self.solve_free(state, targets, h)
        if not solved.outcome.converged and not targets.last:
            return Part(solved.outcome, None)
        return self.accept_free(state, targets, h, solved)

    def scheme(self, state: State, targets: Targets, h: float) -> Scheme:
        """The integrator's. After a grasp or a release forces jump, and the step before would be extrapolated into a
        wrong velocity: its history starts anew. What has to be cut is mostly an impact, and its parts are of first
        order: a second-order scheme remembers the velocity before, and their impulses would not be the change of
        momentum."""
        if targets.parts > 1:
            return euler(h, 0.0)
        same = targets.held is state.held or np.array_equal(targets.held, state.held)
        return self._scheme(h, state.previous_timestep if same else 0.0)

    def solve_free(self, state: State, targets: Targets, h: float) -> Solved:
        """A (sub)step as if there was nothing to touch."""
        if state.steps == 0:  # no multipliers are known yet, and kernels may have to be compiled
            with announce_compilation():
                return self._solve_jerks(state, targets, h)
        return self._solve_jerks(state, targets, h)

    def _solve_jerks(self, state: State, targets: Targets, h: float) -> Solved:
        """A (sub)step without contacts; where hands jerk, again with the first-order scheme for what they jerk at."""
        memory, nobody = state.memory, self.cloth.nobody
        assert isinstance(memory, NewtonMemory)
        scheme, early, first, spent = self.scheme(state, targets, h), memory.first_order, state.steps == 0, 0
        multipliers, start, force = memory.multipliers, targets.start, targets.extra()
        for k in range(TRIES):
            step = build_step(
                self.cloth, scheme, past(state), start, targets.held, force=force,
                early=None if early is nobody else early, first_order=euler(h, 0.0),
            )  # fmt: skip
            if targets.springs is not None:
                step = step.with_springs(*targets.springs)
            outcome = self.solver.solve(step, multipliers, first=first)
            spent += outcome.iterations
            velocities = step.velocities(outcome.positions)
            largest, late, jumped = self.struck(state, targets, h, outcome.positions, velocities, nobody, early)
            # what a jerk leaves unsolved is a part of large forces: it is solved twice, whatever the scheme
            if largest == 0.0 or not outcome.converged or (k > 0 and (scheme.far == 0.0 or not late)):
                break
            start, multipliers, first, early = outcome.positions, outcome.multipliers, False, early | jumped
        return Solved(
            step, scheme, outcome if k == 0 else outcome._replace(iterations=spent), velocities,
            jumped if largest > 0.0 else nobody,
        )  # fmt: skip

    def struck(
        self, state: State, targets: Targets, h: float, positions: FloatArray, velocities: FloatArray,
        touched: BoolArray, early: BoolArray,
    ) -> tuple[float, int, BoolArray]:  # fmt: skip
        """What a (sub)step strikes that ends at positions (n, 3) with velocities (n, 3); see `impacts.struck`."""
        found: tuple[float, int, BoolArray] = struck(
            state.positions, state.velocities, state.previous_velocities, positions, velocities, touched, targets.held,
            early, h,
        )  # fmt: skip
        return found

    def accept_free(
        self, state: State, targets: Targets, h: float, solved: Solved, coupling: CouplingPattern = NO_COUPLING
    ) -> Part:
        """The state after a free (sub)step; coupling: for which contacts a factor is laid out."""
        outcome = solved.outcome
        if not outcome.converged and not np.isfinite(outcome.positions).all():
            raise ConvergenceError(
                f"the step from t = {targets.before.time:.6g} s has no finite solution even when cut into "
                f"{targets.parts} parts; use a smaller timestep or gentler paths"
            )
        self.average(state, targets, h, solved.step, solved.scheme, outcome.reactions)
        return Part(outcome, after(
            state, targets, h, outcome.positions, solved.velocities, outcome.reactions,
            NewtonMemory(outcome.multipliers, self.cloth.nobody, solved.struck, coupling=coupling),
        ))  # fmt: skip

    def average(
        self, state: State, targets: Targets, h: float, step: Step, scheme: Scheme, reactions: FloatArray
    ) -> None:
        """Make means over a (sub)step of forces (n, 3) N at its end, with which nodes were held."""
        if scheme.far != 0.0:
            before = -scheme.far * state.previous_timestep / h
            average(reactions, state.reactions, targets.held, state.held, step.early, scheme.h / h, before)


def past(state: State) -> Past:
    """Where an integrator comes from."""
    return Past(state.positions, state.velocities, state.previous_positions, state.previous_velocities)


def after(
    state: State, targets: Targets, h: float, positions: FloatArray, velocities: FloatArray, reactions: FloatArray,
    memory: Memory, wrenches: FloatArray | None = None, pinched: FloatArray | None = None,
) -> State:  # fmt: skip
    """The state at the end of a (sub)step; wrenches (1 + o + g, 6) of all bodies, none if nothing touched."""
    on_obstacles, on_grippers = state.obstacle_wrenches, state.gripper_wrenches
    if len(on_obstacles) or targets.grippers:
        on_obstacles, on_grippers = body_wrenches(len(state.placed), len(targets.grippers), wrenches)
    return State(
        positions=positions, velocities=velocities, previous_positions=state.positions,
        previous_velocities=state.velocities, held=targets.held, memory=memory, reactions=reactions, moments=NOWHERE,
        obstacle_wrenches=on_obstacles, gripper_wrenches=on_grippers,
        pinched=state.pinched if pinched is None else pinched, poses=targets.poses,
        numbers=state.numbers, placed=targets.placed,
        previous_timestep=h, time=state.time + h, steps=state.steps + 1,
    )  # fmt: skip


NOWHERE = np.zeros((0, 3))
