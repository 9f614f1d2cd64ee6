"""Contact problems recorded from scenes (`isocloth reproduce contact_problems --quick -o folder`), by every solver."""

from pathlib import Path

import numpy as np
import pytest
from scipy.sparse.linalg import spsolve

from isocloth.friction.active_set import RULES, ActiveSetOptions, solve_active_set
from isocloth.friction.contact_qp import ContactQP
from isocloth.friction.library_qp import SOLVERS

#: penetration that the active set leaves, m: the last iterates of a step move by less than its usual tolerance
CLOSED = 1e-14
RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.npz"))


def energy(problem):
    """What the cloth would gain without contacts, J: where it lies at rest the optimum itself is nearly zero."""
    return -problem.objective(spsolve(problem.A, -problem.g))


@pytest.fixture(params=RECORDED, ids=lambda path: path.stem)
def problem(request):
    return ContactQP.load(request.param)


def test_the_set_is_small():
    assert len(RECORDED) >= 6
    assert sum(path.stat().st_size for path in RECORDED) < 300_000


@pytest.mark.parametrize("rule", RULES)
def test_the_active_set_proves_its_answer(problem, rule):
    answer = solve_active_set(problem, options=ActiveSetOptions(rule=rule, tolerance=CLOSED))
    assert answer.converged
    force = max(np.abs(problem.g).max(), answer.multipliers.max())
    assert answer.residuals.primal < 1e-12
    assert answer.residuals.dual < 1e-9 * force
    scale = max(abs(problem.objective(answer.displacement)), energy(problem))
    assert answer.residuals.complementarity < 1e-9 * scale


@pytest.mark.parametrize("solver", ["clarabel", "piqp"])
def test_libraries_find_the_same_optimum(problem, solver):
    pytest.importorskip(solver)
    best = problem.objective(solve_active_set(problem, options=ActiveSetOptions(tolerance=CLOSED)).displacement)
    answer = SOLVERS[solver](problem)
    assert answer.converged
    assert abs(problem.objective(answer.displacement) - best) < 1e-6 * max(abs(best), energy(problem))


def test_a_warm_start_from_the_answer_changes_nothing(problem):
    first = solve_active_set(problem)
    again = solve_active_set(problem, start=np.flatnonzero(first.multipliers > 0.0))
    assert again.iterations == 0
    assert again.displacement == pytest.approx(first.displacement, abs=1e-10)
