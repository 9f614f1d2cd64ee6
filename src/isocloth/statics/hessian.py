"""The second derivative of the potential, condensed on the nodes, and its factor.

With the multipliers eliminated, Newton's matrix of the mixed form is

    A = kappa K + H + sum_k (w_k J_k^T J_k + lambda_k d^2 C_k / dy^2) + contacts,

the true second derivative, not a bound of it: an equilibrium is stable just where A is positive definite on the free
nodes. Rows couple all of their nodes here, so that the pattern is wider than that of a step (`cloth/system.py`), whose
multipliers stay unknowns; a step needs thousands of these factors, an equilibrium ten.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from isocloth.base.compiled import kernel
from isocloth.base.memo import memoised
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.system import slot_pairs
from isocloth.sparse.block_index import find_blocks
from isocloth.sparse.cholesky import factorise, solve
from isocloth.sparse.dissection import LEAF, dissect_quickly
from isocloth.sparse.factor import Factor
from isocloth.sparse.pattern import pattern_of, with_pairs
from isocloth.sparse.symbolic import Symbolic, analyse
from isocloth.statics.potential import Potential
from isocloth.terms.rows import RowArrays, Rows

_NONE = np.empty(0)
NO_PAIRS = np.zeros((0, 2), dtype=np.int64)


class Layout:
    """Where every contribution goes in the factor's panel; equal cloths share one, and nothing writes to it."""

    def __init__(
        self, rows: Rows, stiffness: sp.csr_matrix, stencils: tuple[IntArray, ...], rest: FloatArray, pairs: IntArray
    ) -> None:
        n = len(rest)
        row, a, b = slot_pairs(rows.sizes)
        first, second = rows.nodes[rows.ptr[row] + a], rows.nodes[rows.ptr[row] + b]
        bends = sp.coo_matrix(stiffness)
        blocks = [_stencil_pairs(nodes) for nodes in stencils]
        i = np.concatenate([first, bends.row, *[block[:, 0] for block in blocks], np.arange(n)])
        j = np.concatenate([second, bends.col, *[block[:, 1] for block in blocks], np.arange(n)])
        graph = sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n, n))
        pattern, sizes = pattern_of(graph), np.full(n, 3)
        if len(pairs):
            pattern = with_pairs(pattern, pairs)
        self.symbolic: Symbolic = analyse(pattern, dissect_quickly(pattern, rest.copy(), sizes, LEAF), sizes)
        rank = self.symbolic.rank
        swap = rank[first] > rank[second]
        a, b = np.where(swap, b, a), np.where(swap, a, b)
        place, stride = self.symbolic.find(np.where(swap, second, first), np.where(swap, first, second))
        entry = rows.square[row] + a * rows.sizes[row] + b
        #: (q, 4): slots of the two nodes in their row, place and stride of their block; (r + 1,) row -> its pairs
        self.row_pairs = np.stack([a, b, place, stride], axis=1)
        self.row_ptr = np.searchsorted(row, np.arange(len(rows) + 1)).astype(np.int64)
        self.row_value = rows.T[entry]
        self.nodes = np.stack(self.symbolic.find(np.arange(n), np.arange(n)), axis=1)
        upper = rank[bends.row] <= rank[bends.col]
        above = bends.row[upper].astype(np.int64), bends.col[upper].astype(np.int64)
        self.bends = np.stack(self.symbolic.find(*above), axis=1)
        self.bend_value, self.bend_node = bends.data[upper].astype(np.float64), above[0]
        self.stencils = tuple(_upper(self.symbolic, block) for block in blocks)

    @property
    def nbytes(self) -> int:
        """Bytes held by its arrays."""
        own = (self.row_pairs, self.row_ptr, self.row_value, self.nodes, self.bends, self.bend_value, self.bend_node,
               *self.stencils)  # fmt: skip
        return self.symbolic.nbytes + sum(int(array.nbytes) for array in own)


_layout = memoised(Layout)


