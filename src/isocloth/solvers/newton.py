"""Newton in mixed form on the step's incremental potential: about one factorisation per step.

The multiplier of each row is an unknown of its own, carried over from step to step, and only it supplies the geometric
stiffness. With w C in its place, a Newton step that turns an edge by theta leaves C = theta^2, a false tension up to a
hundred times the real one, and the matrix is far too stiff sideways. Full steps are taken under a watchdog: the
potential has to fall below its value two steps ago, else the solver returns there and halves that step.

The geometric stiffness is bounded from above, lambda T <= |lambda| S, so the matrix is always quasi-definite. Where
cloth is compressed the bound is not sharp and convergence is linear; once close to the solution the true second
derivative is tried, and kept as long as it is quasi-definite: the last digits then come quadratically.

The iteration is cut where the potential is evaluated: `advance` says where to evaluate it next. Where all terms are
rows or a constant matrix the whole loop is one kernel; terms over stencils are evaluated in between, from Python, so
that a new one needs no kernel to be compiled anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from isocloth.base.compiled import embedded, kernel
from isocloth.base.errors import InputError, InputTypeError
from isocloth.base.kernel_args import KernelArgs, kernel_args
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.stencils import Stencils
from isocloth.cloth.step import Step, StepArrays
from isocloth.cloth.system import BOUND, EXACT, NewtonSystem, assemble
from isocloth.cloth.tangent import (
    ClothArrays,
    Workspace,
    accelerations,
    add_membrane,
    arrays_of,
    linearise,
    potential,
    quadratic_potential,
    right_hand_side,
    strain_gap,
    workspace,
)
from isocloth.solvers.outcome import Outcome
from isocloth.sparse.cholesky import back_substitute, factorise
from isocloth.sparse.fronts import Fronts
from isocloth.terms.stiffening import stiffen


@dataclass(frozen=True, kw_only=True)
class NewtonOptions:
    """When to stop. The defaults keep the swing's energy to what tight tolerances give.

    strain_gap: largest |C - lambda/w| of an enforced row accepted.
    force: largest residual accepted, relative to the acceleration the membrane imposes ...
    force_floor: ... plus this, m/s^2.
    max_iterations: factorisations before the step counts as not converged.
    penetration, friction: as in `ContactOptions`, where they belong; None = what these say.
    soft_bending: bending enters the matrix within elements only, if what couples nodes further apart is at most this
        part of the inertia; the residual has all of it. The factorisation then takes half of the time. 0: never.
    """

    strain_gap: float = 6e-4
    force: float = 0.2
    force_floor: float = 0.05
    max_iterations: int = 25
    penetration: float | None = None
    friction: float | None = None
    soft_bending: float = 0.1

    def __post_init__(self) -> None:
        for name in ("strain_gap", "force", "force_floor", "max_iterations", "soft_bending"):
            if as_float(getattr(self, name)) is None:
                raise InputTypeError(f"{name} = {shown(getattr(self, name))}: expected a number")
        if not (self.strain_gap > 0 and self.force >= 0 and self.force_floor > 0 and self.max_iterations >= 2):
            raise InputError(f"{self}: expected positive tolerances and at least 2 iterations")
        if not self.soft_bending >= 0:
            raise InputError(f"soft_bending = {self.soft_bending!r}: expected a part of the inertia, zero or positive")


ONE_STEP = NewtonOptions(strain_gap=np.inf, force_floor=np.inf)
"""Accept the first step, whatever it leaves: one linearisation."""

TIGHT = NewtonOptions(strain_gap=1e-9, force=0.0, force_floor=1e-7, max_iterations=60, soft_bending=0.0)
"""Converge to rounding: for convergence studies."""


#: what `advance` says: evaluate the potential where y is now and come back; or why it is over
GO_ON, CONVERGED, GIVEN_UP = 0, 1, 2

#: where y is: at the start, after a full step, or on the watchdog's way back
START, FULL, BACK = 0.0, 1.0, 2.0

#: places of what the iteration knows between two evaluations of the potential
MODE, BACK_ENERGY, BACK_DESCENT, WAITING, SCALE, CLOSE, UNLEARNT, ITERATIONS, GAP, ERROR, RESIDUAL, KNOWN = range(12)


class Newton:
    """Mixed Newton solver bound to one cloth."""

    name = "newton"

    def __init__(self, cloth: Cloth, options: NewtonOptions | None = None, timestep: float = np.inf) -> None:
        """timestep: the longest that will come, s, which decides whether bending is soft."""
        self.options = options or NewtonOptions()
        self.soft = self.softly_bent(cloth, timestep)
        self.system = NewtonSystem(cloth, cloth.near_bending[0] if self.soft else None)
        self.arrays = arrays_of(cloth, self.system)
        self.work = workspace(cloth, self.system)
        self.stencils = Stencils(cloth.stencils, self.work)
        self.fronts = self.system.factor.fronts  # without room for contacts, even if the system gets some later
        self._known = np.zeros(KNOWN)
        self._args: KernelArgs | None = None  # all of these for kernels, from the first solve on

    def softly_bent(self, cloth: Cloth, timestep: float) -> bool:
        """Whether the system needs only the part of bending within elements; see `NewtonOptions.soft_bending`."""
        if cloth.stiffness.nnz == 0 or not np.isfinite(timestep):
            return False
        _, further = cloth.near_bending
        return all(
            further * (fabric.bending + fabric.bending_damping / timestep)
            <= self.options.soft_bending * fabric.density / timestep**2
            for fabric in cloth.fabrics
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_args": None}  # a copy has arrays of its own

    def solve(self, step: Step, multipliers: FloatArray, *, first: bool = False) -> Outcome:
        """Minimise the incremental potential; see `Outcome` for the certificate."""
        if self._args is None:
            self._args = kernel_args((self.arrays, self.fronts, self.work, self._known))
        o, y, lam = self.options, step.arrays.start.copy(), multipliers.copy()
        limits = (o.strain_gap, o.force, o.force_floor, o.max_iterations)
        if step.stencils:
            found = self._solve_with_stencils(step, first, limits, y, lam)
        else:
            found = _solve(self._args, *step.arrays, first, *limits, y, lam)
        return Outcome(y, lam, self.work.residual.copy(), *found)

    def _solve_with_stencils(
        self, step: Step, first: bool, limits: tuple[float, float, float, int], y: FloatArray, lam: FloatArray
    ) -> tuple[int, bool, float, float, float]:
        """The loop of `_solve`, with the terms over stencils evaluated beside the potential."""
        energy = _begin(self._args, step.arrays, first, y)
        while True:
            energy += self.stencils.evaluate(step.stencils, y)
            status: int = _advance_from(self._args, step.arrays, energy, *limits, y, lam)
            if status != GO_ON:
                found: tuple[int, bool, float, float, float] = _certificate(self._known, status)
                return found
            energy = _potential_at(self._args, step.arrays, y)


@kernel
def _solve(
    args: KernelArgs, inertia: FloatArray, bending: FloatArray, targets: FloatArray, free: BoolArray, load: FloatArray,
    start: FloatArray, held: BoolArray, first: bool, tol_gap: float, tol_force: float, force_floor: float,
    max_iterations: int, y: FloatArray, lam: FloatArray,
) -> tuple[int, bool, float, float, float]:  # fmt: skip
    """Overwrite y (the start, then the solution) and lam; returns (factorisations, converged, error, gap, residual).

    The step comes in parts, whose names would cost more.
    """
    cloth, f, work, known = args.content
    step = StepArrays(inertia, bending, targets, free, load, start, held)
    energy = begin(cloth, step, work, first, known, y)
    while True:
        status = advance(
            cloth, step, f, work, energy, tol_gap, tol_force, force_floor, max_iterations, known, y, lam
        )  # fmt: skip
        if status != GO_ON:
            return _certificate(known, status)
        energy = potential(cloth, step, work, y)


@kernel
def _certificate(known: FloatArray, status: int) -> tuple[int, bool, float, float, float]:
    """Factorisations, whether converged, isometry error, strain gap and residual."""
    return int(known[ITERATIONS]), status == CONVERGED, known[ERROR], known[GAP], known[RESIDUAL]


@kernel
def _begin(args: KernelArgs, step: StepArrays, first: bool, y: FloatArray) -> float:
    """`begin`, as Python calls it."""
    cloth, _, work, known = args.content
    energy: float = begin(cloth, step, work, first, known, y)
    return energy


@kernel
def _advance_from(
    args: KernelArgs, step: StepArrays, energy: float, tol_gap: float, tol_force: float, force_floor: float,
    max_iterations: int, y: FloatArray, lam: FloatArray,
) -> int:  # fmt: skip
    """`advance`, as Python calls it."""
    cloth, f, work, known = args.content
    status: int = advance(
        cloth, step, f, work, energy, tol_gap, tol_force, force_floor, max_iterations, known, y, lam
    )  # fmt: skip
    return status


@kernel
def _potential_at(args: KernelArgs, step: StepArrays, y: FloatArray) -> float:
    """`potential`, as Python calls it."""
    cloth, _, work, _ = args.content
    energy: float = potential(cloth, step, work, y)
    return energy


@embedded
def begin(
    cloth: ClothArrays, step: StepArrays, work: Workspace, first: bool, known: FloatArray, y: FloatArray
) -> float:
    """Start the iteration; returns the potential there."""
    known[:] = 0.0
    known[MODE], known[WAITING], known[CLOSE], known[GAP], known[RESIDUAL] = START, -1.0, 1e-3, np.inf, np.inf
    known[UNLEARNT] = 1.0 if first else 0.0
    work.slope[:] = 0.0
    energy: float = quadratic_potential(cloth, step, work, y)
    work.slope[:] = work.force
    return energy + stiffen(cloth.bends, work.bent, y, work.force)


@embedded
def advance(
    cloth: ClothArrays, step: StepArrays, f: Fronts, work: Workspace, energy: float, tol_gap: float, tol_force: float,
    force_floor: float, max_iterations: int, known: FloatArray, y: FloatArray, lam: FloatArray,
) -> int:  # fmt: skip
    """Judge y by its potential; then end, or move y to where the potential is to be evaluated next."""
    if known[MODE] == FULL:
        if energy <= known[BACK_ENERGY] + 1e-4 * known[BACK_DESCENT]:
            known[WAITING] = -1.0
        elif known[WAITING] < 2.0 and np.isfinite(energy):
            known[WAITING] += 1.0  # full steps since the watchdog's mark
        else:
            known[MODE], known[SCALE] = BACK, 0.5
            _go_back(work, 0.5, y)
            return GO_ON
    elif known[MODE] == BACK:
        scale = known[SCALE]
        if not (energy <= known[BACK_ENERGY] + 1e-4 * scale * known[BACK_DESCENT] or scale < 1e-3):
            known[SCALE] = 0.5 * scale
            _go_back(work, 0.5 * scale, y)
            return GO_ON
        lam[:] = work.back_multiplier
        known[WAITING] = -1.0
    gap, known[ERROR] = strain_gap(cloth, work, lam)
    if known[MODE] != START:
        add_membrane(cloth, work, lam)
        ra, am = accelerations(cloth, step, work)
        known[GAP], known[RESIDUAL] = gap, ra
        if not np.isfinite(ra):
            return GIVEN_UP
        if gap < tol_gap and ra < tol_force * am + force_floor:
            return CONVERGED
    x = work.solution
    while True:
        if known[ITERATIONS] >= max_iterations:
            return GIVEN_UP
        descent = _newton_step(cloth, step, f, work, known, lam)
        if known[UNLEARNT] == 0.0:
            break
        # no tension is known yet: learn it before moving, or the first step would swing freely
        lam[:] = work.linearised
        known[UNLEARNT] = 0.0
    if known[WAITING] < 0.0:
        known[WAITING], known[BACK_ENERGY], known[BACK_DESCENT] = 0.0, energy, descent
        work.back_position[:] = y
        work.back_multiplier[:] = lam
        for i in range(len(y)):
            for d in range(3):
                work.back_step[i, d] = x[3 * i + d]
    for i in range(len(y)):
        for d in range(3):
            y[i, d] += x[3 * i + d]
    lam[:] = work.linearised
    known[MODE] = FULL
    return GO_ON


@embedded
def _newton_step(
    cloth: ClothArrays, step: StepArrays, f: Fronts, work: Workspace, known: FloatArray, lam: FloatArray
) -> float:
    """Displacement in work.solution and its multipliers; returns the potential's derivative along it.

    Close to the solution with the true second derivative, as long as that is quasi-definite.
    """
    definite = False
    if known[ITERATIONS] >= 3.0 and known[GAP] < known[CLOSE]:
        definite = _reduce(cloth, step, f, work, lam, EXACT)
        known[ITERATIONS] += 1.0
        if not definite:
            known[CLOSE] = 0.01 * known[GAP]
    if not definite:
        _reduce(cloth, step, f, work, lam, BOUND)
        known[ITERATIONS] += 1.0
    back_substitute(f, work.solution)
    descent: float = linearise(cloth, work)
    return descent


@kernel
def _reduce(cloth: ClothArrays, step: StepArrays, f: Fronts, work: Workspace, lam: FloatArray, curvature: int) -> bool:
    """Assemble and factorise the system and reduce its right-hand side; False if it was not quasi-definite."""
    assemble(
        cloth.assembly, f, cloth.rows, work.jacobian, lam, step.inertia, step.bending, work.hessian, cloth.bends,
        work.bent, step.held, curvature,
    )  # fmt: skip
    right_hand_side(cloth, step, work)
    definite: bool = factorise(f, work.solution)
    return definite


@embedded
def _go_back(work: Workspace, scale: float, y: FloatArray) -> None:
    """A part of the way along the marked step."""
    for i in range(len(y)):
        for d in range(3):
            y[i, d] = work.back_position[i, d] + scale * work.back_step[i, d]
