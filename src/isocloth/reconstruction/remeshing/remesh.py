"""Remeshing by farthest point sampling: fewer, evenly spread nodes, with the topology of the surface.

Nodes are placed on the boundary curves first, at their corners and evenly between, then one by one at the point that is
farthest from all others, measured along the surface. Every point belongs to its nearest node; where the regions of
three nodes meet, the mesh has a triangle (the dual of a geodesic Voronoi diagram). If the regions are discs that meet
in arcs, the mesh is the same surface; that is checked, and the nodes are made denser where it fails.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import topology
from isocloth.meshes.polygons import closed_reach
from isocloth.reconstruction.triangulation.complex import Complex, oriented
from isocloth.reconstruction.triangulation.geodesics import farthest_points, neighbour_lists, spread_distances

#: a node is added where the surface is farther than this from all others, in edge lengths
COVER = 0.65
#: rounds in which nodes move to the middle of their regions
ROUNDS = 4
#: rounds in which nodes are added where regions do not meet as they should
REPAIRS = 12
#: a boundary turns by more than this at a corner, in rad
CORNER = np.deg2rad(50.0)


def remesh(surface: Complex, edge: float) -> tuple[IntArray, IntArray]:
    """Points (k,) of the surface that become nodes, and triangles (m, 3) between these, with edges of about `edge` m.

    Denser than asked for if the topology needs it; with all points in the last resort.
    """
    graph = neighbour_lists(surface)
    smallest = float(np.median(surface.edge_lengths))
    while edge > 1.2 * smallest:
        nodes = spread_nodes(surface, *graph, boundary_nodes(surface, edge), edge)
        for _ in range(REPAIRS):
            owner, distance, triangles = _dual(surface, nodes, *graph)
            wrong, unused = _wrong(triangles, len(nodes))
            if len(wrong) == 0 and len(unused) == 0:
                break
            # a region that meets fewer than two others is not needed
            nodes = np.delete(nodes, unused) if len(unused) else _with_more(nodes, wrong, owner, distance)
        else:
            triangles = np.empty((0, 3), dtype=np.int64)
        if len(triangles) and same_surface(surface, surface.points[nodes], triangles):
            return nodes, oriented(triangles)[0]
        edge *= 0.8
    return np.arange(len(surface.points)), surface.triangles


def boundary_nodes(surface: Complex, edge: float) -> IntArray:
    """Points of the boundary curves about `edge` m apart in space: corners, and others between them; at least four."""
    chosen: list[int] = []
    for curve in surface.boundary_curves:
        positions = surface.points[curve]
        along = closed_reach(positions)
        corners = _corner_places(positions, along, min(edge, along[-1] / 8.0)) or [0]
        size = len(curve)
        found: list[int] = []
        apart = min(edge, along[-1] / 8.0)
        for start, stop in zip(corners, [*corners[1:], corners[0] + size], strict=True):
            found.append(start)
            last = positions[start]
            for k in range(start + 1, stop):
                here = positions[k % size]
                if np.linalg.norm(here - last) >= apart:
                    found.append(k)
                    last = here
            if found[-1] != start and np.linalg.norm(positions[stop % size] - last) < 0.5 * apart:
                found.pop()
        chosen += curve[np.array(found) % size].tolist()
    return np.unique(np.array(chosen, dtype=np.int64))


def boundary_corners(surface: Complex, edge: float) -> IntArray:
    """Points of the boundary curves at which these turn sharply."""
    found = [np.empty(0, dtype=np.int64)]
    for curve in surface.boundary_curves:
        positions = surface.points[curve]
        along = closed_reach(positions)
        found.append(curve[_corner_places(positions, along, min(edge, along[-1] / 8.0))])
    return np.concatenate(found)


def _corner_places(positions: FloatArray, along: FloatArray, edge: float) -> list[int]:
    """Points of a closed curve at which it turns sharply, seen from an arm's length of 1.5 edges."""
    total = along[-1]
    arm = min(1.5 * edge, total / 8.0)
    closed = np.vstack([positions, positions[:1]])

    def at(s: FloatArray) -> FloatArray:
        return np.stack([np.interp(np.mod(s, total), along, closed[:, c]) for c in range(positions.shape[1])], axis=1)

    s = along[:-1]
    before, after = positions - at(s - arm), at(s + arm) - positions
    norm = np.linalg.norm(before, axis=1) * np.linalg.norm(after, axis=1)
    cosine = (before * after).sum(axis=1) / np.maximum(norm, 1e-300)
    turn = np.arccos(np.clip(cosine, -1.0, 1.0))
    marks: list[int] = []
    for k in np.argsort(-turn, kind="stable").tolist():
        if turn[k] < CORNER:
            break
        gap = [min(abs(s[k] - s[m]), total - abs(s[k] - s[m])) for m in marks]
        if not gap or min(gap) > 1.5 * arm:
            marks.append(k)
    return sorted(marks)


