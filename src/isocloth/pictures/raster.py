"""Which triangle is seen at each sample of a picture: a depth buffer."""

from __future__ import annotations

import numpy as np
from numba import njit

from isocloth.base.typing import FloatArray, IntArray

NOBODY = -1


@njit(cache=True, nogil=True, error_model="numpy")
def rasterise(screen: FloatArray, triangles: IntArray, nearness: np.ndarray, owner: np.ndarray) -> None:
    """Write the nearest triangle of every sample.

    screen: (n, 3) x and y in samples, and a nearness that is affine across the screen, larger is nearer.
    triangles: (k, 3) indices. A triangle with a corner of nearness <= 0, behind the eye, is left out.
    nearness: (height, width) float32 and owner: (height, width) int32 are cleared, then written; owner is
    the index of a triangle or NOBODY. The sample of row i and column j lies at (j + 0.5, i + 0.5).
    """
    nearness[:] = 0.0
    owner[:] = NOBODY
    height, width = owner.shape
    for k in range(len(triangles)):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        ax, ay, an = screen[a, 0], screen[a, 1], screen[a, 2]
        bx, by, bn = screen[b, 0], screen[b, 1], screen[b, 2]
        cx, cy, cn = screen[c, 0], screen[c, 1], screen[c, 2]
        area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if area == 0.0 or an <= 0.0 or bn <= 0.0 or cn <= 0.0:
            continue
        first_row = max(0, int(np.ceil(min(ay, by, cy) - 0.5)))
        last_row = min(height - 1, int(np.floor(max(ay, by, cy) - 0.5)))
        first_column = max(0, int(np.ceil(min(ax, bx, cx) - 0.5)))
        last_column = min(width - 1, int(np.floor(max(ax, bx, cx) - 0.5)))
        # Barycentric weights of corners b and c are affine: value at a sample plus slope times steps.
        v_dx, w_dx = (cy - ay) / area, (ay - by) / area
        v_dy, w_dy = (ax - cx) / area, (bx - ax) / area
        for i in range(first_row, last_row + 1):
            y = i + 0.5 - ay
            for j in range(first_column, last_column + 1):
                x = j + 0.5 - ax
                v = v_dx * x + v_dy * y
                w = w_dx * x + w_dy * y
                if v < 0.0 or w < 0.0 or v + w > 1.0:
                    continue
                near = np.float32(an + v * (bn - an) + w * (cn - an))
                if near > nearness[i, j]:
                    nearness[i, j] = near
                    owner[i, j] = k


@njit(cache=True, nogil=True, error_model="numpy")
def vertex_normals(vertices: FloatArray, triangles: IntArray) -> FloatArray:
    """(n, 3) unit normals: the sum of the area vectors of the triangles at each vertex, normalised."""
    normals = np.zeros_like(vertices)
    for k in range(len(triangles)):
        a, b, c = triangles[k, 0], triangles[k, 1], triangles[k, 2]
        ux, uy, uz = (
            vertices[b, 0] - vertices[a, 0],
            vertices[b, 1] - vertices[a, 1],
            vertices[b, 2] - vertices[a, 2],
        )
        vx, vy, vz = (
            vertices[c, 0] - vertices[a, 0],
            vertices[c, 1] - vertices[a, 1],
            vertices[c, 2] - vertices[a, 2],
        )
        nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        for corner in (a, b, c):
            normals[corner, 0] += nx
            normals[corner, 1] += ny
            normals[corner, 2] += nz
    for i in range(len(normals)):
        length = np.sqrt(normals[i, 0] ** 2 + normals[i, 1] ** 2 + normals[i, 2] ** 2)
        if length > 0.0:
            normals[i] /= length
    return normals