class Hessian:
    """A of one cloth, with room for contacts between further pairs (p, 2) of nodes; held nodes (n,) do not move."""

    def __init__(self, cloth: Cloth, held: BoolArray, pairs: IntArray = NO_PAIRS) -> None:
        stencils = tuple(term.stencils for term in cloth.energies)
        unweighted = replace(cloth.rows, weight=_NONE)
        self.layout = _layout(unweighted, cloth.stiffness, stencils, cloth.mesh.vertices, pairs)
        self.cloth, self.held, self.free = cloth, held, np.flatnonzero(np.repeat(~held, 3))
        self.mass = cloth.mass
        self.factor = Factor(self.layout.symbolic)
        self._matrix = np.zeros_like(self.factor.fronts.panel)
        self._blocks = [np.zeros((len(nodes), 3 * nodes.shape[1], 3 * nodes.shape[1])) for nodes in stencils]
        self._solution = np.zeros(3 * cloth.n)

    def fill(self, potential: Potential, tension: FloatArray) -> None:
        """A of the cloth alone where the potential was evaluated, with multipliers (r,)."""
        cloth, layout = self.cloth, self.layout
        self._matrix[:] = 0.0
        _add_rows(
            self._matrix, cloth.rows.arrays, cloth.rows.rest, cloth.rows.weight, potential.values, potential.jacobian,
            tension, layout.row_pairs, layout.row_ptr, layout.row_value,
        )  # fmt: skip
        _add_diagonals(self._matrix, layout.bends, cloth.bending_stiffness[layout.bend_node] * layout.bend_value)
        for term, blocks, places in zip(cloth.energies, self._blocks, layout.stencils, strict=True):
            term.hessian(potential.positions, blocks, psd=False)
            _add_blocks(self._matrix, places, blocks.reshape(-1))

    def has_room(self, pairs: IntArray) -> bool:
        """Whether contacts between pairs (p, 2) of nodes can be added."""
        index = self.layout.symbolic.block_index
        swap = index.rank[pairs[:, 0]] > index.rank[pairs[:, 1]]
        first, second = np.where(swap, pairs[:, ::-1].T, pairs.T)
        return bool(find_blocks(index, first.copy(), second.copy(), np.empty(len(pairs), dtype=np.int64)))

    def add(self, first: IntArray, second: IntArray, blocks: FloatArray) -> None:
        """Add blocks (q, 3, 3) N/m between nodes (q,) and (q,); each pair once, and of a node with itself."""
        rank = self.layout.symbolic.rank
        swap = rank[first] > rank[second]
        place, stride = self.layout.symbolic.find(np.where(swap, second, first), np.where(swap, first, second))
        blocks = np.where(swap[:, None, None], blocks.transpose(0, 2, 1), blocks)
        where = place[:, None, None] + stride[:, None, None] * np.arange(3)[:, None] + np.arange(3)
        np.add.at(self._matrix, where, blocks)

    def factorise(self, shift: float = 0.0) -> bool:
        """Factor A + shift M, with the mass M of the nodes; says whether it is positive definite on the free nodes."""
        panel = self.factor.fronts.panel
        panel[:] = self._matrix
        _add_diagonals(panel, self.layout.nodes, np.where(self.held, np.inf, shift * self.mass))
        self._solution[:] = 0.0
        return bool(factorise(self.factor.fronts, self._solution))

    def solve(self, force: FloatArray) -> FloatArray:
        """(n, 3) m: displacement under forces (n, 3) N, by the last factor; held nodes do not move."""
        x = self._solution
        x[:] = np.where(self.held[:, None], 0.0, force).ravel()
        solve(self.factor.fronts, x)
        return x.reshape(-1, 3).copy()

    def solve_indefinite(self, force: FloatArray) -> FloatArray:
        """The same where A is not positive definite, with pivoting; not a number where A is singular."""
        out = np.zeros(3 * self.cloth.n)
        matrix = self.matrix()[self.free][:, self.free]
        try:
            out[self.free] = splu(sp.csc_matrix(matrix)).solve(force.ravel()[self.free])
        except RuntimeError:
            out[self.free] = np.nan
        return out.reshape(-1, 3)

    def whole(self) -> sp.csr_matrix:
        """A over x y z of all nodes, free and held, and behind them what else is unknown: nothing here."""
        return self.matrix()

    def matrix(self) -> sp.csr_matrix:
        """A (3n, 3n) as a sparse matrix, of free and held nodes."""
        symbolic, n = self.layout.symbolic, self.cloth.n
        i, j = _coupled(symbolic.block_index.rank, symbolic.block_index.owner, symbolic.block_index.table, n)
        place, stride = symbolic.find(i, j)
        k = np.arange(3)
        where = place[:, None, None] + stride[:, None, None] * k[:, None] + k
        shape = where.shape
        row = np.broadcast_to(3 * i[:, None, None] + k[:, None], shape)
        col = np.broadcast_to(3 * j[:, None, None] + k, shape)
        value = self._matrix[where]
        # of a block on the diagonal only what is above it counts twice
        upper = (i[:, None, None] != j[:, None, None]) | (row < col)
        whole = upper | (row == col)
        above = sp.coo_matrix((value[whole], (row[whole], col[whole])), shape=(3 * n, 3 * n))
        below = sp.coo_matrix((value[upper], (col[upper], row[upper])), shape=(3 * n, 3 * n))
        return sp.csr_matrix(above + below)


