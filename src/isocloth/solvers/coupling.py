"""Which nodes contacts couple: the pattern for which the factor of Newton's matrix is laid out."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.hashing import slot, table_size
from isocloth.base.typing import IntArray
from isocloth.contact.contact_set import ContactSet


class CouplingPattern(NamedTuple):
    """What the factor has room for, and in which order it eliminates: rounding depends on that."""

    pairs: IntArray  # (p, 2) nodes that contacts couple
    order: IntArray  # (v,) variables of the system in the order of their elimination; none: as without contacts ...
    groups: IntArray  # (g + 1,) ... and where those begin that are eliminated together
    flops: int  # of a factorisation when this order was found


NO_COUPLING = CouplingPattern(
    np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0
)
#: while the factor is laid out anew; if that is interrupted, it stays
UNKNOWN_COUPLING = NO_COUPLING._replace(flops=-1)


@kernel
def each_once(pairs: IntArray) -> IntArray:
    """Pairs of nodes (p, 2), each once and in order."""
    size = table_size(len(pairs))
    table = np.full(size, -1, dtype=np.int64)  # a pair as one number
    different = np.empty(len(pairs), dtype=np.int64)
    count = 0
    for q in range(len(pairs)):
        together = (pairs[q, 0] << 32) | pairs[q, 1]
        at = slot(together, size)
        while table[at] >= 0 and table[at] != together:
            at = (at + 1) & (size - 1)
        if table[at] < 0:
            table[at] = different[count] = together
            count += 1
    out = np.empty((count, 2), dtype=np.int64)
    ordered = np.sort(different[:count])
    for q in range(count):
        out[q, 0], out[q, 1] = ordered[q] >> 32, ordered[q] & 0xFFFFFFFF
    return out


@kernel
def pairs_of(c: ContactSet) -> IntArray:
    """Pairs of different nodes (p, 2) of each contact, smaller first, each once."""
    pairs = np.empty((6 * len(c.gap), 2), dtype=np.int64)
    count = 0
    for k in range(len(c.gap)):
        for a in range(4):
            for b in range(a):
                if c.weights[k, a] != 0.0 and c.weights[k, b] != 0.0:
                    i, j = c.nodes[k, a], c.nodes[k, b]
                    pairs[count, 0], pairs[count, 1] = min(i, j), max(i, j)
                    count += 1
    return each_once(pairs[:count])
