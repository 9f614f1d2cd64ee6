"""Where the blocks of a factor are stored.

A table answers for any two variables: contacts ask for some ten thousand blocks in every linearisation, and a search
among the sorted variables of a front would guess wrongly at every turn.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.hashing import slot, table_size
from isocloth.base.typing import IntArray
from isocloth.sparse.dissection import Fill, Order


class BlockIndex(NamedTuple):
    """Where the blocks of the factor are."""

    rank: IntArray  # (n,) variable -> place in the elimination
    row: IntArray  # (n,) variable -> where its rows begin in the panel, ...
    stride: IntArray  # (n,) ... and their length
    owner: IntArray  # (n,) variable -> front in which it is eliminated
    table: IntArray  # (t, 2) a front and a variable in it, as one number or -1, and the variable's first column there


@kernel
def tabulate(order: Order, filled: Fill, column: IntArray, panel_ptr: IntArray, stride: IntArray) -> BlockIndex:
    """BlockIndex from the order of elimination, the variables of all fronts and their columns there."""
    variables, group_ptr, front_ptr, front = order.variables, order.group_ptr, filled.front_ptr, filled.front
    n = len(variables)
    rank, row, strides, owner = np.empty(n, dtype=np.int64), variables.copy(), variables.copy(), variables.copy()
    table = np.full((table_size(len(front)), 2), -1, dtype=np.int64)
    for g in range(len(group_ptr) - 1):
        for q in range(group_ptr[g], group_ptr[g + 1]):
            i = variables[q]
            rank[i], owner[i], strides[i] = q, g, stride[g]
            row[i] = panel_ptr[g] + column[front_ptr[g] + q - group_ptr[g]] * stride[g]
        for q in range(front_ptr[g], front_ptr[g + 1]):
            key = g * n + front[q]
            at = slot(key, len(table))
            while table[at, 0] >= 0:
                at = (at + 1) & (len(table) - 1)
            table[at, 0], table[at, 1] = key, column[q]
    return BlockIndex(rank, row, strides, owner, table)


@inlined
def find_block(p: BlockIndex, first: int, second: int) -> int:
    """Where block (first, second) starts in the panel, first eliminated first; -1 if the pattern has no such block."""
    table = p.table
    key = p.owner[first] * len(p.rank) + second
    at = slot(key, len(table))
    while table[at, 0] != key:
        if table[at, 0] < 0:
            return -1
        at = (at + 1) & (len(table) - 1)
    return p.row[first] + table[at, 1]


@kernel
def find_blocks(p: BlockIndex, first: IntArray, second: IntArray, place: IntArray) -> bool:
    """`find_block` for many; False if one does not exist."""
    found = True
    for q in range(len(first)):
        place[q] = find_block(p, first[q], second[q])
        found = found and place[q] >= 0
    return found