def _coupled(rank: IntArray, owner: IntArray, table: IntArray, n: int) -> tuple[IntArray, IntArray]:
    """All pairs of variables that have a block in the factor, the one eliminated first first."""
    keys = table[table[:, 0] >= 0, 0]
    group, second = keys // n, keys % n
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], group)
    ends = np.searchsorted(owner[order], group, side="right")
    first = np.concatenate([order[a:b] for a, b in zip(starts, ends, strict=True)])
    second = np.repeat(second, ends - starts)
    kept = rank[first] <= rank[second]
    return first[kept], second[kept]


def _stencil_pairs(nodes: IntArray) -> IntArray:
    """(q, 4): every pair of nodes of every stencil (e, m): first, second, where its block starts, and the stride."""
    count, m = nodes.shape
    a, b = (index.ravel() for index in np.indices((m, m)))
    start = 9 * m * m * np.arange(count)[:, None] + 9 * m * a + 3 * b
    pairs = np.stack([nodes[:, a], nodes[:, b], start, np.full_like(start, 3 * m)], axis=2)
    return pairs.reshape(-1, 4).astype(np.int64)


def _upper(symbolic: Symbolic, pairs: IntArray) -> IntArray:
    """(q, 4): of the pairs above the diagonal, place and stride of the block in the panel, and in the stencils."""
    rank = symbolic.rank
    kept = pairs[rank[pairs[:, 0]] <= rank[pairs[:, 1]]]
    place, stride = symbolic.find(kept[:, 0].copy(), kept[:, 1].copy())
    return np.stack([place, stride, kept[:, 2], kept[:, 3]], axis=1)


@kernel
def _add_rows(
    panel: FloatArray, rows: RowArrays, rest: FloatArray, weight: FloatArray, values: FloatArray,
    jacobian: FloatArray, tension: FloatArray, pairs: IntArray, pair_ptr: IntArray, entry: FloatArray,
) -> None:  # fmt: skip
    """w J^T J + lambda d^2 C of every row; d^2 C is 2 T, and of a length 2 sqrt(q) it is 2 T / s - J J^T / 2 s."""
    for k in range(len(weight)):
        w, bent = weight[k], 2.0 * tension[k]
        begin = rows.ptr[k]
        if rows.partner[k] != 0 and values[k] == 0.0:
            continue  # it does not resist
        if rows.root[k]:
            length = 0.5 * (values[k] + rest[k])
            w, bent = w - 0.5 * tension[k] / length, bent / length
        for q in range(pair_ptr[k], pair_ptr[k + 1]):
            a, b = jacobian[begin + pairs[q, 0]], jacobian[begin + pairs[q, 1]]
            at, stride, geometric = pairs[q, 2], pairs[q, 3], bent * entry[q]
            for d in range(3):
                for e in range(3):
                    panel[at + d * stride + e] += w * a[d] * b[e]
                panel[at + d * stride + d] += geometric


@kernel
def _add_diagonals(panel: FloatArray, places: IntArray, values: FloatArray) -> None:
    """Add multiples (q,) of the identity to blocks at places and strides (q, 2)."""
    for q in range(len(values)):
        for d in range(3):
            panel[places[q, 0] + d * places[q, 1] + d] += values[q]


@kernel
def _add_blocks(panel: FloatArray, places: IntArray, blocks: FloatArray) -> None:
    """Add blocks, places (q, 4): where in the panel, its stride, where in the blocks, and the stride there."""
    for q in range(len(places)):
        for d in range(3):
            for e in range(3):
                panel[places[q, 0] + d * places[q, 1] + e] += blocks[places[q, 2] + d * places[q, 3] + e]
