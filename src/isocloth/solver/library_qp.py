"""The contact problem for solvers from libraries: to compare with, and to fall back on.

Clarabel is an interior-point method with a homogeneous embedding, which recognises contradictory rows. PIQP is a
proximal interior-point method, chosen among PIQP, ProxQP, OSQP and DAQP because it reaches 1e-9 and is quick on 7 x 9
nodes as well as on 20 x 20; where rows contradict each other it only does not converge. Both see A and J as sparse
matrices. `seconds` is the time of everything they do, the analysis of the pattern included: it changes with the rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from isocloth.solver.active_set import solve_active_set
from isocloth.solver.contact_qp import ContactQP, QPSolution, certify

#: what both are asked for, absolute and relative
TOLERANCE = 1e-9


def _library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(
            f'the contact solver {name!r} is not installed; run pip install "isocloth[contact]", '
            "or choose the solver active_set, which needs nothing"
        ) from error


def solve_clarabel(problem: ContactQP, *, tolerance: float = TOLERANCE) -> QPSolution:
    """Solve by Clarabel: -J d + s = H with s >= 0 in its form, z = gamma."""
    clarabel = _library("clarabel")
    problem = problem.checked()
    begin = time.perf_counter()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = tolerance
    upper, rows = sp.triu(problem.A, format="csc"), sp.csc_matrix(-problem.J)
    cones = [clarabel.NonnegativeConeT(len(problem.H))]
    answer = clarabel.DefaultSolver(upper, problem.g, rows, problem.H, cones, settings).solve()
    seconds = time.perf_counter() - begin
    d, gamma = np.asarray(answer.x, dtype=np.float64), np.asarray(answer.z, dtype=np.float64)
    status = str(answer.status)
    if "PrimalInfeasible" in status:
        # z is then the proof, and x means nothing
        nothing = np.zeros_like(gamma)
        d = np.zeros_like(d)
        return QPSolution(d, nothing, answer.iterations, False, certify(problem, d, nothing), seconds, gamma)
    return QPSolution(d, gamma, answer.iterations, status == "Solved", certify(problem, d, gamma), seconds)


def solve_piqp(problem: ContactQP, *, tolerance: float = TOLERANCE) -> QPSolution:
    """Solve by PIQP: -H <= J d in its form, z of the lower bounds = gamma."""
    piqp = _library("piqp")
    problem = problem.checked()
    begin = time.perf_counter()
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = tolerance
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tolerance
    solver.setup(problem.A, problem.g, None, None, sp.csc_matrix(problem.J), -problem.H, None)
    status = solver.solve()
    seconds = time.perf_counter() - begin
    d, gamma = np.array(solver.result.x), np.array(solver.result.z_l)
    iterations = int(solver.result.info.iter)
    return QPSolution(d, gamma, iterations, status == piqp.PIQP_SOLVED, certify(problem, d, gamma), seconds)


#: every solver of contact problems by name; those of libraries raise ImportError where theirs is missing
SOLVERS: dict[str, Callable[..., QPSolution]] = {
    "active_set": solve_active_set,
    "clarabel": solve_clarabel,
    "piqp": solve_piqp,
}
