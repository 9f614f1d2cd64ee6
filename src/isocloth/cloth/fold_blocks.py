"""Second derivatives of folds that stiffen, straight into the factor's storage.

Few nodes are bent so much that these count, and which ones they are changes: their blocks are looked up, not mapped.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import FloatArray
from isocloth.sparse.block_index import BlockIndex, find_block
from isocloth.terms.stiffening import Bends, Bent, pulls


@kernel
def add_fold(panel: FloatArray, index: BlockIndex, folds: Bends, bent: Bent, e: int) -> None:
    """What stiffens at a node: (psi' - 1) W^T W (x) 1 + 2 psi'' g g^T, times its scale.

    Where the pattern has no room for a block, as it may have none for nodes of no common element, the diagonals of
    both nodes get what bounds it: 2 x.B y <= x.b x + y.c y.
    """
    count, begin, f, s = pulls(folds, bent, e), folds.ptr[e], bent.slope[e], bent.second[e]
    w, last, g = folds.weight, count - 1, bent.pull
    own = np.zeros(3)
    for q in range(begin, begin + last):
        for c in range(3):
            own[c] -= w[q, c]
    for a in range(count):
        i = folds.ring[begin + a] if a < last else folds.node[e]
        first = w[begin + a] if a < last else own
        for b in range(a, count):
            j = folds.ring[begin + b] if b < last else folds.node[e]
            second = w[begin + b] if b < last else own
            plain = f * (first[0] * second[0] + first[1] * second[1] + first[2] * second[2])
            ahead, behind = (a, b) if index.rank[i] <= index.rank[j] else (b, a)
            x, y = (i, j) if index.rank[i] <= index.rank[j] else (j, i)
            at = find_block(index, x, y)
            if at >= 0:
                _add_square(panel, at, index.stride[x], plain, s, g[ahead], g[behind])
            else:
                _add_square(panel, find_block(index, i, i), index.stride[i], abs(plain), s, g[a], g[a])
                _add_square(panel, find_block(index, j, j), index.stride[j], abs(plain), s, g[b], g[b])


@inlined
def _add_square(
    panel: FloatArray, at: int, stride: int, plain: float, factor: float, first: FloatArray, second: FloatArray
) -> None:
    """Add plain 1 + factor first second^T to a block of 3 x 3."""
    for c in range(3):
        for d in range(3):
            panel[at + c * stride + d] += factor * first[c] * second[d]
        panel[at + c * stride + c] += plain
