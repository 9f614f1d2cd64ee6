"""Unstructured triangles inside a polygon: random points, relaxed, joined by Delaunay's rule.

The boundary nodes are given and stay; interior nodes start as random points far from each other and move,
again and again, to the centroid of the triangles around them (a discrete form of Lloyd's relaxation), while
the triangulation follows. The result is irregular, yet its triangles are close to equilateral.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import Delaunay, cKDTree

from isocloth.base.errors import MeshError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.polygons import inside, polygon_area

EQUILATERAL = np.sqrt(3.0) / 4.0
"""Area of an equilateral triangle with side 1."""

GOOD_ANGLE = np.deg2rad(30.0)
"""The search stops at a mesh whose smallest angle is this large, in rad."""

CANDIDATES = 16
"""Random points among which the most remote one becomes a node."""

BATCH = 64
"""Nodes placed between two rebuilds of the search tree."""


def mesh_polygon(
    boundary: FloatArray, interior: int, *, seed: int, relaxations: int = 30, attempts: int = 5
) -> tuple[FloatArray, IntArray]:
    """Triangulate a simple polygon with all its sides as edges.

    Parameters
    ----------
    boundary : (b, 2) corners of the polygon in m, counter-clockwise, with sides of similar length.
    interior : number of nodes to place inside.
    seed : the same seed gives the same mesh.
    relaxations : number of moves of the interior nodes.
    attempts : random starts to choose from; the mesh with the largest smallest angle wins.

    Returns the points (b + interior, 2), boundary first, and 2 interior + b - 2 triangles,
    counter-clockwise.
    """
    best: tuple[float, FloatArray, IntArray] | None = None
    for start in np.random.SeedSequence(seed).spawn(attempts):
        points = np.concatenate([boundary, _scatter(boundary, interior, np.random.default_rng(start))])
        points = _relax(points, len(boundary), relaxations)
        triangles = _triangulate(points, len(boundary))
        if not _fills(triangles, len(boundary), interior):
            continue
        angle = smallest_angle(points, triangles)
        if best is None or angle > best[0]:
            best = angle, points, triangles
        if angle >= GOOD_ANGLE or interior == 0:
            break
    if best is None:
        raise MeshError(
            f"a polygon with {len(boundary)} boundary nodes and {interior} inside could not be triangulated "
            f"in {attempts} attempts; use more nodes, or a shape without narrow parts"
        )
    return best[1], best[2]


def smallest_angle(points: FloatArray, triangles: IntArray) -> float:
    """Smallest angle of all triangles, in rad; points (n, 2) or (n, 3)."""
    p = points[triangles]
    after, before = np.roll(p, -1, axis=1) - p, np.roll(p, 1, axis=1) - p
    cosine = np.einsum("tki,tki->tk", after, before) / (np.linalg.norm(after, axis=2) * np.linalg.norm(before, axis=2))
    return float(np.arccos(np.clip(cosine.max(), -1.0, 1.0)))


def _scatter(boundary: FloatArray, count: int, rng: np.random.Generator) -> FloatArray:
    """Random points inside, each the farthest of a few candidates from all points placed before."""
    placed = boundary
    while (missing := len(boundary) + count - len(placed)) > 0:
        # In batches, so that the distances to the many points of earlier batches come from a tree.
        options = _random_inside(boundary, (min(missing, BATCH), CANDIDATES), rng)
        gaps, _ = cKDTree(placed).query(options)
        batch = np.empty((len(options), 2))
        for i, (candidates, gap) in enumerate(zip(options, np.asarray(gaps), strict=True)):
            apart = np.linalg.norm(candidates[:, None, :] - batch[None, :i, :], axis=2)
            batch[i] = candidates[np.argmax(np.minimum(gap, apart.min(axis=1, initial=np.inf)))]
        placed = np.concatenate([placed, batch])
    return placed[len(boundary) :]


def _random_inside(boundary: FloatArray, shape: tuple[int, int], rng: np.random.Generator) -> FloatArray:
    """Uniformly random points in the polygon, shape (*shape, 2)."""
    low, high = boundary.min(axis=0), boundary.max(axis=0)
    needed = shape[0] * shape[1]
    found = np.empty((0, 2))
    while len(found) < needed:
        drawn = rng.uniform(low, high, size=(needed, 2))
        found = np.concatenate([found, drawn[inside(boundary, drawn)]])
    return found[:needed].reshape(*shape, 2)


def _relax(points: FloatArray, n_boundary: int, relaxations: int) -> FloatArray:
    """Move the interior nodes to the area-weighted mean centroid of their triangles, repeatedly."""
    points = points.copy()
    if len(points) == n_boundary:
        return points
    for _ in range(relaxations):
        triangles = _triangulate(points, n_boundary)
        p = points[triangles]
        area = _twice_areas(p)
        weight, target = np.zeros(len(points)), np.zeros_like(points)
        np.add.at(weight, triangles, area[:, None])
        np.add.at(target, triangles, (area[:, None] * p.mean(axis=1))[:, None, :])
        free = np.flatnonzero(weight[n_boundary:] > 0.0) + n_boundary
        points[free] = target[free] / weight[free, None]
    return points


def _triangulate(points: FloatArray, n_boundary: int) -> IntArray:
    """Delaunay triangles with their centroid inside the polygon, counter-clockwise."""
    triangles = Delaunay(points).simplices.astype(np.int64)
    p = points[triangles]
    area = _twice_areas(p)
    # Rounding lets flat triangles appear along straight sides.
    solid = np.abs(area) > 1e-9 * np.abs(area).max()
    # Only boundary nodes can be the corners of a triangle outside.
    doubtful = (triangles < n_boundary).all(axis=1)
    keep = solid.copy()
    keep[doubtful] &= inside(points[:n_boundary], p[doubtful].mean(axis=1))
    flipped = area < 0.0
    triangles[flipped] = triangles[flipped][:, [0, 2, 1]]
    return triangles[keep]


def _fills(triangles: IntArray, n_boundary: int, interior: int) -> bool:
    """Whether the triangles cover the polygon: all its sides are edges and the count is Euler's."""
    if len(triangles) != 2 * interior + n_boundary - 2:
        return False
    sides = {(int(a), int(b)) for t in triangles for a, b in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))}
    return all((i, (i + 1) % n_boundary) in sides for i in range(n_boundary))


def _twice_areas(p: FloatArray) -> FloatArray:
    u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    return u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]


def spacing_for_nodes(boundary_length: float, area: float, nodes: int) -> float:
    """Edge length, in m, at which a region holds `nodes` nodes, boundary included.

    Euler's formula gives 2 nodes - b - 2 triangles for b boundary nodes; with triangles of area
    sqrt(3) / 4 h^2 and b = boundary_length / h this is a quadratic equation in 1 / h.
    """
    a, b, c = area / EQUILATERAL, boundary_length, 2.0 - 2.0 * nodes
    return float(2.0 * a / (-b + np.sqrt(b * b - 4.0 * a * c)))


def spacing_for_triangles(area: float, triangles: int) -> float:
    """Edge length, in m, at which a region of the given area, in m^2, holds so many triangles."""
    return float(np.sqrt(area / (EQUILATERAL * triangles)))


def interior_count(boundary: FloatArray, spacing: float) -> float:
    """Number of interior nodes, before rounding, that gives triangles with sides of `spacing` m."""
    return (polygon_area(boundary) / (EQUILATERAL * spacing**2) + 2.0 - len(boundary)) / 2.0
