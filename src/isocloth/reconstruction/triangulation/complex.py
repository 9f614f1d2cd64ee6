"""The triangulated surface: its edges, boundary curves, components, orientation and Euler characteristic."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes import topology


@dataclass(frozen=True, eq=False)
class Complex:
    """Points and triangles between them: a surface, with or without boundary, in any ambient dimension.

    points: (n, N) in m. triangles: (m, 3). Neighbours run along shared edges in opposite ways where the surface can be
    oriented.
    """

    points: FloatArray
    triangles: IntArray

    @cached_property
    def table(self) -> topology.EdgeTable:
        """Edges and the sides of triangles on them."""
        return topology.edge_table(self.triangles)

    @cached_property
    def edges(self) -> IntArray:
        """(ne, 2) points of every edge, smaller first."""
        return self.table.edges

    @cached_property
    def triangle_edges(self) -> IntArray:
        """(m, 3) edge k runs from corner k of a triangle to the next."""
        return self.table.side_edge.reshape(-1, 3)

    @cached_property
    def edge_triangles(self) -> IntArray:
        """(ne, 2) triangles at every edge; the second is -1 on the boundary."""
        return topology.edge_faces(self.table, 3)

    @cached_property
    def edge_lengths(self) -> FloatArray:
        """(ne,) in m."""
        ends = self.points[self.edges]
        return np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)

    @cached_property
    def boundary_edges(self) -> IntArray:
        """(nb,) indices of the edges with one triangle."""
        return np.flatnonzero(self.table.counts == 1)

    @cached_property
    def on_boundary(self) -> BoolArray:
        """(n,) whether a point lies on the boundary."""
        flags = np.zeros(len(self.points), dtype=np.bool_)
        flags[self.edges[self.boundary_edges]] = True
        return flags

    @cached_property
    def boundary_curves(self) -> list[IntArray]:
        """Closed curves of boundary points, each from its smallest point, in the order of these."""
        pairs = self.edges[self.boundary_edges]
        beside: dict[int, list[int]] = {}
        for a, b in pairs.tolist():
            beside.setdefault(a, []).append(b)
            beside.setdefault(b, []).append(a)
        curves, seen = [], set()
        for start in sorted(beside):
            if start in seen:
                continue
            curve, before, here = [start], -1, start
            while True:
                seen.add(here)
                left, right = sorted(beside[here])
                following = right if left == before else left
                if following == start and len(curve) > 2:
                    break
                before, here = here, following
                curve.append(here)
            curves.append(np.array(curve, dtype=np.int64))
        return curves

    @cached_property
    def component_of(self) -> IntArray:
        """(n,) number of the connected component of every point."""
        return topology.component_labels(len(self.points), self.edges)[1]

    @property
    def components(self) -> int:
        """Number of connected components."""
        return int(self.component_of.max()) + 1 if len(self.points) else 0

    @property
    def euler_characteristic(self) -> int:
        """Points minus edges plus triangles."""
        return len(self.points) - len(self.edges) + len(self.triangles)

    @cached_property
    def orientable(self) -> bool:
        """Whether the triangles can be turned so that neighbours agree."""
        return oriented(self.triangles)[1]

    @cached_property
    def area(self) -> float:
        """Total area in m^2."""
        p = self.points[self.triangles]
        u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
        uu, uv, vv = (u * u).sum(axis=1), (u * v).sum(axis=1), (v * v).sum(axis=1)
        return float(0.5 * np.sqrt(np.maximum(uu * vv - uv**2, 0.0)).sum())


def oriented(triangles: IntArray) -> tuple[IntArray, bool]:
    """Triangles turned so that neighbours agree, and whether all could be.

    Each triangle is doubled into a "kept" and a "turned" copy, and copies that agree along an edge are linked: an
    orientable component falls apart into two, a one-sided one stays in one piece and is left as it is.
    """
    m = len(triangles)
    table = topology.edge_table(triangles)
    pairs = topology.edge_sides(table)
    pairs = pairs[pairs[:, 1] >= 0]
    clash = table.side_forward[pairs[:, 0]] == table.side_forward[pairs[:, 1]]
    f, g = pairs[:, 0] // 3, pairs[:, 1] // 3
    links = np.concatenate([np.stack([f, g + m * clash], axis=1), np.stack([f + m, g + m * ~clash], axis=1)])
    _, label = topology.component_labels(2 * m, links)
    one_sided = label[:m] == label[m:]
    flip = (label[:m] > label[m:]) & ~one_sided
    turned = triangles.copy()
    turned[flip, 1:] = triangles[flip, :0:-1]
    return turned, not bool(one_sided.any())


def without_pinches(triangles: IntArray, rounds: int = 50) -> IntArray:
    """Triangles without the smaller fans at points where several fans meet, and without edges of three triangles."""
    for _ in range(rounds):
        if len(triangles) == 0:
            return triangles
        table = topology.edge_table(triangles)
        crowded = table.counts > 2
        if crowded.any():
            triangles = triangles[~crowded[table.side_edge].reshape(-1, 3).any(axis=1)]
            continue
        pinched = topology.pinched_nodes(triangles, table)
        if len(pinched) == 0:
            return triangles
        drop = np.zeros(len(triangles), dtype=np.bool_)
        for node in pinched.tolist():
            fan = np.flatnonzero((triangles == node).any(axis=1))
            local = triangles[fan]
            rest = np.array([[a for a in t if a != node] for t in local.tolist()])
            names, links = np.unique(rest, return_inverse=True)
            _, label = topology.component_labels(len(names), links.reshape(-1, 2))
            of_triangle = label[links.reshape(-1, 2)[:, 0]]
            drop[fan[of_triangle != np.bincount(of_triangle).argmax()]] = True
        triangles = triangles[~drop]
    return triangles


def large_components(triangles: IntArray, least: int) -> IntArray:
    """Triangles of the components with at least `least` points."""
    _, label = topology.component_labels(int(triangles.max()) + 1, topology.edge_table(triangles).edges)
    nodes = np.unique(triangles)
    size = np.bincount(label[nodes], minlength=int(label.max()) + 1)
    return triangles[size[label[triangles[:, 0]]] >= least]


def largest_component(triangles: IntArray) -> IntArray:
    """Triangles of the component with the most points."""
    _, label = topology.component_labels(int(triangles.max()) + 1, topology.edge_table(triangles).edges)
    return triangles[label[triangles[:, 0]] == np.bincount(label[np.unique(triangles)]).argmax()]


def compact(points: FloatArray, triangles: IntArray) -> tuple[Complex, IntArray]:
    """The complex of the points that are used, numbered anew, and which points these are."""
    used, numbered = np.unique(triangles, return_inverse=True)
    turned, _ = oriented(numbered.reshape(-1, 3).astype(np.int64))
    return Complex(np.ascontiguousarray(points[used]), turned), used


def describe(components: int, euler: int, curves: int, orientable: bool) -> str:
    """The name of a surface by its invariants (classification of compact surfaces), e.g. "torus"."""
    if components > 1:
        return f"{components} pieces, Euler characteristic {euler}, boundary curves: {curves}"
    known = {
        (2, 0, True): "sphere", (1, 1, True): "disc", (0, 2, True): "ring", (0, 0, True): "torus",
        (0, 1, False): "Moebius strip", (-1, 3, True): "pair of pants", (0, 0, False): "Klein bottle",
        (1, 0, False): "projective plane",
    }  # fmt: skip
    if (euler, curves, orientable) in known:
        return known[euler, curves, orientable]
    handles = 2 - euler - curves
    if orientable:
        body = "sphere" if handles == 0 else f"surface with {handles // 2} handle{'s' if handles > 2 else ''}"
    else:
        body = f"one-sided surface with {handles} crosscap{'s' if handles > 1 else ''}"
    return f"{body} with {curves} hole{'s' if curves != 1 else ''}" if curves else body
