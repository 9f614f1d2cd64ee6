"""Charts: a 2-cell laid out flat, on a disc or on a polygon inscribed in a circle.

The boundary of the cell goes to the boundary of the domain by arc length. Each inner point goes to the mean of its
neighbours (Tutte's weights), which for a convex domain is an embedding: one sparse linear system. A cell that is
attached to a single point, as that of a sphere, is slit open along a flow line first.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.sparse import coo_array
from scipy.sparse.linalg import splu

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.polygons import closed_reach
from isocloth.meshes.topology import component_labels, edge_table
from isocloth.reconstruction.morse.cells import CellComplex
from isocloth.reconstruction.morse.discrete_gradient import Gradient
from isocloth.reconstruction.triangulation.complex import Complex, oriented

Domain = Literal["disc", "polygon"]


@dataclass(frozen=True, eq=False)
class Chart:
    """A 2-cell cut open along its boundary and laid out flat.

    uv: (k, 2) places in the domain, in m. positions: (k, N) in m. points: (k,) points of the surface; one on the
    boundary of the cell occurs as often as the boundary passes it. triangles: (l, 3). boundary: nodes around the
    cell. sides: nodes of the arcs between corners, one after the other, each with both of its corners.
    """

    uv: FloatArray
    positions: FloatArray
    points: IntArray
    triangles: IntArray
    boundary: IntArray
    sides: list[IntArray]

    def __call__(self, uv: ArrayLike) -> FloatArray:
        """Positions (k, N) in m at places (k, 2) of the domain, linear on the triangles; nan outside."""
        places = np.ascontiguousarray(uv, dtype=np.float64)
        if places.ndim != 2 or places.shape[1] != 2:
            raise InputError(f"uv has shape {places.shape}, expected (k, 2) places in the domain, in m")
        found: FloatArray = interpolate(self.uv, self.positions, self.triangles, places)
        return found

    @cached_property
    def areas(self) -> FloatArray:
        """(l,) signed areas of the flat triangles, in m^2; all of one sign if the chart is an embedding."""
        p = self.uv[self.triangles]
        u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
        return 0.5 * (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])

    @property
    def folded(self) -> int:
        """Number of triangles that are turned over or flat to rounding: 0 for an embedding."""
        areas = self.areas * np.sign(self.areas.sum())
        return int(np.count_nonzero(areas <= 1e-14 * np.abs(areas).max()))

    def resampled(self, count: int) -> FloatArray:
        """About `count` positions (k, N) in m, on a square grid in the domain."""
        if count < 1:
            raise InputError(f"count is {count}; ask for at least one point")
        low, high = self.uv.min(axis=0), self.uv.max(axis=0)
        inside = np.abs(self.areas.sum())
        step = float(np.sqrt(inside / count))
        axes = [np.arange(a + 0.5 * step, b, step) for a, b in zip(low, high, strict=True)]
        places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        found = self(places)
        return found[np.isfinite(found).all(axis=1)]


@kernel
def interpolate(uv: FloatArray, positions: FloatArray, triangles: IntArray, places: FloatArray) -> FloatArray:
    """Values (k, N) at places (k, 2), linear on the triangles between uv (n, 2); nan outside of all of them."""
    found = np.full((len(places), positions.shape[1]), np.nan)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, vx, vy = uv[b, 0] - uv[a, 0], uv[b, 1] - uv[a, 1], uv[c, 0] - uv[a, 0], uv[c, 1] - uv[a, 1]
        area = ux * vy - uy * vx
        if area == 0.0:
            continue
        low, high = min(uv[a, 1], uv[b, 1], uv[c, 1]) - 1e-12, max(uv[a, 1], uv[b, 1], uv[c, 1]) + 1e-12
        for k in range(len(places)):
            if places[k, 1] < low or places[k, 1] > high:
                continue
            wx, wy = places[k, 0] - uv[a, 0], places[k, 1] - uv[a, 1]
            s, r = (wx * vy - wy * vx) / area, (ux * wy - uy * wx) / area
            if s >= -1e-9 and r >= -1e-9 and s + r <= 1.0 + 1e-9:
                for q in range(positions.shape[1]):
                    found[k, q] = (1.0 - s - r) * positions[a, q] + s * positions[b, q] + r * positions[c, q]
    return found


def chart(surface: Complex, cells: CellComplex, gradient: Gradient, number: int, domain: Domain = "disc") -> Chart:
    """Lay the 2-cell with this number out flat."""
    if not 0 <= number < len(cells.two):
        raise InputError(f"2-cell {number} does not exist; there are {len(cells.two)}, numbered from 0")
    if domain not in ("disc", "polygon"):
        raise InputError(f'domain is {domain!r}, expected "disc" or "polygon"')
    cell = cells.two[number]
    assert cell.triangles is not None
    skeleton = cells.skeleton
    on_skeleton = np.zeros(len(surface.points), dtype=np.bool_)
    on_skeleton[surface.edges[skeleton]] = True
    if not on_skeleton[cell.points].any():
        skeleton = slit(surface, gradient, cell.points)
        on_skeleton[surface.edges[skeleton]] = True
    nodes, triangles = cut_open(surface, cell.triangles, skeleton)
    place = np.full(len(surface.triangles), -1, dtype=np.int64)
    place[cell.triangles] = np.arange(len(cell.triangles))
    around = cells.sides[number]
    around = around[skeleton[surface.triangle_edges[around[:, 0], around[:, 1]]]]
    boundary = _starts(surface, around, triangles, place)
    positions = surface.points[nodes]
    corners = _corners(surface, cells, skeleton, nodes[boundary])
    boundary = np.roll(boundary, -corners[0])
    corners = corners - corners[0]
    uv_boundary = _layout(positions[boundary], corners, domain)
    uv = tutte(len(nodes), triangles, boundary, uv_boundary)
    triangles, _ = oriented(triangles)  # a disc can be, on a one-sided surface too
    after = [*corners[1:].tolist(), len(boundary)]
    closed = np.append(boundary, boundary[0])
    sides = [closed[a : b + 1] for a, b in zip(corners.tolist(), after, strict=True)]
    return Chart(uv, positions, nodes, triangles, boundary, sides)


def inscribed_polygon(lengths: ArrayLike) -> FloatArray:
    """Corners (k, 2) in m of the polygon with sides of these lengths (k,) that is inscribed in a circle.

    It has the largest area of all polygons with these sides. With the centre inside, the angles 2 asin(l / 2R) add up
    to 2 pi; with the centre beyond the longest side, those of the others add up to that of the longest.
    """
    sides = np.asarray(lengths, dtype=np.float64)
    longest, rest = float(sides.max()), float(sides.sum() - sides.max())
    if len(sides) < 3 or (sides <= 0.0).any() or longest >= rest:
        raise InputError(
            f"sides {sides.tolist()} m make no polygon: it needs at least 3, positive, the longest shorter than the "
            "others together; use the disc instead"
        )
    smallest = 0.5 * longest
    k = int(sides.argmax())
    others = np.delete(sides, k)

    def angles(radius: float) -> FloatArray:
        return 2.0 * np.arcsin(np.minimum(sides / (2.0 * radius), 1.0))

    def outside(radius: float) -> float:
        # in terms of 1 / R^2 the differences stay accurate for nearly straight polygons
        own = 2.0 * np.arcsin(np.minimum(longest / (2.0 * radius), 1.0))
        return float(np.sum(2.0 * np.arcsin(others / (2.0 * radius))) - own)

    if float(angles(smallest).sum()) >= 2.0 * np.pi:
        radius = brentq(lambda r: float(angles(r).sum()) - 2.0 * np.pi, smallest, sides.sum(), xtol=1e-15 * smallest)
        turn = angles(radius)
    else:
        # one would need an infinite radius for a side as long as the others together
        high = 2.0 * smallest
        while outside(high) < 0.0:
            high *= 2.0
        radius = brentq(outside, smallest, high, xtol=1e-15 * smallest)
        turn = angles(radius)
        turn[k] = -(np.delete(turn, k).sum())
    angle = np.concatenate([[0.0], np.cumsum(turn)[:-1]])
    return radius * np.stack([np.cos(angle), np.sin(angle)], axis=1)


def slit(surface: Complex, gradient: Gradient, points: IntArray) -> np.ndarray:
    """Edges of the longest way down within a cell that has no boundary curve."""
    inside = points[np.argsort(_depth(gradient.parent)[points], kind="stable")]
    v = int(inside[-1])
    flags = np.zeros(len(surface.edges), dtype=np.bool_)
    n = len(surface.points)
    keys = surface.edges[:, 0] * n + surface.edges[:, 1]
    while gradient.parent[v] != v:
        w = int(gradient.parent[v])
        flags[np.searchsorted(keys, min(v, w) * n + max(v, w))] = True
        v = w
    return flags


def _depth(parent: IntArray) -> IntArray:
    """(n,) steps to the root of every point."""
    depth = np.zeros(len(parent), dtype=np.int64)
    here = parent.copy()
    moving = here != np.arange(len(parent))
    while moving.any():
        depth += moving
        following = parent[here]
        moving = moving & (following != here)
        here = following
    return depth


def cut_open(surface: Complex, chosen: IntArray, skeleton: np.ndarray) -> tuple[IntArray, IntArray]:
    """Points (k,) and triangles (l, 3) of a cell, with points repeated where the cell lies on both sides of a cut."""
    triangles = surface.triangles[chosen]
    local = np.full(len(surface.triangles), -1, dtype=np.int64)
    local[chosen] = np.arange(len(chosen))
    edges = np.unique(surface.triangle_edges[chosen])
    edges = edges[~skeleton[edges] & (surface.edge_triangles[edges, 1] >= 0)]
    f, g = local[surface.edge_triangles[edges]].T
    links = []
    for end in range(2):
        v = surface.edges[edges, end]
        links.append(np.stack([3 * f + _slot(triangles[f], v), 3 * g + _slot(triangles[g], v)], axis=1))
    count, label = component_labels(3 * len(chosen), np.concatenate(links))
    nodes = np.empty(count, dtype=np.int64)
    nodes[label] = triangles.reshape(-1)
    return nodes, label.reshape(-1, 3)


def _slot(triangles: IntArray, v: IntArray) -> IntArray:
    return np.argmax(triangles == v[:, None], axis=1)


def _starts(surface: Complex, around: IntArray, triangles: IntArray, place: IntArray) -> IntArray:
    """Nodes of the chart at which the sides around the cell begin."""
    t, s, sign = around.T
    a, b = surface.triangles[t, s], surface.triangles[t, (s + 1) % 3]
    from_small = sign > 0
    begins_at_first = (a < b) == from_small
    return triangles[place[t], np.where(begins_at_first, s, (s + 1) % 3)]


def _corners(surface: Complex, cells: CellComplex, skeleton: np.ndarray, around: IntArray) -> IntArray:
    """Slots around the cell at which 1-cells begin: 0-cells, and points where more than two edges meet."""
    degree = np.bincount(surface.edges[skeleton].reshape(-1), minlength=len(surface.points))
    degree[[int(c.points[0]) for c in cells.zero]] = 1
    found = np.flatnonzero(degree[around] != 2)
    return found if len(found) else np.zeros(1, dtype=np.int64)


def _layout(positions: FloatArray, corners: IntArray, domain: Domain) -> FloatArray:
    """Positions (k, 2) around a convex domain, with the distances of the positions along the boundary."""
    along = closed_reach(positions)
    total = along[-1]
    if domain == "disc":
        angle = 2.0 * np.pi * along[:-1] / total
        return total / (2.0 * np.pi) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    marks = np.append(along[corners], total)
    places = inscribed_polygon(np.diff(marks))
    closed = np.vstack([places, places[:1]])
    return np.stack([np.interp(along[:-1], marks, closed[:, c]) for c in range(2)], axis=1)


def tutte(count: int, triangles: IntArray, boundary: IntArray, fixed: FloatArray) -> FloatArray:
    """Tutte's embedding, positions (count, 2): given on the boundary, elsewhere the mean of the neighbours."""
    return harmonic(count, triangles, boundary)(fixed)


def harmonic(count: int, triangles: IntArray, boundary: IntArray) -> Callable[[FloatArray], FloatArray]:
    """The map from values (b, k) on the boundary to values (count, k) that are means of those of the neighbours."""
    edges = edge_table(triangles).edges
    free = np.ones(count, dtype=np.bool_)
    free[boundary] = False
    rows, columns = np.concatenate([edges, edges[:, ::-1]]).T
    ones = np.ones(len(rows))
    adjacency = coo_array((ones, (rows, columns)), shape=(count, count)).tocsr()
    degree = np.asarray(adjacency.sum(axis=1)).ravel()
    laplacian = coo_array((degree, (np.arange(count), np.arange(count))), shape=(count, count)).tocsr() - adjacency
    inner = np.flatnonzero(free)
    factor = splu(laplacian[inner][:, inner].tocsc()) if len(inner) else None
    coupling = laplacian[inner][:, boundary]

    def extend(fixed: FloatArray) -> FloatArray:
        values = np.zeros((count, fixed.shape[1]))
        values[boundary] = fixed
        if factor is not None:
            values[inner] = factor.solve(-(coupling @ fixed))
        return values

    return extend
