"""Multifrontal factorisation of a sparse symmetric quasi-definite matrix with a fixed pattern.

The matrix is U^T D U with D = +-1 and the signs known beforehand: + for displacements, - for the multipliers that are
kept as unknowns (see newton.py). Such a matrix is factorisable in any order (Vanderbei, Symmetric quasidefinite
matrices, 1995), so the order is chosen for sparsity alone.

The pattern is analysed once; each factorisation then runs without allocation, in a fixed order of operations (the same
input gives the same bits) and without the interpreter's lock. Rows are stored, U = L^T, so that the inner loops run
along memory: they reach the same rate as a tuned BLAS on the small fronts of a cloth and need no library inside
compiled code. Reference: Duff and Reid, The multifrontal solution of indefinite sparse symmetric linear systems, 1983.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.compiled import inlined, kernel
from isocloth.solver.ordering import dissect
from isocloth.typing import FloatArray, IntArray

#: stands in for a pivot of the wrong sign: infinities do not spread, and the variable stays where it is
_FROZEN = 1e300


class Fronts(NamedTuple):
    """The symbolic factor and its storage: plain arrays, one entry per front unless said otherwise."""

    pivots: IntArray  # scalars eliminated in the front
    size: IntArray  # scalars in the front
    scalar_ptr: IntArray  # front -> its slice of `scalars`
    scalars: IntArray  # scalars of the front: pivots first, then the boundary, in order of elimination
    panel_ptr: IntArray  # front -> offset of its pivot rows in `panel`
    schur_ptr: IntArray  # front -> offset of its Schur complement in `schur`
    child_ptr: IntArray  # front -> its slice of `children`
    children: IntArray
    run_ptr: IntArray  # front -> its slice of `runs`
    runs: IntArray  # (start, end, target): boundary scalars start..end lie at target.. in the parent front
    sign: FloatArray  # +1 or -1 for every scalar of the matrix
    panel: FloatArray
    schur: FloatArray
    signed: FloatArray  # D U of the front at hand
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
        within = np.concatenate([_offsets(sizes[v])[:-1] for v in variables])
        self._column = within
        p, m = self.fronts.pivots, self.fronts.size
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
        stride = self.fronts.size[front]
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
    scalars, runs, run_counts = [], [], []
    p = np.array([sizes[v[:k]].sum() for v, k in zip(variables, pivots, strict=True)], dtype=np.int64)
    m = np.array([sizes[v].sum() for v in variables], dtype=np.int64)
    for front, v in enumerate(variables):
        scalars.append(np.concatenate([np.arange(start[x], start[x + 1]) for x in v]))
        boundary = v[pivots[front] :]
        if parent[front] < 0 or len(boundary) == 0:
            run_counts.append(0)
            continue
        above = variables[parent[front]]
        column = _offsets(sizes[above])[:-1]
        target = np.repeat(column[np.searchsorted(rank[above], rank[boundary])], sizes[boundary])
        target += np.concatenate([np.arange(sizes[x]) for x in boundary])
        breaks = np.flatnonzero(np.diff(target) != 1) + 1
        begin, end = np.concatenate([[0], breaks]), np.concatenate([breaks, [len(target)]])
        runs.append(np.stack([begin, end, target[begin]], axis=1))
        run_counts.append(len(begin))
    schur_ptr, schur_total = _stack(m - p, children)
    return Fronts(
        pivots=p,
        size=m,
        scalar_ptr=_offsets(m),
        scalars=np.concatenate(scalars).astype(np.int64),
        panel_ptr=_offsets(p * m),
        schur_ptr=schur_ptr,
        child_ptr=_offsets(np.array([len(c) for c in children], dtype=np.int64)),
        children=np.array([c for cs in children for c in cs], dtype=np.int64),
        run_ptr=_offsets(np.array(run_counts, dtype=np.int64)),
        runs=np.concatenate([*runs, np.empty((0, 3), dtype=np.int64)]).astype(np.int64),
        sign=np.ascontiguousarray(sign, dtype=np.float64),
        panel=np.zeros(int((p * m).sum())),
        schur=np.zeros(max(1, schur_total)),
        signed=np.zeros(int((p * m).max())),
        work=np.zeros(int(m.max())),
    )


def _children(parent: list[int]) -> list[list[int]]:
    children: list[list[int]] = [[] for _ in parent]
    for child, p in enumerate(parent):
        if p >= 0:
            children[p].append(child)
    return children


def _offsets(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _stack(edges: IntArray, children: list[list[int]]) -> tuple[IntArray, int]:
    """Place the Schur complements: one lives until its parent has absorbed it, then its room is used again."""
    offsets = np.zeros(len(edges), dtype=np.int64)
    live: list[tuple[int, int, int]] = []  # (start, end, front), sorted by start
    total = 0
    for front, edge in enumerate(edges):
        need = int(edge) ** 2
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


@kernel
def factorise(f: Fronts, x: FloatArray) -> bool:
    """Factor in place the matrix whose blocks were added into `f.panel`; False if a pivot had the wrong sign.

    The right-hand side x (scalars,) is reduced on the way, while each front is still in the cache; `back_substitute`
    completes the solution.
    """
    ok = True
    for front in range(len(f.size)):
        m, p = f.size[front], f.pivots[front]
        b = m - p
        first, corner = f.panel_ptr[front], f.schur_ptr[front]
        f.schur[corner : corner + b * b] = 0.0
        for c in range(f.child_ptr[front], f.child_ptr[front + 1]):
            _absorb(f, f.children[c], first, corner, p, m)
        ok = _factor_rows(f, first, f.scalar_ptr[front], p, m) and ok
        _update(f.schur, corner, b, f.panel, first + p, f.signed, p, m, p, b, b)
        _forward(f, front, x)
    return ok


@kernel
def _absorb(f: Fronts, child: int, first: int, corner: int, p: int, m: int) -> None:
    """Add a child's Schur complement (upper triangle) into its parent's rows and Schur complement."""
    b = f.size[child] - f.pivots[child]
    update = f.schur[f.schur_ptr[child] : f.schur_ptr[child] + b * b].reshape(b, b)
    runs = f.runs[f.run_ptr[child] : f.run_ptr[child + 1]]
    for q in range(len(runs)):
        for i in range(runs[q, 0], runs[q, 1]):
            r = runs[q, 2] + i - runs[q, 0]
            source = update[i]
            target = f.panel if r < p else f.schur
            base = first + r * m if r < p else corner + (r - p) * (m - p) - p
            for t in range(q, len(runs)):
                begin, end = max(i, runs[t, 0]), runs[t, 1]
                at = base + runs[t, 2] + begin - runs[t, 0]
                out, part = target[at : at + end - begin], source[begin:end]
                for j in range(end - begin):
                    out[j] += part[j]


@kernel
def _factor_rows(f: Fronts, first: int, begin: int, p: int, m: int) -> bool:
    """U^T D U of the leading p x p block of p rows of length m, applied to the whole rows, four rows at a time.

    `f.signed` receives D U, so that the update's inner loops need no signs.
    """
    ok = True
    u, v = f.panel, f.signed
    k0 = 0
    while k0 + 3 < p:
        s0, s1 = f.sign[f.scalars[begin + k0]], f.sign[f.scalars[begin + k0 + 1]]
        s2, s3 = f.sign[f.scalars[begin + k0 + 2]], f.sign[f.scalars[begin + k0 + 3]]
        q0 = first + k0 * m
        q1, q2, q3 = q0 + m, q0 + 2 * m, q0 + 3 * m
        # the 4 x 4 pivot block in registers
        d0, d1, d2, d3 = u[q0 + k0], u[q1 + k0 + 1], u[q2 + k0 + 2], u[q3 + k0 + 3]
        if not s0 * d0 > 0.0:
            ok, d0 = False, s0 * _FROZEN
        r0 = np.sqrt(s0 * d0)
        i0 = s0 / r0
        a01, a02, a03 = u[q0 + k0 + 1] * i0, u[q0 + k0 + 2] * i0, u[q0 + k0 + 3] * i0
        d1 -= s0 * a01 * a01
        if not s1 * d1 > 0.0:
            ok, d1 = False, s1 * _FROZEN
        r1 = np.sqrt(s1 * d1)
        i1 = s1 / r1
        a12 = (u[q1 + k0 + 2] - s0 * a01 * a02) * i1
        a13 = (u[q1 + k0 + 3] - s0 * a01 * a03) * i1
        d2 -= s0 * a02 * a02 + s1 * a12 * a12
        if not s2 * d2 > 0.0:
            ok, d2 = False, s2 * _FROZEN
        r2 = np.sqrt(s2 * d2)
        i2 = s2 / r2
        a23 = (u[q2 + k0 + 3] - s0 * a02 * a03 - s1 * a12 * a13) * i2
        d3 -= s0 * a03 * a03 + s1 * a13 * a13 + s2 * a23 * a23
        if not s3 * d3 > 0.0:
            ok, d3 = False, s3 * _FROZEN
        r3 = np.sqrt(s3 * d3)
        i3 = s3 / r3
        u[q0 + k0], u[q0 + k0 + 1], u[q0 + k0 + 2], u[q0 + k0 + 3] = r0, a01, a02, a03
        u[q1 + k0 + 1], u[q1 + k0 + 2], u[q1 + k0 + 3] = r1, a12, a13
        u[q2 + k0 + 2], u[q2 + k0 + 3], u[q3 + k0 + 3] = r2, a23, r3
        k1 = k0 + 4
        n = m - k1
        w0, w1, w2, w3 = u[q0 + k1 : q0 + m], u[q1 + k1 : q1 + m], u[q2 + k1 : q2 + m], u[q3 + k1 : q3 + m]
        at = k0 * m + k1
        v0, v1 = v[at : at + n], v[at + m : at + m + n]
        v2, v3 = v[at + 2 * m : at + 2 * m + n], v[at + 3 * m : at + 3 * m + n]
        b01, b02, b12, b03, b13, b23 = s0 * a01, s0 * a02, s1 * a12, s0 * a03, s1 * a13, s2 * a23
        for j in range(n):
            x0 = w0[j] * i0
            x1 = (w1[j] - b01 * x0) * i1
            x2 = (w2[j] - b02 * x0 - b12 * x1) * i2
            x3 = (w3[j] - b03 * x0 - b13 * x1 - b23 * x2) * i3
            w0[j], w1[j], w2[j], w3[j] = x0, x1, x2, x3
            v0[j], v1[j], v2[j], v3[j] = s0 * x0, s1 * x1, s2 * x2, s3 * x3
        if k1 < p:
            _update(u, first + k1 * m + k1, m, u, q0 + k1, v, at, m, 4, n, p - k1)
        k0 = k1
    for k in range(k0, p):  # the last one to three rows
        s = f.sign[f.scalars[begin + k]]
        row, copy = u[first + k * m : first + (k + 1) * m], v[k * m : (k + 1) * m]
        pivot = s * row[k]
        if not pivot > 0.0:
            ok, pivot = False, _FROZEN
        root = np.sqrt(pivot)
        row[k] = root
        scale = s / root
        for j in range(k + 1, m):
            x = row[j] * scale
            row[j] = x
            copy[j] = s * x
        for i in range(k + 1, p):
            a = copy[i]
            target = u[first + i * m : first + (i + 1) * m]
            for j in range(i, m):
                target[j] -= a * row[j]
    return ok


@kernel
def _update(
    c: FloatArray,
    c0: int,
    width: int,
    u: FloatArray,
    u0: int,
    v: FloatArray,
    v0: int,
    m: int,
    p: int,
    b: int,
    rows: int,
) -> None:
    """c[i, j] -= sum_k v[k, i] u[k, j] for i < rows, i <= j < b: the one loop where the time goes.

    c starts at c0 with rows of length `width`; u at u0 and v at v0 with p rows of length m. Two rows of c and four of u
    are combined at a time, in tiles of 128 columns that stay in the first-level cache.
    """
    for j0 in range(0, b, 128):
        j1 = min(j0 + 128, b)
        top = min(j1, rows)
        i = 0
        while i + 1 < top:
            js = max(i, j0)
            n = j1 - js
            at = c0 + i * width + js
            # one entry left of row i+1's diagonal is written too, and never read
            ca, cb = c[at : at + n], c[at + width : at + width + n]
            k = 0
            while k + 3 < p:
                q = v0 + k * m + i
                a0, e0, a1, e1 = v[q], v[q + 1], v[q + m], v[q + m + 1]
                a2, e2, a3, e3 = v[q + 2 * m], v[q + 2 * m + 1], v[q + 3 * m], v[q + 3 * m + 1]
                q = u0 + k * m + js
                r0, r1 = u[q : q + n], u[q + m : q + m + n]
                r2, r3 = u[q + 2 * m : q + 2 * m + n], u[q + 3 * m : q + 3 * m + n]
                for j in range(n):
                    x0, x1, x2, x3 = r0[j], r1[j], r2[j], r3[j]
                    ca[j] -= a0 * x0 + a1 * x1 + a2 * x2 + a3 * x3
                    cb[j] -= e0 * x0 + e1 * x1 + e2 * x2 + e3 * x3
                k += 4
            while k < p:
                q = v0 + k * m + i
                a0, e0 = v[q], v[q + 1]
                q = u0 + k * m + js
                r0 = u[q : q + n]
                for j in range(n):
                    ca[j] -= a0 * r0[j]
                    cb[j] -= e0 * r0[j]
                k += 1
            i += 2
        if i < top:
            js = max(i, j0)
            n = j1 - js
            at = c0 + i * width + js
            ca = c[at : at + n]
            for k in range(p):
                a0 = v[v0 + k * m + i]
                q = u0 + k * m + js
                r0 = u[q : q + n]
                for j in range(n):
                    ca[j] -= a0 * r0[j]


@kernel
def _forward(f: Fronts, front: int, x: FloatArray) -> None:
    """Eliminate a front's pivots from the right-hand side."""
    w = f.work
    m, p = f.size[front], f.pivots[front]
    rows = f.panel[f.panel_ptr[front] : f.panel_ptr[front + 1]].reshape(p, m)
    index = f.scalars[f.scalar_ptr[front] : f.scalar_ptr[front + 1]]
    for i in range(p):
        w[i] = x[index[i]]
    w[p:m] = 0.0
    for k in range(p):
        row = rows[k]
        y = w[k] / row[k]
        x[index[k]] = f.sign[index[k]] * y
        for j in range(k + 1, m):
            w[j] -= y * row[j]
    for i in range(p, m):
        x[index[i]] += w[i]


@inlined
def _dot(a: FloatArray, b: FloatArray, begin: int, end: int) -> float:
    total = 0.0
    for j in range(begin, end):
        total += a[j] * b[j]
    return total


@kernel
def back_substitute(f: Fronts, x: FloatArray) -> None:
    """Complete the solution of a right-hand side that was reduced."""
    w = f.work
    for front in range(len(f.size) - 1, -1, -1):
        m, p = f.size[front], f.pivots[front]
        rows = f.panel[f.panel_ptr[front] : f.panel_ptr[front + 1]].reshape(p, m)
        index = f.scalars[f.scalar_ptr[front] : f.scalar_ptr[front + 1]]
        for i in range(m):
            w[i] = x[index[i]]
        for k in range(p - 1, -1, -1):
            w[k] = (w[k] - _dot(rows[k], w, k + 1, m)) / rows[k, k]
            x[index[k]] = w[k]


@kernel
def solve_in_place(f: Fronts, x: FloatArray) -> None:
    """Overwrite x (scalars,) by the solution, with the factor at hand."""
    for front in range(len(f.size)):
        _forward(f, front, x)
    back_substitute(f, x)
