"""Microkernels against the sums in their docstrings, and nothing around them is written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.base.compiled import kernel
from isocloth.sparse.microkernels import COLUMNS, ROWS, TALL, add_block, reduce_rows, strip, tall_tile, tile


@kernel
def _tile(c, c0, c_stride, u, u0, v, v0, stride, depth):
    tile(c, c0, c_stride, u, u0, v, v0, stride, depth)


@kernel
def _tall_tile(c, c0, c_stride, u, u0, v, v0, stride, depth):
    tall_tile(c, c0, c_stride, u, u0, v, v0, stride, depth)


@kernel
def _strip(c, c0, c_stride, u, u0, u_stride, v, v0, v_deep, v_across, depth):
    strip(c, c0, c_stride, u, u0, u_stride, v, v0, v_deep, v_across, depth)


@kernel
def _reduce(u, u0, v, v0, stride, columns, f, d):
    reduce_rows(u, u0, v, v0, stride, columns, (f[0], f[1], f[2], f[3], f[4], f[5]), (d[0], d[1], d[2], d[3]))


@kernel
def _add(c, c0, c_stride, a, a0, a_stride, rows, columns):
    add_block(c, c0, c_stride, a, a0, a_stride, rows, columns)


@pytest.mark.parametrize(("run", "rows"), [(_tile, ROWS), (_tall_tile, TALL)])
@settings(max_examples=30, deadline=None)
@given(st.integers(0, 20), st.integers(0, 4), st.integers(0, 5), st.integers(0, 7))
def test_a_tile_is_reduced_by_a_product(run, rows, depth, down, right, shift):
    rng = np.random.default_rng(depth + 100 * down)
    c, u, v = rng.standard_normal((14, 20)), rng.standard_normal((20, 19)), rng.standard_normal((20, 19))
    expected = c.copy()
    product = v[:depth, shift : shift + rows].T @ u[:depth, right : right + COLUMNS]
    expected[down : down + rows, right : right + COLUMNS] -= product
    run(c.reshape(-1), down * 20 + right, 20, u.reshape(-1), right, v.reshape(-1), shift, 19, depth)
    np.testing.assert_allclose(c, expected, atol=1e-12)
    outside = np.ones(c.shape, dtype=bool)
    outside[down : down + rows, right : right + COLUMNS] = False
    np.testing.assert_array_equal(c[outside], expected[outside])


def test_a_tall_tile_has_the_bits_of_two_tiles():
    rng = np.random.default_rng(0)
    c, u, v = (rng.standard_normal((40, 24)) for _ in range(3))
    other = c.copy()
    _tall_tile(c.reshape(-1), 0, 24, u.reshape(-1), 8, v.reshape(-1), 0, 24, 37)
    for i in (0, ROWS):
        _tile(other.reshape(-1), i * 24, 24, u.reshape(-1), 8, v.reshape(-1), i, 24, 37)
    np.testing.assert_array_equal(c, other)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 20), st.booleans(), st.integers(0, 5))
def test_a_strip_reads_its_left_factor_across_or_down(depth, across, right):
    rng = np.random.default_rng(depth)
    c, u, v = rng.standard_normal((9, 14)), rng.standard_normal((20, 11)), rng.standard_normal((26, 26))
    left = v[:depth, right : right + ROWS] if across else v[right : right + ROWS, :depth].T
    expected = c.copy()
    expected[2 : 2 + ROWS, 3 : 3 + COLUMNS] -= left.T @ u[:depth, 1 : 1 + COLUMNS]
    start, deep, wide = (right, 26, 1) if across else (26 * right, 1, 26)
    _strip(c.reshape(-1), 2 * 14 + 3, 14, u.reshape(-1), 1, 11, v.reshape(-1), start, deep, wide, depth)
    np.testing.assert_allclose(c, expected, atol=1e-12)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 4))
def test_four_rows_are_reduced_by_one_another_and_divided(seed, vectors):
    rng = np.random.default_rng(seed)
    columns, factors, inverses = 4 * vectors, rng.standard_normal(6), rng.standard_normal(4)
    u, v = rng.standard_normal((6, 20)), rng.standard_normal((6, 20))
    expected, divided = u.copy(), v.copy()
    rows = expected[1:5, 2 : 2 + columns]
    for i in range(4):
        for k in range(i):
            rows[i] -= factors[i * (i - 1) // 2 + k] * rows[k]
    divided[:4, 1 : 1 + columns] = inverses[:, None] * rows
    _reduce(u.reshape(-1), 22, v.reshape(-1), 1, 20, columns, factors, inverses)
    np.testing.assert_allclose(u, expected, atol=1e-12)
    np.testing.assert_allclose(v, divided, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 9), st.integers(0, 13), st.integers(0, 3), st.integers(0, 3))
def test_a_block_is_added_and_nothing_around_it(rows, columns, down, right):
    rng = np.random.default_rng(rows + 100 * columns)
    c, a = rng.standard_normal((14, 20)), rng.standard_normal((14, 17))
    expected = c.copy()
    expected[down : down + rows, right : right + columns] += a[:rows, 2 : 2 + columns]
    _add(c.reshape(-1), down * 20 + right, 20, a.reshape(-1), 2, 17, rows, columns)
    np.testing.assert_array_equal(c, expected)
