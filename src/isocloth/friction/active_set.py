"""The papers' active-set method for the contact problem of one linearisation (collision model, section 5).

    minimise  1/2 d^T A d + g^T d   subject to   H + J d >= 0

The working set W holds the rows that are imposed as equalities, the observation set O all others. With W given,

    S_WW gamma_W = -(H + J d0)_W,    d = d0 + A^-1 J_W^T gamma_W,    S = J A^-1 J^T,    d0 = -A^-1 g.

Rows with negative multipliers leave W; when there are none, violated rows of O enter; when there are none either, this
is the optimum. Any W will do as a start. All of it happens in the space of contacts, on columns of S (m, m), each made
from one solve with the factor of A when its row first enters and kept from then on, eight at a time (multi_rhs.py); the
Cholesky factor S_WW = U^T U grows with W by one row or many and shrinks by rotations. Only the answer is taken back to
displacements, by one more solve.

Rule "paper" is their algorithm 1: the most violated row enters, the row of the most negative multiplier leaves, and a
row that depends on W is exchanged for the one of largest |alpha_i| in J_k = sum alpha_i J_i. It may cycle, and ends
then at the limit of changes.

Rule "block", the default, lets all violated rows enter and all pulling rows leave at once, as step 3 and 5 of the
paper allow, for as long as that pays. What pays is the dual objective D = -1/2 gamma_W^T (H + J d0)_W: it has to rise
from one W without pulling rows to the next. If it does not, the last such W is restored and one row enters with care
(Goldfarb and Idnani 1983; Lawson and Hanson 1974): multipliers move only as far as the first that would pull, its row
leaves, and so on until the row is in; D then rises for certain. So no W comes twice, and the method ends. A row that
depends on W is exchanged for the row whose multiplier vanishes first, the largest alpha_i among equals; if no
alpha_i > 0 exists, then gamma_k = 1, gamma_i = -alpha_i proves that no displacement opens all gaps (Farkas). The proof
is reported, and its rows yield, (H + J d)_i + c gamma_i >= 0 with c a small share of S_ii: they share the violation,
forces stay bounded, and all other rows hold.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.friction.active_set_rules import GIVEN_UP, as_in_the_paper, in_blocks
from isocloth.friction.contact_qp import ContactQP, QPSolution, certify
from isocloth.friction.contact_space import (
    CHANGES,
    MADE,
    SIZE,
    ContactRows,
    correct,
    displace,
    enter_space,
    extend,
    gaps,
    give_way,
    make_columns,
    observe,
)
from isocloth.sparse.analysis import Analysis
from isocloth.sparse.cholesky import back_substitute
from isocloth.sparse.fronts import Fronts

RULES = ("block", "paper")
#: gaps cannot be told from zero below this share of the numbers they are sums of
_ROUNDING = 1e-11
#: how often the working set is looked at again with the gaps of d itself, and how often these are refined; mostly 1, 0
_PASSES, _REFINEMENTS = 5, 3


@dataclass(frozen=True, kw_only=True)
class ActiveSetOptions:
    """How to go, and when to stop.

    rule: "block" or "paper", see above.
    tolerance: penetration that is accepted, m.
    dependence: a row depends on the working set if the part of S_kk that it adds is below this share.
    max_changes: changes of the working set before the answer counts as not converged; None is 10 m + 100.
    """

    rule: str = "block"
    tolerance: float = 1e-10
    dependence: float = 1e-13
    max_changes: int | None = None

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise InputError(f"rule = {self.rule!r}: choose one of {', '.join(RULES)}")
        if not (self.tolerance > 0 and 0 < self.dependence < 1 and (self.max_changes is None or self.max_changes >= 0)):
            raise InputError(f"{self}: expected positive tolerances, dependence below 1, and changes >= 0 or None")


class ContactAnswer(NamedTuple):
    """What the kernel returns beside x and gamma."""

    converged: bool
    changes: int  # of the working set
    columns: int  # of S that were made
    conflicts: int  # rows that contradict each other


@kernel
def solve_contact(
    f: Fronts, rows: ContactRows, x: FloatArray, gamma: FloatArray, start: IntArray, conflict: FloatArray,
    tolerance: float, dependence: float, max_changes: int, paper: bool | None,
) -> ContactAnswer:  # fmt: skip
    """Solve the contact problem, given the factor of A.

    Args:
        f: the factor, after `cholesky.factorise`. It may have further scalars (kept multipliers), which rows do not
            touch.
        rows: J and H.
        x: (scalars,) in: the minimiser without contacts d0 = -A^-1 g; out: d.
        gamma: (m,) out: the multipliers. Rows where it is positive are the working set, to start from next time.
        start: rows to start from, in any order, each at most once.
        conflict: (m,) out: zero, or the proof that rows contradict each other (see `QPSolution`).
        tolerance, dependence, max_changes: see `ActiveSetOptions`.
        paper: None for the rule "block", True for "paper"; what is None is compiled without the other.
    """
    m = len(rows.gap)
    gamma[:] = 0.0
    conflict[:] = 0.0
    if m == 0:
        return ContactAnswer(True, 0, 0, 0)
    s = enter_space(f, rows, x, gamma, dependence)
    scale = 0.0
    for k in range(m):
        terms = abs(rows.gap[k])
        for p in range(rows.indptr[k], rows.indptr[k + 1]):
            terms += abs(rows.data[p] * x[rows.indices[p]])
        scale = max(scale, terms)
    tolerance = max(tolerance, _ROUNDING * scale)
    make_columns(f, s, start)
    for i in range(len(start)):
        s.order[i] = start[i]
        s.inside[start[i]] = True
    s.counts[SIZE] = len(start)
    extend(s, np.int64(0), s.dependence[0])
    barred = np.zeros(m, dtype=np.int64)
    applied, h = np.zeros(m), np.empty(m)
    change = np.empty(len(x))
    conflicts = 0
    converged = False
    for _ in range(_PASSES):
        if paper is None:
            settled = in_blocks(f, s, h, barred, conflict, tolerance, max_changes)
        else:
            settled = as_in_the_paper(f, s, h, barred, tolerance, max_changes)
        # gaps are taken from d itself: the space of contacts has rounding of its own
        displace(f, s, applied, x, change)
        for _ in range(_REFINEMENTS):
            gaps(rows, x, h)
            give_way(s, h)
            if not correct(s, h, tolerance):
                break
            displace(f, s, applied, x, change)
        gaps(rows, x, s.first)
        give_way(s, s.first)
        conflicts = 0
        converged = exact = settled
        largest = 0.0
        for k in range(m):
            largest = max(largest, gamma[k])
        limit = max(tolerance, 4.0 * observe(s, h))  # no gap can be met more closely than its terms are rounded
        for k in range(m):
            s.offset[k] += s.first[k] - h[k]  # where another pass is needed, it sees the gaps as they are
            conflicts += conflict[k] > 0.0
            if barred[k] == GIVEN_UP:
                continue
            barred[k] = 0
            # in such a way that what is not a number fails
            pushes = gamma[k] >= -1e-9 * largest
            converged = converged and pushes and s.first[k] >= -limit and (s.first[k] <= limit or not s.inside[k])
            exact = exact and pushes and s.first[k] >= -tolerance and (s.first[k] <= tolerance or not s.inside[k])
        if exact or not settled:
            break
    for k in range(m):
        gamma[k] = max(0.0, gamma[k])
    return ContactAnswer(converged and conflicts == 0, s.counts[CHANGES], s.counts[MADE], conflicts)


def solve_active_set(
    problem: ContactQP,
    *,
    start: Sequence[int] | IntArray | None = None,
    options: ActiveSetOptions | None = None,
    points: FloatArray | None = None,
    analysis: Analysis | None = None,
) -> QPSolution:
    """Solve a contact problem by the active-set method.

    Args:
        problem: the data.
        start: rows to start from, for example those that carried a force in the step before; none if None.
        options: `ActiveSetOptions`.
        points: (n, d) rest positions of the nodes, for the order of elimination.
        analysis: of the pattern of A, where many problems share it. `seconds` never contains it.
    """
    options = options or ActiveSetOptions()
    problem = problem.checked()
    m = len(problem.H)
    chosen = np.unique(np.asarray([] if start is None else start, dtype=np.int64))
    if len(chosen) and (chosen[0] < 0 or chosen[-1] >= m):
        raise InputError(f"start names row {chosen[0] if chosen[0] < 0 else chosen[-1]}: expected rows 0 to {m - 1}")
    analysis = analysis or Analysis(problem.A, points)
    f = analysis.factor.fronts
    J = problem.J
    rows = ContactRows(J.indptr.astype(np.int64), J.indices.astype(np.int64), J.data, problem.H)
    gamma, conflict = np.zeros(m), np.zeros(m)
    limit = 10 * m + 100 if options.max_changes is None else options.max_changes
    begin = time.perf_counter()
    x = -problem.g
    analysis.factorise(problem.A, x)
    back_substitute(f, x)
    answer = solve_contact(
        f, rows, x, gamma, chosen, conflict, options.tolerance, options.dependence, limit,
        True if options.rule == "paper" else None,
    )  # fmt: skip
    seconds = time.perf_counter() - begin
    return QPSolution(
        x, gamma, answer.changes, answer.converged, certify(problem, x, gamma), seconds,
        conflict if conflict.any() else None,
    )  # fmt: skip
