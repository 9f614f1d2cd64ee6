"""Gauss-Seidel over contacts: each in turn gets the force that the law asks of it, the others as they are."""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.friction.exact.contact_space import CoulombProblem
from isocloth.friction.exact.error import law_error
from isocloth.friction.exact.local_law import local_law


@kernel
def displacements(p: CoulombProblem, r: FloatArray, u: FloatArray) -> None:
    """u = W r + b, (3c,)."""
    u[:] = p.b
    for q in range(len(r)):
        force = r[q]
        if force != 0.0:
            row = p.W[q]
            for i in range(len(u)):
                u[i] += force * row[i]


@kernel
def sweeps(p: CoulombProblem, r: FloatArray, u: FloatArray, most: int, tolerance: float) -> int:
    """At most so many sweeps over r (3c,), u (3c,) beside it; ends where the largest error of the law is `tolerance` of
    the largest force. Returns how many."""
    own, free, force = np.empty((3, 3)), np.empty(3), np.empty(3)
    displacements(p, r, u)
    for turn in range(most):
        for k in range(len(p.friction)):
            i = 3 * k
            if not p.W[i, i] > 0.0:
                continue  # all of its nodes are held
            for a in range(3):
                force[a], free[a] = r[i + a], u[i + a]
                for c in range(3):
                    own[a, c] = p.W[i + a, i + c]
                    free[a] -= own[a, c] * r[i + c]
            local_law(own, free, p.friction[k], p.bears[k], force)
            for a in range(3):
                change = force[a] - r[i + a]
                if change != 0.0:
                    r[i + a] = force[a]
                    row = p.W[i + a]
                    for q in range(len(u)):
                        u[q] += change * row[q]
        if turn % 16 == 15:
            displacements(p, r, u)  # the rounding of many small changes
        _, worst, largest = law_error(p, u, r)
        if worst <= tolerance * largest:
            return turn + 1
    return most
