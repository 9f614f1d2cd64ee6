"""Newton in mixed form on the step's incremental potential: about one factorisation per step.

The multiplier of each row is an unknown of its own, carried over from step to step, and only it supplies the geometric
stiffness. With w C in its place, a Newton step that turns an edge by theta leaves C = theta^2, a false tension up to a
hundred times the real one, and the matrix is far too stiff sideways. Full steps are taken under a watchdog: the
potential has to fall below its value two steps ago, else the solver returns there and halves that step.

The geometric stiffness is bounded from above, lambda T <= |lambda| S, so the matrix is always quasi-definite. Where
cloth is compressed the bound is not sharp and convergence is linear; once close to the solution the true second
derivative is tried, and kept as long as it is quasi-definite: the last digits then come quadratically.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.kernel_args import KernelArgs, kernel_args
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.problem import Problem, StepProblem
from isocloth.cloth.system import BOUND, EXACT, NewtonSystem, assemble
from isocloth.cloth.tangent import Cloth, Workspace, linearise, potential, residual, right_hand_side
from isocloth.solvers.outcome import Outcome
from isocloth.sparse.cholesky import back_substitute, factorise
from isocloth.sparse.fronts import Fronts


@dataclass(frozen=True, kw_only=True)
class NewtonOptions:
    """When to stop. The defaults keep the swing's energy to what tight tolerances give.

    strain_gap: largest |C - lambda/w| of an enforced row accepted.
    force: largest residual accepted, relative to the acceleration the membrane imposes ...
    force_floor: ... plus this, m/s^2.
    max_iterations: factorisations before the step counts as not converged.
    penetration: largest violation of a gap accepted, in thicknesses of the cloth.
    friction: largest distance of a contact force from Coulomb's law accepted, relative to the largest force;
        0.01 after some iterations.
    soft_bending: bending enters the matrix within elements only, if what couples nodes further apart is at most this
        part of the inertia; the residual has all of it. The factorisation then takes half of the time. 0: never.
    """

    strain_gap: float = 6e-4
    force: float = 0.2
    force_floor: float = 0.05
    max_iterations: int = 25
    penetration: float = 0.1
    friction: float = 1e-4
    soft_bending: float = 0.1

    def __post_init__(self) -> None:
        if not (self.strain_gap > 0 and self.force >= 0 and self.force_floor > 0 and self.max_iterations >= 2):
            raise ValueError(f"{self}: expected positive tolerances and at least 2 iterations")
        if not self.soft_bending >= 0:
            raise ValueError(f"soft_bending = {self.soft_bending!r}: expected a part of the inertia, zero or positive")


ONE_STEP = NewtonOptions(strain_gap=np.inf, force_floor=np.inf)
"""Accept the first step, whatever it leaves: one linearisation."""

TIGHT = NewtonOptions(strain_gap=1e-9, force=0.0, force_floor=1e-7, max_iterations=60, soft_bending=0.0)
"""Converge to rounding: for convergence studies."""


class Newton:
    """Mixed Newton solver bound to one cloth."""

    name = "newton"

    def __init__(self, problem: Problem, options: NewtonOptions | None = None, timestep: float = np.inf) -> None:
        """timestep: the longest that will come, s, which decides whether bending is soft."""
        self.options = options or NewtonOptions()
        self.soft = self.softly_bent(problem, timestep)
        self.system = NewtonSystem(problem, problem.near_bending[0] if self.soft else None)
        rows, n, r = problem.rows, problem.n, len(problem.rows)
        self._cloth = Cloth(
            rows.arrays, self.system.assembly, problem.bending, problem.area, problem.fabric.density, rows.enforced
        )
        self._work = Workspace(
            values=np.zeros(r), jacobian=np.zeros((len(rows.nodes), 3)), force=np.zeros((n, 3)), slope=np.zeros((n, 3)),
            residual=np.zeros((n, 3)), solution=np.zeros(self.system.scalars), linearised=np.zeros(r),
            back_position=np.zeros((n, 3)), back_step=np.zeros((n, 3)), back_multiplier=np.zeros(r),
        )  # fmt: skip
        self._fronts = self.system.factor.fronts  # without room for contacts, even if the system gets some later
        self._arrays: KernelArgs | None = None  # all of these for `_solve`, from the first solve on

    def softly_bent(self, problem: Problem, timestep: float) -> bool:
        """Whether the system needs only the part of bending within elements; see `NewtonOptions.soft_bending`."""
        if problem.stiffness.nnz == 0 or not np.isfinite(timestep):
            return False
        fabric = problem.fabric
        _, further = problem.near_bending
        stiffness = fabric.bending + fabric.bending_damping / timestep
        return further * stiffness <= self.options.soft_bending * fabric.density / timestep**2

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_arrays": None}  # a copy has arrays of its own

    def solve(self, step: StepProblem, multipliers: FloatArray, *, first: bool = False) -> Outcome:
        """Minimise the incremental potential; see `Outcome` for the certificate."""
        if self._arrays is None:
            self._arrays = kernel_args((self._cloth, self._fronts, self._work))
        y, lam = step.start.copy(), multipliers.copy()
        o = self.options
        iterations, converged, error, gap, residual = _solve(
            self._arrays, *step, first, o.strain_gap, o.force, o.force_floor, o.max_iterations, y, lam
        )
        return Outcome(y, lam, self._work.residual.copy(), iterations, converged, error, gap, residual)


@kernel
def _solve(
    arrays: KernelArgs, mass_factor: float, bending_factor: float, load: FloatArray, start: FloatArray, held: BoolArray,
    first: bool, tol_gap: float, tol_force: float, force_floor: float, max_iterations: int, y: FloatArray,
    lam: FloatArray,
) -> tuple[int, bool, float, float, float]:  # fmt: skip
    """`_newton`, as Python calls it: with the parts of the step, whose names would cost more to hand over."""
    cloth, f, work = arrays.content
    step = StepProblem(mass_factor, bending_factor, load, start, held)
    result: tuple[int, bool, float, float, float] = _newton(
        cloth, step, f, work, first, tol_gap, tol_force, force_floor, max_iterations, y, lam
    )
    return result


@kernel
def _newton(
    cloth: Cloth, step: StepProblem, f: Fronts, work: Workspace, first: bool, tol_gap: float, tol_force: float,
    force_floor: float, max_iterations: int, y: FloatArray, lam: FloatArray,
) -> tuple[int, bool, float, float, float]:  # fmt: skip
    """Overwrite y (the start, then the solution) and lam; return (factorisations, converged, error, gap, residual)."""
    n = len(cloth.area)
    x = work.solution
    work.slope[:] = 0.0
    energy = potential(cloth, step, work, y)
    work.slope[:] = work.force
    back_energy = back_descent = 0.0
    waiting = -1  # full steps taken since the watchdog's mark; -1: no mark
    converged = False
    gap = ra = np.inf
    iterations = 0
    close = 1e-3  # gap below which the true second derivative is tried
    while iterations < max_iterations:
        definite = False
        if iterations >= 3 and gap < close:
            definite = _reduce(cloth, step, f, work, lam, EXACT)
            iterations += 1
            if not definite:
                close = 0.01 * gap
        if not definite:
            _reduce(cloth, step, f, work, lam, BOUND)
            iterations += 1
        back_substitute(f, x)
        descent = linearise(cloth, work)
        if first:
            # no tension is known yet: learn it before moving, or the first step would swing freely
            lam[:] = work.linearised
            first = False
            continue
        if waiting < 0:
            waiting = 0
            work.back_position[:] = y
            work.back_multiplier[:] = lam
            back_energy, back_descent = energy, descent
            for i in range(n):
                for d in range(3):
                    work.back_step[i, d] = x[3 * i + d]
        for i in range(n):
            for d in range(3):
                y[i, d] += x[3 * i + d]
        lam[:] = work.linearised
        energy = potential(cloth, step, work, y)
        if energy <= back_energy + 1e-4 * back_descent:
            waiting = -1
        elif waiting < 2 and np.isfinite(energy):
            waiting += 1
        else:
            energy = _return(cloth, step, work, back_energy, back_descent, y)
            lam[:] = work.back_multiplier
            waiting = -1
        ra, am = residual(cloth, step, work, lam)
        gap = 0.0
        for k in range(len(lam)):
            if cloth.enforced[k]:
                gap = max(gap, abs(work.values[k] - lam[k] / cloth.assembly.weight[k]))
        if not np.isfinite(ra):
            break
        if gap < tol_gap and ra < tol_force * am + force_floor:
            converged = True
            break
    error = 0.0
    for k in range(len(lam)):
        if cloth.enforced[k] and not abs(work.values[k]) <= error:
            error = abs(work.values[k])
    return iterations, converged, error, gap, ra


@kernel
def _reduce(cloth: Cloth, step: StepProblem, f: Fronts, work: Workspace, lam: FloatArray, curvature: int) -> bool:
    """Assemble and factorise the system and reduce its right-hand side; False if it was not quasi-definite."""
    assemble(
        cloth.assembly, f, cloth.rows, work.jacobian, lam, cloth.area, step.mass_factor, step.bending_factor, step.held,
        curvature,
    )  # fmt: skip
    right_hand_side(cloth, step, work)
    definite: bool = factorise(f, work.solution)
    return definite


@kernel
def _return(
    cloth: Cloth, step: StepProblem, work: Workspace, back_energy: float, back_descent: float, y: FloatArray
) -> float:
    """The watchdog's way back: halve the marked step until the potential falls; returns the potential there."""
    scale = 0.5
    while True:
        for i in range(len(y)):
            for d in range(3):
                y[i, d] = work.back_position[i, d] + scale * work.back_step[i, d]
        energy = potential(cloth, step, work, y)
        if energy <= back_energy + 1e-4 * scale * back_descent or scale < 1e-3:
            return energy
        scale *= 0.5
