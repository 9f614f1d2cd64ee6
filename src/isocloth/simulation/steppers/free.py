"""Steps without contact: one solve by Newton's method or by fast projection."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import Cloth, kinetic_energy, potential_energy
from isocloth.cloth.step import Past, Scheme, Step, build_step
from isocloth.simulation.announce import announce_compilation
from isocloth.simulation.integrators import BY_NAME, euler
from isocloth.simulation.memory import Memory, NewtonMemory
from isocloth.simulation.state import State
from isocloth.simulation.steppers.stepper import Part, Targets, body_wrenches
from isocloth.solvers import Newton, Solver
from isocloth.solvers.outcome import Outcome


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
        return NewtonMemory(np.zeros(len(self.cloth.rows)), np.zeros(len(positions), dtype=bool))

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
        step, outcome = self.solve_free(state, targets, h)
        if not outcome.converged and not targets.last:
            return Part(outcome, None)
        memory = state.memory
        assert isinstance(memory, NewtonMemory)
        return self.accept_free(state, targets, h, step, outcome, memory)

    def scheme(self, state: State, targets: Targets, h: float) -> Scheme:
        """The integrator's. After a grasp or a release forces jump, and the step before would be extrapolated into a
        wrong velocity: its history starts anew. What has to be cut is mostly an impact, and its parts are of first
        order: a second-order scheme remembers the velocity before, and their impulses would not be the change of
        momentum."""
        if targets.parts > 1:
            return euler(h, 0.0)
        same = targets.held is state.held or np.array_equal(targets.held, state.held)
        return self._scheme(h, state.previous_timestep if same else 0.0)

    def solve_free(self, state: State, targets: Targets, h: float) -> tuple[Step, Outcome]:
        """A (sub)step as if there was nothing to touch."""
        memory = state.memory
        assert isinstance(memory, NewtonMemory)
        if state.steps == 0:  # no multipliers are known yet, and kernels may have to be compiled
            with announce_compilation():
                step = self._step(state, targets, h)
                return step, self.solver.solve(step, memory.multipliers, first=True)
        step = self._step(state, targets, h)
        return step, self.solver.solve(step, memory.multipliers, first=False)

    def _step(self, state: State, targets: Targets, h: float) -> Step:
        scheme = self.scheme(state, targets, h)
        step = build_step(self.cloth, scheme, past(state), targets.start, targets.held, force=targets.extra())
        return step if targets.springs is None else step.with_springs(*targets.springs)

    def accept_free(
        self, state: State, targets: Targets, h: float, step: Step, outcome: Outcome, memory: NewtonMemory
    ) -> Part:
        """The state after a free (sub)step; memory: the one to keep, but for the multipliers."""
        if not outcome.converged and not np.isfinite(outcome.positions).all():
            raise ConvergenceError(
                f"the step from t = {targets.before.time:.6g} s has no finite solution even when cut into "
                f"{targets.parts} parts; use a smaller timestep or gentler paths"
            )
        return Part(outcome, after(
            state, targets, h, outcome.positions, step.velocities(outcome.positions), outcome.reactions,
            NewtonMemory(outcome.multipliers, memory.touching, memory.history, memory.coupling),
        ))  # fmt: skip


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
