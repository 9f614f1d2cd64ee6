"""Finding the rows and columns in which markers were put on a rectangular cloth."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.meshes.grid import grid_quads

#: largest rms deviation from a straight grid, in spacings, at which points count as one
CROOKED = 0.2


class Grid(NamedTuple):
    """Markers in rows from the upper edge down, each from small to large x (or y, if the sheet stands across it)."""

    order: IntArray  # (rows, columns) indices of points
    deviation: float  # rms, in spacings


def find_grid(points: FloatArray, shape: tuple[int, int] | None = None) -> Grid | None:
    """The grid that points (k, 3) of a hanging, nearly flat sheet form, z up; None if they form none.

    Every way to cut k into rows and columns is tried: sorted by height into rows, each row sorted along the sheet. The
    best is that from which a straight grid with even spacing is least away.
    """
    k = len(points)
    along = _direction(points)
    u, v = points @ along, points[:, 2]
    shapes = [shape] if shape is not None else [(r, k // r) for r in range(2, k // 2 + 1) if k % r == 0]
    best: Grid | None = None
    for rows, columns in shapes:
        if rows * columns != k or min(rows, columns) < 2:
            continue
        order = np.argsort(-v, kind="stable").reshape(rows, columns)
        order = np.array([row[np.argsort(u[row], kind="stable")] for row in order])
        found = Grid(order, _deviation(points[order]))
        if best is None or found.deviation < best.deviation:
            best = found
    return best if best is not None and best.deviation < CROOKED else None


def _direction(points: FloatArray) -> FloatArray:
    """Horizontal unit vector along the sheet, towards larger x (or y)."""
    flat = points[:, :2] - points[:, :2].mean(axis=0)
    _, _, axes = np.linalg.svd(flat, full_matrices=False)
    along = np.array([axes[0, 0], axes[0, 1], 0.0])
    main = int(np.argmax(np.abs(along)))
    return along if along[main] > 0 else -along


def _deviation(points: FloatArray) -> float:
    """Rms distance of (rows, columns, 3) from the nearest affine grid, relative to its smaller spacing."""
    rows, columns, _ = points.shape
    i, j = np.meshgrid(np.arange(rows), np.arange(columns), indexing="ij")
    A = np.stack([np.ones(rows * columns), i.ravel(), j.ravel()], axis=1)
    X = points.reshape(-1, 3)
    coefficients = np.linalg.lstsq(A, X, rcond=None)[0]
    spacing = float(min(np.linalg.norm(coefficients[1]), np.linalg.norm(coefficients[2])))
    if spacing == 0.0:
        return np.inf
    return float(np.sqrt(((X - A @ coefficients) ** 2).sum(axis=1).mean())) / spacing


def sheet(shape: tuple[int, int], size: tuple[float, float]) -> Mesh:
    """Flat mesh with a node per marker: rows from the upper edge (y = height) down, columns along x."""
    rows, columns = shape
    width, height = size
    y, x = np.meshgrid(np.linspace(height, 0.0, rows), np.linspace(0.0, width, columns), indexing="ij")
    vertices = np.stack([x, y, np.zeros_like(x)], axis=2).reshape(-1, 3)
    return Mesh(vertices, grid_quads(rows, columns)[:, ::-1], name="markers")


def measured_size(points: FloatArray) -> tuple[float, float]:
    """Width and height (m) of a sheet from its grid of markers in time (T, rows, columns, 3).

    Chords are at most as long as the cloth between their ends: the size is what the mean chord of a row or column
    comes to when the sheet is at its flattest, in a tenth of the frames.
    """
    across = np.linalg.norm(np.diff(points, axis=2), axis=3)
    down = np.linalg.norm(np.diff(points, axis=1), axis=3)
    return _flattest(across) * (points.shape[2] - 1), _flattest(down) * (points.shape[1] - 1)


def _flattest(chords: FloatArray) -> float:
    flat = chords.reshape(len(chords), -1)
    seen = np.isfinite(flat)
    enough = seen.mean(axis=1) >= 0.8 * seen.mean(axis=1).max()
    return float(np.quantile(np.nanmean(flat[enough], axis=1), 0.9))
