"""The metric at nodes as quadratic rows: what every element adds, and the rows of chosen nodes from it."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.terms.elements import Quadrature, area_elements
from isocloth.terms.frames import physical_gradients

#: row, node, node and value of entries of T, as `terms.rows.pack` takes them
Triplets = tuple[IntArray, IntArray, IntArray, FloatArray]


def element_metric(mesh: Mesh, component: str, rule: Quadrature) -> FloatArray:
    """T[e, k, i, j] = (1/m_k) sum_q w N_i,a N_j,b, symmetrised: what element e adds to E, F or G of its corner k.

    w are the weights of the integral of N_k and m_k is the lumped mass (eq. 11).
    """
    weight = np.einsum("eq,qk->ekq", area_elements(mesh.vertices[mesh.faces], rule), rule.values)
    gradients = physical_gradients(mesh.vertices, mesh.faces, rule)
    first, second = {"E": (0, 0), "F": (0, 1), "G": (1, 1)}[component]
    local: FloatArray = np.einsum("ekq,ekqi,ekqj->ekij", weight, gradients[..., first], gradients[..., second])
    mass = np.bincount(mesh.faces.ravel(), weight.sum(axis=2).ravel(), minlength=mesh.n_vertices)
    return 0.5 * (local + local.transpose(0, 1, 3, 2)) / mass[mesh.faces][:, :, None, None]


def at_nodes(mesh: Mesh, local: FloatArray, nodes: IntArray) -> Triplets:
    """The rows of the given nodes from what every element adds (e, k, i, j)."""
    faces = mesh.faces
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
    return row[used], i[used], j[used], local[used]
