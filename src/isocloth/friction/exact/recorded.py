"""Recorded contact problems (contact_qp.py) by Gauss-Seidel over contacts, without friction or with it.

A recorded problem knows the normal rows of its contacts, w_a n for each node a. With n of unit length these give the
weights and the normal, and so the rows along the surface, which the law of Coulomb needs besides.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.friction.contact_qp import ContactQP
from isocloth.friction.exact.contact_space import CoulombProblem, Touching, add_load, delassus, frames_of, moved
from isocloth.friction.exact.solve import GaussSeidelAnswer, GaussSeidelOptions, gauss_seidel
from isocloth.sparse.analysis import Analysis
from isocloth.sparse.cholesky import back_substitute, solve

#: part of a row that may not be along its normal: the rounding of its making
_STRAIGHT = 1e-9


class RecordedAnswer(NamedTuple):
    """An answer to a recorded problem, and its certificate."""

    displacement: FloatArray  # d (s,) m
    force: FloatArray  # (m, 3) N, on the side with positive weights
    multipliers: FloatArray  # (m,) N, the part along the normal
    certificate: GaussSeidelAnswer
    problem: CoulombProblem


def touching_of(problem: ContactQP) -> Touching:
    """Nodes, weights and frames of the contacts of a recorded problem."""
    rows = sp.csr_matrix(problem.J)
    count = rows.shape[0]
    if rows.shape[1] % 3:
        raise InputError(f"J has {rows.shape[1]} columns: expected three for each node")
    nodes, weights, normal = np.zeros((count, 4), dtype=np.int64), np.zeros((count, 4)), np.zeros((count, 3))
    for k in range(count):
        begin, end = rows.indptr[k], rows.indptr[k + 1]
        columns, values = rows.indices[begin:end], rows.data[begin:end]
        of = np.unique(columns // 3)
        if not 1 <= len(of) <= 4:
            raise InputError(
                f"row {k} of J has {len(of)} nodes: expected the normal of a contact, of one to four nodes"
            )
        blocks = np.zeros((len(of), 3))
        blocks[np.searchsorted(of, columns // 3), columns % 3] = values
        size = np.linalg.norm(blocks, axis=1)
        normal[k] = blocks[size.argmax()] / size.max()
        nodes[k, : len(of)], weights[k, : len(of)] = of, blocks @ normal[k]
        if np.abs(blocks - np.outer(weights[k, : len(of)], normal[k])).max() > _STRAIGHT * size.max():
            raise InputError(f"row {k} of J has nodes with different normals: expected w_a n for each node a")
    return Touching(nodes, weights, frames_of(normal))


def solve_recorded(
    problem: ContactQP, *, friction: float = 0.0, analysis: Analysis | None = None,
    options: GaussSeidelOptions | None = None,
) -> RecordedAnswer:  # fmt: skip
    """Signorini's problem, or with friction, against the displacement d from where the problem was recorded, Coulomb's.

    analysis: of A, of another problem with the same pattern; None makes one.
    """
    if not (np.isfinite(friction) and friction >= 0.0):
        raise InputError(f"friction = {friction!r}: expected a coefficient, zero or positive")
    problem = problem.checked()
    touching, x = touching_of(problem), -problem.g
    analysis = analysis or Analysis(problem.A)
    analysis.factorise(problem.A, x)
    f = analysis.factor.fronts
    back_substitute(f, x)
    b, count = moved(touching, x), len(problem.H)
    b[::3] += problem.H
    contacts = CoulombProblem(
        delassus(f, touching, len(x)), b, np.full(count, float(friction)), np.full(count, -1.0)
    )  # fmt: skip
    answer = gauss_seidel(contacts, None, options)
    change = np.zeros_like(x)
    add_load(touching, answer.force, change)
    solve(f, change)
    local = answer.force.reshape(-1, 3)
    force = np.einsum("ki,kid->kd", local, touching.frames)
    return RecordedAnswer(x + change, force, local[:, 0].copy(), answer, contacts)
