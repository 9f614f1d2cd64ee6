"""Newton in mixed form on the step's incremental potential: about one factorisation per step.

The multiplier of each row is an unknown of its own, carried over from step to step, and only it supplies the geometric
stiffness. With w C in its place, a Newton step that turns an edge by theta leaves C = theta^2, a false tension up to a
hundred times the real one, and the matrix is far too stiff sideways. Full steps are taken under a watchdog: the
potential has to fall below its value two steps ago, else the solver returns there and halves that step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isocloth.compiled import kernel
from isocloth.problem import Problem, StepProblem
from isocloth.solver.cholesky import Fronts, factorise, solve_in_place
from isocloth.solver.outcome import Outcome
from isocloth.solver.system import Assembly, NewtonSystem, assemble
from isocloth.terms.rows import RowArrays, add_forces, evaluate
from isocloth.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class NewtonOptions:
    """When to stop. The defaults keep the swing's energy to what tight tolerances give.

    strain_gap: largest |C - lambda/w| accepted.
    force: largest residual accepted, relative to the acceleration the membrane imposes ...
    force_floor: ... plus this, m/s^2.
    max_iterations: factorisations before the step counts as not converged.
    """

    strain_gap: float = 6e-4
    force: float = 0.2
    force_floor: float = 0.05
    max_iterations: int = 25


TIGHT = NewtonOptions(strain_gap=1e-9, force=0.0, force_floor=1e-7, max_iterations=60)
"""Converge to rounding: for convergence studies."""


class Workspace(NamedTuple):
    """Everything a solve writes, allocated once."""

    values: FloatArray  # C
    jacobian: FloatArray  # J
    force: FloatArray  # A y - b
    residual: FloatArray
    slope: FloatArray  # A y - b at the start
    solution: FloatArray  # scalars of the linear system
    new_multiplier: FloatArray
    back_position: FloatArray  # watchdog: where to return to ...
    back_step: FloatArray  # ... along which step
    back_multiplier: FloatArray


class Newton:
    """Mixed Newton solver bound to one cloth."""

    name = "newton"

    def __init__(self, problem: Problem, options: NewtonOptions | None = None) -> None:
        self.options = options or NewtonOptions()
        self.system = NewtonSystem(problem)
        rows, n = problem.rows, problem.n
        self._rows, self._area, self._density = rows.arrays, problem.area, problem.fabric.density
        k = problem.stiffness
        self._bending = (k.indptr.astype(np.int64), k.indices.astype(np.int64), k.data.astype(np.float64))
        self._enforced = rows.enforced
        r = len(rows)
        self._work = Workspace(
            np.zeros(r), np.zeros((len(rows.nodes), 3)), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros((n, 3)),
            np.zeros(self.system.scalars), np.zeros(r), np.zeros((n, 3)), np.zeros((n, 3)), np.zeros(r),
        )  # fmt: skip

    def solve(self, step: StepProblem, multipliers: FloatArray, *, first: bool = False) -> Outcome:
        """Minimise the incremental potential; see `Outcome` for the certificate."""
        y, lam = step.start.copy(), multipliers.copy()
        reactions = np.empty_like(y)
        o = self.options
        iterations, converged, error, gap, residual = _newton(
            self._rows, self.system.assembly, self.system.factor.fronts, self._work, *self._bending, self._area,
            self._density, step.mass_factor, step.bending_factor, step.load, step.held, self._enforced, first,
            o.strain_gap, o.force, o.force_floor, o.max_iterations, step.start, y, lam, reactions,
        )  # fmt: skip
        return Outcome(y, lam, reactions, iterations, converged, error, gap, residual)


@kernel
def _apply(
    area: FloatArray, indptr: IntArray, indices: IntArray, data: FloatArray, mass_factor: float, bending_factor: float,
    load: FloatArray, y: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """out = A y - load."""
    for i in range(len(area)):
        m = mass_factor * area[i]
        sx, sy, sz = m * y[i, 0] - load[i, 0], m * y[i, 1] - load[i, 1], m * y[i, 2] - load[i, 2]
        for p in range(indptr[i], indptr[i + 1]):
            v = bending_factor * data[p]
            j = indices[p]
            sx += v * y[j, 0]
            sy += v * y[j, 1]
            sz += v * y[j, 2]
        out[i, 0], out[i, 1], out[i, 2] = sx, sy, sz


@kernel
def _newton(
    rows: RowArrays, s: Assembly, f: Fronts, work: Workspace, indptr: IntArray, indices: IntArray, data: FloatArray,
    area: FloatArray, density: float, mass_factor: float, bending_factor: float, load: FloatArray, held: BoolArray,
    enforced: BoolArray, first: bool, tol_gap: float, tol_force: float, force_floor: float, max_iterations: int,
    start: FloatArray, y: FloatArray, lam: FloatArray, reactions: FloatArray,
) -> tuple[int, bool, float, float, float]:  # fmt: skip
    """Overwrite y (start, then solution), lam and reactions; return (factorisations, converged, error, gap, residual)."""
    n, r = len(area), len(lam)
    values, jacobian, force, residual = work.values, work.jacobian, work.force, work.residual
    x = work.solution
    evaluate(rows, y, values, jacobian)
    _apply(area, indptr, indices, data, mass_factor, bending_factor, load, y, force)
    work.slope[:] = force
    energy = 0.0  # potential relative to the start: differences of large numbers are never formed
    for k in range(r):
        energy += 0.5 * s.weight[k] * values[k] ** 2
    back_energy = back_descent = 0.0
    waiting = -1  # full steps taken since the watchdog's mark; -1: no mark
    converged = False
    gap = ra = 0.0
    iterations = 0
    total_mass = 0.0
    for i in range(n):
        if not held[i]:
            total_mass += density * area[i]
    if total_mass == 0.0:
        total_mass = 1.0
    while iterations < max_iterations:
        assemble(s, f, rows, jacobian, lam, area, mass_factor, bending_factor, held)
        factorise(f)
        iterations += 1
        for i in range(n):
            for d in range(3):
                x[3 * i + d] = -force[i, d]
        for k in range(r):
            if s.kept[k] >= 0:
                x[s.kept[k]] = -values[k]
            else:
                v = s.weight[k] * values[k]
                for a in range(rows.ptr[k], rows.ptr[k + 1]):
                    p = 3 * rows.nodes[a]
                    x[p] -= v * jacobian[a, 0]
                    x[p + 1] -= v * jacobian[a, 1]
                    x[p + 2] -= v * jacobian[a, 2]
        for i in range(n):
            if held[i]:
                x[3 * i : 3 * i + 3] = 0.0
        solve_in_place(f, x)
        descent = 0.0  # derivative of the potential along the step
        for i in range(n):
            for d in range(3):
                descent += force[i, d] * x[3 * i + d]
        for k in range(r):
            change = 0.0
            for a in range(rows.ptr[k], rows.ptr[k + 1]):
                p = 3 * rows.nodes[a]
                change += jacobian[a, 0] * x[p] + jacobian[a, 1] * x[p + 1] + jacobian[a, 2] * x[p + 2]
            work.new_multiplier[k] = s.weight[k] * (values[k] + change)
            descent += s.weight[k] * values[k] * change
        if first:
            # no tension is known yet: learn it before moving, or the first step would swing freely
            lam[:] = work.new_multiplier
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
        lam[:] = work.new_multiplier
        energy = _potential(rows, s, work, indptr, indices, data, area, mass_factor, bending_factor, load, start, y)
        if energy <= back_energy + 1e-4 * back_descent:
            waiting = -1
        elif waiting < 2 and np.isfinite(energy):
            waiting += 1
        else:
            scale = 0.5
            while True:
                for i in range(n):
                    for d in range(3):
                        y[i, d] = work.back_position[i, d] + scale * work.back_step[i, d]
                energy = _potential(
                    rows, s, work, indptr, indices, data, area, mass_factor, bending_factor, load, start, y
                )
                if energy <= back_energy + 1e-4 * scale * back_descent or scale < 1e-3:
                    break
                scale *= 0.5
            lam[:] = work.back_multiplier
            waiting = -1
        # residual of the equation of motion with the linearised multipliers: needs no further solve
        residual[:] = force
        add_forces(rows, jacobian, lam, residual)
        ra = am = 0.0
        for i in range(n):
            if not held[i]:
                m = density * area[i]
                for d in range(3):
                    ra += residual[i, d] ** 2 / m
                    am += force[i, d] ** 2 / m
        ra, am = np.sqrt(ra / total_mass), np.sqrt(am / total_mass)
        gap = 0.0
        for k in range(r):
            if enforced[k]:
                gap = max(gap, abs(values[k] - lam[k] / s.weight[k]))
        if not np.isfinite(ra):
            break
        if gap < tol_gap and ra < tol_force * am + force_floor:
            converged = True
            break
    error = 0.0
    for k in range(r):
        if enforced[k] and not abs(values[k]) <= error:
            error = abs(values[k])
    reactions[:] = residual
    return iterations, converged, error, gap, ra


@kernel
def _potential(
    rows: RowArrays, s: Assembly, work: Workspace, indptr: IntArray, indices: IntArray, data: FloatArray,
    area: FloatArray, mass_factor: float, bending_factor: float, load: FloatArray, start: FloatArray, y: FloatArray,
) -> float:  # fmt: skip
    """Potential at y relative to the start, refreshing C, J and A y - b on the way."""
    evaluate(rows, y, work.values, work.jacobian)
    _apply(area, indptr, indices, data, mass_factor, bending_factor, load, y, work.force)
    total = 0.0
    for i in range(len(area)):
        for d in range(3):
            total += 0.5 * (y[i, d] - start[i, d]) * (work.slope[i, d] + work.force[i, d])
    for k in range(len(work.values)):
        total += 0.5 * s.weight[k] * work.values[k] ** 2
    return total
