"""Where a step's time goes, and how it grows with the cloth.

The compiled kernels of a step are called again, many times each, on states recorded along a swing; the time of a call
that does nothing is taken off. What they do not explain is the rest of the solve and the interpreter.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.swing import simulation
from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.step import Step
from isocloth.cloth.system import BOUND, NewtonSystem, assemble
from isocloth.simulation.steppers import FreeStepper
from isocloth.solvers import Newton, Outcome, Solver
from isocloth.sparse.cholesky import back_substitute, factorise
from isocloth.terms.rows import evaluate
from isocloth.terms.stiffening import room

#: s of computing that the kernels at one state are allowed
PATIENCE = 0.2
#: the quantile of the steps' times that stands for a quick step
QUICK = 0.1


@dataclass
class Phases:
    """Time of a typical, undisturbed step by phase, in microseconds, and the size of the factor."""

    nodes: int  # per side
    step: float  # the whole step
    rows: float  # evaluation of the rows, all evaluations of the step
    assembly: float
    factorisation: float
    triangular: float  # triangular solves
    rest_of_solve: float  # what else the solver does, the call included
    outside: float  # the interpreter: everything around the solver
    solves: int  # in this step
    flops: int  # per factorisation
    gigaflops: float  # per second of factorisation
    memory: int  # of the factor, bytes


class _Watch:
    """A solver that counts its own time and solves, of one step at a time."""

    def __init__(self, solver: Solver) -> None:
        self.solver, self.name = solver, solver.name
        self.seconds, self.solves = 0.0, 0
        self.step: Step | None = None
        self.multipliers = np.empty(0)

    def solve(self, step: Step, multipliers: FloatArray, *, first: bool = False) -> Outcome:
        begin = time.perf_counter()
        outcome = self.solver.solve(step, multipliers, first=first)
        self.seconds += time.perf_counter() - begin
        self.solves += outcome.iterations
        self.step, self.multipliers = step, outcome.multipliers
        return outcome

    def take(self) -> tuple[float, int]:
        """Seconds and solves since the last call."""
        taken = self.seconds, self.solves
        self.seconds, self.solves = 0.0, 0
        return taken


def phases(nodes: int, steps: int, samples: int = 3) -> Phases:
    """Time the phases on a swing of `steps` steps, the kernels at `samples` states of it."""
    sim = simulation(nodes)
    solver = sim.solver
    assert isinstance(solver, Newton)
    sim.step()
    watch = _Watch(solver)
    assert isinstance(sim.stepper, FreeStepper)
    sim.stepper.solver = watch
    rows_of = []  # (seconds of the step, seconds in the solver, solves)
    kernels = []
    for k in range(steps):
        begin = time.perf_counter()
        sim.step()
        rows_of.append((time.perf_counter() - begin, *watch.take()))
        if (k + 1) * samples // steps > k * samples // steps:
            assert watch.step is not None
            kernels.append(kernels_at(solver.system, sim.cloth, watch.step, watch.multipliers, sim.positions, PATIENCE))
    whole, inside, counts = np.array(rows_of).T
    # steps differ in their number of solves: take those with the most frequent one, and of these a quick one, because
    # the kernels' times are of their quickest runs too
    solves = int(np.argmax(np.bincount(counts.astype(np.int64))))
    typical = counts == solves
    step, solve = np.quantile(whole[typical], QUICK), np.quantile(inside[typical], QUICK)
    each = np.min(np.array(kernels), axis=0)
    # every solve is followed by an evaluation of the rows, and one precedes the first
    rows, assembly, factor, triangular = each * np.array([1.0 + solves, solves, solves, solves])
    own = solver.system.factor
    return Phases(
        nodes=nodes,
        step=1e6 * float(step),
        rows=1e6 * float(rows),
        assembly=1e6 * float(assembly),
        factorisation=1e6 * float(factor),
        triangular=1e6 * float(triangular),
        rest_of_solve=1e6 * float(solve - rows - assembly - factor - triangular),
        outside=1e6 * float(step - solve),
        solves=solves,
        flops=own.flops,
        gigaflops=1e-9 * own.flops / float(each[2]),
        memory=own.memory,
    )


def kernels_at(
    system: NewtonSystem, cloth: Cloth, step: Step, multipliers: FloatArray, y: FloatArray, patience: float,
    clock: Callable[[], float] = time.perf_counter,
) -> FloatArray:  # fmt: skip
    """Seconds (4,) of one evaluation, assembly, factorisation and pair of triangular solves at a state.

    Repeated for `patience` s, and at least three times.
    """
    s, f, rows = system.assembly, system.factor.fronts, cloth.rows.arrays
    values, jacobian = np.zeros(len(cloth.rows)), np.zeros((len(rows.nodes), 3))
    evaluation = (rows, step.arrays.targets, step.arrays.free, y.copy(), values, jacobian)
    hessian = np.zeros(system.stencil_entries)
    folds = cloth.bends, room(cloth.bends)
    matrix = (s, f, rows, jacobian, multipliers, step.inertia, step.arrays.bending, hessian, *folds, step.held, BOUND)
    load, x = np.sin(np.arange(float(system.scalars))), np.zeros(system.scalars)
    # a factorisation overwrites the matrix and a solve its right-hand side, so what comes before is repeated, too
    calls: list[tuple[Callable[..., object], tuple[Any, ...]]] = [
        (evaluate, evaluation), (assemble, matrix), (x.__setitem__, (slice(None), load)), (factorise, (f, x)),
        (back_substitute, (f, x)), (_idle, evaluation), (_idle, matrix), (_idle, (f, x)), (_idle, (f, x)),
    ]  # fmt: skip
    best = np.full(len(calls), np.inf)
    begin, round_ = time.perf_counter(), 0
    while round_ < 3 or (time.perf_counter() - begin < patience and round_ < 1000):
        for q, (function, arguments) in enumerate(calls):
            start = clock()
            function(*arguments)
            best[q] = min(best[q], clock() - start)
        round_ += 1
    # the call itself, from Python, is not the kernel's time
    own: FloatArray = np.maximum(best[[0, 1, 3, 4]] - best[[5, 6, 7, 8]], 0.0)
    return own


@kernel
def _idle(*arguments: Any) -> None:
    """What a call costs whose kernel does nothing."""


def growth(sizes: Sequence[int], values: Sequence[float]) -> float:
    """Exponent p of values ~ (nodes of the cloth)^p: slope of the line of least squares in log-log."""
    if len(sizes) < 2:
        return float("nan")
    return float(np.polyfit(np.log(np.square(np.array(sizes, dtype=float))), np.log(values), 1)[0])
