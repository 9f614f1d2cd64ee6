"""Filters: outliers, box grid, and the discrete-curvature filter of chapter 5. Each returns new points."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import cKDTree

from isocloth.base.errors import InputError
from isocloth.base.numeric import as_float, shown
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes.topology import component_labels
from isocloth.reconstruction.cloud import as_points
from isocloth.reconstruction.triangulation.neighbours import nearest


def outliers(points: ArrayLike, *, neighbours: int = 8, factor: float = 4.0) -> BoolArray:
    """Which points (n,) lie apart: those whose mean distance to their nearest neighbours is far above the usual.

    Usual is the median of those neighbours' own mean distances, so that a sparse part of an uneven cloud is not taken
    for outliers; far above is more than `factor` times. A small clump away from the rest is not found here, but as a
    component of its own.
    """
    cloud = as_points(points)
    near, distance = nearest(cloud, neighbours)
    mean = distance.mean(axis=1)
    usual = np.maximum(np.median(mean[near], axis=1), 1e-300)
    alone = mean > factor * usual
    # two outliers side by side excuse each other: compare with the whole cloud as well
    return alone | (mean > 2.0 * factor * np.median(mean))


def box_grid(points: ArrayLike, size: float) -> FloatArray:
    """One point per occupied box of an axis-aligned grid of boxes of `size` m: the mean of the points in it."""
    cloud = as_points(points)
    if not 0.0 < (as_float(size) or np.nan) < np.inf:
        raise InputError(f"size is {shown(size)} m, expected a positive length; about twice the spacing is usual")
    box = np.floor((cloud - cloud.min(axis=0)) / size).astype(np.int64)
    _, label = np.unique(box, axis=0, return_inverse=True)
    label = label.reshape(-1)
    count = np.bincount(label)
    return np.stack([np.bincount(label, weights=cloud[:, c]) / count for c in range(cloud.shape[1])], axis=1)


def curvature_filter(points: ArrayLike, neighbours: IntArray, *, alpha: float = 0.4, times: int = 8) -> FloatArray:
    """Laplacian smoothing: h(v) = alpha v + (1 - alpha) mean of the neighbours of v, `times` times.

    neighbours: edges (e, 2) between points, as `Reconstruction.stages.net`. A point without neighbours stays. Chapter 5
    calls it the discrete-curvature filter and uses 0.4 and 8.
    """
    if not 0.0 <= alpha <= 1.0:
        raise InputError(f"alpha is {alpha}, expected a share between 0 and 1")
    cloud = np.array(points, dtype=np.float64)
    pairs = np.concatenate([neighbours, neighbours[:, ::-1]])
    degree = np.bincount(pairs[:, 0], minlength=len(cloud))
    moving = degree > 0
    for _ in range(times):
        total = np.zeros_like(cloud)
        np.add.at(total, pairs[:, 0], cloud[pairs[:, 1]])
        cloud[moving] = alpha * cloud[moving] + (1.0 - alpha) * total[moving] / degree[moving, None]
    return cloud


def evened(points: ArrayLike, distance: float) -> IntArray:
    """Poisson-disk thinning: indices of points at least `distance` m apart, all others being closer than that to one.

    For clouds of very uneven density: thins out the dense parts and leaves the sparse ones.
    """
    cloud = as_points(points)
    if not 0.0 < (as_float(distance) or np.nan) < np.inf:
        raise InputError(f"distance is {shown(distance)} m, expected a positive length")
    pairs = cKDTree(cloud).query_pairs(distance, output_type="ndarray")
    kept = np.ones(len(cloud), dtype=np.bool_)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    for a, b in pairs[order].tolist():
        if kept[a]:
            kept[b] = False
    return np.flatnonzero(kept)


def largest_cluster(points: ArrayLike, distance: float) -> IntArray:
    """Indices of the largest set of points connected by steps of at most `distance` m."""
    cloud = as_points(points)
    pairs = cKDTree(cloud).query_pairs(distance, output_type="ndarray")
    _, label = component_labels(len(cloud), pairs.astype(np.int64).reshape(-1, 2))
    return np.flatnonzero(label == np.bincount(label).argmax())
