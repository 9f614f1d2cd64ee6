"""Which polygons of the net are holes of the surface, and which are gaps in the sampling.

Chapter 5 looks for boundary points, which their neighbours do not enclose, and connects them to curves. In a ribbon
graph the curves are there already: they are the faces too large to be gaps between points. Points that are not enclosed
are found by `neighbours.tangent_neighbours`, for comparison.
"""

from __future__ import annotations

import math

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray, IntArray

#: a polygon that reaches farther from its middle than so many local spacings is a hole. The largest gap of a random
#: sample reaches about 3.2 among 30 000 points, and grows with the root of the logarithm of their number
LARGEST_GAP = 4.0


@kernel
def hole_radii(points: FloatArray, spacing: FloatArray, nodes: IntArray, start: IntArray) -> FloatArray:
    """How far the corners of every polygon reach from their mean, in local spacings (faces,)."""
    radii = np.empty(len(start) - 1)
    dim = points.shape[1]
    for f in range(len(start) - 1):
        size = start[f + 1] - start[f]
        mean = np.zeros(dim)
        local = 0.0
        for i in range(start[f], start[f + 1]):
            local += spacing[nodes[i]] / size
            for c in range(dim):
                mean[c] += points[nodes[i], c] / size
        farthest = 0.0
        for i in range(start[f], start[f + 1]):
            squared = 0.0
            for c in range(dim):
                squared += (points[nodes[i], c] - mean[c]) ** 2
            farthest = max(farthest, squared)
        radii[f] = math.sqrt(farthest) / local
    return radii


def curve_radii(points: FloatArray, spacing: FloatArray, curves: list[IntArray]) -> FloatArray:
    """How far closed curves of points reach from their mean, in local spacings (curves,)."""
    if not curves:
        return np.empty(0)
    start = np.cumsum([0, *map(len, curves)])
    radii: FloatArray = hole_radii(points, spacing, np.concatenate(curves), start)
    return radii
