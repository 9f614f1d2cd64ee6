"""Nonconforming triangles: particles at the midpoints of edges (Bender, Diziol and Bayer 2011; English and Bridson
2008).

Two triangles share one particle in place of two nodes, so triangles of fixed shape can fold in all directions: the mesh
does not lock. Its surface has gaps; the nodes of the mesh follow the particles by x_c = B x, the mean over the
triangles at a node of x_2 + x_3 - x_1, x_1 the particle opposite to it. For particles at the midpoints of the edges of
a mesh that gives back its nodes.

Constraints are the distances of the three particles of every triangle, and at the border, where triangles could turn
about a single particle, distances into the neighbouring triangles.

Bending is the energy kappa/2 sum over inner edges of (8/9) abs(D_e x)^2 / a_e: D_e x is the jump of the normal
derivative across edge e times its length, that is the row of the stiffness matrix of the Crouzeix-Raviart elements, a
quadratic energy (Wardetzky et al., Discrete quadratic curvature energies, 2007). Rows at the border are left out: they
would curl it. It vanishes on every affine image of a flat mesh, and the factor makes equilateral triangles rolled on a
cylinder cost what a plate does; irregular ones cost 2 % more, cut squares 3 to 36 % depending on the direction.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import MeshError
from isocloth.base.memo import memoised
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh


@dataclass(frozen=True)
class Midpoints:
    """The discretisation of a mesh with n nodes, m edges and t triangles; particles are numbered like edges."""

    points: FloatArray  # (m, 3) m, particles at rest
    triangles: IntArray  # (t, 3) particles, each opposite to the corner of the same place
    area: FloatArray  # (m,) m^2 of cloth per particle
    pairs: IntArray  # (c, 2) particles at a fixed distance: triangles first, then the border
    lengths: FloatArray  # (c,) m
    to_nodes: sp.csr_matrix  # B (n, m)
    to_particles: sp.csr_matrix  # (m, n), mean of the ends of edges
    stiffness: sp.csr_matrix  # K (m, m), 1/m^2
    border: int  # how many of the pairs are at the border


def midpoints(mesh: Mesh) -> Midpoints:
    """Discretise a triangle mesh, the rest shape."""
    shared = _midpoints(mesh)
    # what kernels read is copied: a read-only array is another type, and every kernel would be compiled anew for it
    return replace(shared, pairs=shared.pairs.copy(), lengths=shared.lengths.copy(), area=shared.area.copy())


@memoised
def _midpoints(mesh: Mesh) -> Midpoints:
    if mesh.element != "triangle":
        raise MeshError(
            "the nonconforming model needs triangles: use a triangle mesh, e.g. ic.meshes.rectangle(..., "
            'element="triangle")'
        )
    n, m = mesh.n_vertices, len(mesh.edges)
    key = mesh.edges.min(axis=1) * n + mesh.edges.max(axis=1)
    order = np.argsort(key)
    ends = mesh.faces[:, [[1, 2], [2, 0], [0, 1]]]  # (t, corner, 2): the edge opposite to each corner
    triangles = order[np.searchsorted(key[order], ends.min(axis=2) * n + ends.max(axis=2))].astype(np.int64)
    area = np.bincount(triangles.ravel(), np.repeat(mesh.face_areas / 3.0, 3), minlength=m).astype(np.float64)
    half = np.full(2 * m, 0.5)
    to_particles = sp.csr_matrix((half, (np.repeat(np.arange(m), 2), mesh.edges.ravel())), shape=(m, n))
    inner = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    points = to_particles @ mesh.vertices
    outer = _border(mesh, triangles, points)
    pairs = np.concatenate([inner, outer])
    lengths = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1)
    return Midpoints(
        points, triangles, area, pairs, lengths, _averages(mesh, triangles), to_particles, _bending(mesh, triangles,
        area), len(outer),
    )  # fmt: skip


def _border(mesh: Mesh, triangles: IntArray, points: FloatArray) -> IntArray:
    """From every edge of the border to the nearest far particle of each neighbour of its triangle, each pair once."""
    found: dict[tuple[int, int], None] = {}
    for edge in np.flatnonzero(mesh.edge_faces[:, 1] < 0):
        face = mesh.edge_faces[edge, 0]
        for shared in triangles[face]:
            beside = mesh.edge_faces[shared]
            if shared == edge or beside[1] < 0:
                continue
            other = beside[0] if beside[1] == face else beside[1]
            far = triangles[other][triangles[other] != shared]
            nearest = far[np.argmin(np.linalg.norm(points[far] - points[edge], axis=1))]
            found[min(int(edge), int(nearest)), max(int(edge), int(nearest))] = None
    return np.array(list(found), dtype=np.int64).reshape(-1, 2)


def _averages(mesh: Mesh, triangles: IntArray) -> sp.csr_matrix:
    """B (n, m)."""
    count = np.bincount(mesh.faces.ravel(), minlength=mesh.n_vertices)
    node = np.repeat(mesh.faces.ravel(), 3)
    sign = np.where(np.eye(3, dtype=bool), -1.0, 1.0)
    value = np.tile(sign.ravel(), len(triangles)) / count[node]
    particle = np.repeat(triangles, 3, axis=0).ravel()
    return sp.csr_matrix((value, (node, particle)), shape=(mesh.n_vertices, len(mesh.edges)))


def _bending(mesh: Mesh, triangles: IntArray, area: FloatArray) -> sp.csr_matrix:
    """K (m, m) from the inner rows of the stiffness matrix of the elements."""
    p = mesh.vertices[mesh.faces]
    side = p[:, [2, 0, 1]] - p[:, [1, 2, 0]]  # opposite to each corner
    local = np.einsum("tix,tjx->tij", side, side) / mesh.face_areas[:, None, None]  # 4 times that of linear elements
    i = np.broadcast_to(triangles[:, :, None], local.shape)
    j = np.broadcast_to(triangles[:, None, :], local.shape)
    count = len(mesh.edges)
    rows = sp.csr_matrix((local.ravel(), (i.ravel(), j.ravel())), shape=(count, count))
    inside = sp.diags_array(8.0 / 9.0 * (mesh.edge_faces[:, 1] >= 0) / area)
    return sp.csr_matrix(rows.T @ inside @ rows)
