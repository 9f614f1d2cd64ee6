"""Bending: the constant matrix K of the energy kappa/2 phi^T K phi, positive semidefinite and alike for x, y, z.

Three matrices:

- "hessian", the default: K = sum_k m_k (D_xx^T D_xx + 2 D_xy^T D_xy + D_yy^T D_yy), with D the second derivatives at
  node k of the quadratic polynomial that fits the positions around it in rest coordinates. They vanish on every affine
  image of a flat mesh, so there is no force on flat states, and nodes of the border have theirs too (fitted one-sidedly),
  so a narrow strip has its full stiffness. On a developable surface |II|^2 = (trace II)^2: this is Willmore's energy.
- "laplacian", the papers': K = L^T M L with L the finite element Laplacian. Its boundary rows do not vanish on a flat
  sheet, and curl its edges.
- "interior": the same with rows at interior nodes only. No force on flat states, but the border carries no energy and
  narrow strips come out far too soft.

A rest shape that is not flat (a garment) keeps wanting to be flat, as in the papers.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from isocloth.meshes import Mesh
from isocloth.terms.elements import area_elements, gauss
from isocloth.terms.frames import node_directions, node_normals, physical_gradients
from isocloth.terms.mass import lumped_areas
from isocloth.typing import FloatArray

MODELS = ("hessian", "laplacian", "interior")

#: a direction of curvature that the fit resolves less than this, relative to the best one, is taken as straight
_RESOLVED = 0.05


def bending(mesh: Mesh, model: str = "hessian") -> sp.csr_matrix:
    """K (n, n) in 1/m^2 ... so that kappa (N m) times phi^T K phi / 2 is an energy in joule."""
    if model == "hessian":
        return _hessian_matrix(mesh)
    if model in ("laplacian", "interior"):
        mass = lumped_areas(mesh.vertices, mesh.faces)
        rows = sp.csr_matrix(laplacian(mesh))
        if model == "interior":
            inside = np.zeros(mesh.n_vertices)
            inside[mesh.interior_nodes] = 1.0
            rows = sp.diags_array(inside) @ rows
        return sp.csr_matrix(rows.T @ sp.diags_array(mass) @ rows)
    raise ValueError(f"bending model {model!r} is unknown; choose one of {', '.join(MODELS)}")


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
    """Second derivatives (D_xx, D_xy, D_yy), each (n, n) in 1/m^2, in the tangent frame of every node."""
    n = mesh.n_vertices
    first, second = node_directions(mesh.vertices, mesh.faces)
    normals = node_normals(mesh.vertices, mesh.faces)
    # neighbours through an element (the diagonal one of a quad too)
    faces = mesh.faces
    m = faces.shape[1]
    i = np.repeat(faces, m, axis=1).ravel()
    j = np.tile(faces, (1, m)).ravel()
    near = sp.csr_matrix((np.ones(len(i)), (i, j)), shape=(n, n))
    near.data[:] = 1.0
    wide = sp.csr_matrix(near @ near)
    entries: list[tuple[np.ndarray, np.ndarray]] = []
    for k in range(n):
        ring = near.indices[near.indptr[k] : near.indptr[k + 1]]
        fitted = _fit(mesh.vertices, k, ring, first[k], second[k], normals[k])
        if fitted is None:
            ring = wide.indices[wide.indptr[k] : wide.indptr[k + 1]]
            fitted = _fit(mesh.vertices, k, ring, first[k], second[k], normals[k], forced=True)
        assert fitted is not None
        entries.append(fitted)
    rows = np.repeat(np.arange(n), [len(nodes) for nodes, _ in entries])
    cols = np.concatenate([nodes for nodes, _ in entries])
    values = np.concatenate([v for _, v in entries], axis=1)
    xx, xy, yy = (sp.csr_matrix((v, (rows, cols)), shape=(n, n)) for v in values)
    return xx, xy, yy


def _fit(
    vertices: FloatArray, k: int, ring: np.ndarray, d1: FloatArray, d2: FloatArray, normal: FloatArray, *, forced: bool = False
) -> tuple[np.ndarray, FloatArray] | None:
    """Weights (3, p) that take positions around node k to phi_xx, phi_xy, phi_yy of a fit that passes through node k.

    Passing through the node makes a zigzag of neighbouring nodes visible at full strength. None if the ring does not
    resolve every direction of curvature; a forced fit drops the directions it cannot see (a strip one element wide
    does not bend across).
    """
    ring = ring[ring != k]
    offset = vertices[ring] - vertices[k]
    # unroll the neighbours into the tangent plane, keeping their distance, so that curved rest shapes do not shrink
    x, y = offset @ d1, offset @ d2
    flat = np.hypot(x, y)
    reach = np.sqrt(flat**2 + (offset @ normal) ** 2)
    stretch = reach / np.where(flat > 0, flat, 1.0)
    h = reach.mean()
    x, y, r = x * stretch / h, y * stretch / h, reach / h
    basis = np.stack([x, y, 0.5 * x * x, x * y, 0.5 * y * y], axis=1)
    weight = 1.0 / r**3  # near nodes count more: on a grid the straight neighbours, not the diagonal ones
    u, s, vt = np.linalg.svd(weight[:, None] * basis, full_matrices=False)
    seen = s > _RESOLVED * s[0]
    if not forced and (len(s) < 5 or not seen.all()):
        return None
    inverse = (vt.T[:, seen] / s[seen]) @ (u.T[seen] * weight)  # (5, p)
    second = inverse[2:] / h**2
    nodes = np.concatenate([ring, [k]])
    return nodes, np.concatenate([second, -second.sum(axis=1, keepdims=True)], axis=1)


def _hessian_matrix(mesh: Mesh) -> sp.csr_matrix:
    mass = sp.diags_array(lumped_areas(mesh.vertices, mesh.faces))
    xx, xy, yy = hessian(mesh)
    matrix = sp.csr_matrix(xx.T @ mass @ xx + 2 * (xy.T @ mass @ xy) + yy.T @ mass @ yy)
    matrix.sum_duplicates()
    return matrix
