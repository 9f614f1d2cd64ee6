"""The contact problem in the space of its contacts: columns of S = J A^-1 J^T, and the factor of a working set of rows.

A column S_k = J A^-1 J_k^T costs one solve with the factor of A. It is made when row k is first asked for, together
with up to seven others (multi_rhs.py), and kept. The working set W has the Cholesky factor S_WW = U^T U, stored by
rows, which grows by one row or by many, and shrinks by rotations.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.sparse.cholesky import dot, solve
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.microkernels import strip
from isocloth.sparse.multi_rhs import LANES, solve_eight, wanted_fronts

#: what `ContactSpace.counts` counts
SIZE, MADE, CHANGES = 0, 1, 2
#: a row is told from a dependent one if it adds this many times the rounding of S
_MARGIN = 30.0
#: share of the tolerance to which gaps of the working set are closed: others may be combinations of them
_CLOSED = 1e-3
#: a gradient is a combination of others up to this share of the largest term
_COMBINED = 1e-7


class ContactRows(NamedTuple):
    """J (m, s) by rows and H (m,), as kernels read them. Columns of held nodes must be left out."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray
    gap: FloatArray


class ContactSpace(NamedTuple):
    """The problem in the space of its m contacts, and the factor of the working set."""

    rows: ContactRows
    offset: FloatArray  # (m,) H + J d0
    gamma: FloatArray  # (m,) never negative where the working set was accepted, 0 outside
    columns: FloatArray  # (m + 8, m): columns of S in the order they were made
    slot: IntArray  # (m,) where a row's column is, or -1
    factor: FloatArray  # U, rows of length `edge`, flat
    edge: int
    order: IntArray  # (m,) the working set
    inside: BoolArray  # (m,)
    counts: IntArray  # (3,) size of the working set, columns made, changes
    compliance: FloatArray  # (m,) 0; m/N where a row yields because it contradicts others: h = H + J d + c gamma >= 0
    dependence: FloatArray  # (1,) share of S_kk below which a row counts as dependent
    first: FloatArray  # (m + 8,) scratch, as are the others
    second: FloatArray
    gradient: FloatArray  # (scalars,) zero
    right: FloatArray  # (scalars, 8)
    work: FloatArray  # (largest front + 8, 8)
    wanted: BoolArray  # (fronts,)


@kernel
def enter_space(f: Fronts, rows: ContactRows, x: FloatArray, gamma: FloatArray, dependence: float) -> ContactSpace:
    m, scalars = len(rows.gap), len(x)
    edge = (m + 15) // 8 * 8  # tiles may write seven columns and three rows beyond
    offset = np.empty(m)
    gaps(rows, x, offset)
    touched, wanted = np.zeros(scalars, dtype=np.bool_), np.zeros(len(f.size), dtype=np.bool_)
    for p in range(rows.indptr[m]):
        touched[rows.indices[p]] = True
    wanted_fronts(f, touched, wanted)
    # of the two large arrays only what is used costs memory
    return ContactSpace(
        rows, offset, gamma, np.empty((m + LANES, m)), np.full(m, -1, dtype=np.int64), np.empty((m + 4) * edge), edge,
        np.empty(m + 1, dtype=np.int64), np.zeros(m, dtype=np.bool_), np.zeros(3, dtype=np.int64),
        np.zeros(m), np.full(1, dependence), np.empty(m + LANES), np.empty(m + LANES), np.zeros(scalars),
        np.empty((scalars, LANES)), np.empty((len(f.work) + LANES, LANES)), wanted,
    )  # fmt: skip


# ------------------------------------------------------------------------------------------------- solves with A


@kernel
def gaps(rows: ContactRows, x: FloatArray, out: FloatArray) -> None:
    """out = H + J x."""
    for k in range(len(rows.gap)):
        total = rows.gap[k]
        for p in range(rows.indptr[k], rows.indptr[k + 1]):
            total += rows.data[p] * x[rows.indices[p]]
        out[k] = total


@kernel
def make_columns(f: Fronts, s: ContactSpace, chosen: IntArray) -> None:
    """Make the columns S_k = J A^-1 J_k^T of the chosen rows that are not there yet, eight at a time."""
    rows, x = s.rows, s.right
    members = np.empty(LANES, dtype=np.int64)
    at = 0
    while at < len(chosen):
        lanes = 0
        while at < len(chosen) and lanes < LANES:
            k = chosen[at]
            at += 1
            if s.slot[k] < 0:
                if lanes == 0:
                    x[:] = 0.0
                s.slot[k] = s.counts[MADE] + lanes
                members[lanes] = k
                for p in range(rows.indptr[k], rows.indptr[k + 1]):
                    x[rows.indices[p], lanes] += rows.data[p]
                lanes += 1
        if lanes == 0:
            return
        solve_eight(f, x, s.work, s.wanted)
        first = s.counts[MADE]
        total = np.empty(LANES)
        for k in range(len(rows.gap)):
            total[:] = 0.0
            for p in range(rows.indptr[k], rows.indptr[k + 1]):
                v, i = rows.data[p], rows.indices[p]
                for lane in range(LANES):
                    total[lane] += v * x[i, lane]
            for lane in range(lanes):
                s.columns[first + lane, k] = total[lane]
        s.counts[MADE] += lanes
        _learn_rounding(s, members[:lanes])


