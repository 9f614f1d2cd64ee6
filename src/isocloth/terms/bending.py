"""Bending: the constant matrix K of the energy kappa/2 phi^T K phi, positive semidefinite and alike for x, y, z.

Three matrices:

- "hessian", the default: K = sum_k a_k (D_xx^T D_xx + 2 D_xy^T D_xy + D_yy^T D_yy), with D the second derivatives at
  node k of the quadratic polynomial that fits the positions around it in rest coordinates, and a_k its Voronoi area.
  They vanish on every affine image of a flat mesh, so there is no force on flat states. A node of the border has the
  curvature along it and the twist, so a narrow strip has its full stiffness; curvature across the border is not guessed
  from further inside, which would count the row next to a clamp one and a half times. On a developable surface
  |II|^2 = (trace II)^2: this is Willmore's energy.
- "laplacian", the papers': K = L^T M L with L the finite element Laplacian. Its boundary rows do not vanish on a flat
  sheet, and curl its edges.
- "interior": the same with rows at interior nodes only. No force on flat states, but the border carries no energy and
  narrow strips come out far too soft.

A rest shape that is not flat (a garment) keeps wanting to be flat, as in the papers.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputError
from isocloth.base.memo import memoised
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh
from isocloth.terms.elements import area_elements, gauss
from isocloth.terms.frames import node_directions, node_normals, physical_gradients
from isocloth.terms.mass import lumped_areas, voronoi_areas

MATRICES = ("hessian", "laplacian", "interior")

#: a kind of curvature that the neighbours show less than this, relative to the best one, counts as not shown
_RESOLVED = 0.15
#: a ring that shows too little is widened to the nodes within this many of its mean radii
_WIDER = 1.5


@memoised
def bending(mesh: Mesh, model: str = "hessian") -> sp.csr_matrix:
    """K (n, n) in 1/m^2: kappa (N m) times phi^T K phi / 2 is an energy in joule."""
    area, parts = curvatures(mesh, model)
    scale = sp.diags_array(area)
    return sp.csr_matrix(sum(share * (part.T @ scale @ part) for share, part in parts))


def curvatures(mesh: Mesh, model: str) -> tuple[FloatArray, tuple[tuple[float, sp.csr_matrix], ...]]:
    """What K is made of: areas a (n,) m^2 and matrices D (n, n) 1/m^2 with shares m, K = sum m D^T diag(a) D.

    A row of D is the curvature at a node, and knows the rest shape around that node alone.
    """
    if model == "hessian":
        xx, xy, yy = hessian(mesh)
        return voronoi_areas(mesh.vertices, mesh.faces), ((1.0, xx), (2.0, xy), (1.0, yy))
    if model in ("laplacian", "interior"):
        rows = sp.csr_matrix(laplacian(mesh))
        if model == "interior":
            inside = np.zeros(mesh.n_vertices)
            inside[mesh.interior_nodes] = 1.0
            rows = sp.csr_matrix(sp.diags_array(inside) @ rows)
        return lumped_areas(mesh.vertices, mesh.faces), ((1.0, rows),)
    raise InputError(f"bending model {model!r} is unknown; choose one of {', '.join(MATRICES)}")


@memoised
def near_bending(mesh: Mesh, matrix: sp.csr_matrix) -> tuple[sp.csr_matrix, float]:
    """K (n, n) with what couples nodes of no common element moved to the diagonal, by absolute value, and how far.

    The second is the largest sum moved, per area of the node, 1/m^4. What comes out is not below K, and only waves of
    about four elements length feel the difference.
    """
    among, _ = _neighbours(mesh)
    near = sp.csr_matrix(matrix.multiply(among > 0))
    moved = np.asarray(abs(sp.csr_matrix(matrix - near)).sum(axis=1)).ravel()
    furthest = float((moved / lumped_areas(mesh.vertices, mesh.faces)).max(initial=0.0))
    return sp.csr_matrix(near + sp.diags_array(moved)), furthest


def laplacian(mesh: Mesh) -> sp.csr_matrix:
    """L (n, n): pointwise Laplacian -M^-1 S with the stiffness matrix S of the finite elements and lumped M."""
    rule = gauss(mesh.faces.shape[1])
    area = area_elements(mesh.vertices[mesh.faces], rule)
    gradients = physical_gradients(mesh.vertices, mesh.faces, rule)[:, 0]  # any frame: the product is invariant
    local = np.einsum("eq,eqia,eqja->eij", area, gradients, gradients)
    faces = mesh.faces
    i = np.broadcast_to(faces[:, :, None], local.shape).ravel()
    j = np.broadcast_to(faces[:, None, :], local.shape).ravel()
    stiffness = sp.csr_matrix((local.ravel(), (i, j)), shape=(mesh.n_vertices,) * 2)
    return sp.csr_matrix(-sp.diags_array(1.0 / lumped_areas(mesh.vertices, mesh.faces)) @ stiffness)


def hessian(mesh: Mesh) -> tuple[sp.csr_matrix, sp.csr_matrix, sp.csr_matrix]:
    """Second derivatives (D_xx, D_xy, D_yy), each (n, n) in 1/m^2, in a tangent frame of every node."""
    n = mesh.n_vertices
    first, second, normals = tangent_frames(mesh)
    near, wide = _neighbours(mesh)
    kinds = np.full(n, 3)  # how many kinds of curvature a node can have: across a free border there is none
    kinds[mesh.boundary_nodes] = 2
    kinds[mesh.corners] = 1
    entries: list[tuple[np.ndarray, np.ndarray]] = []
    for k in range(n):
        frame = (first[k], second[k], normals[k])
        ring = near.indices[near.indptr[k] : near.indptr[k + 1]]
        nodes, weights, shown = _fit(mesh.vertices, k, ring, *frame)
        if shown < kinds[k]:
            further = wide.indices[wide.indptr[k] : wide.indptr[k + 1]]
            distance = np.linalg.norm(mesh.vertices[further] - mesh.vertices[k], axis=1)
            radius = np.linalg.norm(mesh.vertices[ring] - mesh.vertices[k], axis=1).sum() / (len(ring) - 1)
            ring = further[distance <= _WIDER * radius]
            nodes, weights, shown = _fit(mesh.vertices, k, ring, *frame)
            if shown < kinds[k]:
                nodes, weights, shown = _fit(mesh.vertices, k, further, *frame)
        if kinds[k] < 3:
            weights[2] = 0.0
        if kinds[k] < 2:
            weights[0] = 0.0
        entries.append((nodes, weights))
    rows = np.repeat(np.arange(n), [len(nodes) for nodes, _ in entries])
    cols = np.concatenate([nodes for nodes, _ in entries])
    values = np.concatenate([v for _, v in entries], axis=1)
    xx, xy, yy = (sp.csr_matrix((v, (rows, cols)), shape=(n, n)) for v in values)
    return xx, xy, yy


def tangent_frames(mesh: Mesh) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Tangent vectors and normal of every node; on the border the first one runs along it."""
    normals = node_normals(mesh.vertices, mesh.faces)
    first, _ = node_directions(mesh.vertices, mesh.faces)
    edge = first[mesh.corners]
    for loop in mesh.boundary_loops:
        first[loop] = mesh.vertices[np.roll(loop, -1)] - mesh.vertices[np.roll(loop, 1)]
    first[mesh.corners] = edge  # the chord across a corner runs along neither of its sides
    first -= np.sum(first * normals, axis=1, keepdims=True) * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(normals, first), normals


