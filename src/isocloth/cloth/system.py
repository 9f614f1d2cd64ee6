"""Newton's linear system: its pattern, and its assembly straight into the factor's storage.

Unknowns are the displacement of every node (3 scalars) and the multiplier of every kept row (1 scalar). Kept rows stay
out of the matrix of displacements, which is then coupled only within elements:

    [ diag(inertia) + a_K K + H + S_f + sum_{rows not kept} w J^T J + 2 sum |lambda| S    J_kept^T ] [ d      ]
    [ J_kept                                                                       -1/w      ] [ lambda ]

with H the second derivatives of terms over stencils, whose blocks one kernel adds to the factor, and S_f that of folds
that stiffen, of the few nodes that are bent so much.

The matrix is quasi-definite whatever the multipliers are, because every S is positive semidefinite. How much of the
second derivative it has is one of three:

- BOUND: |lambda| S of every row. Never less than the second derivative, so that no step goes too far.
- TENSION: |lambda| S of lengths only. The multipliers of angles alternate from node to node, and their second
  derivatives cancel where their bounds add up: in a crumpled cloth these are several times as stiff as all the rest,
  and steps many times too short. Where tension carries the shear, its own |lambda| S is at least half of the second
  derivative, which is enough.
- EXACT: lambda T itself, the second derivative, which need not be quasi-definite. Of the twist in a kept row (net.py)
  only what couples nodes of one element is in the pattern.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.compiled import inlined, kernel
from isocloth.base.memo import memoised
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.cloth.cloth import Cloth
from isocloth.cloth.fold_blocks import add_fold
from isocloth.sparse.block_index import BlockIndex, find_block
from isocloth.sparse.dissection import LEAF, Order, dissect_quickly
from isocloth.sparse.factor import Factor, Storage
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.ordering import dissect
from isocloth.sparse.pattern import pattern_of, with_pairs
from isocloth.sparse.symbolic import Symbolic, analyse
from isocloth.terms.rows import RowArrays, Rows
from isocloth.terms.stiffening import Bends, Bent

BOUND, TENSION, EXACT = 0, 1, 2

#: psi' - 1 below which the second derivative of what stiffens is left out: it is in all forces
SHARP = 0.05

_NONE = np.empty(0)


class Assembly(NamedTuple):
    """Where every contribution goes in the factor's panel; what is read together lies together."""

    pair_ptr: IntArray  # row -> its slice of the pairs of its nodes
    # (q, 4): slots in the row of the nodes eliminated first and second; place and stride of their block
    pairs: IntArray
    stiffness: FloatArray  # (q, 3): entries of S for a positive and a negative multiplier, and of T
    weight: FloatArray  # (r,)
    definite: BoolArray  # (r,) lengths, and not angles
    kept: IntArray  # (r, 2): index of the row's multiplier among the scalars, or -1; place of its diagonal entry
    links: IntArray  # per slot of a kept row: place of J's first entry and distance to the next; 0 where there is none
    nodes: IntArray  # (n, 2): place and stride of the diagonal block of every node
    bends: IntArray  # (q, 3): place and stride of the blocks of K, and a node of each
    bend_value: FloatArray
    blocks: IntArray  # (q, 4): place and stride of the blocks of stencils; where each starts in H, and its stride there
    block_index: BlockIndex  # where any other block is


class Maps(NamedTuple):
    """What of `Assembly` follows from the layout of a factor."""

    pairs: IntArray
    kept: IntArray
    links: IntArray
    nodes: IntArray
    bends: IntArray
    bend_value: FloatArray
    blocks: IntArray


class Variables(NamedTuple):
    """The variables of the system, and which of them rows, bending and stencils couple; q counts pairs of nodes."""

    n: int  # nodes, which come first; then the multipliers of kept rows
    nodes: IntArray  # of the rows, slot by slot
    ptr: IntArray  # (r + 1,) row -> its slots
    row_of: IntArray  # (q,) row of a pair, ...
    slot_a: IntArray  # ... and the slots of its nodes
    slot_b: IntArray
    number: IntArray  # (r,) variable of the row's multiplier, or -1
    slots: IntArray  # of kept rows, where J has an entry
    owner: IntArray  # variable of the multiplier, slot by slot
    bending: tuple[IntArray, IntArray, FloatArray]  # entries of K: row, column, value
    blocks: IntArray  # of stencils, see `_stencil_blocks`


