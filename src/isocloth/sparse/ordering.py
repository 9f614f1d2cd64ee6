"""Nested dissection: the order of elimination that keeps a cloth's Cholesky factor sparse.

A cloth is a surface, so cutting it along a line costs only O(sqrt(n)) variables. The cut is geometric (rest
coordinates) and then reduced to a vertex cover of least weight of the edges that cross it, which is the smallest
separator the cut allows. Reference: George, Nested dissection of a regular finite element mesh, 1973.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components, maximum_flow

from isocloth.base.typing import FloatArray, IntArray
from isocloth.sparse.dissection import Order


@dataclass(frozen=True)
class Dissection:
    """A tree of separators in postorder: children come before their parent."""

    groups: list[IntArray]  # variables eliminated together
    parent: list[int]  # index of the parent group, -1 at the root

    @property
    def order(self) -> Order:
        """The groups one after the other."""
        starts = np.cumsum([0] + [len(group) for group in self.groups])
        return Order(np.concatenate(self.groups), starts.astype(np.int64))


def dissect(graph: sp.csr_matrix, points: FloatArray, weights: IntArray, *, leaf: int = 24) -> Dissection:
    """Order the variables of a symmetric sparsity graph.

    Args:
        graph: (n, n) pattern, diagonal ignored.
        points: (n, d) coordinates of the variables, used only to choose the cuts.
        weights: (n,) scalars per variable; separators of least total weight are sought.
        leaf: largest total weight of a group that is not cut any further.
    """
    groups: list[IntArray] = []
    parent: list[int] = []

    def append(group: IntArray, children: list[int]) -> list[int]:
        # along the cut: what a piece of the cloth touches of it is then contiguous, and is added in long runs
        centred = points[group] - points[group].mean(axis=0)
        _, axes = np.linalg.eigh(centred.T @ centred)
        group = np.asarray(group, dtype=np.int64)
        groups.append(group[np.lexsort((group, np.round(centred @ axes[:, -1], 9)))])
        parent.append(-1)
        for child in children:
            parent[child] = len(groups) - 1
        return [len(groups) - 1]

    def visit(subset: IntArray) -> list[int]:
        """Order a subset; return the roots of its subtrees (several if it is disconnected)."""
        if len(subset) == 0:
            return []
        if weights[subset].sum() <= leaf:
            return append(subset, [])
        local = graph[subset][:, subset]
        left, separator, right = _cut(local, points[subset], weights[subset])
        if len(left) == 0 or len(right) == 0:
            count, labels = connected_components(local, directed=False)
            if count == 1:
                return append(subset, [])
            return [root for c in range(count) for root in visit(subset[labels == c])]
        children = visit(subset[left]) + visit(subset[right])
        return append(subset[separator], children) if len(separator) else children

    visit(np.arange(graph.shape[0]))
    return Dissection(groups, parent)


def _cut(local: sp.csr_matrix, points: FloatArray, weights: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Best of some straight cuts near the median: (left, separator, right), each an array of local indices."""
    nothing = np.empty(0, dtype=np.int64)
    centred = points - points.mean(axis=0)
    rows, cols = np.repeat(np.arange(len(points)), np.diff(local.indptr)), local.indices.astype(np.int64)
    # grids are cut along their own axes, other shapes across their longest principal axis
    _, principal = np.linalg.eigh(centred.T @ centred)
    directions = [*np.eye(points.shape[1]), principal[:, -1]]
    total = int(weights.sum())
    best: tuple[float, np.ndarray] | None = None
    for direction in directions:
        height = np.round(centred @ direction, 9)
        if np.ptp(height) <= 0.0:
            continue
        order = np.argsort(height, kind="stable")
        filled = np.cumsum(weights[order])
        for fraction in (0.45, 0.5, 0.55) if len(points) > 40 else (0.5,):
            level = height[order[np.searchsorted(filled, fraction * total)]]
            for side in (height > level, height >= level):
                crossing = side[rows] != side[cols]
                touched = np.zeros(len(points), dtype=bool)
                touched[rows[crossing]] = True
                thin = min(int(weights[touched & side].sum()), int(weights[touched & ~side].sum()))
                halves = int(weights[side].sum()), int(weights[~side].sum())
                # small separators first, then balance: the cost of a front is cubic in its size
                cost = (thin + 1.0) * (1.0 + 0.7 * abs(halves[0] - halves[1]) / total)
                if min(halves) > 0 and (best is None or cost < best[0]):
                    best = (cost, side)
    if best is None:
        return nothing, np.arange(len(points)), nothing
    side = best[1]
    keep = np.ones(len(points), dtype=bool)
    separator = _vertex_cover(rows, cols, side, weights)
    keep[separator] = False
    return np.flatnonzero(keep & ~side), separator, np.flatnonzero(keep & side)


def _vertex_cover(rows: IntArray, cols: IntArray, side: np.ndarray, weights: IntArray) -> IntArray:
    """Vertex cover of least weight of the edges between the two sides, as a minimum cut."""
    crossing = ~side[rows] & side[cols]
    if not crossing.any():
        return np.empty(0, dtype=np.int64)
    left, a = np.unique(rows[crossing], return_inverse=True)
    right, b = np.unique(cols[crossing], return_inverse=True)
    nl, nr = len(left), len(right)
    source, sink = nl + nr, nl + nr + 1
    endless = int(weights.sum()) + 1
    tail = np.concatenate([np.full(nl, source), a, nl + np.arange(nr)])
    head = np.concatenate([np.arange(nl), nl + b, np.full(nr, sink)])
    capacity = np.concatenate([weights[left], np.full(len(a), endless), weights[right]]).astype(np.int32)
    network = sp.csr_array((capacity, (tail, head)), shape=(nl + nr + 2, nl + nr + 2))
    flow = maximum_flow(network, source, sink).flow
    residual = sp.csr_array(network - flow)
    residual.data = np.maximum(residual.data, 0)
    residual.eliminate_zeros()
    reached = np.zeros(nl + nr + 2, dtype=bool)
    reached[breadth_first_order(residual, source, return_predecessors=False)] = True
    return np.concatenate([left[~reached[:nl]], right[reached[nl : nl + nr]]])
