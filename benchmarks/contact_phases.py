"""Where the time of a step with contact goes.

The parts of a step that Python calls one by one are timed from outside, by wrapping their names while a scene runs.
What happens inside the compiled descent is told apart as in `phases.py`: after each step, off the clock, its kernels
are called again on the same system. What they do not explain is the law of contact: springs, which contacts are open,
stick or slide, and the line search. Times are of the processor, so that other programs matter little.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from benchmarks.phases import kernels_at
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.contact.detector import ContactDetector
from isocloth.simulation import Report, Simulation
from isocloth.simulation.steppers import ContactStepper
from isocloth.solvers import Newton
from isocloth.solvers.contact_newton import ContactNewton

#: share of a step that detection must stay below
DETECTION_TARGET = 0.5

#: methods that are timed, and what they are part of; of nested ones each counts only its own time
TIMED: dict[tuple[type, str], str] = {
    (ContactDetector, "find"): "detection",  # contacts at an iterate
    (ContactDetector, "crossings"): "detection",  # the check that nothing was passed through
    (ContactDetector, "stop_short"): "detection",
    (ContactNewton, "lay_out"): "ordering",  # room in the factor for new pairs
    (ContactNewton, "_solve_linearised"): "descent",
    (ContactNewton, "solve"): "rest_of_solve",
    (Newton, "solve"): "rest_of_solve",  # of a step that touches nothing
    (Simulation, "step"): "outside",
}


@dataclass
class ContactPhases:
    """A scene, or a part of it: processor seconds by phase, all steps together, and what they are spent on."""

    scene: str
    part: str  # of the scene; empty: the whole
    nodes: int  # per side
    steps: int
    simulated: float  # s
    detection: float
    ordering: float
    assembly: float
    factorisation: float
    triangular: float
    law: float  # springs, open or closed, stick or slip, line search
    rest_of_solve: float  # evaluation of rows, residuals, what is known of contacts from before
    outside: float  # the interpreter: everything around the solver
    worst_step: float  # s
    linearisations: float  # per step: how often contacts are looked for and the cloth is linearised
    solves: float  # factorisations per step
    most_solves: int
    contacts: float  # that bear a force, mean over the steps
    most_contacts: int
    ordered_anew: int  # how often the factor had to be
    cut: int  # steps cut into substeps
    unconverged: int

    @property
    def seconds(self) -> float:
        """Processor seconds of all the steps."""
        return sum(getattr(self, name) for name in PHASES)

    @property
    def q(self) -> float:
        """Computing time over simulated time; below 1 is faster than real time."""
        return self.seconds / self.simulated

    @property
    def detection_share(self) -> float:
        """Part of the time that detection takes."""
        return self.detection / self.seconds


PHASES = (
    "detection", "ordering", "assembly", "factorisation", "triangular", "law", "rest_of_solve", "outside",
)  # fmt: skip


class Stopwatch:
    """Processor seconds of timed methods since the last `take`."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(TIMED.values(), 0.0)
        self.solves = self.descents = 0
        self.arguments: tuple[Any, ...] = ()  # of the last descent: step, multipliers, ...
        self._inside = 0.0  # seconds of timed calls within the present one

    @contextmanager
    def running(self) -> Iterator[None]:
        """Wrap the methods for a while."""
        plain = {place: getattr(*place) for place in TIMED}
        try:
            for (owner, name), phase in TIMED.items():
                setattr(owner, name, self._timed(plain[owner, name], phase))
            yield
        finally:
            for (owner, name), function in plain.items():
                setattr(owner, name, function)

    def take(self) -> tuple[dict[str, float], int, int]:
        """Seconds by phase, descents, and factorisations in them, since the last call."""
        taken = self.seconds, self.descents, self.solves
        self.seconds, self.descents, self.solves = dict.fromkeys(TIMED.values(), 0.0), 0, 0
        return taken

    def _timed(self, function: Callable[..., Any], phase: str) -> Callable[..., Any]:
        @wraps(function)
        def timed(*arguments: Any, **options: Any) -> Any:
            outer, self._inside = self._inside, 0.0
            begin = time.thread_time()
            try:
                result = function(*arguments, **options)
            finally:
                spent = time.thread_time() - begin
                self.seconds[phase] += spent - self._inside
                self._inside = outer + spent
            if phase == "descent":
                self.arguments = arguments[1:]
                self.descents += 1
                self.solves += sum(result)  # spent, and spent in vain where there was no room for a pair
            return result

        return timed


