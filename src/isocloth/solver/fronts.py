"""The pattern of a sparse symmetric factorisation: which variables meet in which front, and where everything is stored.

Analysed once for a cloth; cholesky.py fills it with numbers at every step. A front eliminates the variables of one
group of the dissection; what they are coupled to further up is its boundary, and what the elimination leaves there, its
Schur complement, is added to the parent front.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.compiled import kernel
from isocloth.solver.analysis import dissect_quickly, families, fill
from isocloth.solver.ordering import dissect
from isocloth.solver.tile import COLUMNS, ROWS
from isocloth.typing import FloatArray, IntArray


class Fronts(NamedTuple):
    """The symbolic factor and its storage: plain arrays, one entry per front unless said otherwise."""

    pivots: IntArray  # scalars eliminated in the front
    size: IntArray  # scalars in the front
    stride: IntArray  # length of its rows, padded
    schur_stride: IntArray  # length of the rows of its Schur complement, padded
    scalar_ptr: IntArray  # front -> its slice of `scalars`
    scalars: IntArray  # scalars of the front: pivots first, then the boundary, in order of elimination
    panel_ptr: IntArray  # front -> offset of its pivot rows in `panel`
    schur_ptr: IntArray  # front -> offset of its Schur complement in `schur`
    child_ptr: IntArray  # front -> its slice of `children`
    children: IntArray
    run_ptr: IntArray  # front -> its slice of `runs`
    runs: IntArray  # (start, end, target): boundary scalars start..end lie at target.. in the parent front
    sign: FloatArray  # +1 or -1 for every scalar of the matrix
    panel: FloatArray
    schur: FloatArray
    signed: FloatArray  # D U of the front at hand
    work: FloatArray  # one front's right-hand side


class SparseCholesky:
    """Factor of a matrix whose pattern, variable by variable, is `graph`.

    Args:
        graph: (n, n) pattern over variables.
        points: (n, d) coordinates of the variables, used to choose the order.
        sizes: (n,) scalars per variable (3 for a node, 1 for a multiplier).
        signs: (n,) +1 or -1 per variable; all + (positive definite) if None.
        leaf: scalars below which a part is not cut any further.
        quick: whether the order may be a little worse, and found a hundred times faster.
    """

    def __init__(
        self,
        graph: sp.csr_matrix,
        points: FloatArray,
        sizes: IntArray,
        signs: FloatArray | None = None,
        *,
        leaf: int = 24,
        quick: bool = False,
    ) -> None:
        graph = sp.csr_matrix(graph)
        n = graph.shape[0]
        indptr, indices = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
        sizes = np.asarray(sizes, dtype=np.int64)
        if quick:
            order, group_ptr, parent = dissect_quickly(indptr, indices, np.ascontiguousarray(points), sizes, leaf)
        else:
            tree = dissect(graph, points, sizes, leaf=leaf)
            order, parent = np.concatenate(tree.groups), np.array(tree.parent, dtype=np.int64)
            group_ptr = _offsets(np.array([len(g) for g in tree.groups], dtype=np.int64))
        front_ptr, front = fill(indptr, indices, order, group_ptr, parent)
        self.rank = np.empty(n, dtype=np.int64)  # place of each variable in the elimination
        self.rank[order] = np.arange(n)
        sign = np.repeat(np.ones(n) if signs is None else signs, sizes)
        self.fronts = _store(group_ptr, parent, front_ptr, front, self.rank, sizes, sign)
        owner = np.empty(n, dtype=np.int64)
        owner[order] = np.repeat(np.arange(len(parent)), np.diff(group_ptr))
        within = _offsets(sizes[front])[:-1]
        column = within - np.repeat(within[front_ptr[:-1]], np.diff(front_ptr))
        self.lookup = Lookup(owner, self.rank, group_ptr, front_ptr, self.rank[front], column)

    @property
    def flops(self) -> int:
        """Operations of one factorisation, a multiply-add counted as two."""
        p, m = self.fronts.pivots, self.fronts.size
        return int(sum(int((np.arange(b, b - a, -1) ** 2).sum()) for a, b in zip(p, m, strict=True)))

    @property
    def memory(self) -> int:
        """Bytes held by the factor."""
        return self.fronts.panel.nbytes + self.fronts.schur.nbytes

    def places(self, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
        """Where block (first, second), with rank[first] <= rank[second], starts in `panel`, and its row stride."""
        place = np.empty(len(first), dtype=np.int64)
        if not find_blocks(self.lookup, self.fronts, first, second, place):
            raise ValueError("a block outside the analysed pattern was asked for")
        return place, self.fronts.stride[self.lookup.owner[first]]


class Lookup(NamedTuple):
    """Where the blocks of the factor are."""

    owner: IntArray  # variable -> front in which it is eliminated
    rank: IntArray  # variable -> place in the elimination
    group_ptr: IntArray  # front -> its slice of the elimination
    front_ptr: IntArray  # front -> its slice of the following
    ranks: IntArray  # of the variables of every front, increasing within a front
    column: IntArray  # their first columns in the front


@kernel
def find_block(look: Lookup, f: Fronts, first: int, second: int) -> int:
    """Where block (first, second) starts in the panel, first eliminated first; -1 if the pattern has no such block."""
    front = look.owner[first]
    begin, end = look.front_ptr[front], look.front_ptr[front + 1]
    wanted = look.rank[second]
    low, high = begin, end
    while low < high:
        middle = (low + high) // 2
        if look.ranks[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    if low == end or look.ranks[low] != wanted:
        return -1
    row = begin + look.rank[first] - look.group_ptr[front]
    return int(f.panel_ptr[front] + look.column[row] * f.stride[front] + look.column[low])


@kernel
def find_blocks(look: Lookup, f: Fronts, first: IntArray, second: IntArray, place: IntArray) -> bool:
    """`find_block` for many; False if one does not exist."""
    found = True
    for q in range(len(first)):
        place[q] = find_block(look, f, first[q], second[q])
        found = found and place[q] >= 0
    return found


def _store(
    group_ptr: IntArray, parent: IntArray, front_ptr: IntArray, front: IntArray, rank: IntArray, sizes: IntArray,
    sign: FloatArray,
) -> Fronts:  # fmt: skip
    """Expand variables to scalars, lay out the storage and the maps from each front to its parent."""
    child_ptr, children = families(parent)
    p, m, scalars, run_ptr, runs = _expand(group_ptr, parent, front_ptr, front, rank, sizes, _offsets(sizes))
    stride, edge = _padded(m, COLUMNS), _padded(m - p, COLUMNS)
    panel_sizes = _padded(p, ROWS) * stride
    schur_ptr, schur_total = _stack(_padded(m - p, ROWS) * edge, parent)
    return Fronts(
        pivots=p,
        size=m,
        stride=stride,
        schur_stride=edge,
        scalar_ptr=_offsets(m),
        scalars=scalars,
        panel_ptr=_offsets(panel_sizes),
        schur_ptr=schur_ptr,
        child_ptr=child_ptr,
        children=children,
        run_ptr=run_ptr,
        runs=runs,
        sign=np.ascontiguousarray(sign, dtype=np.float64),
        # the last tile may read, though not write, a little beyond
        panel=np.zeros(int(panel_sizes.sum()) + 2 * COLUMNS),
        schur=np.zeros(schur_total + 2 * COLUMNS),
        signed=np.zeros(int(panel_sizes.max()) + 2 * COLUMNS),
        work=np.zeros(int(m.max())),
    )


@kernel
def _expand(
    group_ptr: IntArray, parent: IntArray, front_ptr: IntArray, front: IntArray, rank: IntArray, sizes: IntArray,
    start: IntArray,
) -> tuple[IntArray, IntArray, IntArray, IntArray, IntArray]:  # fmt: skip
    """Scalars of every front, pivots and all; and the runs of its boundary that are contiguous in the parent."""
    count = len(parent)
    p, m = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    total = 0
    for g in range(count):
        pivots = group_ptr[g + 1] - group_ptr[g]
        for q in range(front_ptr[g], front_ptr[g + 1]):
            m[g] += sizes[front[q]]
            if q - front_ptr[g] < pivots:
                p[g] += sizes[front[q]]
        total += m[g]
    scalars = np.empty(total, dtype=np.int64)
    run_ptr, runs = np.zeros(count + 1, dtype=np.int64), np.empty((len(front), 3), dtype=np.int64)
    at = used = 0
    column = np.zeros(len(rank), dtype=np.int64)
    for g in range(count):
        for q in range(front_ptr[g], front_ptr[g + 1]):
            for d in range(sizes[front[q]]):
                scalars[at] = start[front[q]] + d
                at += 1
        above = parent[g]
        if above >= 0:
            place = 0
            for q in range(front_ptr[above], front_ptr[above + 1]):
                column[front[q]] = place
                place += sizes[front[q]]
            here, next_target = 0, -1
            for q in range(front_ptr[g] + group_ptr[g + 1] - group_ptr[g], front_ptr[g + 1]):
                target = column[front[q]]
                if target == next_target:
                    runs[used - 1, 1] = here + sizes[front[q]]
                else:
                    runs[used, 0], runs[used, 1], runs[used, 2] = here, here + sizes[front[q]], target
                    used += 1
                here += sizes[front[q]]
                next_target = target + sizes[front[q]]
        run_ptr[g + 1] = used
    return p, m, scalars, run_ptr, runs[:used].copy()


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
