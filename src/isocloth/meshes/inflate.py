"""Thickness of a flat bag blown up: zero along the seams, rounded like an ellipse across."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.linalg import spsolve

from isocloth.base.typing import FloatArray, IntArray


def thickness(points: FloatArray, triangles: IntArray, seam: IntArray) -> FloatArray:
    """Half thickness at the nodes (n,), from 0 on the seam nodes to 1 where the bag is thickest.

    Solves -laplace(phi) = 1 with linear triangles on points (n, 2), phi = 0 on the seam and no flux through
    the rest of the boundary, and returns sqrt(phi / max phi). In a strip of half width a between two seams
    phi = (a^2 - x^2) / 2, so the cross-section is exactly an ellipse.
    """
    n = len(points)
    p = points[triangles]
    opposite = np.roll(p, 1, axis=1) - np.roll(p, -1, axis=1)
    u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    area = 0.5 * np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0])
    # Gradients of the hat functions are the opposite sides turned by 90 degrees over twice the area.
    local = np.einsum("tai,tbi->tab", opposite, opposite) / (4.0 * area)[:, None, None]
    rows = np.repeat(triangles, 3, axis=1).reshape(-1)
    columns = np.tile(triangles, (1, 3)).reshape(-1)
    stiffness = coo_array((local.reshape(-1), (rows, columns)), shape=(n, n)).tocsr()
    load = np.zeros(n)
    np.add.at(load, triangles, (area / 3.0)[:, None])
    free = np.setdiff1d(np.arange(n), seam)
    phi = np.zeros(n)
    phi[free] = spsolve(stiffness[free][:, free].tocsc(), load[free])
    # Obtuse triangles can make the discrete solution dip below zero next to a seam.
    return np.sqrt(np.maximum(phi, 0.0) / phi.max())