class SharedSystem:
    """Pattern, order, symbolic factor and maps of Newton's system: all but numbers, and the same for every fabric.

    Simulations of equal cloths share one, in any number of threads; nothing is written to it after it is made. Its
    arrays are not marked as read-only, because kernels would be compiled anew for them.

    Args:
        rows: of the cloth; weights do not matter.
        stiffness: (n, n) what bends.
        stencils: nodes (e, m) of the terms over stencils.
        rest: (n, 3) m, rest shape.
    """

    def __init__(self, rows: Rows, stiffness: sp.csr_matrix, stencils: tuple[IntArray, ...], rest: FloatArray) -> None:
        n, sizes = len(rest), rows.sizes
        self._kept_rows = np.flatnonzero(rows.kept)
        kept = len(self._kept_rows)
        number = np.full(len(rows), -1, dtype=np.int64)
        number[self._kept_rows] = n + np.arange(kept)

        row_of, a, b = slot_pairs(sizes)
        slot_a, slot_b = rows.ptr[row_of] + a, rows.ptr[row_of] + b
        entry = rows.square[row_of] + a * sizes[row_of] + b
        coupled = ~rows.kept[row_of] | (np.abs(rows.plus[entry]) + np.abs(rows.minus[entry]) > 0)
        row_of, slot_a, slot_b, entry = row_of[coupled], slot_a[coupled], slot_b[coupled], entry[coupled]
        self.pair_ptr = np.searchsorted(row_of, np.arange(len(rows) + 1)).astype(np.int64)
        self.stiffness = np.stack([rows.plus[entry], rows.minus[entry], rows.T[entry]], axis=1)
        self.definite = rows.definite
        k = sp.coo_matrix(stiffness)
        self._variables = v = Variables(
            n, rows.nodes.copy(), rows.ptr.copy(), row_of, slot_a, slot_b, number,
            np.flatnonzero(np.repeat(rows.kept, sizes) & (_row_strength(rows) > 0)),
            number[np.repeat(np.arange(len(rows)), sizes)],
            (k.row.astype(np.int64), k.col.astype(np.int64), k.data.astype(np.float64)), _stencil_blocks(stencils),
        )  # fmt: skip
        i = np.concatenate([v.nodes[slot_a], v.nodes[v.slots], k.row, v.blocks[:, 0], np.arange(n + kept)])
        j = np.concatenate([v.nodes[slot_b], v.owner[v.slots], k.col, v.blocks[:, 1], np.arange(n + kept)])
        graph = sp.csr_matrix((np.ones(2 * len(i)), (np.r_[i, j], np.r_[j, i])), shape=(n + kept,) * 2)
        self._pattern = pattern_of(graph)
        self._sizes = np.concatenate([np.full(n, 3), np.ones(kept, dtype=np.int64)])
        self._signs = np.concatenate([np.ones(n), -np.ones(kept)])
        self.scalars = 3 * n + kept
        self._rest_points = self._points(rest)
        #: without room for contacts, in an order that was found with care
        self.symbolic = analyse(
            self._pattern, dissect(graph, self._rest_points, self._sizes).order, self._sizes, self._signs
        )
        self.maps = self.maps_into(self.symbolic)

    def __deepcopy__(self, known: object) -> SharedSystem:
        return self  # nothing changes it

    @property
    def nbytes(self) -> int:
        """Bytes held by its arrays."""
        parts = (*self._variables[1:-2], *self._variables.bending, self._variables.blocks, *self.maps, *self._pattern,
                 self.pair_ptr, self.stiffness, self.definite, self._sizes, self._signs, self._rest_points)  # fmt: skip
        return self.symbolic.nbytes + sum(int(array.nbytes) for array in parts)

    def coupled(self, pairs: IntArray, positions: FloatArray) -> Symbolic:
        """With blocks between further pairs (k, 2) of nodes, in an order for the cloth at positions (n, 3)."""
        pattern = with_pairs(self._pattern, pairs)
        points = np.concatenate([self._rest_points, self._points(positions)], axis=1)
        return analyse(pattern, dissect_quickly(pattern, points, self._sizes, LEAF), self._sizes, self._signs)

    def filled(self, pairs: IntArray, order: Order) -> Symbolic:
        """The same in a given order, which takes a small part of the time."""
        return analyse(with_pairs(self._pattern, pairs), order, self._sizes, self._signs)

    def maps_into(self, symbolic: Symbolic) -> Maps:
        """Where the contributions of the cloth go in a factor."""
        blocks, v = symbolic.block_index, self._variables
        kept, links = _place_kept(blocks, v.nodes, v.slots, v.owner, v.number, v.n)
        bends, bend_value = _place_bends(blocks, *v.bending)
        maps = Maps(
            _place_pairs(blocks, v.nodes, v.ptr, v.row_of, v.slot_a, v.slot_b), kept, links, _place_nodes(blocks, v.n),
            bends, bend_value, _place_blocks(blocks, v.blocks),
        )  # fmt: skip
        placed = (maps.pairs[:, 2], kept[:, 1], links[:, 0], maps.nodes[:, 0], bends[:, 0], maps.blocks[:, 0])
        if min(a.min(initial=0) for a in placed) < 0:
            raise AssertionError("a block of the cloth is missing from the pattern made for it")
        return maps

    def _points(self, positions: FloatArray) -> FloatArray:
        """Where the variables are: nodes, and the multipliers amid the nodes of their rows."""
        if len(self._kept_rows) == 0:
            return positions.copy()
        nodes, ptr = self._variables.nodes, self._variables.ptr
        sums = np.add.reduceat(positions[nodes], ptr[:-1])[self._kept_rows]
        return np.concatenate([positions, sums / np.diff(ptr)[self._kept_rows, None]])


