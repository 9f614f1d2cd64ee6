"""A block of a matrix added to a block of another, written for the vector registers.

A child's Schur complement goes into its parent in blocks of some twenty by twenty numbers. Loops in plain Python guard
every row against overlapping arrays and finish it one number at a time, which takes longer than the sums. Here a column
of vectors is added from top to bottom, and then the next: the same short loop many times over.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


def _add_block(
    typing: Any, c: Any, c0: Any, c_stride: Any, a: Any, a0: Any, a_stride: Any, rows: Any, columns: Any
) -> Any:
    """c[i, j] += a[i, j] for i < rows, j < columns.

    c starts at c0 with rows of length c_stride, a at a0 with rows of length a_stride. They do not overlap; nothing is
    checked.
    """
    i64 = types.int64
    return types.void(c, i64, i64, a, i64, i64, i64, i64), _generate


add_block: Any = intrinsic(_add_block)


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    f64, i64 = ir.DoubleType(), ir.IntType(64)
    c_data, a_data = (context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in (0, 3))
    c0, c_stride, a0, a_stride, rows, columns = (arguments[k] for k in (1, 2, 4, 5, 6, 7))
    zero = ir.Constant(i64, 0)

    def loop(begin: Any, end: Any, step: int, inside: Any, *start: Any) -> None:
        """Run `inside(j, *carried)` for j from begin to end; it returns what is carried on."""
        before = builder.block
        head, body, done = (builder.append_basic_block(f"add_block.{name}") for name in ("head", "body", "done"))
        builder.branch(head)
        builder.position_at_end(head)
        j = builder.phi(i64)
        carried = [builder.phi(value.type) for value in start]
        for phi, value in zip([j, *carried], [begin, *start], strict=True):
            phi.add_incoming(value, before)
        builder.cbranch(builder.icmp_signed("<", j, end), body, done)
        builder.position_at_end(body)
        following = [*inside(j, *carried)]
        after = builder.block
        for phi, value in zip([j, *carried], [builder.add(j, ir.Constant(i64, step)), *following], strict=True):
            phi.add_incoming(value, after)
        builder.branch(head)
        builder.position_at_end(done)

    def add_columns(kind: Any) -> Any:
        def inside(j: Any) -> list[Any]:
            def row(i: Any, target: Any, source: Any) -> list[Any]:
                place, other = (builder.bitcast(p, kind.as_pointer()) for p in (target, source))
                values = [builder.load(place), builder.load(other)]
                for value in values:
                    value.align = 8
                builder.store(builder.fadd(*values), place).align = 8
                return [builder.gep(target, [c_stride]), builder.gep(source, [a_stride])]

            tops = builder.gep(c_data, [builder.add(c0, j)]), builder.gep(a_data, [builder.add(a0, j)])
            loop(zero, rows, 1, row, *tops)
            return []

        return inside

    begin = zero
    for lanes in (8, 4):
        end = builder.and_(columns, ir.Constant(i64, -lanes))
        loop(begin, end, lanes, add_columns(ir.VectorType(f64, lanes)))
        begin = end
    loop(begin, columns, 1, add_columns(f64))
    return context.get_dummy_value()
