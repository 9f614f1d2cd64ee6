"""The fronts of a sparse symmetric factorisation: which variables meet in which front, and where everything is stored.

A front eliminates the variables of one group of the dissection; what they are coupled to further up is its boundary,
and what the elimination leaves there, its Schur complement, is added to the parent front. `symbolic.py` lays the fronts
out, `factor.py` gives them numbers, and `cholesky.py` factors these.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.sparse.dissection import Fill, families
from isocloth.sparse.microkernels import COLUMNS, ROWS


class FrontIndex(NamedTuple):
    """The indices of all fronts: plain arrays, one entry per front unless said otherwise.

    A front eliminates whole tiles: its pivots are followed by up to three of no meaning, each 1 and coupled to nothing,
    and then by the boundary.
    """

    pivots: IntArray  # scalars eliminated in the front
    rows: IntArray  # the same, padded: the boundary begins here
    size: IntArray  # padded pivots and boundary
    stride: IntArray  # length of its rows, padded
    schur_stride: IntArray  # length of the rows of its Schur complement, padded
    scalar_ptr: IntArray  # front -> its slice of `scalars`
    scalars: IntArray  # scalars of the front: pivots, padding, boundary, in order of elimination; 0 in the padding
    sign: FloatArray  # +1 or -1 for each of `scalars`; 1 in the padding
    panel_ptr: IntArray  # front -> offset of its pivot rows in the panel
    schur_ptr: IntArray  # front -> offset of its Schur complement
    child_ptr: IntArray  # front -> its slice of `children`
    children: IntArray
    run_ptr: IntArray  # front -> its slice of `runs`
    runs: IntArray  # (start, end, target): boundary scalars start..end lie at target.. in the parent front


class FrontSizes(NamedTuple):
    """How many numbers a factor holds."""

    panel: int
    schur: int
    divided: int
    work: int


class Fronts(NamedTuple):
    """What kernels read of a factor: the fields of `FrontIndex`, which factors share, and numbers of its own."""

    pivots: IntArray
    rows: IntArray
    size: IntArray
    stride: IntArray
    schur_stride: IntArray
    scalar_ptr: IntArray
    scalars: IntArray
    sign: FloatArray
    panel_ptr: IntArray
    schur_ptr: IntArray
    child_ptr: IntArray
    children: IntArray
    run_ptr: IntArray
    runs: IntArray
    panel: FloatArray  # rows of U
    schur: FloatArray  # Schur complements that wait for their parents
    divided: FloatArray  # D^-1 U of the front at hand
    work: FloatArray  # one front's right-hand side


def lay_out(
    group_ptr: IntArray, filled: Fill, sizes: IntArray, sign: FloatArray
) -> tuple[FrontIndex, FrontSizes, IntArray]:
    """Expand variables to scalars, lay out the storage and the maps from each front to its parent.

    Returns the first column of every variable in its front, too.
    """
    parent, front_ptr, front = filled
    child_ptr, children = families(parent)
    p, b = _count(group_ptr, front_ptr, front, sizes)
    rows = _padded(p, ROWS)
    m = rows + b
    scalar_ptr = _offsets(m)
    column, scalars, signs, run_ptr, runs = _expand(
        group_ptr, parent, front_ptr, front, sizes, sign, _offsets(sizes), rows - p, scalar_ptr
    )
    stride, edge = _padded(m, COLUMNS), _padded(b, COLUMNS)
    panel_sizes = rows * stride
    schur_ptr, schur_total = _stack(_padded(b, ROWS) * edge, parent)
    index = FrontIndex(
        pivots=p,
        rows=rows,
        size=m,
        stride=stride,
        schur_stride=edge,
        scalar_ptr=scalar_ptr,
        scalars=scalars,
        sign=signs,
        panel_ptr=_offsets(panel_sizes),
        schur_ptr=schur_ptr,
        child_ptr=child_ptr,
        children=children,
        run_ptr=run_ptr,
        runs=runs,
    )
    beyond = 2 * COLUMNS  # the last tile may read, though not write, a little beyond
    totals = FrontSizes(
        int(panel_sizes.sum()) + beyond, schur_total + beyond, int(panel_sizes.max()) + beyond, int(m.max())
    )
    return index, totals, column


@kernel
def _count(group_ptr: IntArray, front_ptr: IntArray, front: IntArray, sizes: IntArray) -> tuple[IntArray, IntArray]:
    """Scalars that every front eliminates, and those of its boundary."""
    count = len(front_ptr) - 1
    p, b = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    for g in range(count):
        boundary = front_ptr[g] + group_ptr[g + 1] - group_ptr[g]
        for q in range(front_ptr[g], boundary):
            p[g] += sizes[front[q]]
        for q in range(boundary, front_ptr[g + 1]):
            b[g] += sizes[front[q]]
    return p, b


@kernel
def _expand(
    group_ptr: IntArray, parent: IntArray, front_ptr: IntArray, front: IntArray, sizes: IntArray, sign: FloatArray,
    start: IntArray, padding: IntArray, scalar_ptr: IntArray,
) -> tuple[IntArray, IntArray, FloatArray, IntArray, IntArray]:  # fmt: skip
    """Columns of variables, scalars of every front and their signs, runs of its boundary that lie together above."""
    count = len(parent)
    column = np.empty(len(front), dtype=np.int64)
    scalars, signs = np.zeros(scalar_ptr[count], dtype=np.int64), np.ones(scalar_ptr[count])
    for g in range(count):
        at = 0
        boundary = front_ptr[g] + group_ptr[g + 1] - group_ptr[g]
        for q in range(front_ptr[g], front_ptr[g + 1]):
            if q == boundary:
                at += padding[g]
            column[q] = at
            for d in range(sizes[front[q]]):
                scalars[scalar_ptr[g] + at] = start[front[q]] + d
                signs[scalar_ptr[g] + at] = sign[start[front[q]] + d]
                at += 1
    run_ptr, runs = np.zeros(count + 1, dtype=np.int64), np.empty((len(front), 3), dtype=np.int64)
    used = 0
    above = np.zeros(len(sizes), dtype=np.int64)  # columns in the parent
    for g in range(count):
        if parent[g] >= 0:
            for q in range(front_ptr[parent[g]], front_ptr[parent[g] + 1]):
                above[front[q]] = column[q]
            here, follows = 0, -1
            for q in range(front_ptr[g] + group_ptr[g + 1] - group_ptr[g], front_ptr[g + 1]):
                target, size = above[front[q]], sizes[front[q]]
                if target == follows:
                    runs[used - 1, 1] = here + size
                else:
                    runs[used, 0], runs[used, 1], runs[used, 2] = here, here + size, target
                    used += 1
                here += size
                follows = target + size
        run_ptr[g + 1] = used
    return column, scalars, signs, run_ptr, runs[:used].copy()


def _offsets(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _padded(sizes: IntArray, unit: int) -> IntArray:
    return (sizes + unit - 1) // unit * unit


@kernel
def _stack(sizes: IntArray, parent: IntArray) -> tuple[IntArray, int]:
    """Place the Schur complements: one lives until its parent has absorbed it, then its room is used again."""
    count = len(sizes)
    offsets = np.zeros(count, dtype=np.int64)
    live = np.empty(count, dtype=np.int64)  # fronts, sorted by where they start
    alive = total = 0
    for g in range(count):
        start = 0
        for q in range(alive):
            if offsets[live[q]] - start >= sizes[g]:
                break
            start = max(start, offsets[live[q]] + sizes[live[q]])
        offsets[g] = start
        total = max(total, start + sizes[g])
        kept = 0
        for q in range(alive):
            if parent[live[q]] != g:
                live[kept] = live[q]
                kept += 1
        alive = kept
        if sizes[g] > 0:
            q = alive
            while q > 0 and offsets[live[q - 1]] > start:
                live[q] = live[q - 1]
                q -= 1
            live[q] = g
            alive += 1
    return offsets, total
