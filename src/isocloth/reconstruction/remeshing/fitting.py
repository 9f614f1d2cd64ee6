"""Positions of the nodes of a mesh: on quadratic surfaces fitted to the points around, evenly spread along them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes.topology import edge_table
from isocloth.reconstruction.triangulation.complex import Complex

#: rounds in which a finished mesh is relaxed
RELAXED = 8


class Fit(NamedTuple):
    """Quadratic surfaces over the tangent planes of points: z = c0 + c1 x + c2 y + c3 x^2 + c4 x y + c5 y^2.

    x and y are in units of `scale` (k,), in m; coefficients (k, 6) in m.
    """

    origin: FloatArray
    frame: FloatArray
    normal: FloatArray
    scale: FloatArray
    coefficients: FloatArray

    def project(self, which: IntArray, positions: FloatArray) -> FloatArray:
        """Positions (k, 3), in m, moved along the normals of fits `which` (k,) onto these."""
        away = positions - self.origin[which]
        x = np.einsum("ki,ki->k", away, self.frame[which, 0]) / self.scale[which]
        y = np.einsum("ki,ki->k", away, self.frame[which, 1]) / self.scale[which]
        z = np.einsum("ki,ki->k", away, self.normal[which])
        columns = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=1)
        wanted = np.einsum("ki,ki->k", columns, self.coefficients[which])
        return positions + (wanted - z)[:, None] * self.normal[which]


def fit(points: FloatArray, frames: FloatArray, near: IntArray, on_boundary: BoolArray) -> Fit:
    """Fit a quadratic surface to the neighbours of every point, a plane on the boundary, where they lie on one side."""
    normal = np.cross(frames[:, 0], frames[:, 1])
    around = points[near] - points[:, None, :]
    x, y, z = (np.einsum("kni,ki->kn", around, axis) for axis in (frames[:, 0], frames[:, 1], normal))
    scale = np.sqrt((x**2 + y**2).max(axis=1))
    x, y = x / scale[:, None], y / scale[:, None]
    weight = np.exp(-1.5 * (x**2 + y**2))
    # the point itself counts as one of its neighbours
    one, zero = np.ones((len(points), 1)), np.zeros((len(points), 1))
    x, y, z, weight = (np.hstack([first, rest]) for first, rest in ((zero, x), (zero, y), (zero, z), (one, weight)))
    columns = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=2)
    columns[on_boundary, :, 3:] = 0.0
    gram = np.einsum("kn,kni,knj->kij", weight, columns, columns, optimize=True) + 1e-9 * np.eye(6)
    right = np.einsum("kn,kni,kn->ki", weight, columns, z, optimize=True)
    return Fit(points, frames, normal, scale, np.linalg.solve(gram, right[:, :, None])[:, :, 0])


def project_onto(fitted: Fit, positions: FloatArray) -> FloatArray:
    """Positions (k, 3) in m, moved onto the surface fitted at the nearest point."""
    which = np.asarray(cKDTree(fitted.origin).query(positions)[1])
    return fitted.project(which, positions)


def relaxed(surface: Complex, fitted: Fit, nodes: IntArray, triangles: IntArray, rounds: int = RELAXED) -> FloatArray:
    """Positions (k, 3) in m of the nodes of a mesh: on the fitted surfaces, and evenly spread along them.

    nodes: (k,) points of the surface. In every round a node goes half of the way to the mean of its neighbours and back
    onto the surface; nodes on the boundary stay.
    """
    return smoothed(fitted, fitted.project(nodes, surface.points[nodes]), triangles, rounds)


def smoothed(fitted: Fit, positions: FloatArray, faces: IntArray, rounds: int = RELAXED) -> FloatArray:
    """Laplacian smoothing along the fitted surfaces, of triangles or quads with nodes at positions (k, 3) in m."""
    table = edge_table(faces)
    pairs = np.concatenate([table.edges, table.edges[:, ::-1]])
    degree = np.bincount(pairs[:, 0], minlength=len(positions))[:, None]
    inner = np.setdiff1d(np.arange(len(positions)), table.edges[table.counts == 1])
    tree = cKDTree(fitted.origin)
    for _ in range(rounds):
        mean = np.zeros_like(positions)
        np.add.at(mean, pairs[:, 0], positions[pairs[:, 1]])
        moved = 0.5 * (positions + mean / degree)
        which = np.asarray(tree.query(moved[inner])[1])
        positions = positions.copy()
        positions[inner] = fitted.project(which, moved[inner])
    return positions
