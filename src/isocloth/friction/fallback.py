"""Where Newton's method does not solve the problem of a linearisation, a library solves its convex form.

What it cannot solve has no solution: the law drops friction where a contact opens (coulomb.py), and there are contacts
that friction opens and that close without it. The conic form (conic.py) keeps friction there, so that it has one, and
the next linearisation goes on without friction at the contacts that came out open. A single such linearisation is
mended by the next, so that only a step with several of them is helped. It hardly ever happens, and the report counts
it. Where the library is missing nothing is changed: the step converges all the same in further linearisations, or is
cut.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.cloth.step import Step
from isocloth.cloth.tangent import Workspace
from isocloth.contact.contact_set import ContactSet
from isocloth.contact.history import ContactState
from isocloth.friction.coulomb import return_map
from isocloth.friction.linearised import Linearised
from isocloth.friction.semismooth import relative


@cache
def available() -> bool:
    """Whether the library is installed."""
    return find_spec("clarabel") is not None


def fall_back(
    linearised: Linearised, step: Step, work: Workspace, lam: FloatArray, c: ContactSet,
    law: ContactState, curvature: int, zero: float,
) -> int:  # fmt: skip
    """Replace work.solution, forces and status, which `semismooth_newton` could not make those of the springs.

    Returns how many problems the library solved: 1 or 0.
    """
    x, s = work.solution, 3 * len(step.held)
    if not np.isfinite(x).all() or c.press.any() or not available():  # the conic form knows no jaws
        return 0
    from isocloth.friction.conic import solve_conic  # with the solvers of libraries: hardly ever needed

    matrix, g = linearised.at(step, work, lam, curvature)
    found = solve_conic(matrix, g, c, law, step.held, x[:s])
    if found is None:
        return 0
    x[:s], law.force[:] = found
    push = np.einsum("cd,cd->c", law.force, c.normal)
    law.threshold[push <= zero * push.max()] = 0.0
    _restate(c, law, x)
    return 1


@kernel
def unsolved(c: ContactSet, law: ContactState, x: FloatArray) -> float:
    """Largest difference between a contact's force and its spring's after the displacement x, part of the largest."""
    count = len(c.gap)
    u, force, matrix = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3, 3))
    off = largest = 0.0
    for k in range(len(c.gap)):
        relative(c, k, x, u)
        return_map(c, law, k, u[k, 0], u[k, 1], u[k, 2], False, force, matrix)
        for d in range(3):
            off = max(off, abs(force[k, d] - law.force[k, d]))
            largest = max(largest, abs(law.force[k, d]))
    return off / largest if largest > 0.0 else off


@kernel
def _restate(c: ContactSet, law: ContactState, x: FloatArray) -> None:
    """Status of every contact after the displacement x."""
    count = len(c.gap)
    u, force, matrix = np.empty((count, 3)), np.empty((count, 3)), np.empty((count, 3, 3))
    for k in range(len(c.gap)):
        relative(c, k, x, u)
        law.status[k] = return_map(c, law, k, u[k, 0], u[k, 1], u[k, 2], False, force, matrix)
