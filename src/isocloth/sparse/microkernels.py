"""Register microkernels: the innermost loops of the factorisation, written for the vector registers.

The fronts of a cloth are small. Loops in plain Python reach half of the rate or less there: the compiler guards them
against overlapping arrays and finishes them one number at a time. These are generated as generic vectors, which any
processor can run, and the padding of the fronts spares them special cases at the edges.

- `tile`, `tall_tile`, `strip`: C -= V^T U for a few rows and eight columns of C, which stay in registers while the sum
  runs; per k eight numbers are loaded and four broadcast for 32 fused multiply-adds. A tall tile needs C half as often,
  but more registers than processors without AVX-512 have; there it is two tiles. The bits are the same whatever the
  tile: each entry is summed in the order of k. A strip reads V across or down, for eight right-hand sides.
- `reduce_rows`: the last four rows of a front, each of which waits for the one before.
- `add_block`: a child's Schur complement into its parent, in blocks of some twenty by twenty numbers. A column of
  vectors is added from top to bottom, and then the next: the same short loop many times over.

Arrays are flat; `c0` is where c starts in its array and `c_stride` the length of its rows. Nothing is checked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from llvmlite import binding, ir
from numba.core import cgutils, types
from numba.extending import intrinsic

#: of a tile
ROWS, COLUMNS = 4, 8
#: rows of a tall tile
TALL = 8

_WIDE = binding.get_host_cpu_features().get("avx512f", False)
#: numbers of a vector: of tiles, and of what has to wait for memory anyway
_TILE_LANES, _LANES = 8 if _WIDE else 4, 4

_F64, _I64, _I32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)


# ------------------------------------------------------------ what they are made of


def _number(value: int) -> Any:
    return ir.Constant(_I64, value)


def _data(context: Any, builder: Any, signature: Any, arguments: Sequence[Any], which: Iterable[int]) -> list[Any]:
    """Pointers to the first numbers of arrays among the arguments."""
    return [context.make_array(signature.args[k])(context, builder, arguments[k]).data for k in which]


def _load(builder: Any, pointer: Any, kind: Any) -> Any:
    """A vector, or a number, that need not be aligned as such."""
    value = builder.load(builder.bitcast(pointer, kind.as_pointer()))
    value.align = 8
    return value


def _store(builder: Any, value: Any, pointer: Any) -> None:
    builder.store(value, builder.bitcast(pointer, value.type.as_pointer())).align = 8


def _spread(builder: Any, number: Any, vector: Any) -> Any:
    """A vector of equal numbers."""
    undefined, everywhere = ir.Constant(vector, ir.Undefined), ir.Constant(ir.VectorType(_I32, vector.count), None)
    return builder.shuffle_vector(
        builder.insert_element(undefined, number, ir.Constant(_I32, 0)), undefined, everywhere
    )


def _loop(
    builder: Any, begin: Any, end: Any, step: int, inside: Callable[..., Sequence[Any]], *start: Any
) -> list[Any]:
    """Run `inside(j, *carried)` for j from begin to end; it returns what is carried on, as the loop does at its end."""
    before = builder.block
    head, body, done = (builder.append_basic_block(name) for name in ("head", "body", "done"))
    builder.branch(head)
    builder.position_at_end(head)
    j, *carried = (builder.phi(value.type) for value in (begin, *start))
    for phi, value in zip([j, *carried], [begin, *start], strict=True):
        phi.add_incoming(value, before)
    builder.cbranch(builder.icmp_signed("<", j, end), body, done)
    builder.position_at_end(body)
    following = inside(j, *carried)
    after = builder.block
    for phi, value in zip([j, *carried], [builder.add(j, _number(step)), *following], strict=True):
        phi.add_incoming(value, after)
    builder.branch(head)
    builder.position_at_end(done)
    return carried


class _Operand(NamedTuple):
    """A matrix: where its first number is, and how far it is to the next row and to the next column."""

    first: Any
    row: Any
    column: Any = None  # 1


def _subtract_product(builder: Any, rows: int, lanes: int, c: _Operand, u: _Operand, v: _Operand, depth: Any) -> None:
    """c[i, j] -= sum_k v[k, i] u[k, j] for i < rows, j < 8, k < depth."""
    vector = ir.VectorType(_F64, lanes)
    across = [builder.mul(v.column, _number(i)) for i in range(rows)]
    columns = range(0, COLUMNS, lanes)

    def grow(_: Any, u_row: Any, v_row: Any, *sums: Any) -> list[Any]:
        right = [_load(builder, builder.gep(u_row, [_number(j)]), vector) for j in columns]
        grown, old = [], iter(sums)
        for i in range(rows):
            left = _spread(builder, builder.load(builder.gep(v_row, [across[i]])), vector)
            for part in right:
                product = builder.fmul(left, part, flags=("contract",))
                grown.append(builder.fadd(next(old), product, flags=("contract",)))
        return [builder.gep(u_row, [u.row]), builder.gep(v_row, [v.row]), *grown]

    zeros = [ir.Constant(vector, [0.0] * lanes)] * (rows * len(columns))
    _, _, *sums = _loop(builder, _number(0), depth, 1, grow, u.first, v.first, *zeros)
    left_over = iter(sums)
    for i in range(rows):
        c_row = builder.gep(c.first, [builder.mul(c.row, _number(i))])
        for j in columns:
            place = builder.gep(c_row, [_number(j)])
            _store(builder, builder.fsub(_load(builder, place, vector), next(left_over)), place)


# ------------------------------------------------------------ C -= V^T U


def _tile(
    typing: Any, c: Any, c0: Any, c_stride: Any, u: Any, u0: Any, v: Any, v0: Any, stride: Any, depth: Any
) -> Any:
    """c[i, j] -= sum_k v[k, i] u[k, j] for i < 4, j < 8, k < depth; u and v have rows of length stride."""
    i64 = types.int64
    return types.void(c, i64, i64, u, i64, v, i64, i64, i64), _generate_tile


def _tall_tile(
    typing: Any, c: Any, c0: Any, c_stride: Any, u: Any, u0: Any, v: Any, v0: Any, stride: Any, depth: Any
) -> Any:
    """The same for i < 8."""
    signature, _ = _tile(typing, c, c0, c_stride, u, u0, v, v0, stride, depth)
    return signature, _generate_tall_tile


def _generate_tile(context: Any, builder: Any, signature: Any, arguments: Any, rows: int = ROWS) -> Any:
    c, u, v = _data(context, builder, signature, arguments, (0, 3, 5))
    c0, c_stride, u0, v0, stride, depth = (arguments[k] for k in (1, 2, 4, 6, 7, 8))
    _subtract_product(
        builder, rows, _TILE_LANES, _Operand(builder.gep(c, [c0]), c_stride), _Operand(builder.gep(u, [u0]), stride),
        _Operand(builder.gep(v, [v0]), stride, _number(1)), depth,
    )  # fmt: skip
    return context.get_dummy_value()


def _generate_tall_tile(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    if _WIDE:
        return _generate_tile(context, builder, signature, arguments, TALL)
    c, c0, c_stride, u, u0, v, v0, stride, depth = arguments
    lower_c, lower_v = builder.add(c0, builder.mul(c_stride, _number(ROWS))), builder.add(v0, _number(ROWS))
    _generate_tile(context, builder, signature, arguments)
    return _generate_tile(context, builder, signature, (c, lower_c, c_stride, u, u0, v, lower_v, stride, depth))


def _strip(
    typing: Any, c: Any, c0: Any, c_stride: Any, u: Any, u0: Any, u_stride: Any, v: Any, v0: Any, v_deep: Any,
    v_across: Any, depth: Any,
) -> Any:  # fmt: skip
    """c[i, j] -= sum_k v[k, i] u[k, j] for i < 4, j < 8, k < depth; v[k, i] lies at v0 + k v_deep + i v_across."""
    i64 = types.int64
    return types.void(c, i64, i64, u, i64, i64, v, i64, i64, i64, i64), _generate_strip


def _generate_strip(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    c, u, v = _data(context, builder, signature, arguments, (0, 3, 6))
    c0, c_stride, u0, u_stride, v0, v_deep, v_across, depth = (arguments[k] for k in (1, 2, 4, 5, 7, 8, 9, 10))
    _subtract_product(
        builder, ROWS, _LANES, _Operand(builder.gep(c, [c0]), c_stride), _Operand(builder.gep(u, [u0]), u_stride),
        _Operand(builder.gep(v, [v0]), v_deep, v_across), depth,
    )  # fmt: skip
    return context.get_dummy_value()


# ------------------------------------------------------------ four rows by one another


def _reduce_rows(
    typing: Any, u: Any, u0: Any, v: Any, v0: Any, stride: Any, columns: Any, factors: Any, inverses: Any
) -> Any:
    """u[i, j] -= sum_{k < i} factors[k, i] u[k, j], one row after the other; then v[i, j] = inverses[i] u[i, j]; i < 4.

    u and v have rows of length stride; columns are rounded up to whole vectors. The factors are those of the pairs 01,
    02, 12, 03, 13, 23.
    """
    i64, f64 = types.int64, types.float64
    signature = types.void(u, i64, v, i64, i64, i64, types.UniTuple(f64, 6), types.UniTuple(f64, 4))
    return signature, _generate_reduce_rows


def _generate_reduce_rows(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    vector = ir.VectorType(_F64, _LANES)
    u, v = _data(context, builder, signature, arguments, (0, 2))
    u0, v0, stride, columns = (arguments[k] for k in (1, 3, 4, 5))
    factors, inverses = (
        [_spread(builder, number, vector) for number in cgutils.unpack_tuple(builder, arguments[k], count)]
        for k, count in ((6, 6), (7, 4))
    )

    def four(pointer: Any) -> list[Any]:
        rows = [pointer]
        for _ in range(3):
            rows.append(builder.gep(rows[-1], [stride]))
        return rows

    def inside(j: Any) -> list[Any]:
        rows = four(builder.gep(u, [builder.add(u0, j)]))
        divided = four(builder.gep(v, [builder.add(v0, j)]))
        reduced: list[Any] = []
        for i, row in enumerate(rows):
            value = _load(builder, row, vector)
            for k, above in enumerate(reduced):
                product = builder.fmul(factors[i * (i - 1) // 2 + k], above, flags=("contract",))
                value = builder.fsub(value, product, flags=("contract",))
            reduced.append(value)
        for row, target, inverse, value in zip(rows, divided, inverses, reduced, strict=True):
            _store(builder, value, row)
            _store(builder, builder.fmul(inverse, value), target)
        return []

    _loop(builder, _number(0), columns, _LANES, inside)
    return context.get_dummy_value()


# ------------------------------------------------------------ a block added to another


def _add_block(
    typing: Any, c: Any, c0: Any, c_stride: Any, a: Any, a0: Any, a_stride: Any, rows: Any, columns: Any
) -> Any:
    """c[i, j] += a[i, j] for i < rows, j < columns; the two do not overlap."""
    i64 = types.int64
    return types.void(c, i64, i64, a, i64, i64, i64, i64), _generate_add_block


def _generate_add_block(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    c, a = _data(context, builder, signature, arguments, (0, 3))
    c0, c_stride, a0, a_stride, rows, columns = (arguments[k] for k in (1, 2, 4, 5, 6, 7))

    def add_columns(kind: Any) -> Callable[[Any], list[Any]]:
        def row(_: Any, target: Any, source: Any) -> list[Any]:
            _store(builder, builder.fadd(_load(builder, target, kind), _load(builder, source, kind)), target)
            return [builder.gep(target, [c_stride]), builder.gep(source, [a_stride])]

        def inside(j: Any) -> list[Any]:
            tops = builder.gep(c, [builder.add(c0, j)]), builder.gep(a, [builder.add(a0, j)])
            _loop(builder, _number(0), rows, 1, row, *tops)
            return []

        return inside

    begin = _number(0)
    for lanes in (8, 4):
        end = builder.and_(columns, _number(-lanes))
        _loop(builder, begin, end, lanes, add_columns(ir.VectorType(_F64, lanes)))
        begin = end
    _loop(builder, begin, columns, 1, add_columns(_F64))
    return context.get_dummy_value()


tile: Any = intrinsic(_tile)
tall_tile: Any = intrinsic(_tall_tile)
strip: Any = intrinsic(_strip)
reduce_rows: Any = intrinsic(_reduce_rows)
add_block: Any = intrinsic(_add_block)
