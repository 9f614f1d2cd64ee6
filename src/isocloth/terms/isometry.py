"""Isometry: what has to stay constant for a cloth not to stretch, as quadratic rows.

Three discretisations (Coltraro et al., An inextensible model for the robotic manipulation of textiles, section 5):

- "nodal", the papers': E, F, G at interior nodes by weighted residuals, every boundary edge, F at the corners. Its
  average does not see neighbouring elements that stretch and shrink in turn (a checkerboard).
- "net", the default on quads: every edge, and F at interior nodes and corners. No checkerboard, no locking.
- "stabilised", the default on triangles: "nodal", and a soft energy on every edge that removes the checkerboard.
  Edges that were enforced would lock: a triangle has no freedom left.

F on quads of a net is taken with quadrature at the corners of the elements: it is then the mean angle between the net's
lines at the node, and touches only the node's edges.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from isocloth.meshes import Mesh
from isocloth.terms.elements import area_elements, corners, gauss
from isocloth.terms.frames import physical_gradients
from isocloth.terms.rows import Rows, pack, stack
from isocloth.typing import FloatArray, IntArray

DISCRETISATIONS = ("net", "nodal", "stabilised")

#: stiffness of the angles of "net" relative to its edges: woven cloth shears far more easily than it stretches (with
#: E h = 4 k for the edges this is G / E = 1/13), and a fold oblique to the net needs a little of it inside one cell.
#: Chosen with the locking test in view (docs/validation.md says what was tried)
SHEAR_RATIO = 0.3
#: stiffness of the edges of "stabilised" relative to the enforced rows: chosen with the locking test in view, too
STABILISER = 0.02


def isometry(
    mesh: Mesh, stiffness: float, discretisation: str | None = None, *, shear: bool = True, softest: float = np.inf
) -> Rows:
    """All rows of a discretisation, weighted by stiffness (J/m^2) times the area each one stands for.

    Args:
        mesh: the rest shape.
        stiffness: k of the energy k C^2 / 2 per area; C is about twice the strain, so E h = 4 k.
        discretisation: "net", "nodal" or "stabilised"; None chooses by element.
        shear: whether F is enforced (else shearing is left to an energy).
        softest: stiffness that the stabiliser must not exceed, J/m^2; its edges run in all directions and resist shear.
    """
    if discretisation is None:
        discretisation = "net" if mesh.element == "quad" else "stabilised"
    if discretisation not in DISCRETISATIONS:
        raise ValueError(f"discretisation {discretisation!r} is unknown; choose one of {', '.join(DISCRETISATIONS)}")
    if discretisation == "net" and mesh.element == "triangle":
        raise ValueError(
            'the "net" discretisation needs quads: on triangles all edges leave no freedom to bend. '
            'Use "stabilised" or "nodal", or a quad mesh'
        )
    sheared = np.concatenate([mesh.interior_nodes, mesh.corners]) if shear else np.empty(0, dtype=np.int64)
    share = _share(mesh)
    if discretisation == "net":
        angles = net_angles(mesh, sheared)
        return stack(_weighted(edges(mesh, mesh.edges), stiffness * _edge_share(mesh, mesh.edges, share)),
                     _weighted(angles, SHEAR_RATIO * stiffness * share[sheared]))  # fmt: skip
    inside = mesh.interior_nodes
    parts = [
        _weighted(nodal_metric(mesh, "E", inside), stiffness * share[inside]),
        _weighted(nodal_metric(mesh, "G", inside), stiffness * share[inside]),
        _weighted(nodal_metric(mesh, "F", sheared), stiffness * share[sheared]),
        _weighted(edges(mesh, mesh.boundary_edges), stiffness * _edge_share(mesh, mesh.boundary_edges, share)),
    ]
    if discretisation == "stabilised" and softest > 0.0:
        within = mesh.edge_faces[:, 1] >= 0
        soft = edges(mesh, mesh.edges[within])
        soft = replace(soft, enforced=np.zeros(len(soft), dtype=bool))
        least = min(STABILISER * stiffness, softest)
        parts.append(_weighted(soft, least * _edge_share(mesh, mesh.edges[within], share)))
    return stack(*parts)


def edges(mesh: Mesh, pairs: IntArray) -> Rows:
    """|p_i - p_j|^2 / l^2 - 1 for each pair of nodes (e, 2) (eq. 7, made dimensionless)."""
    a, b = pairs.T
    k = np.arange(len(pairs))
    scale = 1.0 / np.sum((mesh.vertices[a] - mesh.vertices[b]) ** 2, axis=1)
    return pack(
        np.concatenate([k, k, k, k]),
        np.concatenate([a, b, a, b]),
        np.concatenate([a, b, b, a]),
        np.concatenate([scale, scale, -scale, -scale]),
        mesh.vertices,
        len(pairs),
    )


def nodal_metric(mesh: Mesh, component: str, nodes: IntArray) -> Rows:
    """E, F or G at the given nodes by weighted residuals with the lumped mass (eq. 11)."""
    rule = gauss(mesh.faces.shape[1])
    area = area_elements(mesh.vertices[mesh.faces], rule)
    weight = np.einsum("eq,qk->ekq", area, rule.values)  # integral of N_k
    return _metric(mesh, component, nodes, weight, physical_gradients(mesh.vertices, mesh.faces, rule))


def net_angles(mesh: Mesh, nodes: IntArray) -> Rows:
    """F at the given nodes of a quad mesh, with quadrature at the elements' corners.

    The multiplier of such a row is kept as an unknown: only then does the matrix couple nothing beyond one element
    around a node, which halves the width of the cuts through the cloth. Its geometric stiffness is bounded by that of
    the edges of the node, S = (+-T + D) / 2 with D diagonally dominant over them: equal to T's positive part for smooth
    displacements, and it couples only nodes of one element.
    """
    rule = corners()
    area = area_elements(mesh.vertices[mesh.faces], rule)
    weight = np.einsum("eq,qk->ekq", area, rule.values)
    rows = _metric(mesh, "F", nodes, weight, physical_gradients(mesh.vertices, mesh.faces, rule))
    plus, minus = rows.plus.copy(), rows.minus.copy()
    for m in np.unique(rows.sizes):
        members = np.flatnonzero(rows.sizes == m)
        slots = rows.square[members][:, None] + np.arange(m * m)
        t = rows.T[slots].reshape(-1, m, m)
        centre = np.argmax(rows.nodes[rows.ptr[members][:, None] + np.arange(m)] == nodes[members][:, None], axis=1)
        pick = np.arange(len(members))
        bound = np.abs(t)
        bound[pick, centre, :] = bound[pick, :, centre] = 0.0
        pull = bound.sum(axis=2)  # (rows, m) stiffness of the edge from the centre to each neighbour
        d = np.zeros_like(t)
        d[:, np.arange(m), np.arange(m)] = pull
        d[pick, centre, :] -= pull
        d[pick, :, centre] -= pull
        d[pick, centre, centre] += pull.sum(axis=1)
        plus[slots] = 0.5 * (t + d).reshape(-1, m * m)
        minus[slots] = 0.5 * (-t + d).reshape(-1, m * m)
    return replace(rows, plus=plus, minus=minus, kept=np.ones(len(rows), dtype=bool))


def _metric(mesh: Mesh, component: str, nodes: IntArray, weight: FloatArray, gradients: FloatArray) -> Rows:
    """Assemble T[k, i, j] = (1/m_k) sum_q weight N_i,a N_j,b, symmetrised, for the chosen component."""
    first, second = {"E": (0, 0), "F": (0, 1), "G": (1, 1)}[component]
    local = np.einsum("ekq,ekqi,ekqj->ekij", weight, gradients[..., first], gradients[..., second])
    local = 0.5 * (local + local.transpose(0, 1, 3, 2))
    faces = mesh.faces
    mass = np.bincount(faces.ravel(), weight.sum(axis=2).ravel(), minlength=mesh.n_vertices)
    local /= mass[faces][:, :, None, None]
    number = np.full(mesh.n_vertices, -1)
    number[nodes] = np.arange(len(nodes))
    row = np.broadcast_to(number[faces][:, :, None, None], local.shape)
    i = np.broadcast_to(faces[:, None, :, None], local.shape)
    j = np.broadcast_to(faces[:, None, None, :], local.shape)
    # what a corner rule does not touch is exactly zero and dropped, but never the node itself
    used = local != 0.0
    owner = np.broadcast_to(faces[:, :, None, None], local.shape)
    used |= (i == owner) & (j == owner)
    used &= row >= 0
    return pack(row[used], i[used], j[used], local[used], mesh.vertices, len(nodes))


def _weighted(rows: Rows, weight: FloatArray) -> Rows:
    return replace(rows, weight=np.ascontiguousarray(weight, dtype=np.float64))


def _share(mesh: Mesh) -> FloatArray:
    """Area (n,) that an interior node would have among elements like its own: borders are as stiff as the rest."""
    faces = mesh.faces
    count = np.bincount(faces.ravel(), minlength=mesh.n_vertices)
    total = np.bincount(faces.ravel(), np.repeat(mesh.face_areas, faces.shape[1]), minlength=mesh.n_vertices)
    per_node = 1.0 if mesh.element == "quad" else 2.0
    return per_node * total / count


def _edge_share(mesh: Mesh, pairs: IntArray, share: FloatArray) -> FloatArray:
    return 0.5 * (share[pairs[:, 0]] + share[pairs[:, 1]])
