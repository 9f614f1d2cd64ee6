"""Faces of a target split in four, so that a cloth is computed more finely than it was given.

The error of a mesh is an error of the density too: a coarse cloth is stiffer than a fine one where it is bent or held
most. Nodes that are added have no place in the target, they only follow; points of the panels between two others lie
in their middle, so that nothing is unknown that was not before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import BoolArray, IntArray
from isocloth.meshes import Mesh
from isocloth.patterns.cut import Cut


class Split(NamedTuple):
    """mesh: its first nodes are those of the target. seen: (n,) which these are. corners: (f, 3) points of its faces.

    between: (q, p) points of smaller faces as parts of those of the target; place: (p,) number of each among them.
    """

    mesh: Mesh
    seen: BoolArray
    corners: IntArray
    between: sp.csr_matrix
    place: IntArray


def split(mesh: Mesh, cut: Cut, times: int) -> Split:
    """Every face in four, again and again."""
    seen: BoolArray = np.ones(mesh.n_vertices, dtype=np.bool_)
    points = len(cut.node)
    corners, between = cut.corners, sp.csr_matrix(sp.identity(points))
    for _ in range(times):
        mesh, seen, (corners, step) = _finer(mesh), _later(seen, len(mesh.edges)), _halved(corners)
        between = sp.csr_matrix(step @ between)
    return Split(mesh, seen, corners, between, np.arange(points))


def _finer(mesh: Mesh) -> Mesh:
    ends = np.sort(np.stack([mesh.faces, np.roll(mesh.faces, -1, axis=1)], axis=2), axis=2)
    n = mesh.n_vertices
    keys = mesh.edges[:, 0] * n + mesh.edges[:, 1]
    middle = n + np.searchsorted(keys, ends[..., 0] * n + ends[..., 1])
    vertices = np.concatenate([mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1)])
    return Mesh(vertices, _in_four(mesh.faces, middle), pieces=True)


def _later(seen: BoolArray, added: int) -> BoolArray:
    return np.concatenate([seen, np.zeros(added, dtype=np.bool_)])


def _halved(corners: IntArray) -> tuple[IntArray, sp.csr_matrix]:
    """Corners of smaller faces, whose first points are the old ones, and all points as parts of these."""
    ends = np.sort(np.stack([corners, np.roll(corners, -1, axis=1)], axis=2), axis=2)
    pairs, number = np.unique(ends.reshape(-1, 2), axis=0, return_inverse=True)
    p, k = int(corners.max()) + 1, len(pairs)
    middle = p + number.reshape(-1, 3)
    half = sp.csr_matrix((np.full(2 * k, 0.5), (np.repeat(np.arange(k), 2), pairs.ravel())), shape=(k, p))
    return _in_four(corners, middle), sp.csr_matrix(sp.vstack([sp.identity(p), half]))


def _in_four(faces: IntArray, middle: IntArray) -> IntArray:
    """(4f, 3) of faces (f, 3), and the middles of their sides 0-1, 1-2, 2-0."""
    a, b, c = faces.T
    ab, bc, ca = middle.T
    parts = [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
    return np.stack([np.stack(part, axis=1) for part in parts], axis=1).reshape(-1, 3).astype(np.int64)
