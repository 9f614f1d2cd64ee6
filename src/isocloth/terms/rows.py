"""Quadratic rows: every membrane quantity of the model is y^T T_k y - C0_k for a small symmetric matrix T_k.

A row touches a few nodes; T_k acts on each coordinate alike. Its jacobian is J_k = 2 T_k y (eq. 13) and its value
C_k = J_k y / 2 - C0_k. Squared edges, nodal E, F, G and the shear energy all are rows; a weight w_k makes it an energy
w_k C_k^2 / 2. For Newton's method each row also carries two positive semidefinite matrices, `plus` and `minus`: the
geometric stiffness |lambda| S of a multiplier of either sign, with lambda T <= |lambda| S.

A row with `root` measures a length and not its square: C_k = 2 (sqrt(y^T T_k y) - 1), with y^T T_k y = 1 at rest. To
first order that is the same, so weights, T and S are too; further away it is a spring after Hooke.

Two rows that are partners (the diagonals of a quad, `terms/diagonals.py`) share what they resist: each its own stretch
beyond a slack, and only one of the two that both are short; which one is free is known before (`shorter`). Where a
row does not resist, C and J are zero.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import inlined, kernel
from isocloth.base.memo import varied
from isocloth.base.typing import BoolArray, FloatArray, IntArray

#: square of the shortest length, of that at rest, at which a row with `root` still has a direction
SHORTEST = 1e-12


@dataclass(frozen=True)
class Rows:
    """A stack of quadratic rows. `ptr` bounds each row's slice of `nodes`; `square` its slice of T, plus, minus."""

    ptr: IntArray  # (r + 1,)
    nodes: IntArray  # (ptr[-1],)
    square: IntArray  # (r + 1,)
    T: FloatArray  # (square[-1],) row-major m x m blocks
    plus: FloatArray
    minus: FloatArray
    rest: FloatArray  # (r,) C0
    weight: FloatArray  # (r,) w, joule
    enforced: BoolArray  # (r,) counted in the isometry error (an isometry), or only an energy
    kept: BoolArray  # (r,) the multiplier stays an unknown of Newton's linear system
    root: BoolArray  # (r,) the row measures a length, not its square
    partner: IntArray  # (r,) how many rows further its partner is, 1 or -1; 0: it has none
    slack: FloatArray  # (r,) what a row with a partner may be off

    def __len__(self) -> int:
        return len(self.rest)

    @property
    def sizes(self) -> IntArray:
        """Nodes per row (r,)."""
        return np.diff(self.ptr)

    @property
    def definite(self) -> BoolArray:
        """(r,) whether T has one sign, as that of a length has, and not both, as that of an angle."""
        sizes = [np.maximum.reduceat(np.abs(part), self.square[:-1]) for part in (self.plus, self.minus)]
        return np.minimum(*sizes) <= 1e-9 * np.maximum(*sizes)

    @property
    def arrays(self) -> RowArrays:
        """What the compiled kernels need."""
        return RowArrays(self.ptr, self.nodes, self.square, self.T, self.root, self.partner, self.slack)

    def values(self, positions: FloatArray) -> FloatArray:
        """C (r,) at node positions (n, 3)."""
        return self._at(positions)[0]

    def jacobian(self, positions: FloatArray) -> FloatArray:
        """Dense J (r, 3n) at positions (n, 3); for tests and inspection."""
        dense = np.zeros((len(self), len(positions), 3))
        dense[np.repeat(np.arange(len(self)), self.sizes), self.nodes] = self._at(positions)[1]
        return dense.reshape(len(self), -1)

    def _at(self, positions: FloatArray) -> tuple[FloatArray, FloatArray]:
        """C (r,) and the entries (ptr[-1], 3) of J."""
        values, entries, y = np.empty(len(self)), np.empty((len(self.nodes), 3)), np.ascontiguousarray(positions)
        evaluate(self.arrays, self.rest, shorter(self.arrays, y), y, values, entries)
        return values, entries


class RowArrays(NamedTuple):
    """The arrays of `Rows` that a kernel reads."""

    ptr: IntArray
    nodes: IntArray
    square: IntArray
    T: FloatArray
    root: BoolArray
    partner: IntArray
    slack: FloatArray


