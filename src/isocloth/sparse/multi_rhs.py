"""Eight right-hand sides at once through a factor.

One right-hand side is bound by reading the factor; eight share that reading, and each instruction works on four of
them. Contact asks for A^-1 J_k^T for many rows k, each with a few nonzeros, and only for the entries other rows touch:
fronts that a right-hand side does not reach are skipped on the way up, fronts that nobody asks for on the way down.
"""

from __future__ import annotations

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.sparse.fronts import Fronts
from isocloth.sparse.microkernels import COLUMNS, ROWS, strip

#: right-hand sides that are solved at once
LANES = COLUMNS


@kernel
def solve_eight(f: Fronts, x: FloatArray, w: FloatArray, wanted: BoolArray) -> None:
    """Overwrite x (scalars, 8) with A^-1 x, in the fronts that are wanted; elsewhere it holds intermediate numbers.

    Args:
        f: the factor, after `cholesky.factorise`.
        w: (largest front + 8, 8) workspace.
        wanted: (fronts,), closed upwards: the parent of a wanted front is wanted (see `wanted_fronts`).
    """
    flat = w.reshape(-1)
    for front in range(len(f.size)):
        _up(f, front, x, w, flat)
    for front in range(len(f.size) - 1, -1, -1):
        if wanted[front]:
            _down(f, front, x, w, flat)


@kernel
def wanted_fronts(f: Fronts, scalars: BoolArray, wanted: BoolArray) -> None:
    """Mark the fronts that the solution at the given scalars (scalars,) depends on: their own and all above."""
    for front in range(len(f.size)):
        begin = f.scalar_ptr[front]
        found = False
        for i in range(f.pivots[front]):
            found = found or scalars[f.scalars[begin + i]]
        for c in range(f.child_ptr[front], f.child_ptr[front + 1]):
            found = found or wanted[f.children[c]]
        wanted[front] = found


@kernel
def _up(f: Fronts, front: int, x: FloatArray, w: FloatArray, flat: FloatArray) -> None:
    """Eliminate a front's pivots from the right-hand sides; nothing to do where they are all zero."""
    u = f.panel
    m, p, stride, first = f.size[front], f.rows[front], f.stride[front], f.panel_ptr[front]
    index = f.scalars[f.scalar_ptr[front] : f.scalar_ptr[front + 1]]
    empty = True
    for i in range(f.pivots[front]):
        for lane in range(LANES):
            w[i, lane] = x[index[i], lane]
            empty = empty and w[i, lane] == 0.0
    if empty:
        return
    w[f.pivots[front] : m + ROWS] = 0.0
    for k in range(0, p, ROWS):
        strip(flat, k * LANES, LANES, flat, 0, LANES, u, first + k, stride, 1, k)
        for i in range(k, k + ROWS):
            for q in range(k, i):
                a = u[first + q * stride + i]
                for lane in range(LANES):
                    w[i, lane] -= a * w[q, lane]
            a = u[first + i * stride + i]
            for lane in range(LANES):
                w[i, lane] *= a
    for i in range(p, m, ROWS):
        strip(flat, i * LANES, LANES, flat, 0, LANES, u, first + i, stride, 1, p)
    for i in range(f.pivots[front]):
        for lane in range(LANES):
            x[index[i], lane] = w[i, lane]
    for i in range(p, m):
        for lane in range(LANES):
            x[index[i], lane] += w[i, lane]


@kernel
def _down(f: Fronts, front: int, x: FloatArray, w: FloatArray, flat: FloatArray) -> None:
    """Complete the solution at a front's pivots, four rows of the factor at a time."""
    u = f.panel
    m, p, stride, first = f.size[front], f.rows[front], f.stride[front], f.panel_ptr[front]
    index = f.scalars[f.scalar_ptr[front] : f.scalar_ptr[front + 1]]
    w[f.pivots[front] : p] = 0.0
    for i in range(f.pivots[front]):
        for lane in range(LANES):
            w[i, lane] = x[index[i], lane]
    for i in range(p, m):
        for lane in range(LANES):
            w[i, lane] = x[index[i], lane]
    for k in range(p - ROWS, -1, -ROWS):
        # four rows behind the front collect -sum_j U_kj x_j
        end = k + ROWS
        w[m : m + ROWS] = 0.0
        strip(flat, m * LANES, LANES, flat, end * LANES, LANES, u, first + k * stride + end, 1, stride, m - end)
        for i in range(end - 1, k - 1, -1):
            for q in range(i + 1, end):
                a = u[first + i * stride + q]
                for lane in range(LANES):
                    w[m + i - k, lane] -= a * w[q, lane]
            a = u[first + i * stride + i]
            for lane in range(LANES):
                w[i, lane] += a * w[m + i - k, lane]
    for i in range(f.pivots[front]):
        for lane in range(LANES):
            x[index[i], lane] = w[i, lane]