_shared_system = memoised(SharedSystem)


class NewtonSystem:
    """The factor and the maps into it for one cloth: numbers of its own, in a layout that equal cloths share."""

    factor: Factor
    assembly: Assembly

    def __init__(self, cloth: Cloth, stiffness: sp.csr_matrix | None = None) -> None:
        """stiffness (n, n): what takes the place of the cloth's bending matrix."""
        stencils = tuple(term.stencils for term in cloth.stencils)
        unweighted = replace(cloth.rows, weight=_NONE)
        self._shared = _shared_system(
            unweighted, cloth.stiffness if stiffness is None else stiffness, stencils, cloth.mesh.vertices
        )
        self._weight = cloth.rows.weight
        self.scalars = self._shared.scalars
        self.stencil_entries = sum(9 * nodes.size * nodes.shape[1] for nodes in stencils)
        # the factor without contacts is kept, beside which the others come and go
        self._storage = Storage()
        self._free = Factor(self._shared.symbolic), self._assembly(self._shared.symbolic, self._shared.maps)
        self.free()

    @property
    def order(self) -> Order:
        """In which the variables are eliminated."""
        return self.factor.symbolic.order

    def free(self) -> None:
        """No room for contacts between nodes."""
        self.factor, self.assembly = self._free

    def couple(self, pairs: IntArray, positions: FloatArray) -> None:
        """Make room for blocks between further pairs (k, 2) of nodes, in an order for them with the cloth at positions
        (n, 3)."""
        self._use(self._shared.coupled(pairs, positions))

    def fill(self, pairs: IntArray, order: Order) -> None:
        """The same in a given order, which takes a small part of the time."""
        self._use(self._shared.filled(pairs, order))

    def _use(self, symbolic: Symbolic) -> None:
        factor, assembly = Factor(symbolic, self._storage), self._assembly(symbolic, self._shared.maps_into(symbolic))
        self.factor, self.assembly = factor, assembly  # together: a user may interrupt what comes before

    def _assembly(self, symbolic: Symbolic, maps: Maps) -> Assembly:
        shared = self._shared
        return Assembly(
            shared.pair_ptr, maps.pairs, shared.stiffness, self._weight, shared.definite, maps.kept, maps.links,
            maps.nodes, maps.bends, maps.bend_value, maps.blocks, symbolic.block_index,
        )  # fmt: skip


@inlined
def _place_of(p: BlockIndex, i: int, j: int) -> int:
    """Where the block of two variables of the cloth starts, whichever is eliminated first."""
    return find_block(p, i, j) if p.rank[i] <= p.rank[j] else find_block(p, j, i)


@kernel
def _place_pairs(
    p: BlockIndex, nodes: IntArray, ptr: IntArray, row_of: IntArray, slot_a: IntArray, slot_b: IntArray
) -> IntArray:
    """`Assembly.pairs`."""
    out = np.empty((len(row_of), 4), dtype=np.int64)
    for q in range(len(row_of)):
        first, second = slot_a[q], slot_b[q]
        if p.rank[nodes[first]] > p.rank[nodes[second]]:
            first, second = second, first
        out[q, 0], out[q, 1] = first - ptr[row_of[q]], second - ptr[row_of[q]]
        out[q, 2], out[q, 3] = find_block(p, nodes[first], nodes[second]), p.stride[nodes[first]]
    return out


