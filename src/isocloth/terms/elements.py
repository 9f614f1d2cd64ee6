"""Bilinear quads and linear triangles: shape functions and quadrature on the reference element.

Quads live on [-1, 1]^2 with corners counter-clockwise from (-1, -1); triangles on the unit right triangle.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray


class Quadrature(NamedTuple):
    """Shape functions at quadrature points: N (q, m), derivatives dN (q, m, 2), weights (q,)."""

    values: FloatArray
    gradients: FloatArray
    weights: FloatArray


def shape_functions(nodes: int, xi: FloatArray) -> tuple[FloatArray, FloatArray]:
    """N (q, nodes) and its derivatives (q, nodes, 2) at reference points xi (q, 2)."""
    x, y = xi[:, 0], xi[:, 1]
    if nodes == 4:
        sx, sy = np.array([-1, 1, 1, -1.0]), np.array([-1, -1, 1, 1.0])
        fx, fy = 1 + x[:, None] * sx, 1 + y[:, None] * sy
        return 0.25 * fx * fy, 0.25 * np.stack([sx * fy, fx * sy], axis=-1)
    values = np.stack([1 - x - y, x, y], axis=1)
    gradients = np.broadcast_to(np.array([[-1, -1], [1, 0], [0, 1.0]]), (len(x), 3, 2)).copy()
    return values, gradients


def gauss(nodes: int) -> Quadrature:
    """Quadrature exact for the integrals of the metric: 3 x 3 points on quads, 3 points on triangles."""
    if nodes == 4:
        g, w = np.polynomial.legendre.leggauss(3)
        xi = np.stack(np.meshgrid(g, g, indexing="ij"), axis=-1).reshape(-1, 2)
        weights = np.outer(w, w).ravel()
    else:
        xi = np.array([[1 / 6, 1 / 6], [2 / 3, 1 / 6], [1 / 6, 2 / 3]])
        weights = np.full(3, 1 / 6)
    values, gradients = shape_functions(nodes, xi)
    return Quadrature(values, gradients, weights)


def corners() -> Quadrature:
    """Quadrature at the corners of a quad, which lumps: N_k is 1 at corner k and 0 at the others."""
    values, gradients = shape_functions(4, np.array([[-1, -1], [1, -1], [1, 1], [-1, 1.0]]))
    return Quadrature(values, gradients, np.ones(4))


def tangents(points: FloatArray, gradients: FloatArray) -> tuple[FloatArray, FloatArray]:
    """phi_xi and phi_eta (e, q, 3) of elements with corners `points` (e, m, 3)."""
    both = np.einsum("qmd,emx->eqdx", gradients, points)
    return both[:, :, 0], both[:, :, 1]


def area_elements(points: FloatArray, quadrature: Quadrature) -> FloatArray:
    """dA (e, q): weight times |phi_xi x phi_eta| at every quadrature point, m^2."""
    a, b = tangents(points, quadrature.gradients)
    return np.linalg.norm(np.cross(a, b), axis=-1) * quadrature.weights
