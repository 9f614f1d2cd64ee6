"""The papers' active-set method for the contact problem of one linearisation (collision model, section 5).

    minimise  1/2 d^T A d + g^T d   subject to   H + J d >= 0

The working set W holds the rows that are imposed as equalities, the observation set O all others. With W given,

    S_WW gamma_W = -(H + J d0)_W,    d = d0 + A^-1 J_W^T gamma_W,    S = J A^-1 J^T,    d0 = -A^-1 g.

Rows with negative multipliers leave W; when there are none, violated rows of O enter; when there are none either, this
is the optimum. Any W will do as a start. All of it happens in the space of contacts, on columns of S (m, m), each made
from one solve with the factor of A when its row first enters and kept from then on, eight at a time (lanes.py); the
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
from isocloth.friction.contact_qp import ContactQP, QPSolution, certify
from isocloth.friction.contact_space import (
    CHANGES,
    MADE,
    SIZE,
    ContactRows,
    ContactSpace,
    append,
    correct,
    displace,
    enter_space,
    extend,
    gaps,
    give_way,
    is_combination,
    make_columns,
    multipliers,
    observe,
    project,
    substitute,
    take_out,
    take_out_marked,
)
from isocloth.sparse.analysis import Analysis
from isocloth.sparse.cholesky import back_substitute
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.multi_rhs import LANES

RULES = ("block", "paper")
#: gaps cannot be told from zero below this share of the numbers they are sums of
_ROUNDING = 1e-11
#: how often the working set is looked at again with the gaps of d itself, and how often these are refined; mostly 1, 0
_PASSES, _REFINEMENTS = 5, 3
#: rows that add less than this share of S_kk enter alone and with care
_DOUBTFUL = 1e-7
#: why a violated row could not enter: its violation is rounding (for this pass), or it contradicts others
_PASSED_OVER, _GIVEN_UP = 1, 2
#: share of S_kk by which rows yield that contradict each other
_COMPLIANCE = 1e-3


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
            settled = _in_blocks(f, s, h, barred, conflict, tolerance, max_changes)
        else:
            settled = _as_in_the_paper(f, s, h, barred, tolerance, max_changes)
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
            if barred[k] == _GIVEN_UP:
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


@kernel
def _in_blocks(
    f: Fronts,
    s: ContactSpace,
    h: FloatArray,
    barred: IntArray,
    conflict: FloatArray,
    tolerance: float,
    max_changes: int,
) -> bool:
    """Rule "block"; False if it ran out of changes. h: (m,) out, the gaps at the end."""
    m = len(h)
    best_order, best_size, best = np.empty(m, dtype=np.int64), -1, 0.0
    limit = m  # how many rows may enter at once
    together = False  # whether several entered since `best`
    while True:
        _let_pulling_rows_go(s)
        value = 0.0
        for i in range(s.counts[SIZE]):
            value -= 0.5 * s.gamma[s.order[i]] * s.offset[s.order[i]]
        alone = limit == 1
        if together and best_size >= 0 and not value > best:
            for i in range(s.counts[SIZE]):
                s.inside[s.order[i]] = False
                s.gamma[s.order[i]] = 0.0
            for i in range(best_size):
                s.order[i] = best_order[i]
                s.inside[s.order[i]] = True
            s.counts[SIZE] = best_size
            s.counts[CHANGES] += 1
            extend(s, np.int64(0), s.dependence[0])
            _let_pulling_rows_go(s)
            limit = max(1, limit // 8)
            alone = True
        else:
            best_size, best = s.counts[SIZE], value
            best_order[:best_size] = s.order[:best_size]
            limit = min(m, 4 * limit)
        rounding = observe(s, h)
        if correct(s, h, tolerance):
            rounding = observe(s, h)
        entering = _violated(s, h, barred, max(tolerance, 4.0 * rounding))
        if len(entering) == 0:
            return True
        if s.counts[CHANGES] >= max_changes:
            return False
        if not alone:
            entering = entering[:limit]
            limit = min(limit, len(entering))
            make_columns(f, s, entering)
            begin = s.counts[SIZE]
            for i in range(len(entering)):
                s.order[begin + i] = entering[i]
                s.inside[entering[i]] = True
            s.counts[SIZE] = begin + len(entering)
            extend(s, begin, max(_DOUBTFUL, s.dependence[0]))
            together = True
            alone = s.counts[SIZE] == begin  # all of them depend on the working set
            s.counts[CHANGES] += 0 if alone else 1
        if alone:
            together = False
            if s.slot[entering[0]] < 0:
                make_columns(f, s, entering[:LANES])
            barred[entering[0]] = _enter_with_care(s, entering[0], conflict, tolerance)
            if barred[entering[0]] == _GIVEN_UP and s.columns[s.slot[entering[0]], entering[0]] > 0.0:
                barred[entering[0]] = 0
                _soften(s, conflict)
                s.counts[CHANGES] += 1
                best_size = -1  # D is another function now
            if barred[entering[0]] != 0:
                best_size = -1


@kernel
def _soften(s: ContactSpace, conflict: FloatArray) -> None:
    """Let the rows of a contradiction yield, so that they share the violation; they depend on nothing any more."""
    largest = 0.0
    for k in range(len(conflict)):
        largest = max(largest, conflict[k])
    for k in range(len(conflict)):
        if conflict[k] > 1e-9 * largest:
            s.compliance[k] = _COMPLIANCE * s.columns[s.slot[k], k]
    extend(s, np.int64(0), s.dependence[0])


@kernel
def _violated(s: ContactSpace, h: FloatArray, barred: IntArray, tolerance: float) -> IntArray:
    """Rows of the observation set that are violated, the worst first."""
    found = np.empty(len(h), dtype=np.int64)
    count = 0
    for k in range(len(h)):
        if h[k] < -tolerance and not s.inside[k] and barred[k] == 0:
            found[count] = k
            count += 1
    # Shell's sort: NumPy's takes seconds to compile
    stride = count // 2
    while stride > 0:
        for i in range(stride, count):
            k, j = found[i], i
            while j >= stride and h[found[j - stride]] > h[k]:
                found[j] = found[j - stride]
                j -= stride
            found[j] = k
        stride //= 2
    return found[:count]


@kernel
def _let_pulling_rows_go(s: ContactSpace) -> None:
    """Solve with the working set and take out all rows with negative multipliers, until there are none."""
    y = s.first
    marked = np.zeros(len(s.gamma), dtype=np.bool_)
    while True:
        multipliers(s, y)
        size = s.counts[SIZE]
        largest = 0.0
        for i in range(size):
            largest = max(largest, abs(y[i]))
        pulling = False
        for i in range(size):
            k = s.order[i]
            s.gamma[k] = max(y[i], 0.0)
            marked[k] = y[i] < -1e-12 * largest
            pulling = pulling or marked[k]
        if not pulling:
            return
        take_out_marked(s, marked)
        s.counts[CHANGES] += 1


@kernel
def _enter_with_care(s: ContactSpace, k: int, conflict: FloatArray, tolerance: float) -> int:
    """Let row k in and keep every multiplier from pulling on the way; returns 0, or why it could not enter.

    The multipliers stand for the solution with the working set at the beginning, and again at the end.
    """
    r, gamma = s.first, s.gamma
    column = s.columns[s.slot[k]]
    while True:
        pivot = project(s, k, r)
        if pivot > _DOUBTFUL * column[k]:
            break
        # along gamma_W - t alpha, gamma_k + t the forces on the cloth nearly stay the same, and D rises
        substitute(s, r)
        size = s.counts[SIZE]
        largest = 1.0
        gap = s.offset[k] + gamma[k] * (column[k] + s.compliance[k])
        for i in range(size):
            largest = max(largest, abs(r[i]))
            gap += gamma[s.order[i]] * column[s.order[i]]
        t = np.inf
        for i in range(size):
            if r[i] > 1e-9 * largest:
                t = min(t, gamma[s.order[i]] / r[i])
        if not t * max(pivot, 0.0) < -gap:  # nothing is in the way, or the gap closes before
            combined = is_combination(s, k, r)
            if not combined and pivot > s.dependence[0] * column[k]:
                pivot = project(s, k, r)
                break
            gamma[k] = 0.0
            overlap = s.rows.gap[k]
            for i in range(size):
                overlap += max(0.0, -r[i]) * s.rows.gap[s.order[i]]
            # without a proof, either all is well but for rounding, or only a force beyond the digits of S could help
            if not combined or t < np.inf or not overlap < -tolerance * largest:
                return _PASSED_OVER
            conflict[:] = 0.0
            conflict[k] = 1.0
            for i in range(size):
                conflict[s.order[i]] = max(0.0, -r[i])
            return _GIVEN_UP
        leaving = size
        for i in range(size):
            first = r[i] > 1e-9 * largest and gamma[s.order[i]] <= t * r[i] * (1.0 + 1e-9)
            if first and (leaving == size or r[i] > r[leaving]):
                leaving = i
        for i in range(size):
            gamma[s.order[i]] = max(0.0, gamma[s.order[i]] - t * r[i])
        gamma[k] += t
        take_out(s, leaving)
        s.counts[CHANGES] += 1
    append(s, k, r, pivot)
    s.counts[CHANGES] += 1
    while True:
        multipliers(s, r)
        size = s.counts[SIZE]
        t, leaving = 1.0, size
        for i in range(size):
            if r[i] < 0.0 and s.order[i] != k:
                old = gamma[s.order[i]]
                share = old / (old - r[i])
                if leaving == size or share < t:
                    t, leaving = share, i
        for i in range(size):
            q = s.order[i]
            gamma[q] = max(0.0, gamma[q] + t * (r[i] - gamma[q]))
        if leaving == size:
            return 0 if gamma[k] > 0.0 else _PASSED_OVER
        take_out(s, leaving)
        s.counts[CHANGES] += 1


@kernel
def _as_in_the_paper(
    f: Fronts, s: ContactSpace, h: FloatArray, barred: IntArray, tolerance: float, max_changes: int
) -> bool:
    """Rule "paper"; False if it ran out of changes. h: (m,) out, the gaps at the end."""
    y = s.first
    m = len(h)
    while True:
        multipliers(s, y)
        size = s.counts[SIZE]
        entering, leaving = m, size  # none
        lowest = largest = 0.0
        for i in range(size):
            s.gamma[s.order[i]] = y[i]
            largest = max(largest, abs(y[i]))
            if y[i] < lowest:
                lowest, leaving = y[i], i
        if lowest >= -1e-12 * largest:
            limit = max(tolerance, 4.0 * observe(s, h))
            for k in range(m):
                violated = h[k] < -limit and not s.inside[k] and barred[k] == 0
                if violated and (entering == m or h[k] < h[entering]):
                    entering = k
            if entering == m:
                return True
        if s.counts[CHANGES] >= max_changes:
            observe(s, h)
            return False
        s.counts[CHANGES] += 1
        if entering == m:
            take_out(s, leaving)
            continue
        if s.slot[entering] < 0:
            make_columns(f, s, np.array([entering]))
        pivot = project(s, entering, y)
        if not pivot > s.dependence[0] * s.columns[s.slot[entering], entering]:
            substitute(s, y)
            leaving = size
            for i in range(size):
                if abs(y[i]) > 1e-9 and (leaving == size or abs(y[i]) > abs(y[leaving])):
                    leaving = i
            if leaving < size:
                take_out(s, leaving)
                pivot = project(s, entering, y)
            if not pivot > 0.0:
                barred[entering] = _GIVEN_UP  # a row without a gradient
                continue
        append(s, entering, y, pivot)


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