def contact_phases(
    scene: str, nodes: int, sim: Simulation, seconds: float, parts: Mapping[str, float] | None = None
) -> list[ContactPhases]:
    """Run a scene for so many simulated seconds; the whole first, then its parts, which begin at given times in s.

    The first step, which loads kernels, is not counted.
    """
    steps = round(seconds / sim.timestep)
    times, rows, descents, reports = np.zeros(steps), np.zeros((steps, len(PHASES))), np.zeros(steps), []
    ordered = np.zeros(steps + 1, dtype=np.int64)
    assert isinstance(sim.stepper, ContactStepper)
    solver = sim.stepper.contact
    watch = Stopwatch()
    with watch.running():
        for k in range(steps):
            reports.append(sim.step())
            times[k], ordered[k + 1] = sim.time, solver.rebuilt
            spent, descents[k], solves = watch.take()
            rows[k] = _by_phase(sim, solver, watch, spent, solves)
    begins = {"": 0.0, **(parts or {})}
    ends = [np.inf, *list(begins.values())[2:], np.inf]
    found = []
    for (part, begin), end in zip(begins.items(), ends, strict=False):
        chosen = (times > begin + 1e-9) & (times <= end + 1e-9)
        chosen[0] = False
        if chosen.any():
            summary = _summary(scene, part, nodes, sim.timestep, chosen, rows, descents, reports, np.diff(ordered))
            found.append(summary)
    return found


def _by_phase(
    sim: Simulation, solver: ContactNewton, watch: Stopwatch, spent: dict[str, float], solves: int
) -> list[float]:
    """Seconds of the step just taken, in the order of PHASES."""
    assembly = factor = triangular = 0.0
    if solves > 0:
        step, multipliers = watch.arguments[:2]
        each = kernels_at(
            solver.system, sim.cloth, step, multipliers, sim.positions, patience=0.0, clock=time.thread_time
        )
        known: FloatArray = solves * each[1:]
        # a descent that found its contacts at once has hardly any law in it: the kernels may seem to take longer
        assembly, factor, triangular = (known * min(1.0, spent["descent"] / max(known.sum(), 1e-12))).tolist()
    law = spent["descent"] - assembly - factor - triangular
    return [
        spent["detection"], spent["ordering"], assembly, factor, triangular, law, spent["rest_of_solve"],
        spent["outside"],
    ]  # fmt: skip


def _summary(
    scene: str, part: str, nodes: int, timestep: float, chosen: BoolArray, rows: FloatArray, descents: FloatArray,
    reports: list[Report], ordered: IntArray,
) -> ContactPhases:  # fmt: skip
    of = [reports[k] for k in np.flatnonzero(chosen)]
    return ContactPhases(
        scene=scene, part=part, nodes=nodes, steps=len(of), simulated=len(of) * timestep,
        **dict(zip(PHASES, rows[chosen].sum(axis=0).tolist(), strict=True)),
        worst_step=float(rows[chosen].sum(axis=1).max()),
        linearisations=float(descents[chosen].mean()),
        solves=float(np.mean([r.iterations for r in of])),
        most_solves=max(r.iterations for r in of),
        contacts=float(np.mean([r.contacts for r in of])),
        most_contacts=max(r.contacts for r in of),
        ordered_anew=int(ordered[chosen].sum()),
        cut=sum(r.substeps > 1 for r in of),
        unconverged=sum(not r.converged for r in of),
    )  # fmt: skip
