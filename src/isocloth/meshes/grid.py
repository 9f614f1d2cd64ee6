"""Cells of a regular grid of nodes, numbered with the first index slow."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import IntArray


def grid_quads(rows: int, columns: int, *, closed: bool = False) -> IntArray:
    """Quads between nodes i * columns + j, turning from the direction of i to that of j.

    `closed` joins the last column to the first. Shape ((rows - 1) * (columns - 1 or columns), 4), in the
    order of the nodes at which the cells start.
    """
    cells = columns if closed else columns - 1
    i, j = np.meshgrid(np.arange(rows - 1), np.arange(cells), indexing="ij")
    after = (j + 1) % columns
    corners = [i * columns + j, (i + 1) * columns + j, (i + 1) * columns + after, i * columns + after]
    return np.stack(corners, axis=2).reshape(-1, 4).astype(np.int64)


def split_alternately(quads: IntArray, rows: int, columns: int) -> IntArray:
    """Cut each cell of a rows x columns grid of quads in two, neighbours along opposite diagonals.

    A single direction of diagonals would make the cloth softer along it than across it.
    """
    i, j = np.divmod(np.arange(rows * columns), columns)
    even = ((i + j) % 2 == 0)[:, None]
    first = np.where(even, quads[:, [0, 1, 2]], quads[:, [0, 1, 3]])
    second = np.where(even, quads[:, [0, 2, 3]], quads[:, [1, 2, 3]])
    return np.stack([first, second], axis=1).reshape(-1, 3)
