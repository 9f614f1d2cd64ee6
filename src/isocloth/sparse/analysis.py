"""The factor of a symmetric positive definite matrix that comes as a sparse matrix, not from Newton's assembly."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import breadth_first_order, connected_components

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.sparse.cholesky import factorise
from isocloth.sparse.factor import Factor
from isocloth.sparse.ordering import dissect
from isocloth.sparse.symbolic import analyse


class Analysis:
    """The symbolic factorisation of A, done once for all problems with its pattern.

    Args:
        matrix: A (s, s). If s is a multiple of three, every three scalars are a node.
        points: (nodes, d) rest positions, which give the order of elimination; distances in the graph if None.
    """

    def __init__(self, matrix: sp.csc_matrix, points: FloatArray | None = None) -> None:
        matrix = sp.csc_matrix(matrix)
        matrix.sort_indices()
        s = matrix.shape[0]
        block = 3 if s % 3 == 0 else 1
        n = s // block
        col = np.repeat(np.arange(s), np.diff(matrix.indptr)).astype(np.int64)
        row = matrix.indices.astype(np.int64)
        graph = sp.csr_matrix((np.ones(len(row)), (row // block, col // block)), shape=(n, n))
        graph.setdiag(1.0)
        graph = sp.csr_matrix(graph + graph.T)
        if points is None:
            points = _distances(graph)
        elif len(points) != n:
            raise InputError(f"{len(points)} points for {n} nodes of A: expected one per node")
        sizes = np.full(n, block)
        symbolic = analyse(graph, dissect(graph, np.asarray(points, dtype=np.float64), sizes).order, sizes)
        self.factor = Factor(symbolic)
        rank = symbolic.rank
        first, second = row // block, col // block
        self._entries = np.flatnonzero(rank[first] <= rank[second])
        first, second = first[self._entries], second[self._entries]
        place, stride = symbolic.find(first, second)
        self._places = place + row[self._entries] % block * stride + col[self._entries] % block
        self._pattern = matrix.indptr.copy(), matrix.indices.copy()

    def factorise(self, matrix: sp.csc_matrix, x: FloatArray) -> None:
        """Factor A and reduce the right-hand side x (s,) on the way, for `back_substitute`."""
        matrix = sp.csc_matrix(matrix)
        matrix.sort_indices()
        if not all(np.array_equal(a, b) for a, b in zip(self._pattern, (matrix.indptr, matrix.indices), strict=True)):
            raise InputError("A has another pattern than the one that was analysed; make a new Analysis")
        panel = self.factor.fronts.panel
        panel[:] = 0.0
        panel[self._places] = matrix.data[self._entries]
        if not factorise(self.factor.fronts, x):
            raise InputError("A is not positive definite: expected the matrix of a strictly convex problem")


def _distances(graph: sp.csr_matrix) -> FloatArray:
    """Coordinates (n, 3) without geometry: steps from three nodes that are far from each other."""
    n = graph.shape[0]
    _, part = connected_components(graph, directed=False)
    where = np.zeros((n, 3))
    for c in range(part.max(initial=-1) + 1):
        members = np.flatnonzero(part == c)
        source = members[0]
        for axis in range(3):
            order, before = breadth_first_order(graph, source, directed=False)
            steps = np.zeros(n)
            for node in order[1:]:
                steps[node] = steps[before[node]] + 1.0
            where[members, axis] = steps[members]
            source = order[np.argmax(where[order, : axis + 1].min(axis=1))]
    return where