def pack(row: IntArray, i: IntArray, j: IntArray, value: FloatArray, vertices: FloatArray, count: int) -> Rows:
    """Rows from triplets T[row, i, j] += value, C0 taken from the rest shape `vertices`.

    The geometric stiffness is the positive and negative part of T by its eigenvalues; among variations of a mesh, whose
    steps nobody takes, it is left out. Weights are left at 1.
    """
    n = len(vertices)
    keys, local_i = np.unique(row * n + i, return_inverse=True)
    sizes = np.bincount(keys // n, minlength=count)
    ptr = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    square = np.concatenate([[0], np.cumsum(sizes**2)]).astype(np.int64)
    local_j = np.searchsorted(keys, row * n + j)
    entries = np.zeros(square[-1])
    np.add.at(entries, square[row] + (local_i - ptr[row]) * sizes[row] + (local_j - ptr[row]), value)
    plus, minus = np.zeros_like(entries), np.zeros_like(entries)
    for m in [] if varied() else np.unique(sizes):
        members = np.flatnonzero(sizes == m)
        slots = square[members][:, None] + np.arange(m * m)
        eigenvalues, vectors = np.linalg.eigh(entries[slots].reshape(-1, m, m))
        for part, sign in ((plus, 1.0), (minus, -1.0)):
            scaled = vectors * np.maximum(sign * eigenvalues, 0.0)[:, None, :]
            part[slots] = (scaled @ vectors.transpose(0, 2, 1)).reshape(-1, m * m)
    rows = Rows(
        ptr, (keys % n).astype(np.int64), square, entries, plus, minus, np.zeros(count), np.ones(count),
        np.ones(count, dtype=bool), np.zeros(count, dtype=bool), np.zeros(count, dtype=bool),
        np.zeros(count, dtype=np.int64), np.zeros(count),
    )  # fmt: skip
    rows.rest[:] = rows.values(vertices)
    return rows


def weighted(rows: Rows, weight: FloatArray) -> Rows:
    """Rows that others share, with weights (r,) of their own.

    What kernels read is copied: Numba takes a read-only array for another type, and would compile every kernel anew.
    """
    read = ("ptr", "nodes", "square", "T", "rest", "enforced", "root", "partner", "slack")
    own = {name: getattr(rows, name).copy() for name in read}
    return replace(rows, weight=np.ascontiguousarray(weight, dtype=np.float64), **own)


def lengths(rows: Rows) -> Rows:
    """The same rows, each 1 at rest, as lengths in place of their squares."""
    return replace(rows, rest=np.full(len(rows), 2.0), root=np.ones(len(rows), dtype=bool))


def stack(*parts: Rows) -> Rows:
    """Put rows below each other."""
    nodes = np.cumsum([0] + [len(p.nodes) for p in parts])
    entries = np.cumsum([0] + [len(p.T) for p in parts])
    joined = {f.name: np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Rows)}
    joined["ptr"] = np.concatenate([[0], *[p.ptr[1:] + nodes[q] for q, p in enumerate(parts)]]).astype(np.int64)
    joined["square"] = np.concatenate([[0], *[p.square[1:] + entries[q] for q, p in enumerate(parts)]]).astype(np.int64)
    return Rows(**joined)


@kernel
def evaluate(
    rows: RowArrays, targets: FloatArray, free: BoolArray, y: FloatArray, values: FloatArray, jacobian: FloatArray
) -> None:
    """C = y^T T y - targets and J at y (n, 3): values (r,), jacobian (ptr[-1], 3), one entry per row and node.

    Of rows with partners those that are `free` (r,) do not resist to be short.

    Positions are taken relative to the row's first node: rows do not see translations, and far from the origin the
    squares would cost digits.
    """
    near = np.empty((0, 3))  # a row's nodes, gathered once: each is read as often as the row has nodes
    for k in range(len(rows.ptr) - 1):
        first, m = rows.ptr[k], rows.ptr[k + 1] - rows.ptr[k]
        if m == 2 and not rows.root[k]:
            values[k] = _length(rows, k, y, jacobian) - targets[k]
            if rows.partner[k] < 0:
                _share(rows, k - 1, free, values, jacobian)
                _share(rows, k, free, values, jacobian)
            continue
        if m > len(near):
            near = np.empty((m, 3))
        nodes, gradient = rows.nodes[first : first + m], jacobian[first : first + m]
        o = nodes[0]
        ox, oy, oz = y[o, 0], y[o, 1], y[o, 2]
        for a in range(m):
            p = nodes[a]
            near[a, 0], near[a, 1], near[a, 2] = y[p, 0] - ox, y[p, 1] - oy, y[p, 2] - oz
        total = 0.0
        at = rows.square[k]
        for a in range(m):
            gx = gy = gz = 0.0
            line = rows.T[at : at + m]
            for b in range(1, m):
                gx += line[b] * near[b, 0]
                gy += line[b] * near[b, 1]
                gz += line[b] * near[b, 2]
            at += m
            total += gx * near[a, 0] + gy * near[a, 1] + gz * near[a, 2]
            gradient[a, 0], gradient[a, 1], gradient[a, 2] = 2.0 * gx, 2.0 * gy, 2.0 * gz
        if rows.root[k]:
            length = np.sqrt(max(total, SHORTEST))
            for a in range(m):
                gradient[a, 0], gradient[a, 1], gradient[a, 2] = (
                    gradient[a, 0] / length, gradient[a, 1] / length, gradient[a, 2] / length,
                )  # fmt: skip
            total = 2.0 * length
        values[k] = total - targets[k]


