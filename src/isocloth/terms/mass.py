"""Lumped mass: the area that belongs to each node, m_k = sum over elements of the integral of N_k (eq. 10)."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.elements import area_elements, gauss


def lumped_areas(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Area in m^2 that each node carries (n,); times the density it is the node's mass."""
    rule = gauss(faces.shape[1])
    share = np.einsum("eq,qm->em", area_elements(vertices[faces], rule), rule.values)
    return np.bincount(faces.ravel(), share.ravel(), minlength=len(vertices)).astype(np.float64)


def voronoi_areas(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Area in m^2 closest to each node (n,): what a node stands for when neighbours have unlike numbers of triangles.

    Triangles give each corner what is closer to it than to the others (obtuse ones a half to the obtuse corner and a
    quarter to each other); quads give their lumped areas.
    """
    if faces.shape[1] == 4:
        return lumped_areas(vertices, faces)
    p = vertices[faces]
    double = np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1)
    ahead, behind = p[:, [1, 2, 0]] - p, p[:, [2, 0, 1]] - p
    dot = np.sum(ahead * behind, axis=2)  # (e, corner)
    cot = dot / double[:, None]
    squares = np.sum(ahead**2, axis=2)  # of the edge from corner k to k + 1, opposite to corner k + 2
    share = (cot[:, [2, 0, 1]] * squares + cot[:, [1, 2, 0]] * squares[:, [2, 0, 1]]) / 8.0
    obtuse = dot < 0.0
    half = np.where(obtuse, 0.25, 0.125) * double[:, None]
    share = np.where(obtuse.any(axis=1, keepdims=True), half, share)
    return np.bincount(faces.ravel(), share.ravel(), minlength=len(vertices)).astype(np.float64)
