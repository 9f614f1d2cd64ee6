"""What is accepted as a cloud of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import SamplingError
from isocloth.base.numeric import as_array
from isocloth.base.typing import FloatArray, IntArray

#: fewer points make no surface
FEWEST = 20


def as_points(points: ArrayLike) -> FloatArray:
    """Copy `points` into a finite (n, N) float64 array in m, N >= 3."""
    given = as_array(points, "points", "(n, 3), one row per point", SamplingError)
    if given.ndim != 2 or given.shape[1] < 3:
        hint = "; append a column of zeros to points in a plane" if given.ndim == 2 and given.shape[1] == 2 else ""
        raise SamplingError(
            f"points have shape {given.shape}, expected (n, 3), one row per point, or more columns{hint}"
        )
    bad = np.flatnonzero(~np.isfinite(given).all(axis=1))
    if len(bad):
        more = f" (and {len(bad) - 1} more)" if len(bad) > 1 else ""
        raise SamplingError(
            f"point {bad[0]} is {given[bad[0]].tolist()}{more}; every coordinate must be finite, remove these points"
        )
    if len(given) < FEWEST:
        raise SamplingError(
            f"{len(given)} points were given, shape {given.shape}; a surface needs at least {FEWEST}: sample it more "
            "densely"
        )
    if float(np.ptp(given, axis=0).max()) == 0.0:
        raise SamplingError(f"all {len(given)} points are the same, {given[0].tolist()}; give points of a surface")
    return given


def distinct(points: FloatArray) -> IntArray:
    """Indices, increasing, of the points without exact repetitions; the first of each is kept."""
    return np.sort(np.unique(points, axis=0, return_index=True)[1])
