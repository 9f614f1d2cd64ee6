"""Eight right-hand sides at once through a factor.

One right-hand side is bound by reading the factor; eight share that reading, and each instruction works on four of
them. Contact asks for A^-1 J_k^T for many rows k, each with a few nonzeros, and only for the entries other rows touch:
fronts that a right-hand side does not reach are skipped on the way up, fronts that nobody asks for on the way down.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.sparse.fronts import Fronts

LANES = 8
_ROWS, _VECTOR = 4, 4


def _strip(
    typing: Any, c: Any, c0: Any, c_stride: Any, u: Any, u0: Any, u_stride: Any, v: Any, v0: Any, v_deep: Any,
    v_across: Any, depth: Any,
) -> Any:  # fmt: skip
    """c[i, j] -= sum_k v[k, i] u[k, j] for i < 4, j < 8, k < depth.

    c starts at c0 and u at u0, with rows of length c_stride and u_stride; v[k, i] lies at v0 + k v_deep + i v_across,
    so that v may be read across or down. Nothing is checked.
    """
    i64 = types.int64
    signature = types.void(c, i64, i64, u, i64, i64, v, i64, i64, i64, i64)
    return signature, _generate


strip: Any = intrinsic(_strip)


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    f64, i64, i32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
    vector = ir.VectorType(f64, _VECTOR)
    c_data, u_data, v_data = (
        context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 3, 6)
    )
    c0, c_stride, u0, u_stride, v0, v_deep, v_across, depth = (arguments[k] for k in (1, 2, 4, 5, 7, 8, 9, 10))

    def load(pointer: Any) -> Any:
        value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
        value.align = 8
        return value

    def ahead(pointer: Any, count: int) -> Any:
        return builder.gep(pointer, [ir.Constant(i64, count)])

    before = builder.block
    head, body, done = (builder.append_basic_block(f"strip.{name}") for name in ("head", "body", "done"))
    u_first, v_first = builder.gep(u_data, [u0]), builder.gep(v_data, [v0])
    across = [builder.mul(v_across, ir.Constant(i64, i)) for i in range(_ROWS)]
    builder.branch(head)

    builder.position_at_end(head)
    k, u_row, v_row = builder.phi(i64), builder.phi(u_first.type), builder.phi(v_first.type)
    sums = [builder.phi(vector) for _ in range(_ROWS * LANES // _VECTOR)]
    for phi, first in ((k, ir.Constant(i64, 0)), (u_row, u_first), (v_row, v_first)):
        phi.add_incoming(first, before)
    for phi in sums:
        phi.add_incoming(ir.Constant(vector, [0.0] * _VECTOR), before)
    builder.cbranch(builder.icmp_signed("<", k, depth), body, done)

    builder.position_at_end(body)
    right = [load(ahead(u_row, j)) for j in range(0, LANES, _VECTOR)]
    undefined, everywhere = ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(i32, _VECTOR), [0] * _VECTOR)
    grown = []
    for i in range(_ROWS):
        number = builder.insert_element(undefined, builder.load(builder.gep(v_row, [across[i]])), ir.Constant(i32, 0))
        left = builder.shuffle_vector(number, undefined, everywhere)
        for j, part in enumerate(right):
            product = builder.fmul(left, part, flags=("contract",))
            grown.append(builder.fadd(sums[i * len(right) + j], product, flags=("contract",)))
    for phi, value in zip(sums, grown, strict=True):
        phi.add_incoming(value, body)
    k.add_incoming(builder.add(k, ir.Constant(i64, 1)), body)
    u_row.add_incoming(builder.gep(u_row, [u_stride]), body)
    v_row.add_incoming(builder.gep(v_row, [v_deep]), body)
    builder.branch(head)

    builder.position_at_end(done)
    row = builder.gep(c_data, [c0])
    for i in range(_ROWS):
        for j in range(0, LANES, _VECTOR):
            place = ahead(row, j)
            result = builder.fsub(load(place), sums[(i * LANES + j) // _VECTOR])
            builder.store(result, builder.bitcast(place, vector.as_pointer())).align = 8
        row = builder.gep(row, [c_stride])
    return context.get_dummy_value()


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
    w[f.pivots[front] : m + _ROWS] = 0.0
    for k in range(0, p, _ROWS):
        strip(flat, k * LANES, LANES, flat, 0, LANES, u, first + k, stride, 1, k)
        for i in range(k, k + _ROWS):
            for q in range(k, i):
                a = u[first + q * stride + i]
                for lane in range(LANES):
                    w[i, lane] -= a * w[q, lane]
            a = u[first + i * stride + i]
            for lane in range(LANES):
                w[i, lane] *= a
    for i in range(p, m, _ROWS):
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
    for k in range(p - _ROWS, -1, -_ROWS):
        # four rows behind the front collect -sum_j U_kj x_j
        end = k + _ROWS
        w[m : m + _ROWS] = 0.0
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