@kernel
def _place_kept(
    p: BlockIndex, nodes: IntArray, slots: IntArray, owner: IntArray, number: IntArray, n: int
) -> tuple[IntArray, IntArray]:
    """`Assembly.kept` and `Assembly.links`; number (r,) of the multipliers among the variables, or -1."""
    kept, links = np.zeros((len(number), 2), dtype=np.int64), np.zeros((len(nodes), 2), dtype=np.int64)
    for k in range(len(number)):
        kept[k, 0] = -1
        if number[k] >= 0:
            kept[k, 0], kept[k, 1] = 2 * n + number[k], find_block(p, number[k], number[k])
    for q in slots:
        links[q, 0] = _place_of(p, nodes[q], owner[q])
        links[q, 1] = p.stride[nodes[q]] if p.rank[nodes[q]] < p.rank[owner[q]] else 1
    return kept, links


@kernel
def _place_nodes(p: BlockIndex, n: int) -> IntArray:
    """`Assembly.nodes`."""
    out = np.empty((n, 2), dtype=np.int64)
    for i in range(n):
        out[i, 0], out[i, 1] = find_block(p, i, i), p.stride[i]
    return out


@kernel
def _place_bends(p: BlockIndex, row: IntArray, col: IntArray, data: FloatArray) -> tuple[IntArray, FloatArray]:
    """`Assembly.bends` and `Assembly.bend_value`, of the entries of K above the diagonal of the factor."""
    bends, value = np.empty((len(row), 3), dtype=np.int64), np.empty(len(row))
    count = 0
    for q in range(len(row)):
        if p.rank[row[q]] <= p.rank[col[q]]:
            bends[count, 0], bends[count, 1] = find_block(p, row[q], col[q]), p.stride[row[q]]
            bends[count, 2], value[count] = row[q], data[q]
            count += 1
    return bends[:count].copy(), value[:count].copy()


def _stencil_blocks(stencils: Sequence[IntArray]) -> IntArray:
    """(q, 4): for every pair of nodes of every stencil (first, second, where its block starts in H, stride there).

    H holds the blocks of one term after the other, each (e, 3m, 3m).
    """
    parts, begin = [np.empty((0, 4), dtype=np.int64)], 0
    for nodes in stencils:
        count, m = nodes.shape
        a, b = (index.ravel() for index in np.indices((m, m)))
        start = begin + 9 * m * m * np.arange(count)[:, None] + 9 * m * a + 3 * b
        block = np.stack([nodes[:, a], nodes[:, b], start, np.full_like(start, 3 * m)], axis=2)
        parts.append(block.reshape(-1, 4))
        begin += 9 * m * m * count
    return np.concatenate(parts).astype(np.int64)


@kernel
def _place_blocks(p: BlockIndex, blocks: IntArray) -> IntArray:
    """`Assembly.blocks`, of the blocks above the diagonal of the factor."""
    out = np.empty_like(blocks)
    count = 0
    for q in range(len(blocks)):
        i, j = blocks[q, 0], blocks[q, 1]
        if p.rank[i] <= p.rank[j]:
            out[count, 0], out[count, 1] = find_block(p, i, j), p.stride[i]
            out[count, 2], out[count, 3] = blocks[q, 2], blocks[q, 3]
            count += 1
    return out[:count].copy()


