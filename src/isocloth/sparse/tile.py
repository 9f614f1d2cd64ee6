"""The innermost loop of the factorisation, written for the vector registers.

A tile of 4 x 8 entries of C stays in registers while the sum over k runs; per k eight numbers are loaded and four
broadcast for 32 fused multiply-adds. Loops in plain Python reach half of that rate or less on the small fronts of a
cloth: the compiler guards them against overlapping arrays and finishes them one number at a time. The instructions are
generic vectors, so any processor can run them.

A tall tile of 8 x 8 needs C half as often, but more registers than processors without AVX-512 have; there it is two
tiles, one after the other. The bits are the same whatever the tile: each entry is summed in the order of k.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba.core import types
from numba.extending import intrinsic

ROWS, COLUMNS = 4, 8
TALL = 8
_WIDE = binding.get_host_cpu_features().get("avx512f", False)
_LANES = 8 if _WIDE else 4


def _tile(
    typing: Any, c: Any, c0: Any, c_stride: Any, u: Any, u0: Any, v: Any, v0: Any, stride: Any, depth: Any
) -> Any:
    """c[i, j] -= sum_k v[k, i] u[k, j] for i < 4, j < 8, k < depth.

    c starts at c0 with rows of length c_stride; u at u0 and v at v0 with rows of length stride. Nothing is checked.
    """
    i64 = types.int64
    signature = types.void(c, i64, i64, u, i64, v, i64, i64, i64)
    return signature, _generate


tile: Any = intrinsic(_tile)


def _tall_tile(
    typing: Any, c: Any, c0: Any, c_stride: Any, u: Any, u0: Any, v: Any, v0: Any, stride: Any, depth: Any
) -> Any:
    """The same for i < 8."""
    signature, _ = _tile(typing, c, c0, c_stride, u, u0, v, v0, stride, depth)
    return signature, _generate_tall


tall_tile: Any = intrinsic(_tall_tile)


def _generate_tall(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    if _WIDE:
        return _generate(context, builder, signature, arguments, TALL)
    c, c0, c_stride, u, u0, v, v0, stride, depth = arguments
    four = ir.Constant(ir.IntType(64), ROWS)
    lower_c, lower_v = builder.add(c0, builder.mul(c_stride, four)), builder.add(v0, four)
    _generate(context, builder, signature, arguments)
    return _generate(context, builder, signature, (c, lower_c, c_stride, u, u0, v, lower_v, stride, depth))


def _generate(context: Any, builder: Any, signature: Any, arguments: Any, rows: int = ROWS) -> Any:
    f64, i64, i32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
    vector = ir.VectorType(f64, _LANES)
    c_data, u_data, v_data = (
        context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 3, 5)
    )
    c0, c_stride, u0, v0, stride, depth = (arguments[k] for k in (1, 2, 4, 6, 7, 8))

    def load(pointer: Any) -> Any:
        value = builder.load(builder.bitcast(pointer, vector.as_pointer()))
        value.align = 8
        return value

    def ahead(pointer: Any, count: int) -> Any:
        return builder.gep(pointer, [ir.Constant(i64, count)])

    before = builder.block
    head, body, done = (builder.append_basic_block(f"tile.{name}") for name in ("head", "body", "done"))
    u_first, v_first = builder.gep(u_data, [u0]), builder.gep(v_data, [v0])
    builder.branch(head)

    builder.position_at_end(head)
    k, u_row, v_row = builder.phi(i64), builder.phi(u_first.type), builder.phi(v_first.type)
    sums = [builder.phi(vector) for _ in range(rows * COLUMNS // _LANES)]
    for phi, first in ((k, ir.Constant(i64, 0)), (u_row, u_first), (v_row, v_first)):
        phi.add_incoming(first, before)
    for phi in sums:
        phi.add_incoming(ir.Constant(vector, [0.0] * _LANES), before)
    builder.cbranch(builder.icmp_signed("<", k, depth), body, done)

    builder.position_at_end(body)
    right = [load(ahead(u_row, j)) for j in range(0, COLUMNS, _LANES)]
    undefined, everywhere = ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(i32, _LANES), [0] * _LANES)
    grown = []
    for i in range(rows):
        number = builder.insert_element(undefined, builder.load(ahead(v_row, i)), ir.Constant(i32, 0))
        left = builder.shuffle_vector(number, undefined, everywhere)
        for j, part in enumerate(right):
            product = builder.fmul(left, part, flags=("contract",))
            grown.append(builder.fadd(sums[i * len(right) + j], product, flags=("contract",)))
    for phi, value in zip(sums, grown, strict=True):
        phi.add_incoming(value, body)
    k.add_incoming(builder.add(k, ir.Constant(i64, 1)), body)
    u_row.add_incoming(builder.gep(u_row, [stride]), body)
    v_row.add_incoming(builder.gep(v_row, [stride]), body)
    builder.branch(head)

    builder.position_at_end(done)
    row = builder.gep(c_data, [c0])
    for i in range(rows):
        for j in range(0, COLUMNS, _LANES):
            place = ahead(row, j)
            result = builder.fsub(load(place), sums[(i * COLUMNS + j) // _LANES])
            builder.store(result, builder.bitcast(place, vector.as_pointer())).align = 8
        row = builder.gep(row, [c_stride])
    return context.get_dummy_value()
