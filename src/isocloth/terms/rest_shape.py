"""The rest shape X of a shell: any mesh with the faces of the cloth, or corners that each face has for itself.

A rest shape need not be one surface. Given as corners (faces, 3, 3), every face has three points of its own: panels may
lie flat beside each other, a sleeve be cut open, a face be of another size than its neighbours want. What a shell
reads from it is face by face, its metric Abar and its area, and edge by edge, its length and its angle:

- an edge whose two faces have it in the same place is bent at rest as these faces are;
- an edge whose two faces have it in different places is a seam: sewn flat, its rest angle is 0;
- where the two lengths of an edge differ, each face wants its own.

Points and corners are one way to write both kinds: `points` (p, 3) are all places, `corners` (f, 3) says which of them
a face has. For a mesh they are its vertices and faces. Derivatives in X are derivatives in `points`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError, MeshError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.dihedral import hinges_of
from isocloth.terms.term import Term

#: distance of two copies of a corner, relative to the edge, below which they are in the same place
SAME_PLACE = 1e-6
#: a face whose area is below this fraction of its longest side squared has no area
DEGENERATE = 1e-10
#: rad short of pi: two faces that are folded further lie upside down on each other
INVERTED = 1e-3


@dataclass(frozen=True, eq=False)
class RestShape:
    """Rest shape of a triangle mesh. Made by `RestShape.of`."""

    mesh: Mesh  # whose faces and edges it has
    points: FloatArray  # (p, 3) m
    corners: IntArray  # (f, 3) points of every face

    @classmethod
    def of(cls, mesh: Mesh, rest: Mesh | ArrayLike | RestShape | None = None) -> RestShape:
        """The rest shape of a cloth with the faces of `mesh`.

        rest: None = `mesh` itself; a mesh with the same faces; its vertices (n, 3) in m; or corners (faces, 3, 3) in m.
        """
        if isinstance(rest, RestShape):
            return rest
        if mesh.element != "triangle":
            raise MeshError(f"a shell is made of triangles, got {mesh!r}; give it `mesh.triangulated()`")
        if rest is None:
            rest = mesh
        if isinstance(rest, Mesh):
            if rest.faces.shape != mesh.faces.shape or not np.array_equal(rest.faces, mesh.faces):
                raise InputError("rest has other faces than mesh: expected the same connectivity in another shape")
            whole = cls(mesh, rest.vertices.copy(), mesh.faces.copy())
            whole.check()
            return whole
        try:
            given = np.array(rest, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise InputTypeError(
                f"rest is {type(rest).__name__}: expected a mesh, its vertices, or corners ({mesh.n_faces}, 3, 3) in m"
            ) from None
        if given.shape == mesh.vertices.shape:
            return cls.of(mesh, mesh.with_vertices(given))
        if given.shape != (mesh.n_faces, 3, 3):
            raise InputError(
                f"rest has shape {given.shape}: expected {mesh.vertices.shape}, a place for every node, or "
                f"({mesh.n_faces}, 3, 3), three corners for every face"
            )
        shape = cls(mesh, given.reshape(-1, 3), np.arange(3 * mesh.n_faces, dtype=np.int64).reshape(-1, 3))
        shape.check()
        return shape

    def check(self) -> None:
        """Raise if a face has no area, is not finite, or lies upside down on its neighbour."""
        p = self.points[self.corners]
        bad = np.flatnonzero(~np.isfinite(p).all(axis=(1, 2)))
        if len(bad):
            raise MeshError(f"rest: face {bad[0]} is {p[bad[0]].tolist()}; every coordinate must be finite")
        side = np.max(np.sum((p[:, [1, 2, 0]] - p) ** 2, axis=2), axis=1)
        bad = np.flatnonzero(self.areas <= DEGENERATE * side)
        if len(bad):
            raise MeshError(
                f"rest: face {bad[0]} {self.mesh.faces[bad[0]].tolist()} has no area, its corners are "
                f"{p[bad[0]].tolist()}; {len(bad)} such faces: move their corners apart"
            )
        pairs = self.hinge_corners
        folded = np.abs(hinges_of(self.points[pairs[:, :3]], self.points[pairs[:, 3:]], self.joined).angle)
        bad = np.flatnonzero(folded > np.pi - INVERTED)
        if len(bad) and self.torn:
            within = np.flatnonzero(self.mesh.edge_faces[:, 1] >= 0)
            one, other = self.mesh.edge_faces[within[bad[0]]].tolist()
            raise MeshError(
                f"rest: faces {one} and {other} lie upside down on each other, so one of them is inverted; give their "
                "corners in the order of `mesh.faces`, on opposite sides of their common edge"
            )

    @property
    def torn(self) -> bool:
        """Whether faces have corners of their own."""
        return not (len(self.points) == self.mesh.n_vertices and np.array_equal(self.corners, self.mesh.faces))

    @cached_property
    def faces(self) -> IntArray:
        """(f, 3) nodes of every face; a copy, because kernels would be compiled anew for a mesh's read-only array."""
        return self.mesh.faces.copy()

    @cached_property
    def metric(self) -> FloatArray:
        """Abar (f, 3) m^2 of every face: d1.d1, d1.d2, d2.d2 with d1, d2 from its first corner to the others."""
        return metric_of(self.points[self.corners])

    @cached_property
    def areas(self) -> FloatArray:
        """(f,) m^2 of the faces."""
        p = self.points[self.corners]
        return np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1) / 2

    @cached_property
    def node_areas(self) -> FloatArray:
        """(n,) m^2: a third of the faces at a node; times the density it is the node's mass."""
        share = np.repeat(self.areas / 3, 3)
        return np.bincount(self.mesh.faces.ravel(), share, minlength=self.mesh.n_vertices).astype(np.float64)

    def node_area_gradient(self) -> sp.csr_matrix:
        """Derivative (n, 3p) m of `node_areas` in the points: what the mass of a node depends on."""
        p = self.points[self.corners]
        normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
        normal /= 2 * self.areas[:, None]
        # a corner moves the area by half the opposite side, turned by a right angle in the plane
        slope = np.cross(normal[:, None, :], p[:, [2, 0, 1]] - p[:, [1, 2, 0]]) / 6  # (f, corner, 3), a third of it
        places = (3 * self.corners[:, :, None] + np.arange(3)).reshape(-1, 1, 9)
        rows = np.broadcast_to(self.mesh.faces[:, :, None], (len(p), 3, 9))
        value = np.broadcast_to(slope.reshape(-1, 1, 9), rows.shape)
        shape = (self.mesh.n_vertices, self.points.size)
        return sp.csr_matrix((value.ravel(), (rows.ravel(), np.broadcast_to(places, rows.shape).ravel())), shape=shape)

    @cached_property
    def face_edges(self) -> IntArray:
        """(f, 3) edge of the mesh opposite to every corner of a face."""
        ends = np.sort(self.mesh.faces[:, [[1, 2], [2, 0], [0, 1]]], axis=2)
        n = self.mesh.n_vertices
        key = self.mesh.edges[:, 0] * n + self.mesh.edges[:, 1]  # in increasing order, as the edges are
        return np.searchsorted(key, ends[..., 0] * n + ends[..., 1]).astype(np.int64)

    @cached_property
    def hinge_corners(self) -> IntArray:
        """(e, 6) points of every interior edge i, j: i, j and apex in the triangle that runs from i to j, and in the
        other one."""
        mesh = self.mesh
        within = mesh.edge_faces[:, 1] >= 0
        ends, pairs = mesh.edges[within], mesh.edge_faces[within]
        own = mesh.faces[pairs[:, 0]]
        runs = np.any((own == ends[:, :1]) & (np.roll(own, -1, axis=1) == ends[:, 1:]), axis=1)
        pairs = np.where(runs[:, None], pairs, pairs[:, ::-1])
        parts = []
        for side in (0, 1):
            nodes, points = mesh.faces[pairs[:, side]], self.corners[pairs[:, side]]
            at_i, at_j = nodes == ends[:, :1], nodes == ends[:, 1:]
            parts += [points[at_i], points[at_j], points[~(at_i | at_j)]]
        return np.stack(parts, axis=1).astype(np.int64)

    @cached_property
    def joined(self) -> BoolArray:
        """(e,) which interior edges both faces have in the same place; the others are seams."""
        p = self.points[self.hinge_corners]
        away = np.linalg.norm(p[:, :2] - p[:, 3:5], axis=2).max(axis=1)
        joined: BoolArray = away <= SAME_PLACE * np.linalg.norm(p[:, 1] - p[:, 0], axis=1)
        return joined


