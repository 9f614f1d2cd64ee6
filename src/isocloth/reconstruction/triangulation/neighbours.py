"""Neighbours: the nearest points, the local spacing, and among them those whose Voronoi cells touch.

Chapter 5 of the thesis takes the Delaunay neighbours among the 12 nearest points of ambient space. Here the cells are
taken in the tangent plane (see `normals`), where they are polygons in any ambient dimension: a cell is cut out of a
disc by the bisectors of its neighbours. The disc bounds the empty circles, so that no neighbour lies across a gap.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.spatial import cKDTree

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray

#: nearest points that may be neighbours
NEAREST = 24
#: nearest points that the spacing is measured with
SPACING_RANK = 12
#: largest radius of an empty circle between neighbours, in local spacings; of a random sample of 30 000 points the
#: largest is about sqrt(ln(30000) / pi) = 1.8
EMPTY_CIRCLE = 2.5
#: corners of the polygon that stands for the disc around a point
DISC = 16
#: most neighbours of one point
MOST = 32


def nearest(points: FloatArray, count: int = NEAREST) -> tuple[IntArray, FloatArray]:
    """The `count` nearest points (n, count) of every point, and their distances in m; ties go to the smaller index."""
    count = min(count, len(points) - 1)
    distance, index = map(np.asarray, cKDTree(points).query(points, k=count + 1))
    own = index == np.arange(len(points))[:, None]
    # a point with twins may not find itself first, or not at all
    lost = ~own.any(axis=1)
    own[lost, -1] = True
    distance, index = distance[~own].reshape(len(points), count), index[~own].reshape(len(points), count)
    order = np.lexsort((index, distance), axis=1)
    return (
        np.take_along_axis(index, order, axis=1).astype(np.int64),
        np.take_along_axis(distance, order, axis=1),
    )


def local_spacing(near: IntArray, distances: FloatArray, rank: int = SPACING_RANK) -> FloatArray:
    """Spacing (n,) in m around every point: sqrt(area / points), if the area is the disc that holds `rank` neighbours.

    s = d_k sqrt(pi / k). At a boundary half of the disc is empty, and s is too large by up to sqrt(2), which would
    bridge slits; so the lower quartile of the neighbours' values is taken.
    """
    rank = min(rank, distances.shape[1])
    own = distances[:, rank - 1] * math.sqrt(math.pi / rank)
    return np.quantile(own[near[:, :rank]], 0.25, axis=1)


@kernel
def voronoi_cell(places: FloatArray, radius: float) -> tuple[IntArray, BoolArray]:
    """Which of `places` (k, 2) share an edge with the Voronoi cell of the origin, and whether they enclose it.

    The cell is cut out of a polygon in the circle of the given radius; it is open if a side of that is left over.
    """
    x, y = np.empty(MOST + DISC), np.empty(MOST + DISC)
    label = np.empty(MOST + DISC, dtype=np.int64)  # of the side from corner i to the next
    x2, y2 = np.empty(MOST + DISC), np.empty(MOST + DISC)
    label2 = np.empty(MOST + DISC, dtype=np.int64)
    size = DISC
    for i in range(DISC):
        angle = 2.0 * math.pi * (i + 0.5) / DISC
        x[i], y[i] = radius * math.cos(angle), radius * math.sin(angle)
        label[i] = -1
    for k in range(len(places)):
        px, py = places[k, 0], places[k, 1]
        half = 0.5 * (px * px + py * py)
        if half == 0.0:
            continue
        cut = False
        for i in range(size):
            cut = cut or px * x[i] + py * y[i] > half
        if not cut or size + 2 > MOST + DISC:
            continue
        new = 0
        for i in range(size):
            j = (i + 1) % size
            here, there = px * x[i] + py * y[i] - half, px * x[j] + py * y[j] - half
            if here <= 0.0:
                x2[new], y2[new], label2[new] = x[i], y[i], label[i]
                new += 1
            if (here <= 0.0) != (there <= 0.0):
                t = here / (here - there)
                x2[new], y2[new] = x[i] + t * (x[j] - x[i]), y[i] + t * (y[j] - y[i])
                label2[new] = k if here <= 0.0 else label[i]
                new += 1
        x, x2, y, y2, label, label2, size = x2, x, y2, y, label2, label, new
    beside = np.zeros(len(places), dtype=np.bool_)
    enclosed = np.ones(1, dtype=np.bool_)
    for i in range(size):
        if label[i] >= 0:
            beside[label[i]] = True
        else:
            enclosed[0] = False
    return np.flatnonzero(beside), enclosed


@kernel
def project(points: FloatArray, frames: FloatArray, v: int, others: IntArray) -> FloatArray:
    """Coordinates (k, 2) of other points in the tangent plane at v, in m."""
    n = points.shape[1]
    places = np.zeros((len(others), 2))
    for k in range(len(others)):
        for c in range(n):
            step = points[others[k], c] - points[v, c]
            places[k, 0] += step * frames[v, 0, c]
            places[k, 1] += step * frames[v, 1, c]
    return places


@kernel
def tangent_neighbours(
    points: FloatArray, frames: FloatArray, near: IntArray, spacing: FloatArray, reach: float
) -> tuple[IntArray, BoolArray]:
    """Voronoi neighbours (n, MOST) in the tangent planes, filled up with -1, and which points (n,) are enclosed."""
    n = len(points)
    found = np.full((n, MOST), -1, dtype=np.int64)
    enclosed = np.empty(n, dtype=np.bool_)
    for v in range(n):
        beside, closed = voronoi_cell(project(points, frames, v, near[v]), reach * spacing[v])
        enclosed[v] = closed[0]
        for k in range(min(len(beside), MOST)):
            found[v, k] = near[v, beside[k]]
    return found, enclosed
