"""How the working set of the active-set method changes: rule "block", and the paper's own; see active_set.py."""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.friction.contact_space import (
    CHANGES,
    SIZE,
    ContactSpace,
    append,
    correct,
    extend,
    is_combination,
    make_columns,
    multipliers,
    observe,
    project,
    substitute,
    take_out,
    take_out_marked,
)
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.multi_rhs import LANES

#: rows that add less than this share of S_kk enter alone and with care
_DOUBTFUL = 1e-7
#: why a violated row could not enter: its violation is rounding (for this pass), or it contradicts others
PASSED_OVER, GIVEN_UP = 1, 2
#: share of S_kk by which rows yield that contradict each other
_COMPLIANCE = 1e-3


@kernel
def in_blocks(
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
            if barred[entering[0]] == GIVEN_UP and s.columns[s.slot[entering[0]], entering[0]] > 0.0:
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
                return PASSED_OVER
            conflict[:] = 0.0
            conflict[k] = 1.0
            for i in range(size):
                conflict[s.order[i]] = max(0.0, -r[i])
            return GIVEN_UP
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
            return 0 if gamma[k] > 0.0 else PASSED_OVER
        take_out(s, leaving)
        s.counts[CHANGES] += 1


@kernel
def as_in_the_paper(
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
                barred[entering] = GIVEN_UP  # a row without a gradient
                continue
        append(s, entering, y, pivot)
