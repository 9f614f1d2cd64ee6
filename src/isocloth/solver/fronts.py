"""The pattern of a sparse symmetric factorisation: which variables meet in which front, and where everything is stored.

Analysed once for a cloth; cholesky.py fills it with numbers at every step. A front eliminates the variables of one
group of the dissection; what they are coupled to further up is its boundary, and what the elimination leaves there, its
Schur complement, is added to the parent front.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.solver.ordering import dissect
from isocloth.solver.tile import COLUMNS, ROWS
from isocloth.typing import FloatArray, IntArray


class Fronts(NamedTuple):
    """The symbolic factor and its storage: plain arrays, one entry per front unless said otherwise.

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
    panel_ptr: IntArray  # front -> offset of its pivot rows in `panel`
    schur_ptr: IntArray  # front -> offset of its Schur complement in `schur`
    child_ptr: IntArray  # front -> its slice of `children`
    children: IntArray
    run_ptr: IntArray  # front -> its slice of `runs`
    runs: IntArray  # (start, end, target): boundary scalars start..end lie at target.. in the parent front
    panel: FloatArray
    schur: FloatArray
    divided: FloatArray  # D^-1 U of the front at hand
    work: FloatArray  # one front's right-hand side


class SparseCholesky:
    """Factor of a matrix whose pattern, variable by variable, is `graph`.

    Args:
        graph: (n, n) pattern over variables.
        points: (n, d) coordinates of the variables, used to choose the order.
        sizes: (n,) scalars per variable (3 for a node, 1 for a multiplier).
        signs: (n,) +1 or -1 per variable; all + (positive definite) if None.
    """

    def __init__(
        self,
        graph: sp.csr_matrix,
        points: FloatArray,
        sizes: IntArray,
        signs: FloatArray | None = None,
        *,
        leaf: int = 24,
    ) -> None:
        graph = sp.csr_matrix(graph)
        n = graph.shape[0]
        sizes = np.asarray(sizes, dtype=np.int64)
        tree = dissect(graph, points, sizes, leaf=leaf)
        self.rank = np.empty(n, dtype=np.int64)  # place of each variable in the elimination
        self.rank[np.concatenate(tree.groups)] = np.arange(n)
        self._owner = np.empty(n, dtype=np.int64)
        for front, group in enumerate(tree.groups):
            self._owner[group] = front
        sign = np.repeat(np.ones(n) if signs is None else signs, sizes)
        variables = _eliminate(graph, tree.groups, tree.parent, self.rank)
        self.fronts = _store(variables, [len(g) for g in tree.groups], tree.parent, self.rank, sizes, sign)
        # within a front the variables are sorted by rank, so a search over (front, rank) finds a column
        lengths = [len(v) for v in variables]
        flat = np.concatenate(variables)
        self._keys = np.repeat(np.arange(len(variables)), lengths) * n + self.rank[flat]
        self._flat = flat
        self._column = np.concatenate([_columns(sizes[v], len(g)) for v, g in zip(variables, tree.groups, strict=True)])
        p = self.fronts.pivots
        m = p + self.fronts.size - self.fronts.rows
        #: multiply-adds of one factorisation, counted as two operations each
        self.flops = int(sum(int((np.arange(b, b - a, -1) ** 2).sum()) for a, b in zip(p, m, strict=True)))

    @property
    def memory(self) -> int:
        """Bytes held by the factor."""
        return self.fronts.panel.nbytes + self.fronts.schur.nbytes

    def places(self, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
        """Where block (first, second), with rank[first] <= rank[second], starts in `panel`, and its row stride."""
        n = len(self.rank)
        front = self._owner[first]
        row = np.searchsorted(self._keys, front * n + self.rank[first])
        slot = np.minimum(np.searchsorted(self._keys, front * n + self.rank[second]), len(self._keys) - 1)
        if not np.array_equal(self._flat[slot], second):
            raise ValueError("a block outside the analysed pattern was asked for")
        stride = self.fronts.stride[front]
        return self.fronts.panel_ptr[front] + self._column[row] * stride + self._column[slot], stride


def _eliminate(graph: sp.csr_matrix, groups: list[IntArray], parent: list[int], rank: IntArray) -> list[IntArray]:
    """Symbolic factorisation: the variables of every front, pivots first, sorted by rank."""
    children = _children(parent)
    variables: list[IntArray] = []
    for front, group in enumerate(groups):
        last = rank[group[-1]]
        reach = [graph[group].indices.astype(np.int64)]
        reach += [variables[c][len(groups[c]) :] for c in children[front]]
        boundary = np.unique(np.concatenate(reach))
        boundary = boundary[rank[boundary] > last]
        variables.append(np.concatenate([group, boundary[np.argsort(rank[boundary])]]))
    return variables


def _store(
    variables: list[IntArray],
    pivots: list[int],
    parent: list[int],
    rank: IntArray,
    sizes: IntArray,
    sign: FloatArray,
) -> Fronts:
    """Expand variables to scalars, lay out the storage and the maps from each front to its parent."""
    start = _offsets(sizes)
    children = _children(parent)
    runs, run_counts = [], []
    p = np.array([sizes[v[:k]].sum() for v, k in zip(variables, pivots, strict=True)], dtype=np.int64)
    b = np.array([sizes[v].sum() for v in variables], dtype=np.int64) - p
    rows = _padded(p, ROWS)
    m = rows + b
    scalar_ptr = _offsets(m)
    scalars, signs = np.zeros(scalar_ptr[-1], dtype=np.int64), np.ones(scalar_ptr[-1])
    for front, v in enumerate(variables):
        own = np.concatenate([np.arange(start[x], start[x + 1]) for x in v])
        at = scalar_ptr[front] + np.repeat(_columns(sizes[v], pivots[front]), sizes[v])
        at += np.concatenate([np.arange(sizes[x]) for x in v])
        scalars[at], signs[at] = own, sign[own]
        boundary = v[pivots[front] :]
        if parent[front] < 0 or len(boundary) == 0:
            run_counts.append(0)
            continue
        above = variables[parent[front]]
        column = _columns(sizes[above], pivots[parent[front]])
        target = np.repeat(column[np.searchsorted(rank[above], rank[boundary])], sizes[boundary])
        target += np.concatenate([np.arange(sizes[x]) for x in boundary])
        breaks = np.flatnonzero(np.diff(target) != 1) + 1
        begin, end = np.concatenate([[0], breaks]), np.concatenate([breaks, [len(target)]])
        runs.append(np.stack([begin, end, target[begin]], axis=1))
        run_counts.append(len(begin))
    stride, edge = _padded(m, COLUMNS), _padded(b, COLUMNS)
    panel_sizes = rows * stride
    schur_ptr, schur_total = _stack(_padded(b, ROWS) * edge, children)
    return Fronts(
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
        child_ptr=_offsets(np.array([len(c) for c in children], dtype=np.int64)),
        children=np.array([c for cs in children for c in cs], dtype=np.int64),
        run_ptr=_offsets(np.array(run_counts, dtype=np.int64)),
        runs=np.concatenate([*runs, np.empty((0, 3), dtype=np.int64)]).astype(np.int64),
        # the last tile may read, though not write, a little beyond
        panel=np.zeros(int(panel_sizes.sum()) + 2 * COLUMNS),
        schur=np.zeros(schur_total + 2 * COLUMNS),
        divided=np.zeros(int(panel_sizes.max()) + 2 * COLUMNS),
        work=np.zeros(int(m.max())),
    )


def _columns(sizes: IntArray, pivots: int) -> IntArray:
    """Where the variables of a front begin: those after the first `pivots` on a whole tile."""
    column = _offsets(sizes)[:-1]
    eliminated = sizes[:pivots].sum()
    column[pivots:] += _padded(eliminated, ROWS) - eliminated
    return column


def _children(parent: list[int]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parent]
    for child, p in enumerate(parent):
        if p >= 0:
            children[p].append(child)
    return children


def _offsets(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _padded(sizes: IntArray, unit: int) -> IntArray:
    return (sizes + unit - 1) // unit * unit


def _stack(sizes: IntArray, children: list[list[int]]) -> tuple[IntArray, int]:
    """Place the Schur complements: one lives until its parent has absorbed it, then its room is used again."""
    offsets = np.zeros(len(sizes), dtype=np.int64)
    live: list[tuple[int, int, int]] = []  # (start, end, front), sorted by start
    total = 0
    for front, size in enumerate(sizes):
        need = int(size)
        start = 0
        for a, b, _ in live:
            if a - start >= need:
                break
            start = max(start, b)
        offsets[front] = start
        total = max(total, start + need)
        gone = set(children[front])
        live = sorted([x for x in live if x[2] not in gone] + ([(start, start + need, front)] if need else []))
    return offsets, total
