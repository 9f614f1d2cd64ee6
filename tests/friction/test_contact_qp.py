import builtins
import io
import sys
from itertools import combinations

import numpy as np
import pytest
import scipy.sparse as sp
from contact_problems import sheet
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.base.files import atomic_path
from isocloth.friction.active_set import solve_active_set
from isocloth.friction.contact_qp import ContactQP, certify
from isocloth.friction.library_qp import SOLVERS


def brute_force(problem):
    """The optimum by trying every set of rows as equalities; None if no point is feasible."""
    matrix, rows = problem.A.toarray(), problem.J.toarray()
    inverse = np.linalg.inv(matrix)
    m = len(problem.H)
    best = None
    for size in range(m + 1):
        for chosen in combinations(range(m), size):
            j = rows[list(chosen)]
            free = -inverse @ problem.g
            schur = j @ inverse @ j.T
            gamma = np.linalg.lstsq(schur, -(problem.H[list(chosen)] + j @ free), rcond=1e-10)[0]
            d = free + inverse @ j.T @ gamma
            if np.all(problem.H + rows @ d >= -1e-8) and (best is None or problem.objective(d) < best):
                best = problem.objective(d)
    return best


def small_problem(seed, s, m):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((s, s))
    rows = rng.integers(-1, 2, (m, s)).astype(float)
    gaps = rng.integers(-2, 3, m).astype(float)
    if m > 2 and seed % 2:
        rows[-1], gaps[-1] = rows[0], gaps[0]
    matrix = sp.csc_matrix(root @ root.T + 0.1 * np.eye(s))
    return ContactQP(matrix, 3.0 * rng.standard_normal(s), sp.csr_matrix(rows), gaps)


@pytest.mark.parametrize("solver", SOLVERS)
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(0, 7))
def test_every_solver_finds_what_trying_all_sets_finds(solver, seed, s, m):
    problem = small_problem(seed, s, m)
    best = brute_force(problem)
    answer = SOLVERS[solver](problem)
    if best is None:
        assert not answer.converged
    else:
        assert answer.converged
        assert problem.objective(answer.displacement) == pytest.approx(best, rel=1e-6, abs=1e-6)
        assert max(answer.residuals) < 1e-5


@pytest.mark.parametrize("solver", SOLVERS)
def test_contradictory_rows_come_with_a_proof(solver):
    rows = sp.csr_matrix(np.array([[1.0, 0, 0], [-1, 0, 0], [0, 1, 0]]))
    problem = ContactQP(sp.eye(3, format="csc"), np.zeros(3), rows, np.array([-1.0, 0.0, -1.0]))  # x >= 1, -x >= 0
    answer = SOLVERS[solver](problem)
    assert not answer.converged
    if solver == "piqp":
        return  # it has no proof to give
    proof = answer.conflict
    assert np.all(proof >= 0.0)
    assert problem.H @ proof < -1e-3 * np.abs(proof).max()
    np.testing.assert_allclose(rows.T @ proof, 0.0, atol=1e-6 * np.abs(proof).max())


def test_a_problem_comes_back_from_its_file_to_the_bit(tmp_path):
    problem, _ = sheet((4, 5), "sphere")
    with atomic_path(tmp_path / "problem.npz") as file:
        problem.save(file)
    again = ContactQP.load(tmp_path / "problem.npz")
    buffer = io.BytesIO()
    again.save(buffer)
    buffer.seek(0)
    again = ContactQP.load(buffer)
    for name in ("A", "J"):
        assert (getattr(problem, name) != getattr(again, name)).nnz == 0
        assert getattr(problem, name).shape == getattr(again, name).shape
    np.testing.assert_array_equal(problem.g, again.g)
    np.testing.assert_array_equal(problem.H, again.H)
    answers = [solve_active_set(p).displacement for p in (problem, again)]
    np.testing.assert_array_equal(*answers)


def test_the_certificate_sees_what_is_wrong():
    problem = ContactQP(sp.eye(2, format="csc"), np.array([1.0, 0.0]), sp.csr_matrix([[1.0, 0.0]]), np.array([0.5]))
    right = certify(problem, np.array([-0.5, 0.0]), np.array([0.5]))
    assert right == (0.0, 0.0, 0.0)
    assert certify(problem, np.array([-1.0, 0.0]), np.array([0.0])).primal == 0.5
    assert certify(problem, np.array([-0.5, 0.0]), np.array([0.0])).dual == 0.5
    assert certify(problem, np.array([0.0, 0.0]), np.array([-0.25])).dual == pytest.approx(1.25)
    assert certify(problem, np.array([0.0, 0.0]), np.array([1.0])).complementarity == 0.5


def test_shapes_and_numbers_are_checked():
    good = ContactQP(sp.eye(3, format="csc"), np.zeros(3), sp.csr_matrix((1, 3)), np.zeros(1))
    with pytest.raises(ValueError, match=r"expected A \(s, s\)"):
        good._replace(H=np.zeros(2)).checked()
    with pytest.raises(ValueError, match="not finite"):
        good._replace(g=np.array([0.0, np.nan, 0.0])).checked()


@pytest.mark.parametrize("solver", ["clarabel", "piqp"])
def test_a_missing_library_is_named_with_its_remedy(solver, monkeypatch):
    known = builtins.__import__

    def without(name, *args, **kwargs):
        if name == solver:
            raise ImportError(name)
        return known(name, *args, **kwargs)

    monkeypatch.delitem(sys.modules, solver, raising=False)
    monkeypatch.setattr("isocloth.friction.library_qp.import_module", without)
    with pytest.raises(ImportError, match=r"isocloth\[contact\]"):
        SOLVERS[solver](small_problem(0, 3, 2))


@pytest.mark.parametrize("shape", [(7, 9), (9, 9)])
@pytest.mark.parametrize("obstacle", ["plane", "sphere", "corner"])
def test_solvers_agree_on_a_sheet(shape, obstacle):
    problem, points = sheet(shape, obstacle, reach=0.05)
    best = solve_active_set(problem, points=points)
    assert best.converged
    for name in ("clarabel", "piqp"):
        answer = SOLVERS[name](problem)
        assert answer.converged
        assert problem.objective(answer.displacement) == pytest.approx(problem.objective(best.displacement), rel=1e-6)
        np.testing.assert_allclose(answer.displacement, best.displacement, atol=1e-5)
