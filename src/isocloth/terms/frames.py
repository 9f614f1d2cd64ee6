"""One tangent frame per node, shared by all elements around it.

The metric E, F, G of a node averages over its elements, so they must all differentiate along the same two directions.
Each element is turned as a rigid body from its own plane into the node's tangent plane (the smallest rotation that
takes one normal to the other, which is how a tangent vector is carried along a surface), and its shape functions are
differentiated there in metres. Then E = G = 1 and F = 0 at rest for every mesh, flat or not, and one dimensionless
tolerance means the same everywhere. With each element's own reference coordinates the average mixes unrelated edges.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.elements import Quadrature, tangents


def node_normals(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Unit normals (n, 3): area-weighted average over the elements around each node."""
    normals = element_normals(vertices, faces)
    total = np.stack(
        [np.bincount(faces.ravel(), np.repeat(normals[:, d], faces.shape[1]), len(vertices)) for d in range(3)],
        axis=1,
    )
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return total / np.where(length > 0, length, 1.0)


def element_normals(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Area vectors (e, 3): normal of each element times its area (exact for the mean plane of a quad)."""
    p = vertices[faces]
    if faces.shape[1] == 4:
        return 0.5 * np.cross(p[:, 2] - p[:, 0], p[:, 3] - p[:, 1])
    return 0.5 * np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])


def node_directions(vertices: FloatArray, faces: IntArray) -> tuple[FloatArray, FloatArray]:
    """Orthonormal tangent vectors (n, 3), (n, 3) at every node: warp and weft.

    The warp of a mesh is the coordinate axis that lies best in its surface. On triangles it is projected into every
    tangent plane; on quads, whose edges are the threads, the edge closest to it is taken (F is then the angle of the
    net).
    """
    normals = node_normals(vertices, faces)
    axis = np.eye(3)[np.argmin(np.round(np.mean(np.abs(normals), axis=0), 6))]
    first = np.broadcast_to(axis, vertices.shape).copy()
    m = faces.shape[1]
    best = np.full(len(vertices), -1.0)
    if m == 3:
        best[:] = np.linalg.norm(np.cross(normals, axis), axis=1)
        best[best < 0.1] = -1.0  # the surface turns its normal towards the axis here: any edge will do
    pending = best < 0.0
    for k in range(m):
        for step in (1, m - 1):
            nodes = faces[:, k]
            edge = vertices[faces[:, (k + step) % m]] - vertices[nodes]
            edge -= np.sum(edge * normals[nodes], axis=1, keepdims=True) * normals[nodes]
            edge /= np.linalg.norm(edge, axis=1, keepdims=True)
            along = edge @ axis
            better = pending[nodes] & (np.abs(along) > best[nodes] + 1e-9)
            first[nodes[better]] = edge[better] * np.where(along[better] < 0, -1.0, 1.0)[:, None]
            best[nodes[better]] = np.abs(along[better])
    first -= np.sum(first * normals, axis=1, keepdims=True) * normals
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return first, np.cross(normals, first)


def physical_gradients(vertices: FloatArray, faces: IntArray, rule: Quadrature) -> FloatArray:
    """Derivatives (e, k, q, m, 2) of the m shape functions at quadrature point q, in the frame of corner k."""
    p = vertices[faces]
    normal = element_normals(vertices, faces)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    d1, d2 = node_directions(vertices, faces)
    node_normal = np.cross(d1, d2)[faces]  # (e, k, 3)
    # frame of the node carried into the plane of the element: rotation taking node normal to element normal
    cosine = np.einsum("ekx,ex->ek", node_normal, normal)[..., None]
    axis = np.cross(node_normal, normal[:, None, :])

    def carry(v: FloatArray) -> FloatArray:
        along = np.sum(axis * v, axis=-1, keepdims=True)
        return v * cosine + np.cross(axis, v) + axis * along / np.maximum(1.0 + cosine, 1e-9)

    e1, e2 = carry(d1[faces]), carry(d2[faces])
    a, b = tangents(p, rule.gradients)  # (e, q, 3)
    jacobian = np.stack(
        [np.einsum("eqx,ekx->ekq", a, e1), np.einsum("eqx,ekx->ekq", a, e2),
         np.einsum("eqx,ekx->ekq", b, e1), np.einsum("eqx,ekx->ekq", b, e2)], axis=-1,
    )  # fmt: skip
    j11, j12, j21, j22 = np.moveaxis(jacobian, -1, 0)
    det = j11 * j22 - j12 * j21
    dxi, deta = rule.gradients[..., 0], rule.gradients[..., 1]  # (q, m)
    dx = (j22[..., None] * dxi - j12[..., None] * deta) / det[..., None]
    dy = (j11[..., None] * deta - j21[..., None] * dxi) / det[..., None]
    return np.stack([dx, dy], axis=-1)