def spread_nodes(
    surface: Complex, first: IntArray, beside: IntArray, length: FloatArray, fixed: IntArray, edge: float
) -> IntArray:
    """The fixed points and farthest points between them, moved to the middle of their regions."""
    n = len(surface.points)
    distance, owner = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
    starts = np.unique(surface.component_of, return_index=True)[1]  # a component without boundary needs one to begin
    bare = np.setdiff1d(surface.component_of[starts], surface.component_of[fixed])
    begin = np.concatenate([fixed, starts[bare]]).astype(np.int64)
    spread_distances(begin, first, beside, length, distance, owner)
    inner = np.concatenate([begin[len(fixed) :], farthest_points(first, beside, length, distance, owner, COVER * edge)])
    for _ in range(ROUNDS):
        nodes = np.concatenate([fixed, inner])
        distance[:], owner[:] = np.inf, -1
        spread_distances(nodes, first, beside, length, distance, owner)
        inner = _middles(surface, owner, inner)
    return np.unique(np.concatenate([fixed, inner]))


def _middles(surface: Complex, owner: IntArray, inner: IntArray) -> IntArray:
    """The point of every inner region, off the boundary, that is closest to its mean."""
    slot = np.full(len(owner), -1, dtype=np.int64)
    slot[inner] = np.arange(len(inner))
    member = np.flatnonzero((slot[owner] >= 0) & ~surface.on_boundary)
    region = slot[owner[member]]
    mean = np.zeros((len(inner), surface.points.shape[1]))
    np.add.at(mean, region, surface.points[member])
    mean /= np.maximum(np.bincount(region, minlength=len(inner)), 1)[:, None]
    away = ((surface.points[member] - mean[region]) ** 2).sum(axis=1)
    order = np.lexsort((member, away, region))
    firsts = np.unique(region[order], return_index=True)[1]
    moved = inner.copy()
    moved[region[order][firsts]] = member[order][firsts]
    return moved


def _dual(
    surface: Complex, nodes: IntArray, first: IntArray, beside: IntArray, length: FloatArray
) -> tuple[IntArray, FloatArray, IntArray]:
    """The node (n,) that every point belongs to, its distance in m, and triangles (m, 3) where three regions meet."""
    n = len(surface.points)
    distance, owner = np.full(n, np.inf), np.full(n, -1, dtype=np.int64)
    spread_distances(nodes, first, beside, length, distance, owner)
    place = np.full(n, -1, dtype=np.int64)
    place[nodes] = np.arange(len(nodes))
    owner = place[owner]
    corners = owner[surface.triangles]
    meets = (corners[:, 0] != corners[:, 1]) & (corners[:, 1] != corners[:, 2]) & (corners[:, 2] != corners[:, 0])
    return owner, distance, corners[meets]


def _wrong(triangles: IntArray, count: int) -> tuple[IntArray, IntArray]:
    """Nodes at which the triangles are no surface, and nodes without a triangle."""
    used = np.unique(triangles)
    if len(used) < count:
        return np.empty(0, dtype=np.int64), np.setdiff1d(np.arange(count), used)
    ordered = np.sort(triangles, axis=1)
    _, back, times = np.unique(ordered, axis=0, return_inverse=True, return_counts=True)
    repeated = times[back.reshape(-1)] > 1
    if repeated.any():
        return np.unique(triangles[repeated]), np.empty(0, dtype=np.int64)
    table = topology.edge_table(triangles)
    crowded = table.counts > 2
    if crowded.any():
        return np.unique(table.edges[crowded]), np.empty(0, dtype=np.int64)
    return topology.pinched_nodes(triangles, table), np.empty(0, dtype=np.int64)


def _with_more(nodes: IntArray, wrong: IntArray, owner: IntArray, distance: FloatArray) -> IntArray:
    """Nodes, and in each region that is wrong its farthest point."""
    member = np.flatnonzero(np.isin(owner, wrong) & (distance > 0.0))
    order = np.lexsort((member, -distance[member], owner[member]))
    firsts = np.unique(owner[member][order], return_index=True)[1]
    return np.unique(np.concatenate([nodes, member[order][firsts]]))


def same_surface(surface: Complex, points: FloatArray, triangles: IntArray) -> bool:
    """Whether a coarse surface has the invariants of the fine one."""
    coarse = Complex(points, triangles)
    return (
        coarse.euler_characteristic == surface.euler_characteristic
        and coarse.components == surface.components
        and len(coarse.boundary_curves) == len(surface.boundary_curves)
        and coarse.orientable == surface.orientable
    )
