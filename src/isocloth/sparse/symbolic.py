"""The symbolic factor: all that a factorisation can know before it has numbers.

Dissection, fill and layout take far longer than one factorisation, and depend on the pattern only. A `Symbolic` is made
once and never written to again, so that any number of factors, in any number of threads, can share it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.sparse.block_index import BlockIndex, find_blocks, tabulate
from isocloth.sparse.dissection import LEAF, Order, dissect_quickly, fill
from isocloth.sparse.fronts import FrontIndex, FrontSizes, lay_out
from isocloth.sparse.pattern import Pattern, pattern_of, with_pairs


@dataclass(frozen=True)
class Symbolic:
    """Symbolic factor of a symmetric matrix; `analyse` makes one.

    Kernels only read its arrays. They are not marked as read-only, because Numba takes that for another type, and would
    compile every kernel a second time.
    """

    order: Order  # in which variables are eliminated
    index: FrontIndex
    sizes: FrontSizes
    block_index: BlockIndex

    def __deepcopy__(self, known: object) -> Symbolic:
        return self  # nothing changes it

    @property
    def rank(self) -> IntArray:
        """Place of each variable in the elimination."""
        return self.block_index.rank

    @property
    def flops(self) -> int:
        """Operations of one factorisation, a multiply-add counted as two."""
        p = self.index.pivots
        m = p + self.index.size - self.index.rows
        return int((_pyramid(m) - _pyramid(m - p)).sum())

    @property
    def nbytes(self) -> int:
        """Bytes held by the indices."""
        return sum(array.nbytes for part in (self.order, self.index, self.block_index) for array in part)

    def find(self, first: IntArray, second: IntArray) -> tuple[IntArray, IntArray]:
        """Where block (first, second), with rank[first] <= rank[second], starts in the panel, and its row stride."""
        place = np.empty(len(first), dtype=np.int64)
        if not find_blocks(self.block_index, first, second, place):
            raise InputError("a block outside the analysed pattern was asked for")
        return place, self.block_index.stride[first]


def analyse(graph: sp.csr_matrix | Pattern, order: Order, sizes: IntArray, signs: FloatArray | None = None) -> Symbolic:
    """Symbolic factor of a matrix whose pattern, variable by variable, is `graph`.

    Args:
        graph: (n, n) pattern over variables.
        order: in which they are eliminated. One that was made for another pattern will do, at the price of fill.
        sizes: (n,) scalars per variable (3 for a node, 1 for a multiplier).
        signs: (n,) +1 or -1 per variable; all + (positive definite) if None.
    """
    pattern = graph if isinstance(graph, Pattern) else pattern_of(sp.csr_matrix(graph))
    sizes = np.asarray(sizes, dtype=np.int64)
    filled = fill(pattern, order)
    sign = np.repeat(np.ones(len(sizes)) if signs is None else signs, sizes)
    index, totals, column = lay_out(order.group_ptr, filled, sizes, sign)
    return Symbolic(order, index, totals, tabulate(order, filled, column, index.panel_ptr, index.stride))


def precompile() -> None:
    """Load, or compile, what ordering quickly needs: when layers first meet, a robot must not wait for it."""
    pattern = with_pairs(pattern_of(sp.identity(2, format="csr")), np.array([[0, 1]]))
    sizes = np.full(2, 3)
    analyse(pattern, dissect_quickly(pattern, np.eye(2, 6), sizes, LEAF), sizes)


def _pyramid(m: IntArray) -> IntArray:
    """1 + 4 + 9 + ... + m^2."""
    return m * (m + 1) * (2 * m + 1) // 6