@kernel
def _learn_rounding(s: ContactSpace, members: IntArray) -> None:
    """Raise the limit of dependence above the rounding of S, which shows where new columns are not symmetric."""
    worst = 0.0
    for a in range(len(members)):
        i = members[a]
        for b in range(a):
            j = members[b]
            difference = abs(s.columns[s.slot[i], j] - s.columns[s.slot[j], i])
            size = np.sqrt(s.columns[s.slot[i], i] * s.columns[s.slot[j], j])
            if difference > worst * size:
                worst = difference / size
    s.dependence[0] = max(s.dependence[0], _MARGIN * worst)


@kernel
def displace(f: Fronts, s: ContactSpace, applied: FloatArray, x: FloatArray, change: FloatArray) -> None:
    """Take x from the multipliers `applied` to those of the working set; small changes cost no digits."""
    rows = s.rows
    change[:] = 0.0
    for k in range(len(applied)):
        force = s.gamma[k] - applied[k]
        applied[k] = s.gamma[k]
        if force != 0.0:
            for p in range(rows.indptr[k], rows.indptr[k + 1]):
                change[rows.indices[p]] += force * rows.data[p]
    solve(f, change)
    for i in range(len(x)):
        x[i] += change[i]


# ------------------------------------------------------------------- the factor of the working set, S_WW = U^T U


@kernel
def extend(s: ContactSpace, begin: int, share: float) -> None:
    """Factor the rows of `order` from `begin` on; those that add less than this share of S_kk are put out again."""
    u, edge, size = s.factor, s.edge, s.counts[SIZE]
    if begin >= size:
        return
    for j in range(begin, size):
        column = s.columns[s.slot[s.order[j]]]
        for i in range(j + 1):
            u[i * edge + j] = column[s.order[i]]
        u[j * edge + j] += s.compliance[s.order[j]]
    dead = 0
    for i0 in range(0, size, 4):
        for j in range(max(begin, i0), size, 8):
            # beyond `size` this writes into padding, left of the diagonal into what is never read
            strip(u, i0 * edge + j, edge, u, j, edge, u, i0, edge, 1, i0)
        for i in range(i0, min(i0 + 4, size)):
            start = max(begin, i)
            row = u[i * edge : i * edge + size]
            for q in range(i0, i):
                above = u[q * edge : q * edge + size]
                a = above[i]
                for j in range(start, size):
                    row[j] -= a * above[j]
            if i >= begin:
                k = s.order[i]
                if not row[i] > share * s.columns[s.slot[k], k]:
                    row[i] = 0.0  # marks the row; as if it were not there
                    row[i + 1 :] = 0.0
                    dead += 1
                    continue
                row[i] = np.sqrt(row[i])
                start = i + 1
            scale = 1.0 / row[i]
            for j in range(start, size):
                row[j] *= scale
    if dead > 0:
        _close_up(s)


@kernel
def _close_up(s: ContactSpace) -> None:
    """Take the rows that `extend` marked out of the working set. Their part of U is zero, so nothing else changes."""
    u, edge, size = s.factor, s.edge, s.counts[SIZE]
    to = 0
    kept = np.empty(size, dtype=np.int64)
    for i in range(size):
        k = s.order[i]
        if u[i * edge + i] == 0.0:
            s.inside[k] = False
            s.gamma[k] = 0.0
        else:
            kept[to] = i
            s.order[to] = k
            to += 1
    for i in range(to):
        for j in range(i, to):
            u[i * edge + j] = u[kept[i] * edge + kept[j]]
    s.counts[SIZE] = to


@kernel
def take_out(s: ContactSpace, place: int) -> None:
    """Remove one row: without its column U has an entry below the diagonal in every later row, rotated away."""
    u, edge, size, carry = s.factor, s.edge, s.counts[SIZE], s.second
    k = s.order[place]
    s.inside[k] = False
    s.gamma[k] = 0.0
    for i in range(place):
        for j in range(place, size - 1):
            u[i * edge + j] = u[i * edge + j + 1]
    for j in range(place + 1, size):
        carry[j] = u[place * edge + j]
    for i in range(place, size - 1):
        row, below = u[i * edge : i * edge + size], u[(i + 1) * edge : (i + 1) * edge + size]
        a, b = carry[i + 1], below[i + 1]
        length = np.sqrt(a * a + b * b)
        cosine, sine = a / length, b / length
        row[i] = length
        for j in range(i + 2, size):
            p, q = carry[j], below[j]
            row[j - 1] = cosine * p + sine * q
            carry[j] = cosine * q - sine * p
        s.order[i] = s.order[i + 1]
    s.counts[SIZE] = size - 1


