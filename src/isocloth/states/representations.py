"""What a state can be described by: dGLI coordinates, and the simpler descriptions the thesis compares them with.

A representation turns a boundary into an array, measures distances between such arrays, and knows their mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import FloatArray
from isocloth.contact.distance import segment_segment
from isocloth.states.boundary import Boundary, corner_segments, resampled
from isocloth.states.coordinates import of_segments
from isocloth.states.curves import aligned, centred, frechet, hausdorff, mean_curve
from isocloth.states.distances import distance_matrix
from isocloth.states.segments import corner

#: points per side in which curves are compared, as on the thesis' mesh
PER_SIDE = 19


@dataclass(frozen=True)
class Representation:
    """A way to describe states and to compare them.

    describe: a boundary -> an array, of the same shape for all.
    distances: arrays (n, ...), (m, ...) -> table (n, m).
    centroid: arrays (n, ...) of one class -> their mean.
    """

    name: str
    describe: Callable[[Boundary], FloatArray]
    distances: Callable[[FloatArray, FloatArray], FloatArray]
    centroid: Callable[[FloatArray], FloatArray]

    def all(self, boundaries: Sequence[Boundary]) -> FloatArray:
        """Descriptions (n, ...) of many boundaries."""
        return np.array([self.describe(b) for b in boundaries])


def dgli_coordinates(boundary: Boundary) -> FloatArray:
    """28 dGLI coordinates, in 1/m."""
    return of_segments(corner_segments(boundary), touching="nan")


def edge_distances(boundary: Boundary) -> FloatArray:
    """28 smallest distances between the eight segments next to the corners, in m (thesis, "edges")."""
    x = corner_segments(boundary)
    i, j = np.triu_indices(len(x), 1)
    return np.asarray(_distances(np.stack([x[i, 0], x[i, 1], x[j, 0], x[j, 1]], axis=1)))


def corner_distances(boundary: Boundary) -> FloatArray:
    """6 distances between the four corners, in m (thesis, "corners")."""
    x = boundary.points[boundary.corners]
    i, j = np.triu_indices(4, 1)
    return np.asarray(np.linalg.norm(x[i] - x[j], axis=1))


def curve(boundary: Boundary) -> FloatArray:
    """The boundary as equally many points per side (n, 3), in m, the first repeated, centred."""
    points = resampled(boundary, PER_SIDE).points
    return centred(np.concatenate([points, points[:1]]))


def _spearman(x: FloatArray, y: FloatArray) -> FloatArray:
    return distance_matrix(x, y)


def _mean(x: FloatArray) -> FloatArray:
    return np.asarray(np.nanmean(x, axis=0))


def _after_alignment(measure: Callable[[FloatArray, FloatArray], float]) -> Callable[..., FloatArray]:
    def distances(x: FloatArray, y: FloatArray) -> FloatArray:
        table = np.empty((len(x), len(y)))
        for i, one in enumerate(x):
            for j, moved in enumerate(aligned(y, np.broadcast_to(one, y.shape))):
                table[i, j] = measure(centred(one), moved)
        return table

    return distances


DGLI = Representation("dGLI", dgli_coordinates, _spearman, _mean)
EDGES = Representation("edges", edge_distances, _spearman, _mean)
CORNERS = Representation("corners", corner_distances, _spearman, _mean)
FRECHET = Representation("Frechet", curve, _after_alignment(frechet), mean_curve)
HAUSDORFF = Representation("Hausdorff", curve, _after_alignment(hausdorff), mean_curve)

#: in the order of the thesis' table 7.1
ALL = (DGLI, EDGES, CORNERS, FRECHET, HAUSDORFF)


@kernel
def _distances(ends: FloatArray) -> FloatArray:
    result = np.empty(len(ends))
    for i in range(len(ends)):
        square, _, _ = segment_segment(corner(ends, i, 0), corner(ends, i, 1), corner(ends, i, 2), corner(ends, i, 3))
        result[i] = np.sqrt(square)
    return result
