"""Areas and masses of nodes as functions of the rest shape: products with the derivative of `terms.mass`.

The area of a node is m_k = sum over elements of the integral of N_k |phi_xi x phi_eta|, so that a change of the points
changes sum_k c_k m_k by n . (dphi_xi x phi_eta + phi_xi x dphi_eta) in every point of quadrature, n the unit normal.
"""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.terms.elements import gauss, tangents


def areas_pulled_back(points: FloatArray, faces: IntArray, corners: IntArray, factor: FloatArray) -> FloatArray:
    """Derivative (p, 3) m of the sum of factor (n,) times the areas of nodes, in the points (p, 3) of a rest shape.

    faces: (f, m) nodes; corners: (f, m) points, which are the same where faces have no corners of their own.
    """
    rule = gauss(faces.shape[1])
    a, b = tangents(points[corners], rule.gradients)  # (f, q, 3)
    normal = np.cross(a, b)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    share = np.einsum("fm,qm->fq", factor[faces], rule.values) * rule.weights
    along = np.stack([np.cross(b, normal), np.cross(normal, a)], axis=2) * share[..., None, None]
    each = np.einsum("fqdx,qmd->fmx", along, rule.gradients)
    out = np.zeros_like(points)
    np.add.at(out, corners, each)
    return out