class RestTerm(Term, Protocol):
    """A term that knows the rest shape it came from."""

    @property
    def rest_stencils(self) -> IntArray:
        """(e, k) points of the rest shape that a stencil depends on: the columns of `rest_gradient`."""
        ...


def assembled_rest_gradient(term: RestTerm, x: FloatArray, n: int, points: int) -> sp.csr_matrix:
    """d^2E/dx dX (3n, 3p) N/m of a term at positions x (n, 3)."""
    blocks = term.rest_gradient(x)
    rows = (3 * term.stencils[:, :, None] + np.arange(3)).reshape(len(blocks), -1, 1)
    columns = (3 * term.rest_stencils[:, :, None] + np.arange(3)).reshape(len(blocks), 1, -1)
    i, j = (np.broadcast_to(part, blocks.shape).ravel() for part in (rows, columns))
    return sp.csr_matrix((blocks.ravel(), (i, j)), shape=(3 * n, 3 * points))


def gathered(blocks: FloatArray, own: IntArray, stencils: IntArray) -> FloatArray:
    """Columns (e, r, 3q) of points `own` (e, q), which may be named twice, as columns (e, r, 3m) of `stencils`."""
    e, r, _ = blocks.shape
    parts = blocks.reshape(e, r, own.shape[1], 3)
    total = np.zeros((e, r, stencils.shape[1], 3))
    every = np.arange(e)
    for k in range(own.shape[1]):
        total[every, :, np.argmax(stencils == own[:, k : k + 1], axis=1)] += parts[:, :, k]
    return total.reshape(e, r, -1)


def metric_of(p: FloatArray) -> FloatArray:
    """(f, 3) m^2: d1.d1, d1.d2, d2.d2 of triangles (f, 3, 3)."""
    d1, d2 = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    return np.stack([np.sum(d1 * d1, axis=1), np.sum(d1 * d2, axis=1), np.sum(d2 * d2, axis=1)], axis=1)


def metric_jacobian(p: FloatArray) -> FloatArray:
    """(f, 3, 9) m: derivative of `metric_of` in the corners of triangles (f, 3, 3)."""
    d1, d2 = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    none = np.zeros_like(d1)
    one = np.stack([np.concatenate(line, axis=1) for line in ((2 * d1, none), (d2, d1), (none, 2 * d2))], axis=1)
    return np.concatenate([-(one[:, :, :3] + one[:, :, 3:]), one], axis=2)
