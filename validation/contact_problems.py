"""Contact problems recorded from scenes: the active set, by both of its rules, against two solvers from libraries."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import spsolve

from isocloth.base.typing import FloatArray
from isocloth.friction.active_set import ActiveSetOptions, solve_active_set
from isocloth.friction.contact_qp import ContactQP, QPSolution
from isocloth.friction.library_qp import solve_clarabel, solve_piqp
from isocloth.sparse.analysis import Analysis
from validation.recorded_scenes import excerpts, record
from validation.result import Result, Say, silent

TITLE = "recorded contact problems: the active set against solvers from libraries"

#: to which optima have to agree, relative to the energy of a problem
AGREEMENT = 1e-6
#: penetration that the active set leaves here, m: the last iterates of a step move by less than its usual tolerance
CLOSED = 1e-14
#: how much faster than an interior-point method the active set has to be on the stick hits
FASTER = 3.0
LIBRARIES = ("Clarabel", "PIQP")


class Tried(NamedTuple):
    """One solver on the problems of one scene."""

    failures: int
    disagreement: float  # largest difference from the optimum, relative to the energy of a problem; failures left out
    apart: float  # m, largest difference of a displacement
    seconds: FloatArray  # (problems,)

    @property
    def median(self) -> float:
        """Of the times, in ms."""
        return 1e3 * float(np.median(self.seconds))


def compare(problems: list[ContactQP]) -> dict[str, Tried]:
    """Every solver on every problem; all problems are of one cloth. Optima are compared with those of rule "block"."""
    analysis = Analysis(problems[0].A)

    def active_set(rule: str) -> Callable[[ContactQP], QPSolution]:
        options = ActiveSetOptions(rule=rule, tolerance=CLOSED)
        return lambda problem: solve_active_set(problem, analysis=analysis, options=options)

    solvers = {
        "active set": active_set("block"), "active set, paper's rule": active_set("paper"),
        "Clarabel": solve_clarabel, "PIQP": solve_piqp,
    }  # fmt: skip
    answers: dict[str, list[QPSolution]] = {}
    seconds: dict[str, FloatArray] = {}
    for name, solve in solvers.items():
        solve(problems[0])  # kernels are compiled, libraries loaded
        first, second = [solve(p) for p in problems], [solve(p) for p in problems]
        answers[name] = first
        seconds[name] = np.array([min(a.seconds, b.seconds) for a, b in zip(first, second, strict=True)])
    reference = answers["active set"]
    return {name: _against(problems, answers[name], reference, seconds[name]) for name in solvers}


def energy(problem: ContactQP) -> float:
    """What the cloth would gain without contacts, J: where it lies at rest the optimum itself is nearly zero."""
    free = np.asarray(spsolve(problem.A, -problem.g))
    return -problem.objective(free)


def _against(
    problems: list[ContactQP], answers: list[QPSolution], reference: list[QPSolution], seconds: FloatArray
) -> Tried:
    failures, disagreement, apart = 0, 0.0, 0.0
    for problem, answer, best in zip(problems, answers, reference, strict=True):
        if not answer.converged:
            failures += 1
        elif best.converged:
            optimum = problem.objective(best.displacement)
            difference = abs(problem.objective(answer.displacement) - optimum)
            disagreement = max(disagreement, difference / max(abs(optimum), energy(problem)))
            apart = max(apart, float(np.abs(answer.displacement - best.displacement).max()))
    return Tried(failures, disagreement, apart, seconds)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Failures, agreement of the optima, and times."""
    result = Result("contact_problems", TITLE)
    total = 0
    for scene, excerpt in excerpts(quick).items():
        say(f"{scene}: recording")
        problems = record(excerpt, 4 if quick else 40)
        total += len(problems)
        if out is not None:
            _save(problems, out / "contact-problems", scene)
        say(f"{scene}: {len(problems)} problems to solve")
        tried = compare(problems)
        sizes = [len(p.H) for p in problems]
        result.info(f"{scene}: problems", len(problems), ".0f")
        result.info(f"{scene}: contacts, at most", max(sizes), ".0f")
        for name, t in tried.items():
            if name == "active set":
                result.below(f"{scene}: {name}, failures", t.failures, 0, ".0f")
            else:
                result.info(f"{scene}: {name}, failures", t.failures, ".0f")
                what = f"{scene}: {name}, difference of the optima / energy"
                result.below(what, t.disagreement, AGREEMENT, ".1e")
                result.info(f"{scene}: {name}, difference of displacements, mm", 1e3 * t.apart, ".1e")
            result.info(f"{scene}: {name}, ms", t.median, ".2f")
        if scene == "stick hits":
            _race(result, scene, tried, quick)
    result.above("problems in all", total, 20 if quick else 200, ".0f")
    result.notes.append(
        "times are medians, each the better of two, for the active set without the analysis of the cloth's matrix, "
        "which is done once for a cloth; it starts from no contact at all"
    )
    return result


def _race(result: Result, scene: str, tried: dict[str, Tried], quick: bool) -> None:
    for library in LIBRARIES:
        ratio = float(np.median(tried[library].seconds / tried["active set"].seconds))
        what = f"{scene}: time of {library} / time of the active set"
        # no test of the small version should depend on how busy the machine is
        if quick:
            result.info(what, ratio, ".1f")
        else:
            result.above(what, ratio, FASTER, ".1f", paper="about 3")


def _save(problems: list[ContactQP], folder: Path, scene: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for k, problem in enumerate(problems):
        problem.save(folder / f"{scene}-{k:02d}.npz".replace(" ", "-"))
