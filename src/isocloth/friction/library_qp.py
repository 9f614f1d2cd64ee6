"""The contact problem for solvers from libraries: to compare with, and to fall back on.

Clarabel is an interior-point method with a homogeneous embedding, which recognises contradictory rows. PIQP is a
proximal interior-point method, chosen among PIQP, ProxQP, OSQP and DAQP because it reaches 1e-9 and is quick on 7 x 9
nodes as well as on 20 x 20; where rows contradict each other it only does not converge. Both see A and J as sparse
matrices. `seconds` is the time of everything they do, the analysis of the pattern included: it changes with the rows.
They are given the problem in its own units of force and length. In newton and metres the last iterates of a step, whose
energies are nanojoules, would lie within their tolerances from the start.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputError, MissingLibraryError
from isocloth.friction.active_set import solve_active_set
from isocloth.friction.contact_qp import ContactQP, QPSolution, certify

#: what both are asked for, absolute and relative
TOLERANCE = 1e-9


def load_library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        raise MissingLibraryError(
            f'the contact solver {name!r} is not installed; run pip install "isocloth[contact]", '
            "or choose the solver active_set, which needs nothing"
        ) from error


def _in_units(problem: ContactQP) -> tuple[ContactQP, float, float]:
    """The problem in units of a force, N, and of a length, m, and these units.

    The length is what the largest force or the deepest penetration moves the cloth by, whichever is more.
    """
    stiffness = float(problem.A.diagonal().mean()) if len(problem.g) else 1.0
    length = max(np.max(np.abs(problem.g), initial=0.0) / stiffness, -np.min(problem.H, initial=0.0)) or 1.0
    force = stiffness * length
    own = ContactQP(problem.A * (1.0 / stiffness), problem.g / force, problem.J, problem.H / length)
    return own, force, length


def require(name: str) -> None:
    """Raise if there is no contact solver of this name, or if its library is missing."""
    if name not in SOLVERS:
        raise InputError(f"contact solver {name!r} is unknown; choose one of {', '.join(SOLVERS)}")
    if SOLVERS[name] is not solve_active_set:
        load_library(name)


def solve_clarabel(problem: ContactQP, *, tolerance: float = TOLERANCE) -> QPSolution:
    """Solve by Clarabel: -J d + s = H with s >= 0 in its form, z = gamma."""
    clarabel = load_library("clarabel")
    problem = problem.checked()
    begin = time.perf_counter()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = tolerance
    own, force, length = _in_units(problem)
    upper, rows = sp.triu(own.A, format="csc"), sp.csc_matrix(-own.J)
    cones = [clarabel.NonnegativeConeT(len(own.H))]
    answer = clarabel.DefaultSolver(upper, own.g, rows, own.H, cones, settings).solve()
    d, gamma = length * np.asarray(answer.x), force * np.asarray(answer.z)
    seconds = time.perf_counter() - begin
    status = str(answer.status)
    if "PrimalInfeasible" in status:
        # z is then the proof, and x means nothing
        nothing = np.zeros_like(gamma)
        d = np.zeros_like(d)
        return QPSolution(d, nothing, answer.iterations, False, certify(problem, d, nothing), seconds, gamma)
    return QPSolution(d, gamma, answer.iterations, status == "Solved", certify(problem, d, gamma), seconds)


def solve_piqp(problem: ContactQP, *, tolerance: float = TOLERANCE) -> QPSolution:
    """Solve by PIQP: -H <= J d in its form, z of the lower bounds = gamma."""
    piqp = load_library("piqp")
    problem = problem.checked()
    begin = time.perf_counter()
    solver = piqp.SparseSolver()
    solver.settings.eps_abs = solver.settings.eps_rel = tolerance
    solver.settings.eps_duality_gap_abs = solver.settings.eps_duality_gap_rel = tolerance
    own, force, length = _in_units(problem)
    solver.setup(own.A, own.g, None, None, sp.csc_matrix(own.J), -own.H, None)
    status = solver.solve()
    d, gamma = length * np.array(solver.result.x), force * np.array(solver.result.z_l)
    seconds = time.perf_counter() - begin
    iterations = int(solver.result.info.iter)
    return QPSolution(d, gamma, iterations, status == piqp.PIQP_SOLVED, certify(problem, d, gamma), seconds)


#: every solver of contact problems by name; those of libraries raise ImportError where theirs is missing
SOLVERS: dict[str, Callable[..., QPSolution]] = {
    "active_set": solve_active_set,
    "clarabel": solve_clarabel,
    "piqp": solve_piqp,
}
