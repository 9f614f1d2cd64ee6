"""A target cut open along seams: the points of its panels, and which of them are sewn together.

Every corner of a face is a point of a panel; corners of neighbours are the same point, unless a seam runs between. So
a node in the middle of a seam becomes two points, one where a seam ends inside stays one, and a node where three seams
meet becomes three.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from isocloth.base.errors import InputError, InputTypeError, MeshError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.meshes.topology import boundary_loops, component_labels, sides
from isocloth.patterns.seams import as_paths, edge_numbers


class Seam(NamedTuple):
    """Two sides that are sewn together. nodes: (k,) of the target. a, b: (k,) points to the left and to the right.

    Where a seam ends inside, or comes back to where it began, points are the same.
    """

    name: str
    nodes: IntArray
    a: IntArray
    b: IntArray

    @property
    def closed(self) -> bool:
        """Whether it comes back to where it began."""
        return bool(self.nodes[0] == self.nodes[-1])


@dataclass(frozen=True, eq=False)
class Cut:
    """Panels. corners: (f, 3) points of every face. node: (p,) of the target, of every point. panel: (p,) its number.

    seams: where another seam ends at one, it is in parts, "A.1", "A.2".
    """

    corners: IntArray
    node: IntArray
    panel: IntArray
    seams: tuple[Seam, ...]

    @cached_property
    def face_panel(self) -> IntArray:
        """(f,) number of the panel of every face."""
        return self.panel[self.corners[:, 0]]

    @cached_property
    def pairs(self) -> IntArray:
        """(s, 4) points a0, a1, b0, b1 of both sides of every edge of a seam."""
        none = np.zeros((0, 4), dtype=np.int64)
        return np.concatenate([none, *(np.stack([s.a[:-1], s.a[1:], s.b[:-1], s.b[1:]], axis=1) for s in self.seams)])

    @property
    def n_panels(self) -> int:
        """How many there are."""
        return int(self.panel.max()) + 1

    @cached_property
    def edges(self) -> IntArray:
        """(e, 2) points of the edges of panels; those of seams are in it twice."""
        return np.unique(np.sort(sides(self.corners), axis=1), axis=0)

    @cached_property
    def loops(self) -> tuple[tuple[IntArray, ...], ...]:
        """For every panel the closed loops of points around it, the panel to the left, the longest first."""
        found: list[list[IntArray]] = [[] for _ in range(self.n_panels)]
        for loop in boundary_loops(_single_sides(self.corners)):
            found[self.panel[loop[0]]].append(loop)
        return tuple(tuple(sorted(loops, key=lambda loop: (-len(loop), loop[0]))) for loops in found)

    def euler(self, panel: int) -> int:
        """Points minus edges plus faces of a panel: 1 of a disc, 0 of a ring."""
        edges = self.edges[self.panel[self.edges[:, 0]] == panel]
        return int((self.panel == panel).sum() - len(edges) + (self.face_panel == panel).sum())


def cut_open(mesh: Mesh, seams: Any = ()) -> Cut:
    """The panels of a mesh of triangles, cut along seams.

    seams: node paths along its edges, a sequence (they are called A, B, ...) or name -> path. A path whose last node
    is its first is closed. One that ends inside is a dart.
    """
    if not isinstance(mesh, Mesh):
        raise InputTypeError(f"target is {type(mesh).__name__}: expected an isocloth.Mesh")
    if mesh.element != "triangle":
        raise MeshError("the target has quads: expected triangles; give it `target.triangulated()`")
    paths = as_paths(mesh, seams)
    edge_seamed = np.zeros(len(mesh.edges), dtype=np.bool_)
    for path in paths.values():
        edge_seamed[edge_numbers(mesh, _steps(path))[0]] = True
    corners, node = _points(mesh, edge_seamed)
    _, panel = component_labels(len(node), sides(corners))
    panel = _by_first(panel)
    slot = _Sides(mesh.faces, corners)
    found = [part for name, path in paths.items() for part in _parts(name, path, slot, set(paths))]
    for seam in found:
        same = (seam.a[:-1] == seam.b[:-1]) & (seam.a[1:] == seam.b[1:])
        if same.any():
            raise InputError(
                f"seam {seam.name!r} is a single edge inside, of nodes {seam.nodes[0]} and {seam.nodes[-1]}, and opens "
                "nothing: expected two edges at least, or one that begins at a border or at another seam"
            )
    cut = Cut(corners, node, panel, tuple(found))
    _check_flat(cut)
    return cut


def _steps(path: IntArray) -> IntArray:
    """(k - 1, 2) edges of a path, smaller node first."""
    return np.sort(np.stack([path[:-1], path[1:]], axis=1), axis=1)


def _points(mesh: Mesh, seamed: BoolArray) -> tuple[IntArray, IntArray]:
    """Points of every corner, and the node of every point; in the order of nodes, so that without seams they agree."""
    faces = mesh.faces
    flat = faces.reshape(-1)
    inner = np.flatnonzero((mesh.edge_faces[:, 1] >= 0) & ~seamed)
    links = []
    f, g = mesh.edge_faces[inner].T
    for end in range(2):
        v = mesh.edges[inner, end]
        links.append(np.stack([3 * f + _slot(faces[f], v), 3 * g + _slot(faces[g], v)], axis=1))
    number, label = component_labels(len(flat), np.concatenate(links))
    node, first = np.empty(number, dtype=np.int64), np.full(number, len(flat), dtype=np.int64)
    node[label] = flat
    np.minimum.at(first, label, np.arange(len(flat)))
    order = np.lexsort((first, node))
    place = np.empty(number, dtype=np.int64)
    place[order] = np.arange(number)
    return place[label].reshape(-1, 3), node[order]


def _slot(faces: IntArray, v: IntArray) -> IntArray:
    return np.argmax(faces == v[:, None], axis=1)


def _by_first(label: IntArray) -> IntArray:
    """Numbers in the order in which they first occur."""
    _, first, number = np.unique(label, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[number]


class _Sides:
    """The points of the sides of faces, by their directed nodes."""

    def __init__(self, faces: IntArray, corners: IntArray) -> None:
        nodes, points = sides(faces), sides(corners)
        self._stride = int(faces.max()) + 1
        keys = nodes[:, 0] * self._stride + nodes[:, 1]
        order = np.argsort(keys)
        self._keys, self._points = keys[order], points[order]

    def __call__(self, path: IntArray) -> IntArray:
        """(k - 1, 2) points of the sides that run along a path."""
        return self._points[np.searchsorted(self._keys, path[:-1] * self._stride + path[1:])]


def _parts(name: str, path: IntArray, slot: _Sides, names: set[str]) -> list[Seam]:
    """A seam with its points, in parts where another seam or the border meets it."""
    a, b = slot(path), slot(path[::-1])[::-1, ::-1]
    broken = (a[:-1, 1] != a[1:, 0]) | (b[:-1, 1] != b[1:, 0])
    if path[0] == path[-1] and broken.any() and a[-1, 1] == a[0, 0] and b[-1, 1] == b[0, 0]:
        # Where a closed seam begins means nothing, if nothing meets it there.
        shift = int(np.flatnonzero(broken)[0]) + 1
        return _parts(name, np.concatenate([path[shift:-1], path[: shift + 1]]), slot, names)
    ends = [0, *(np.flatnonzero(broken) + 1).tolist(), len(a)]
    found = []
    for k, (i, j) in enumerate(pairwise(ends)):
        called = name
        if len(ends) > 2:
            called = f"{name}.{k + 1}"
            while called in names:
                called += "'"
        sides_of = [np.append(side[i:j, 0], side[j - 1, 1]) for side in (a, b)]
        found.append(Seam(called, path[i : j + 1].copy(), *sides_of))
    return found


def _single_sides(corners: IntArray) -> IntArray:
    """(b, 2) sides of faces at the border of a panel."""
    directed = sides(corners)
    stride = int(corners.max()) + 1
    keys, back = directed[:, 0] * stride + directed[:, 1], directed[:, 1] * stride + directed[:, 0]
    return directed[~np.isin(keys, back)]


def _check_flat(cut: Cut) -> None:
    """Every panel has a border and no handle, so that it can lie in the plane."""
    for panel, loops in enumerate(cut.loops):
        some = int(cut.node[cut.panel == panel][0])
        what = f"the panel with node {some}" if cut.n_panels > 1 else "the target"
        if not loops:
            raise MeshError(f"{what} is closed and cannot lie flat: expected a border; add a seam that cuts it open")
        handles = (2 - len(loops) - cut.euler(panel)) // 2
        if handles:
            raise MeshError(
                f"{what} has {handles} handle{'s' if handles > 1 else ''} and cannot lie flat, though it is cut: "
                "expected seams around and along every handle"
            )


def edge_lengths(points: FloatArray, edges: IntArray) -> FloatArray:
    """(e,) m, of edges between points (p, d)."""
    return np.asarray(np.linalg.norm(points[edges[:, 1]] - points[edges[:, 0]], axis=1))
