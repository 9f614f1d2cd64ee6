"""Which way is up: a direction with few critical points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.numeric import as_array
from isocloth.base.typing import FloatArray
from isocloth.reconstruction.morse.discrete_gradient import Gradient, gradient
from isocloth.reconstruction.triangulation.complex import Complex

#: directions that are tried
TRIES = 12


def unit(direction: ArrayLike, dimension: int) -> FloatArray:
    """A given direction (N,), made a unit vector."""
    given = as_array(direction, "direction", f"({dimension},)")
    if given.shape != (dimension,) or not np.isfinite(given).all() or not np.any(given):
        raise InputError(
            f"direction is {given.tolist()}, expected {dimension} finite numbers, not all zero, as many as a point has"
        )
    return given / np.linalg.norm(given)


def random_directions(dimension: int, count: int, seed: int) -> FloatArray:
    """(count, N) unit vectors, uniformly distributed."""
    found = np.random.default_rng(seed).normal(size=(count, dimension))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def usual_detail(height: FloatArray, spacing: float) -> float:
    """What counts as a feature unless told otherwise, in m: 2.5 spacings, and a fiftieth of the range of heights."""
    return max(2.5 * spacing, 0.02 * float(np.ptp(height)))


def choose_direction(
    surface: Complex, spacing: float, detail: float | None, *, tries: int = TRIES, seed: int = 0
) -> tuple[FloatArray, Gradient]:
    """Of random directions the one with the fewest maxima, then the fewest cells, then the largest range of heights."""
    best: tuple[tuple[float, ...], FloatArray, Gradient] | None = None
    for direction in random_directions(surface.points.shape[1], tries, seed):
        height = surface.points @ direction
        found = gradient(surface, height, usual_detail(height, spacing) if detail is None else detail)
        cells = len(found.minima) + len(found.critical) + len(found.maxima)
        merit = (float(len(found.maxima)), float(cells), -float(np.ptp(height)))
        if best is None or merit < best[0]:
            best = (merit, direction, found)
    assert best is not None
    return best[1], best[2]
