"""Measures of faces in space: areas, normals, corner angles. Lengths in m, areas in m^2, angles in rad."""

from __future__ import annotations

import numpy as np

from isocloth.base.typing import FloatArray, IntArray


def vector_areas(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Area times unit normal of each face (m, 3), in m^2.

    For a quad this is half the cross product of the diagonals, exact for any surface with its four sides.
    """
    p = vertices[faces]
    if faces.shape[1] == 3:
        return 0.5 * np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
    return 0.5 * np.cross(p[:, 2] - p[:, 0], p[:, 3] - p[:, 1])


def face_areas(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Area of each face (m,) in m^2: exact for triangles, 3 x 3 Gauss points on bilinear quads."""
    if faces.shape[1] == 3:
        return np.linalg.norm(vector_areas(vertices, faces), axis=1)
    p0, p1, p2, p3 = np.moveaxis(vertices[faces], 1, 0)
    points, weights = np.polynomial.legendre.leggauss(3)
    points, weights = 0.5 * (points + 1.0), 0.5 * weights
    areas = np.zeros(len(faces))
    for u, wu in zip(points, weights, strict=True):
        along_v = (1.0 - u) * (p3 - p0) + u * (p2 - p1)
        for v, wv in zip(points, weights, strict=True):
            along_u = (1.0 - v) * (p1 - p0) + v * (p2 - p3)
            areas += wu * wv * np.linalg.norm(np.cross(along_u, along_v), axis=1)
    return areas


def corner_crosses(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Cross product of the outgoing and incoming side at every corner, shape (m, k, 3), in m^2."""
    p = vertices[faces]
    return np.cross(np.roll(p, -1, axis=1) - p, np.roll(p, 1, axis=1) - p)


def corner_angles(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Angle of every face at every one of its corners, shape (m, k), in rad between 0 and pi."""
    p = vertices[faces]
    after = np.roll(p, -1, axis=1) - p
    before = np.roll(p, 1, axis=1) - p
    # atan2 keeps full precision near 0 and pi, where arccos loses half of the digits.
    return np.arctan2(np.linalg.norm(np.cross(after, before), axis=2), np.einsum("fki,fki->fk", after, before))


def node_angles(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Sum of the corner angles around every node, shape (n,), in rad."""
    total = np.zeros(len(vertices))
    np.add.at(total, faces, corner_angles(vertices, faces))
    return total


def vertex_normals(vertices: FloatArray, faces: IntArray) -> FloatArray:
    """Unit normals (n, 3): area-weighted mean over incident faces; zero where the mean vanishes."""
    total = np.zeros_like(vertices)
    np.add.at(total, faces, vector_areas(vertices, faces)[:, None, :])
    length = np.linalg.norm(total, axis=1, keepdims=True)
    return np.divide(total, length, out=np.zeros_like(total), where=length > 0.0)


def triangulate(faces: IntArray) -> IntArray:
    """Triangles of a face list: quads are split along the diagonal 0-2 into rows 2 f and 2 f + 1."""
    if faces.shape[1] == 3:
        return faces
    return np.stack([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]], axis=1).reshape(-1, 3)
