"""Lumped mass: the area that belongs to each node, m_k = sum over elements of the integral of N_k (eq. 10)."""

from __future__ import annotations

import numpy as np

from isocloth.terms.elements import area_elements, gauss
from isocloth.typing import FloatArray, IntArray


def lumped_areas(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Area in m^2 that each node carries (n,); times the density it is the node's mass."""
    rule = gauss(faces.shape[1])
    share = np.einsum("eq,qm->em", area_elements(vertices[faces], rule), rule.values)
    return np.bincount(faces.ravel(), share.ravel(), minlength=len(vertices))
