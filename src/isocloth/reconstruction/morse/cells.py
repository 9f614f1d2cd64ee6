"""Cells: points, curves and discs, one per critical point, and how discs are attached to curves.

A 0-cell is a minimum. A 1-cell is a critical edge with the two flow lines from its ends down to minima. A 2-cell is
the disc of triangles that flow up to one maximum; walking around it gives the word of its boundary, in which a 1-cell
occurs once, with a sign, for every side of it that the disc lies on. Flow lines of different 1-cells may run together
below a point; `arcs` cuts them there, as remark 5.4.5 of the thesis does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.reconstruction.morse.discrete_gradient import UP, Gradient, ranks
from isocloth.reconstruction.triangulation.complex import Complex

Kind = Literal["minimum", "boundary minimum", "saddle", "boundary maximum", "maximum"]


@dataclass(frozen=True, eq=False)
class CriticalPoint:
    """A critical point of the height.

    kind: "boundary minimum" and "boundary maximum" are critical along the boundary only. point: its index in the
    surface. position: (N,) in m. height: m. on_boundary: also for minima and maxima of the whole surface.
    """

    kind: Kind
    point: int
    position: FloatArray
    height: float
    on_boundary: bool


@dataclass(frozen=True, eq=False)
class Cell:
    """A cell of dimension 0, 1 or 2.

    points: the point; the path of a 1-cell from end to end; or all points of a 2-cell, with those of its boundary.
    ends: the 0-cells at the ends of a 1-cell. triangles: those of a 2-cell. word: (1-cell, sign) around a 2-cell.
    edge: the critical edge of a 1-cell. source: "boundary" of a 1-cell on the boundary, "link" of one that flows down
    from a boundary minimum, "saddle" of the others.
    """

    dimension: int
    points: IntArray
    ends: tuple[int, int] | None = None
    triangles: IntArray | None = None
    word: tuple[tuple[int, int], ...] = ()
    edge: int | None = None
    source: str = ""


@dataclass(frozen=True, eq=False)
class CellComplex:
    """All cells of a height function, with what is needed to walk around the discs."""

    zero: list[Cell]
    one: list[Cell]
    two: list[Cell]
    critical_points: list[CriticalPoint]
    skeleton: BoolArray  #: (ne,) edges of the surface that lie on 1-cells
    sides: list[
        IntArray
    ]  #: of every 2-cell (k, 3): triangle, side and sign of the sides around it that are not crossed

    @property
    def all(self) -> list[Cell]:
        """Cells of dimension 0, then 1, then 2."""
        return [*self.zero, *self.one, *self.two]

    @property
    def euler_characteristic(self) -> int:
        """0-cells minus 1-cells plus 2-cells."""
        return len(self.zero) - len(self.one) + len(self.two)


@kernel
def _signs(
    upper: IntArray, triangle_edges: IntArray, edge_triangles: IntArray, forward: BoolArray, role: IntArray
) -> IntArray:
    """(m,) whether a triangle is turned (-1) relative to the maximum it flows up to; 1 where neighbours agree."""
    m = len(upper)
    sign = np.zeros(m, dtype=np.int64)
    stack = np.empty(m, dtype=np.int64)
    for t0 in range(m):
        size, t = 0, t0
        while sign[t] == 0 and upper[t] != t:
            stack[size] = t
            size += 1
            t = upper[t]
        if sign[t] == 0:
            sign[t] = 1
        while size > 0:
            size -= 1
            t = stack[size]
            g = upper[t]
            for s in range(3):
                e = triangle_edges[t, s]
                if role[e] == UP and (edge_triangles[e, 0] == g or edge_triangles[e, 1] == g):
                    for q in range(3):
                        if triangle_edges[g, q] == e:
                            sign[t] = sign[g] if forward[t, s] != forward[g, q] else -sign[g]
                    break
    return sign


@kernel
def _around(
    sign: IntArray,
    first_side: IntArray,
    triangle_edges: IntArray,
    edge_triangles: IntArray,
    forward: BoolArray,
    role: IntArray,
    most: int,
) -> IntArray:
    """Sides (k, 3) around a disc, from a given one on: triangle, side, 1 if walked from its smaller point or -1."""
    found = np.empty((most, 3), dtype=np.int64)
    count = 0
    t0, s0 = first_side[0], first_side[1]
    t, s = t0, s0
    while True:
        e = triangle_edges[t, s]
        found[count, 0], found[count, 1] = t, s
        found[count, 2] = (1 if forward[t, s] else -1) * sign[t]
        count += 1
        while True:
            s = (s + (1 if sign[t] > 0 else 2)) % 3
            e = triangle_edges[t, s]
            if role[e] != UP:
                break
            t = edge_triangles[e, 1] if edge_triangles[e, 0] == t else edge_triangles[e, 0]
            for q in range(3):
                if triangle_edges[t, q] == e:
                    s = q
                    break
        if t == t0 and s == s0:
            break
    return found[:count].copy()


def decompose(surface: Complex, height: FloatArray, gradient: Gradient) -> CellComplex:
    """The cells of a discrete gradient, their critical points and attachments."""
    zero = [Cell(0, np.array([v])) for v in gradient.minima.tolist()]
    number = {v: i for i, v in enumerate(gradient.minima.tolist())}
    rank = ranks(height)
    n = len(surface.points)
    keys = surface.edges[:, 0] * n + surface.edges[:, 1]  # increasing, as edges are sorted
    skeleton = np.zeros(len(surface.edges), dtype=np.bool_)
    boundary_root = set(gradient.minima[surface.on_boundary[gradient.minima]].tolist())
    one = []
    for e in gradient.critical.tolist():
        a, b = surface.edges[e].tolist()
        left, right = _path(gradient.parent, a), _path(gradient.parent, b)
        path = np.array(left[::-1] + right)
        top = a if rank[a] > rank[b] else b
        source = "saddle"
        if surface.table.counts[e] == 1:
            source = "boundary"
        elif top in boundary_root:
            source = "link"
        one.append(Cell(1, path, ends=(number[left[-1]], number[right[-1]]), edge=e, source=source))
        pair = np.sort(np.stack([path[:-1], path[1:]], axis=1), axis=1)
        skeleton[np.searchsorted(keys, pair[:, 0] * n + pair[:, 1])] = True
    order = {e: i for i, e in enumerate(gradient.critical.tolist())}
    forward = surface.table.side_forward.reshape(-1, 3)
    tables = (surface.triangle_edges, surface.edge_triangles, forward, gradient.role)
    sign = _signs(gradient.upper, *tables)
    is_side = gradient.role[surface.triangle_edges] != UP
    count = is_side.sum(axis=1)
    two, sides = [], []
    by_cell = np.argsort(gradient.maximum, kind="stable")
    limits = np.searchsorted(gradient.maximum[by_cell], gradient.maxima)
    after = np.searchsorted(gradient.maximum[by_cell], gradient.maxima, side="right")
    for low, high in zip(limits.tolist(), after.tolist(), strict=True):
        inside = by_cell[low:high]
        t0 = inside[count[inside] > 0][0]
        first = np.array([t0, int(np.argmax(is_side[t0]))])
        around = _around(sign, first, *tables, int(count[inside].sum()))
        if len(around) != count[inside].sum():
            raise AssertionError("a 2-cell is not a disc; please report this")
        crossed = surface.triangle_edges[around[:, 0], around[:, 1]]
        word = tuple((order[e], int(s)) for e, s in zip(crossed.tolist(), around[:, 2], strict=True) if e in order)
        two.append(Cell(2, np.unique(surface.triangles[inside]), triangles=np.sort(inside), word=word))
        sides.append(around)
    points = _critical_points(surface, height, gradient, one)
    return CellComplex(zero, one, two, points, skeleton, sides)


def _path(parent: IntArray, start: int) -> list[int]:
    path = [start]
    while parent[path[-1]] != path[-1]:
        path.append(int(parent[path[-1]]))
    return path


def _critical_points(surface: Complex, height: FloatArray, gradient: Gradient, one: list[Cell]) -> list[CriticalPoint]:
    """Critical points, from the lowest to the highest.

    A maximum of the surface that lies on the boundary has a 1-cell of the boundary and a 2-cell; it is one point.
    """
    rank = ranks(height)
    on_boundary = surface.on_boundary
    high_end = surface.edges[np.arange(len(surface.edges)), np.argmax(rank[surface.edges], axis=1)]
    linked = {int(high_end[c.edge]) for c in one if c.source == "link" and c.edge is not None}
    found: list[tuple[Kind, int]] = [
        ("boundary minimum" if v in linked else "minimum", v) for v in gradient.minima.tolist()
    ]
    tops = surface.triangles[gradient.maxima]
    highest = np.take_along_axis(tops, rank[tops].argmax(axis=1)[:, None], axis=1)[:, 0].tolist()
    found += [("maximum", v) for v in highest]
    left = list(highest)
    for cell in one:
        v = int(high_end[cell.edge])
        if cell.source == "saddle":
            found.append(("saddle", v))
        elif cell.source == "boundary":
            if v in left:
                left.remove(v)
            else:
                found.append(("boundary maximum", v))
    found.sort(key=lambda item: rank[item[1]])
    return [CriticalPoint(kind, v, surface.points[v], float(height[v]), bool(on_boundary[v])) for kind, v in found]


def arcs(surface: Complex, cells: CellComplex) -> tuple[IntArray, list[IntArray]]:
    """The skeleton cut at every point where 1-cells meet: points that are 0-cells, and paths between them.

    This is the complex of remark 5.4.5, in which no two 1-cells overlap. With the 2-cells it has the same Euler
    characteristic.
    """
    return cut_paths(surface.edges[cells.skeleton], np.array([int(c.points[0]) for c in cells.zero]))


def cut_paths(pairs: IntArray, ends: IntArray) -> tuple[IntArray, list[IntArray]]:
    """Edges (k, 2) joined to paths: points at which these end, and the paths.

    Paths end at `ends`, and wherever not two edges meet. Every closed curve must have one of the ends.
    """
    beside: dict[int, list[int]] = {}
    for a, b in pairs.tolist():
        beside.setdefault(a, []).append(b)
        beside.setdefault(b, []).append(a)
    fixed = set(ends.tolist()) | {v for v, w in beside.items() if len(w) != 2}
    paths = []
    for v in sorted(fixed):
        for w in sorted(beside.get(v, [])):
            path, before, here = [v, w], v, w
            while here not in fixed:
                left, right = beside[here]
                before, here = here, right if left == before else left
                path.append(here)
            if (path[0], path[1]) <= (path[-1], path[-2]):
                paths.append(np.array(path))
    return np.array(sorted(fixed), dtype=np.int64), paths
