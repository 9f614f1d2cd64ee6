"""Four rows of a front reduced by one another, written for the vector registers.

What `tile.py` is for the sums over many rows this is for the last four, where every row waits for the one before. The
fronts of a cloth are narrow: a loop in plain Python spends more time on guarding eight arrays against overlaps, and on
the odd columns at the end, than on the numbers. The padding of the rows spares both.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

_LANES = 4


def _reduce_rows(
    typing: Any, u: Any, u0: Any, v: Any, v0: Any, stride: Any, columns: Any, factors: Any, inverses: Any
) -> Any:
    """u[i, j] -= sum_{k < i} factors[k, i] u[k, j], one row after the other; then v[i, j] = inverses[i] u[i, j]; i < 4.

    u starts at u0 and v at v0, with rows of length stride; columns are rounded up to whole vectors. The factors are
    those of the pairs 01, 02, 12, 03, 13, 23. Nothing is checked.
    """
    i64, f64 = types.int64, types.float64
    signature = types.void(u, i64, v, i64, i64, i64, types.UniTuple(f64, 6), types.UniTuple(f64, 4))
    return signature, _generate


reduce_rows: Any = intrinsic(_reduce_rows)


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    f64, i64, i32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
    vector = ir.VectorType(f64, _LANES)
    u_data, v_data = (context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 2))
    u0, v0, stride, columns = (arguments[k] for k in (1, 3, 4, 5))
    undefined, everywhere = ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(i32, _LANES), [0] * _LANES)

    def spread(number: Any) -> Any:
        first = builder.insert_element(undefined, number, ir.Constant(i32, 0))
        return builder.shuffle_vector(first, undefined, everywhere)

    def places(pointer: Any) -> list[Any]:
        rows = [pointer]
        for _ in range(3):
            rows.append(builder.gep(rows[-1], [stride]))
        return [builder.bitcast(row, vector.as_pointer()) for row in rows]

    factors = [spread(number) for number in cgutils.unpack_tuple(builder, arguments[6], 6)]
    inverses = [spread(number) for number in cgutils.unpack_tuple(builder, arguments[7], 4)]
    before = builder.block
    head, body, done = (builder.append_basic_block(f"four_rows.{name}") for name in ("head", "body", "done"))
    builder.branch(head)

    builder.position_at_end(head)
    j = builder.phi(i64)
    j.add_incoming(ir.Constant(i64, 0), before)
    builder.cbranch(builder.icmp_signed("<", j, columns), body, done)

    builder.position_at_end(body)
    rows, divided = places(builder.gep(u_data, [builder.add(u0, j)])), places(builder.gep(v_data, [builder.add(v0, j)]))
    reduced: list[Any] = []
    for i, row in enumerate(rows):
        value = builder.load(row)
        value.align = 8
        for k, above in enumerate(reduced):
            product = builder.fmul(factors[i * (i - 1) // 2 + k], above, flags=("contract",))
            value = builder.fsub(value, product, flags=("contract",))
        reduced.append(value)
    for row, target, inverse, value in zip(rows, divided, inverses, reduced, strict=True):
        builder.store(value, row).align = 8
        builder.store(builder.fmul(inverse, value), target).align = 8
    j.add_incoming(builder.add(j, ir.Constant(i64, _LANES)), body)
    builder.branch(head)

    builder.position_at_end(done)
    return context.get_dummy_value()
