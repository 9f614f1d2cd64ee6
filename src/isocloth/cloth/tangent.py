"""The tangent of the cloth: potential, gradient, right-hand side, multipliers and residual of a step.

With C the rows, J their jacobian, w their weights and f = A y - b the force of inertia, bending and load, to which
terms over stencils add their gradient, the gradient of the step's potential is f + sum w C J^T. Every solver of a step
is written in these kernels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.cloth import Cloth, Sparse
from isocloth.cloth.step import StepArrays
from isocloth.cloth.system import Assembly, NewtonSystem
from isocloth.terms.rows import RowArrays, add_forces, evaluate
from isocloth.terms.stiffening import Bends, Bent, room, stiffen


class ClothArrays(NamedTuple):
    """What stays constant, as kernels read it."""

    rows: RowArrays
    assembly: Assembly
    bending: Sparse
    area: FloatArray  # (n,)
    density: FloatArray  # (n,)
    enforced: BoolArray  # (r,)
    bends: Bends


class Workspace(NamedTuple):
    """Everything a solve writes, allocated once."""

    values: FloatArray  # C
    jacobian: FloatArray  # J
    force: FloatArray  # f = A y - b and the gradient of stencils and of what stiffens
    slope: FloatArray  # A y - b at the start, without these
    hessian: FloatArray  # blocks of the stencils, one after the other
    residual: FloatArray
    solution: FloatArray  # scalars of the linear system
    linearised: FloatArray  # multipliers w (C + J d)
    bent: Bent  # of folds that stiffen
    back_position: FloatArray  # watchdog: where to return to ...
    back_step: FloatArray  # ... along which step
    back_multiplier: FloatArray


def arrays_of(cloth: Cloth, system: NewtonSystem) -> ClothArrays:
    """A cloth and its system for kernels."""
    rows = cloth.rows
    return ClothArrays(
        rows.arrays, system.assembly, cloth.bending, cloth.area, cloth.density, rows.enforced, cloth.bends
    )  # fmt: skip


def workspace(cloth: Cloth, system: NewtonSystem) -> Workspace:
    """Room for the solves of a cloth."""
    rows, n, r = cloth.rows, cloth.n, len(cloth.rows)
    return Workspace(
        values=np.zeros(r), jacobian=np.zeros((len(rows.nodes), 3)), force=np.zeros((n, 3)), slope=np.zeros((n, 3)),
        hessian=np.zeros(system.stencil_entries), residual=np.zeros((n, 3)), solution=np.zeros(system.scalars),
        linearised=np.zeros(r), bent=room(cloth.bends), back_position=np.zeros((n, 3)), back_step=np.zeros((n, 3)),
        back_multiplier=np.zeros(r),
    )  # fmt: skip


@kernel
def potential(cloth: ClothArrays, step: StepArrays, work: Workspace, y: FloatArray) -> float:
    """Potential at y relative to the start, without stencils, refreshing C, J and f on the way."""
    total: float = quadratic_potential(cloth, step, work, y)
    return total + stiffen(cloth.bends, work.bent, y, work.force)


@kernel
def quadratic_potential(cloth: ClothArrays, step: StepArrays, work: Workspace, y: FloatArray) -> float:
    """The same without what stiffens in folds.

    Of a quadratic the difference is displacement times mean slope: differences of large numbers are never formed.
    """
    evaluate(cloth.rows, step.targets, step.free, y, work.values, work.jacobian)
    bending = cloth.bending
    total = 0.0
    for i in range(len(cloth.area)):
        m = step.inertia[i]
        fx, fy, fz = m * y[i, 0] - step.load[i, 0], m * y[i, 1] - step.load[i, 1], m * y[i, 2] - step.load[i, 2]
        for p in range(bending.indptr[i], bending.indptr[i + 1]):
            v, j = step.bending[i] * bending.data[p], bending.indices[p]
            fx += v * y[j, 0]
            fy += v * y[j, 1]
            fz += v * y[j, 2]
        work.force[i, 0], work.force[i, 1], work.force[i, 2] = fx, fy, fz
        for d in range(3):
            total += 0.5 * (y[i, d] - step.start[i, d]) * (work.slope[i, d] + work.force[i, d])
    for k in range(len(work.values)):
        total += 0.5 * cloth.assembly.weight[k] * work.values[k] ** 2
    return total


@kernel
def gradient(cloth: ClothArrays, step: StepArrays, work: Workspace, y: FloatArray) -> None:
    """C, J and f at y, without stencils."""
    evaluate(cloth.rows, step.targets, step.free, y, work.values, work.jacobian)
    bending = cloth.bending
    for i in range(len(cloth.area)):
        for d in range(3):
            v = step.inertia[i] * y[i, d] - step.load[i, d]
            for p in range(bending.indptr[i], bending.indptr[i + 1]):
                v += step.bending[i] * bending.data[p] * y[bending.indices[p], d]
            work.force[i, d] = v
    stiffen(cloth.bends, work.bent, y, work.force)


@kernel
def right_hand_side(cloth: ClothArrays, step: StepArrays, work: Workspace) -> None:
    """Minus the gradient for the displacements, minus C for the multipliers that are kept."""
    rows, s, x = cloth.rows, cloth.assembly, work.solution
    for i in range(len(cloth.area)):
        for d in range(3):
            x[3 * i + d] = -work.force[i, d]
    for k in range(len(work.values)):
        if s.kept[k, 0] >= 0:
            x[s.kept[k, 0]] = -work.values[k]
            continue
        v = s.weight[k] * work.values[k]
        if v == 0.0:
            continue  # most diagonals do not resist
        for a in range(rows.ptr[k], rows.ptr[k + 1]):
            p = 3 * rows.nodes[a]
            x[p] -= v * work.jacobian[a, 0]
            x[p + 1] -= v * work.jacobian[a, 1]
            x[p + 2] -= v * work.jacobian[a, 2]
    for i in range(len(cloth.area)):
        if step.held[i]:
            x[3 * i] = x[3 * i + 1] = x[3 * i + 2] = 0.0


@kernel
def linearise(cloth: ClothArrays, work: Workspace) -> float:
    """Multipliers w (C + J d) of the linear model, not w C(y + d); returns the potential's derivative along d."""
    rows, x, jacobian = cloth.rows, work.solution, work.jacobian
    descent = 0.0
    for i in range(len(cloth.area)):
        for d in range(3):
            descent += work.force[i, d] * x[3 * i + d]
    for k in range(len(work.values)):
        if rows.partner[k] != 0 and work.values[k] == 0.0:
            work.linearised[k] = 0.0  # it does not resist, and its J is zero
            continue
        change = 0.0
        for a in range(rows.ptr[k], rows.ptr[k + 1]):
            p = 3 * rows.nodes[a]
            change += jacobian[a, 0] * x[p] + jacobian[a, 1] * x[p + 1] + jacobian[a, 2] * x[p + 2]
        w = cloth.assembly.weight[k]
        work.linearised[k] = w * (work.values[k] + change)
        descent += w * work.values[k] * change
    return descent