def slot_pairs(sizes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """All (row, a, b) with a <= b < size of the row, sorted by row."""
    parts = [np.empty((3, 0), dtype=np.int64)]
    for m in np.unique(sizes):
        a, b = np.triu_indices(m)
        members = np.flatnonzero(sizes == m)
        parts.append(np.stack([np.repeat(members, len(a)), np.tile(a, len(members)), np.tile(b, len(members))]))
    row, a, b = np.concatenate(parts, axis=1)
    order = np.argsort(row, kind="stable")
    return row[order], a[order], b[order]


def _row_strength(rows: Rows) -> FloatArray:
    """Largest |T| in each slot's line of T: a node whose line vanishes has no entry in J."""
    strength = np.zeros(len(rows.nodes))
    sizes = rows.sizes
    for m in np.unique(sizes):
        members = np.flatnonzero(sizes == m)
        t = rows.T[rows.square[members][:, None] + np.arange(m * m)].reshape(-1, m, m)
        largest = np.abs(t).max(axis=2)
        strength[rows.ptr[members][:, None] + np.arange(m)] = np.where(
            largest > 1e-9 * np.abs(t).max(axis=(1, 2))[:, None], largest, 0.0
        )
    return strength


@kernel
def assemble(
    s: Assembly, f: Fronts, rows: RowArrays, jacobian: FloatArray, multiplier: FloatArray, inertia: FloatArray,
    bending: FloatArray, hessian: FloatArray, folds: Bends, bent: Bent, held: BoolArray, curvature: int,
) -> None:  # fmt: skip
    """Write the matrix at the current jacobian and multipliers into the factor's panel; held nodes weigh infinitely.

    An infinite pivot has the inverse 0: the factorisation gives held nodes no displacement and lets nothing pass
    through them, and no pair has to be asked whether it is held. `bending` (n,) are the factors
    of K; `hessian` holds the blocks of the stencils, `bent` how the cloth is bent; `curvature` is BOUND, TENSION or
    EXACT.
    """
    panel = f.panel
    panel[:] = 0.0
    for k in range(len(multiplier)):
        lam = multiplier[k]
        tension = 2.0 * lam if curvature == EXACT else 2.0 * abs(lam)
        if curvature == TENSION and not s.definite[k]:
            tension = 0.0
        which = 2 if curvature == EXACT else 0 if lam > 0.0 else 1
        begin, end = rows.ptr[k], rows.ptr[k + 1]
        gradient = jacobian[begin:end]
        if s.kept[k, 0] < 0:
            still = rows.partner[k] != 0 and lam == 0.0
            if still and gradient[0, 0] == 0.0 and gradient[0, 1] == 0.0 and gradient[0, 2] == 0.0:
                continue  # it does not resist
            w = s.weight[k]
            for q in range(s.pair_ptr[k], s.pair_ptr[k + 1]):
                a, b, at, stride = s.pairs[q, 0], s.pairs[q, 1], s.pairs[q, 2], s.pairs[q, 3]
                geometric = tension * s.stiffness[q, which]
                a0, a1, a2 = w * gradient[a, 0], w * gradient[a, 1], w * gradient[a, 2]
                b0, b1, b2 = gradient[b, 0], gradient[b, 1], gradient[b, 2]
                panel[at] += a0 * b0 + geometric
                panel[at + 1] += a0 * b1
                panel[at + 2] += a0 * b2
                at += stride
                panel[at] += a1 * b0
                panel[at + 1] += a1 * b1 + geometric
                panel[at + 2] += a1 * b2
                at += stride
                panel[at] += a2 * b0
                panel[at + 1] += a2 * b1
                panel[at + 2] += a2 * b2 + geometric
            continue
        for q in range(s.pair_ptr[k], s.pair_ptr[k + 1]):
            _add_diagonal(panel, s.pairs[q, 2], s.pairs[q, 3], tension * s.stiffness[q, which])
        panel[s.kept[k, 1]] -= 1.0 / s.weight[k]
        for a in range(end - begin):
            at, step = s.links[begin + a, 0], s.links[begin + a, 1]
            if step > 0:
                panel[at] += gradient[a, 0]
                panel[at + step] += gradient[a, 1]
                panel[at + 2 * step] += gradient[a, 2]
    for i in range(len(inertia)):
        _add_diagonal(panel, s.nodes[i, 0], s.nodes[i, 1], np.inf if held[i] else inertia[i])
    for q in range(len(s.bend_value)):
        _add_diagonal(panel, s.bends[q, 0], s.bends[q, 1], bending[s.bends[q, 2]] * s.bend_value[q])
    for q in range(len(s.blocks)):
        at, stride, entry, width = s.blocks[q, 0], s.blocks[q, 1], s.blocks[q, 2], s.blocks[q, 3]
        for a in range(3):
            for b in range(3):
                panel[at + a * stride + b] += hessian[entry + a * width + b]
    for e in range(len(folds.node)):
        if bent.slope[e] > (0.0 if curvature == EXACT else SHARP * folds.scale[e]):
            add_fold(panel, s.block_index, folds, bent, e)


@inlined
def _add_diagonal(panel: FloatArray, at: int, stride: int, value: float) -> None:
    """Add a multiple of the identity to a block of 3 x 3."""
    panel[at] += value
    panel[at + stride + 1] += value
    panel[at + 2 * stride + 2] += value