@inlined
def _length(rows: RowArrays, k: int, y: FloatArray, jacobian: FloatArray) -> float:
    """y^T T y and J of a row of two nodes, the most common one: that of an edge or a diagonal."""
    first = rows.ptr[k]
    i, j, a, b = rows.nodes[first], rows.nodes[first + 1], rows.square[k] + 1, rows.square[k] + 3
    x0, x1, x2 = y[j, 0] - y[i, 0], y[j, 1] - y[i, 1], y[j, 2] - y[i, 2]
    ours, theirs = 2.0 * rows.T[a], 2.0 * rows.T[b]
    jacobian[first, 0], jacobian[first, 1], jacobian[first, 2] = ours * x0, ours * x1, ours * x2
    jacobian[first + 1, 0], jacobian[first + 1, 1], jacobian[first + 1, 2] = theirs * x0, theirs * x1, theirs * x2
    square: float = rows.T[b] * (x0 * x0 + x1 * x1 + x2 * x2)
    return square


@inlined
def _share(rows: RowArrays, k: int, free: BoolArray, values: FloatArray, jacobian: FloatArray) -> None:
    """What one of two partners resists, of what it measures."""
    slack, value = rows.slack[k], values[k]
    if value > slack:
        values[k] = value - slack
    elif not free[k] and value < -slack:
        values[k] = value + slack
    else:
        values[k] = 0.0
        jacobian[rows.ptr[k] : rows.ptr[k + 1]] = 0.0


@kernel
def shorter(rows: RowArrays, y: FloatArray) -> BoolArray:
    """(r,) the shorter of two partners at y (n, 3), relative to rest; of equal ones the second."""
    found = np.zeros(len(rows.ptr) - 1, dtype=np.bool_)
    for k in range(len(found)):
        if rows.partner[k] < 0:
            second = _square(rows, k, y) <= _square(rows, k - 1, y)
            found[k], found[k - 1] = second, not second
    return found


@inlined
def _square(rows: RowArrays, k: int, y: FloatArray) -> float:
    """y^T T y of a row of two nodes."""
    i, j, total = rows.nodes[rows.ptr[k]], rows.nodes[rows.ptr[k] + 1], 0.0
    for d in range(3):
        total += (y[j, d] - y[i, d]) ** 2
    return total * rows.T[rows.square[k] + 3]


@kernel
def add_forces(rows: RowArrays, jacobian: FloatArray, multiplier: FloatArray, force: FloatArray) -> None:
    """force += J^T multiplier, (n, 3)."""
    for k in range(len(rows.ptr) - 1):
        s = multiplier[k]
        if s == 0.0:
            continue
        for a in range(rows.ptr[k], rows.ptr[k + 1]):
            p = rows.nodes[a]
            force[p, 0] += s * jacobian[a, 0]
            force[p, 1] += s * jacobian[a, 1]
            force[p, 2] += s * jacobian[a, 2]


def select(rows: Rows, chosen: BoolArray) -> Rows:
    """The chosen rows only."""
    sizes = rows.sizes
    slots, entries = np.repeat(chosen, sizes), np.repeat(chosen, sizes**2)
    offsets = [np.concatenate([[0], np.cumsum(s[chosen])]).astype(np.int64) for s in (sizes, sizes**2)]
    return Rows(
        offsets[0], rows.nodes[slots], offsets[1], rows.T[entries], rows.plus[entries], rows.minus[entries],
        rows.rest[chosen], rows.weight[chosen], rows.enforced[chosen], rows.kept[chosen],
        rows.root[chosen], rows.partner[chosen], rows.slack[chosen],
    )  # fmt: skip