@kernel
def strain_gap(cloth: ClothArrays, work: Workspace, lam: FloatArray) -> tuple[float, float]:
    """Largest |C - lambda/w| and largest |C| of the enforced rows."""
    gap = error = 0.0
    for k in range(len(lam)):
        if cloth.enforced[k]:
            gap = max(gap, abs(work.values[k] - lam[k] / cloth.assembly.weight[k]))
            if not abs(work.values[k]) <= error:
                error = abs(work.values[k])
    return gap, error


@kernel
def add_membrane(cloth: ClothArrays, work: Workspace, lam: FloatArray) -> None:
    """residual = f + J^T lambda.

    A row with a partner begins and ceases to resist within an iteration, which a linear model does not foresee. As it
    is soft, its lambda is w C.
    """
    partner = cloth.rows.partner
    for k in range(len(lam)):
        if partner[k] != 0:
            lam[k] = cloth.assembly.weight[k] * work.values[k]
    work.residual[:] = work.force
    add_forces(cloth.rows, work.jacobian, lam, work.residual)


@kernel
def accelerations(cloth: ClothArrays, step: StepArrays, work: Workspace) -> tuple[float, float]:
    """rms over the free mass of the residual and of f, m/s^2."""
    total = ra = am = 0.0
    for i in range(len(cloth.area)):
        if not step.held[i]:
            m = cloth.density[i] * cloth.area[i]
            total += m
            r, f = work.residual[i], work.force[i]
            ra += (r[0] ** 2 + r[1] ** 2 + r[2] ** 2) / m
            am += (f[0] ** 2 + f[1] ** 2 + f[2] ** 2) / m
    total = max(total, 1e-300)
    return np.sqrt(ra / total), np.sqrt(am / total)
