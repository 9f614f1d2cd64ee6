"""Contact problems recorded from scenes (`isocloth reproduce contact_problems --quick -o folder`), by every solver."""

from pathlib import Path

import numpy as np
import pytest

from isocloth.friction.active_set import RULES, ActiveSetOptions, solve_active_set
from isocloth.friction.contact_qp import ContactQP
from isocloth.friction.library_qp import SOLVERS
from validation.contact_problems import CLOSED, compare, energy
from validation.recorded_scenes import Sample

RECORDED = sorted((Path(__file__).parent / "recorded").glob("*.npz"))


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


def test_the_comparison_counts_failures_and_times():
    pytest.importorskip("clarabel")
    pytest.importorskip("piqp")
    tried = compare([ContactQP.load(RECORDED[0])])
    assert set(tried) == {"active set", "active set, paper's rule", "Clarabel", "PIQP"}
    assert all(t.failures == 0 and t.disagreement < 1e-6 and t.median > 0.0 for t in tried.values())
    assert tried["active set"].disagreement == 0.0


def test_a_sample_is_spread_evenly():
    sample = Sample(10)
    for k in range(1000):
        sample(k)
    kept = list(sample)
    assert len(kept) == 10
    assert np.diff(kept).min() > 60
    few = Sample(10)
    few(1)
    assert list(few) == [1]
