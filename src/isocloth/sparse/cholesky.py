"""Multifrontal factorisation of a sparse symmetric quasi-definite matrix with a fixed pattern.

The matrix is U^T D^-1 U, D the diagonal of U, and the signs of D are known beforehand: + for displacements, - for the
multipliers that are kept as unknowns (see newton.py). Such a matrix is factorisable in any order (Vanderbei, Symmetric
quasidefinite matrices, 1995), so the order is chosen for sparsity alone.

The pattern is analysed once; each factorisation then runs without allocation, in a fixed order of operations (the same
input gives the same bits) and without the interpreter's lock. Rows of U are stored, with 1/D on the diagonal: no root
is taken, and each pivot divides once. Rows and columns are padded to whole tiles (see microkernels.py), which then
need no special cases at the edges: what lands in the padding of the columns, or left of the diagonal, is never read.
Reference: Duff and Reid, The multifrontal solution of indefinite sparse symmetric linear systems, 1983.
"""

from __future__ import annotations

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import FloatArray
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.microkernels import COLUMNS, ROWS, TALL, add_block, reduce_rows, tall_tile, tile

#: stands in for a pivot of the wrong sign: infinities do not spread, and the variable stays where it is
_FROZEN = 1e300


@kernel
def factorise(f: Fronts, x: FloatArray) -> bool:
    """Factor in place the matrix whose blocks were added into `f.panel`; False if a pivot had the wrong sign.

    The right-hand side x (scalars,) is reduced on the way, while each front is still in the cache; `back_substitute`
    completes the solution.
    """
    ok = True
    for front in range(len(f.size)):
        p, b, stride, edge = f.rows[front], f.size[front] - f.rows[front], f.stride[front], f.schur_stride[front]
        first, corner = f.panel_ptr[front], f.schur_ptr[front]
        for i in range(b):
            f.schur[corner + i * edge + i // COLUMNS * COLUMNS : corner + (i + 1) * edge] = 0.0
        for c in range(f.child_ptr[front], f.child_ptr[front + 1]):
            _absorb(f, f.children[c], front)
        ok = _factor_rows(f, front) and ok
        # deep sums are cut so that the rows they run through stay in the second-level cache
        for k in range(0, p, 96):
            depth, tall = min(96, p - k), b // TALL * TALL
            for i in range(0, tall, TALL):
                for j in range(i, b, COLUMNS):
                    tall_tile(f.schur, corner + i * edge + j, edge, f.panel, first + k * stride + p + j, f.divided,
                              k * stride + p + i, stride, depth)  # fmt: skip
            for i in range(tall, b, ROWS):
                for j in range(tall, b, COLUMNS):
                    tile(f.schur, corner + i * edge + j, edge, f.panel, first + k * stride + p + j, f.divided,
                         k * stride + p + i, stride, depth)  # fmt: skip
        _forward(f, front, x)
    return ok


@kernel
def _absorb(f: Fronts, child: int, parent: int) -> None:
    """Add a child's Schur complement (upper triangle) into its parent's rows and Schur complement.

    In blocks: on the diagonal these hold what lies left of it, too, which lands left of the diagonal again.
    """
    p, stride, edge = f.rows[parent], f.stride[parent], f.schur_stride[parent]
    width, source = f.schur_stride[child], f.schur_ptr[child]
    runs = f.runs[f.run_ptr[child] : f.run_ptr[child + 1]]
    for q in range(len(runs)):
        begin, end, r = runs[q, 0], runs[q, 1], runs[q, 2]
        upper = min(max(p - r, 0), end - begin)  # rows that the parent eliminates; the others go to its complement
        for t in range(q, len(runs)):
            first, columns, target = runs[t, 0], runs[t, 1] - runs[t, 0], runs[t, 2]
            if upper > 0:
                add_block(f.panel, f.panel_ptr[parent] + r * stride + target, stride,
                          f.schur, source + begin * width + first, width, upper, columns)  # fmt: skip
            if begin + upper < end:
                left = upper if t == q else 0  # columns of the parent's own rows, which its complement does not have
                at = f.schur_ptr[parent] + (r + upper - p) * edge + target + left - p
                add_block(f.schur, at, edge, f.schur, source + (begin + upper) * width + first + left, width,
                          end - begin - upper, columns - left)  # fmt: skip


@kernel
def _factor_rows(f: Fronts, front: int) -> bool:
    """U^T D^-1 U of the leading p x p block of p rows of length m, applied to the whole rows, four rows at a time.

    Looking left: four rows receive the updates of all rows above them at once, then are reduced by one another.
    `f.divided` receives D^-1 U.
    """
    ok = True
    u, v = f.panel, f.divided
    p, m, stride, first = f.rows[front], f.size[front], f.stride[front], f.panel_ptr[front]
    for k in range(f.pivots[front], p):
        u[first + k * stride + k] = 1.0
    for k in range(0, p, ROWS):
        if k > 0:
            for j in range(k // COLUMNS * COLUMNS, m, COLUMNS):
                tile(u, first + k * stride + j, stride, u, first + j, v, k, stride, k)
        ok = _reduce_four(u, v, f.sign, first + k * stride, k, f.scalar_ptr[front] + k, m, stride) and ok
    return ok


@kernel
def _reduce_four(
    u: FloatArray, v: FloatArray, sign: FloatArray, q0: int, k0: int, begin: int, m: int, stride: int
) -> bool:
    """Factor the 4 x 4 pivot block of four rows in registers and reduce the rest of the rows by it in one pass."""
    ok = True
    s0, s1, s2, s3 = sign[begin], sign[begin + 1], sign[begin + 2], sign[begin + 3]
    q1, q2, q3 = q0 + stride, q0 + 2 * stride, q0 + 3 * stride
    d0, a01, a02, a03 = u[q0 + k0], u[q0 + k0 + 1], u[q0 + k0 + 2], u[q0 + k0 + 3]
    if not s0 * d0 > 0.0:
        ok, d0 = False, s0 * _FROZEN
    i0 = 1.0 / d0
    b01, b02, b03 = a01 * i0, a02 * i0, a03 * i0
    d1 = u[q1 + k0 + 1] - b01 * a01
    if not s1 * d1 > 0.0:
        ok, d1 = False, s1 * _FROZEN
    i1 = 1.0 / d1
    a12, a13 = u[q1 + k0 + 2] - b01 * a02, u[q1 + k0 + 3] - b01 * a03
    b12, b13 = a12 * i1, a13 * i1
    d2 = u[q2 + k0 + 2] - b02 * a02 - b12 * a12
    if not s2 * d2 > 0.0:
        ok, d2 = False, s2 * _FROZEN
    i2 = 1.0 / d2
    a23 = u[q2 + k0 + 3] - b02 * a03 - b12 * a13
    b23 = a23 * i2
    d3 = u[q3 + k0 + 3] - b03 * a03 - b13 * a13 - b23 * a23
    if not s3 * d3 > 0.0:
        ok, d3 = False, s3 * _FROZEN
    i3 = 1.0 / d3
    u[q0 + k0], u[q1 + k0 + 1], u[q2 + k0 + 2], u[q3 + k0 + 3] = i0, i1, i2, i3
    u[q1 + k0 + 2], u[q1 + k0 + 3], u[q2 + k0 + 3] = a12, a13, a23
    k1 = k0 + 4
    reduce_rows(u, q0 + k1, v, k0 * stride + k1, stride, m - k1, (b01, b02, b12, b03, b13, b23), (i0, i1, i2, i3))
    return ok


@kernel
def _forward(f: Fronts, front: int, x: FloatArray) -> None:
    """Eliminate a front's pivots from the right-hand side, four at a time."""
    u, w = f.panel, f.work
    m, p, stride, first = f.size[front], f.rows[front], f.stride[front], f.panel_ptr[front]
    index = f.scalars[f.scalar_ptr[front] : f.scalar_ptr[front + 1]]
    for i in range(f.pivots[front]):
        w[i] = x[index[i]]
    for i in range(f.pivots[front], m):
        w[i] = 0.0
    for k in range(0, p, 4):
        q = first + k * stride
        r0, r1 = u[q : q + m], u[q + stride : q + stride + m]
        r2, r3 = u[q + 2 * stride : q + 2 * stride + m], u[q + 3 * stride : q + 3 * stride + m]
        y0 = w[k] * r0[k]
        y1 = (w[k + 1] - y0 * r0[k + 1]) * r1[k + 1]
        y2 = (w[k + 2] - y0 * r0[k + 2] - y1 * r1[k + 2]) * r2[k + 2]
        y3 = (w[k + 3] - y0 * r0[k + 3] - y1 * r1[k + 3] - y2 * r2[k + 3]) * r3[k + 3]
        w[k], w[k + 1], w[k + 2], w[k + 3] = y0, y1, y2, y3
        k1 = k + 4
        rest, r0, r1, r2, r3 = w[k1:m], r0[k1:m], r1[k1:m], r2[k1:m], r3[k1:m]
        for j in range(m - k1):
            rest[j] -= y0 * r0[j] + y1 * r1[j] + y2 * r2[j] + y3 * r3[j]
    for i in range(f.pivots[front]):
        x[index[i]] = w[i]
    for i in range(p, m):
        x[index[i]] += w[i]


@inlined
def _four_dots(
    a0: FloatArray, a1: FloatArray, a2: FloatArray, a3: FloatArray, b: FloatArray
) -> tuple[float, float, float, float]:
    t0 = t1 = t2 = t3 = 0.0
    for j in range(len(b)):
        t0 += a0[j] * b[j]
        t1 += a1[j] * b[j]
        t2 += a2[j] * b[j]
        t3 += a3[j] * b[j]
    return t0, t1, t2, t3


@kernel
def back_substitute(f: Fronts, x: FloatArray) -> None:
    """Complete the solution of a right-hand side that was reduced."""
    u, w = f.panel, f.work
    for front in range(len(f.size) - 1, -1, -1):
        m, p, stride, first = f.size[front], f.rows[front], f.stride[front], f.panel_ptr[front]
        index = f.scalars[f.scalar_ptr[front] : f.scalar_ptr[front + 1]]
        for i in range(f.pivots[front]):
            w[i] = x[index[i]]
        for i in range(f.pivots[front], p):
            w[i] = 0.0
        for i in range(p, m):
            w[i] = x[index[i]]
        for k in range(p - 4, -1, -4):
            q = first + k * stride
            r0, r1 = u[q : q + m], u[q + stride : q + stride + m]
            r2, r3 = u[q + 2 * stride : q + 2 * stride + m], u[q + 3 * stride : q + 3 * stride + m]
            t0, t1, t2, t3 = _four_dots(r0[k + 4 :], r1[k + 4 :], r2[k + 4 :], r3[k + 4 :], w[k + 4 : m])
            x3 = w[k + 3] - t3 * r3[k + 3]
            x2 = w[k + 2] - (t2 + r2[k + 3] * x3) * r2[k + 2]
            x1 = w[k + 1] - (t1 + r1[k + 2] * x2 + r1[k + 3] * x3) * r1[k + 1]
            x0 = w[k] - (t0 + r0[k + 1] * x1 + r0[k + 2] * x2 + r0[k + 3] * x3) * r0[k]
            w[k], w[k + 1], w[k + 2], w[k + 3] = x0, x1, x2, x3
        for i in range(f.pivots[front]):
            x[index[i]] = w[i]


@kernel
def solve(f: Fronts, x: FloatArray) -> None:
    """Overwrite a further right-hand side x (scalars,) with A^-1 x; the matrix is factored."""
    for front in range(len(f.size)):
        _forward(f, front, x)
    back_substitute(f, x)


@inlined
def dot(a: FloatArray, b: FloatArray) -> float:
    """a . b, in any order of the sum."""
    total = 0.0
    for j in range(len(b)):
        total += a[j] * b[j]
    return total