def _neighbours(mesh: Mesh) -> tuple[sp.csr_matrix, sp.csr_matrix]:
    """Who shares an element with whom (the diagonal node of a quad too), and who does at one remove."""
    m, n = mesh.faces.shape[1], mesh.n_vertices
    i, j = np.repeat(mesh.faces, m, axis=1).ravel(), np.tile(mesh.faces, (1, m)).ravel()
    near = sp.csr_matrix((np.ones(len(i)), (i, j)), shape=(n, n))
    return near, sp.csr_matrix(near @ near)


def _fit(
    vertices: FloatArray, k: int, ring: np.ndarray, d1: FloatArray, d2: FloatArray, normal: FloatArray
) -> tuple[np.ndarray, FloatArray, int]:
    """Weights (3, p) that take the positions of p nodes to phi_xx, phi_xy, phi_yy at node k, and how many are shown.

    The fit passes through node k, which makes a zigzag of neighbouring nodes visible at full strength. What an affine
    map explains is taken out first, so that no flat state has curvature; then the kinds of curvature that are left
    visible are fitted and the others taken as zero.
    """
    ring = ring[ring != k]
    offset = vertices[ring] - vertices[k]
    # unroll the neighbours into the tangent plane, keeping their distance, so that curved rest shapes do not shrink
    x, y = offset @ d1, offset @ d2
    flat = np.hypot(x, y)
    reach = np.sqrt(flat**2 + (offset @ normal) ** 2)
    stretch = reach / np.where(flat > 0, flat, 1.0)
    x, y = x * stretch, y * stretch
    # in units of the ring's own extent along either axis: long thin elements are then like any other
    hx, hy = np.sqrt(np.mean(x**2)), np.sqrt(np.mean(y**2))
    hx, hy = max(hx, 1e-3 * hy), max(hy, 1e-3 * hx)
    x, y = x / hx, y / hy
    weight = (
        1.0 / np.hypot(x, y) ** 3
    )  # near nodes count more: on a grid the straight neighbours, not the diagonal ones
    affine, _ = np.linalg.qr(weight[:, None] * np.stack([x, y], axis=1))
    # sqrt(2) makes the singular values of xx, xy, yy comparable whatever the direction of the frame
    quadratic = weight[:, None] * np.stack([0.5 * x * x, x * y / np.sqrt(2.0), 0.5 * y * y], axis=1)
    quadratic -= affine @ (affine.T @ quadratic)
    u, s, vt = np.linalg.svd(quadratic, full_matrices=False)
    shown = s > _RESOLVED * max(s[0], 0.25)
    second = (vt.T[:, shown] / s[shown]) @ (u.T[shown] * weight)  # (3, p)
    second /= np.array([hx * hx, np.sqrt(2.0) * hx * hy, hy * hy])[:, None]
    nodes = np.concatenate([ring, [k]])
    return nodes, np.concatenate([second, -second.sum(axis=1, keepdims=True)], axis=1), int(shown.sum())
