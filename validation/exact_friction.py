"""The default law against an independent solver: recorded contact problems, and linearisations with friction."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import spsolve

from isocloth.friction.active_set import ActiveSetOptions, solve_active_set
from isocloth.friction.contact_qp import ContactQP
from isocloth.friction.exact.recorded import solve_recorded
from isocloth.sparse.analysis import Analysis
from validation.both_laws import AGREEMENT, EXACT, Compared, watched
from validation.contact_problems import CLOSED
from validation.recorded_scenes import Excerpt, excerpts, record
from validation.result import Result, Say, silent

TITLE = "Coulomb's law by Gauss-Seidel over contacts against the default law and the active set"

#: error of Alart and Curnier up to which an answer counts as one
LAWFUL = 1e-8
#: forces are compared where the error of the law over the smallest eigenvalue of W is below this part of AGREEMENT
KNOWN = 0.1
#: scene whose linearisations take the default law by far the longest
LONGEST = "stick hits"


class Agreement(NamedTuple):
    """Gauss-Seidel beside the active set on recorded problems of one scene."""

    problems: int
    failures: int  # of Gauss-Seidel, among those that the active set solves
    displacements: float  # largest difference, relative to the largest displacement, free or not
    forces: float  # largest difference where forces are unique, relative to the largest force
    unique: int
    sweeps: int  # at most


def agreement(problems: list[ContactQP]) -> Agreement:
    """All problems of one cloth."""
    analysis = Analysis(problems[0].A)
    failures = unique = most = 0
    apart = force = 0.0
    for problem in problems:
        best = solve_active_set(problem, analysis=analysis, options=ActiveSetOptions(tolerance=CLOSED))
        if not best.converged:
            continue
        answer = solve_recorded(problem, analysis=analysis, options=EXACT)
        failures += not answer.certificate.converged
        most = max(most, answer.certificate.sweeps)
        most_moved = max(np.abs(spsolve(problem.A, problem.g)).max(), np.abs(best.displacement).max())
        apart = max(apart, float(np.abs(answer.displacement - best.displacement).max() / most_moved))
        pressing = np.flatnonzero((answer.multipliers > 0.0) | (best.multipliers > 0.0))
        if len(pressing) == 0:
            continue
        values = np.linalg.eigvalsh(answer.problem.W[np.ix_(3 * pressing, 3 * pressing)])
        if answer.certificate.error * values[-1] < KNOWN * AGREEMENT * values[0]:
            unique += 1
            difference = np.abs(answer.multipliers - best.multipliers).max()
            force = max(force, float(difference / best.multipliers.max()))
    return Agreement(len(problems), failures, apart, force, unique, most)


def by_both(excerpt: Excerpt, every: int) -> list[Compared]:
    """Every so many-th linearisation of an excerpt of a scene by both laws."""
    sim = excerpt.make()
    while sim.time < excerpt.begin - 1e-9:
        sim.step()
    both = watched(sim, every)
    while sim.time < excerpt.end - 1e-9:
        sim.step()
    return both.compared


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Agreement on the recorded problems, and on linearisations with friction."""
    result = Result("exact_friction", TITLE)
    problems = 0
    small = excerpts(True)  # the default law takes hundreds of factorisations for the last digits of a linearisation
    for scene, excerpt in excerpts(quick).items():
        say(f"{scene}: recorded problems")
        found = agreement(record(excerpt, 4 if quick else 40))
        problems += found.problems
        result.info(f"{scene}: recorded problems", found.problems, ".0f")
        result.below(f"{scene}: not solved by Gauss-Seidel", found.failures, 0, ".0f")
        result.below(f"{scene}: difference of displacements / largest", found.displacements, AGREEMENT, ".1e")
        result.info(f"{scene}: problems whose forces are unique", found.unique, ".0f")
        result.below(f"{scene}: difference of unique forces / largest", found.forces, AGREEMENT, ".1e")
        result.info(f"{scene}: sweeps, at most", found.sweeps, ".0f")
        if quick and scene == LONGEST:
            continue
        say(f"{scene}: linearisations with friction")
        _with_friction(result, scene, by_both(small[scene], 2 if quick else 1))
    result.above("recorded problems in all", problems, 20 if quick else 200, ".0f")
    result.notes.append(
        "the springs of the default law give way; beside Gauss-Seidel they start from the force of the round before "
        "(method of multipliers), so that both solve the law of hard contacts"
    )
    result.notes.append(
        f"an answer counts as one if its error of Alart and Curnier is below {LAWFUL:g} of the largest force; "
        "only linearisations that both laws meet are compared, and Coulomb's law may have several answers"
    )
    return result


def _with_friction(result: Result, scene: str, compared: list[Compared]) -> None:
    """All linearisations that both laws meet are compared: two answers that differ are a miss, unless both are answers.

    Coulomb's law may have several. The default one counts as a second answer only if Gauss-Seidel, which shares nothing
    with it, stays there when it begins there.
    """
    met = [c for c in compared if c.law < LAWFUL and c.exact.error < LAWFUL]
    result.info(f"{scene}: linearisations with friction", len(compared), ".0f")
    unmet = sum(c.exact.error >= LAWFUL for c in compared)
    result.below(f"{scene}: with friction, law not met by Gauss-Seidel", unmet, 0, ".0f")
    result.info(f"{scene}: law not met by the default, made hard", sum(c.law >= LAWFUL for c in compared), ".0f")
    result.info(f"{scene}: law met by both, so compared", len(met), ".0f")
    second = [c for c in met if c.displacements >= AGREEMENT and c.kept < AGREEMENT]
    result.info(f"{scene}: of these, with a second answer that Gauss-Seidel keeps", len(second), ".0f")
    met = [c for c in met if not (c.displacements >= AGREEMENT and c.kept < AGREEMENT)]
    differ = sum(c.displacements >= AGREEMENT for c in met)
    result.below(f"{scene}: of these, displacements that differ by more", differ, 0, ".0f")
    if met:
        unique = [c.forces for c in met if c.law + c.exact.error < KNOWN * AGREEMENT * c.smallest]
        apart = max(c.displacements for c in met)
        result.below(f"{scene}: with friction, difference of displacements / largest", apart, AGREEMENT, ".1e")
        result.info(f"{scene}: with friction, linearisations whose forces are unique", len(unique), ".0f")
        result.below(f"{scene}: with friction, difference of unique forces", max(unique, default=0.0), AGREEMENT, ".1e")