@kernel
def take_out_marked(s: ContactSpace, marked: BoolArray) -> None:
    """Remove every row of the working set that is marked (m,): by rotations if few, else by factoring anew."""
    size = s.counts[SIZE]
    gone = 0
    begin = size
    for i in range(size - 1, -1, -1):
        if marked[s.order[i]]:
            gone += 1
            begin = i
    if gone <= 1 + size // 16:
        for i in range(size - 1, -1, -1):
            if marked[s.order[i]]:
                take_out(s, i)
        return
    to = begin
    for i in range(begin, size):
        k = s.order[i]
        if marked[k]:
            s.inside[k] = False
            s.gamma[k] = 0.0
        else:
            s.order[to] = k
            to += 1
    s.counts[SIZE] = to
    extend(s, begin, s.dependence[0])


@kernel
def project(s: ContactSpace, k: int, r: FloatArray) -> float:
    """r = U^-T S_Wk and the pivot S_kk - r.r that row k would bring; its column has to be there."""
    column = s.columns[s.slot[k]]
    size = s.counts[SIZE]
    for i in range(size):
        r[i] = column[s.order[i]]
    _reduce(s, r)
    pivot: float = column[k] + s.compliance[k] - dot(r[:size], r[:size])
    return pivot


@kernel
def append(s: ContactSpace, k: int, r: FloatArray, pivot: float) -> None:
    """Let row k into the working set, with what `project` found."""
    size = s.counts[SIZE]
    for i in range(size):
        s.factor[i * s.edge + size] = r[i]
    s.factor[size * s.edge + size] = np.sqrt(pivot)
    s.order[size] = k
    s.inside[k] = True
    s.counts[SIZE] = size + 1


@kernel
def is_combination(s: ContactSpace, k: int, alpha: FloatArray) -> bool:
    """Whether J_k = sum alpha_i J_i over the working set."""
    rows, total = s.rows, s.gradient
    largest = 0.0
    for i in range(-1, s.counts[SIZE]):
        q, a = (k, 1.0) if i < 0 else (s.order[i], -alpha[i])
        for p in range(rows.indptr[q], rows.indptr[q + 1]):
            total[rows.indices[p]] += a * rows.data[p]
            largest = max(largest, abs(a * rows.data[p]))
    rest = 0.0
    for i in range(-1, s.counts[SIZE]):
        q = k if i < 0 else s.order[i]
        for p in range(rows.indptr[q], rows.indptr[q + 1]):
            rest = max(rest, abs(total[rows.indices[p]]))
            total[rows.indices[p]] = 0.0
    return rest <= _COMBINED * largest


@kernel
def _reduce(s: ContactSpace, y: FloatArray) -> None:
    """y <- U^-T y over the working set."""
    u, edge, size = s.factor, s.edge, s.counts[SIZE]
    for i in range(size):
        row = u[i * edge : i * edge + size]
        a = y[i] / row[i]
        y[i] = a
        for j in range(i + 1, size):
            y[j] -= a * row[j]


@kernel
def substitute(s: ContactSpace, y: FloatArray) -> None:
    """y <- U^-1 y over the working set."""
    u, edge, size = s.factor, s.edge, s.counts[SIZE]
    for i in range(size - 1, -1, -1):
        row = u[i * edge : i * edge + size]
        y[i] = (y[i] - dot(row[i + 1 :], y[i + 1 : size])) / row[i]


# --------------------------------------------------------------------------------- what the working set stands for


@kernel
def multipliers(s: ContactSpace, y: FloatArray) -> None:
    """y_i = gamma of the i-th row of the working set, all imposed as equalities."""
    for i in range(s.counts[SIZE]):
        y[i] = -s.offset[s.order[i]]
    _reduce(s, y)
    substitute(s, y)


@kernel
def give_way(s: ContactSpace, h: FloatArray) -> None:
    """Add to the gaps h (m,) what compliant rows yield."""
    for i in range(s.counts[SIZE]):
        k = s.order[i]
        h[k] += s.compliance[k] * s.gamma[k]


@kernel
def correct(s: ContactSpace, h: FloatArray, tolerance: float) -> bool:
    """Correct the multipliers of the working set by the gaps h they leave there; False if there is no need to."""
    y = s.first
    worst = 0.0
    for i in range(s.counts[SIZE]):
        y[i] = -h[s.order[i]]
        worst = max(worst, abs(y[i]))
    if worst <= _CLOSED * tolerance:
        return False
    _reduce(s, y)
    substitute(s, y)
    for i in range(s.counts[SIZE]):
        s.gamma[s.order[i]] += y[i]
    return True


@kernel
def observe(s: ContactSpace, h: FloatArray) -> float:
    """h = H + J d (m,) at the multipliers of the working set; returns the rounding, which shows where h should be 0."""
    h[:] = s.offset
    for i in range(s.counts[SIZE]):
        k = s.order[i]
        a = s.gamma[k]
        column = s.columns[s.slot[k]]
        for j in range(len(h)):
            h[j] += a * column[j]
    give_way(s, h)
    rounding = 0.0
    for i in range(s.counts[SIZE]):
        rounding = max(rounding, abs(h[s.order[i]]))
    return rounding
