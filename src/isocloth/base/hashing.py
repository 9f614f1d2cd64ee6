"""Tables that are looked up by a number, with open places, for kernels: where sorting would take longer."""

from __future__ import annotations

from isocloth.base.compiled import inlined, kernel


@kernel
def table_size(count: int) -> int:
    """Size of a table for `count` keys, a power of two: at least half of it stays empty."""
    size = 1
    while size < 2 * count + 2:
        size *= 2
    return size


@inlined
def slot(key: int, size: int) -> int:
    """Where a key is looked for first in a table of a size; then in the places that follow, until one is empty."""
    return ((key * 0x9E3779B97F4A7C1) >> 24) & (size - 1)
