"""The flat shape of least distortion in which no face is turned over: symmetric Dirichlet energy, Newton's method.

With J (2, 2) the derivative of the map of a face from its own plane, I = |J|^2 and D = det J, the energy is
sum of A (|J|^2 + |J^-1|^2) / 2 = A I (1 + 1 / D^2) / 2 (Smith and Schaefer 2015). It is 2 A of an isometry, and grows
without bound as a face collapses, so that no step of a line search that begins without turned faces turns one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth.base.typing import FloatArray, IntArray
from isocloth.patterns.planar_start import local_frames, planar_frames
from isocloth.sparse.inertia import symmetric_factor

#: decrease that Newton's method expects, of the energy, at which its step is the last one; and steps at most
CONVERGED, MOST_STEPS = 1e-14, 200
#: of the way to where the first face collapses, and of the expected decrease that is asked for
BEFORE_COLLAPSE, ARMIJO = 0.8, 1e-4

#: second derivative of D = J00 J11 - J01 J10 in J, row by row
SECOND = np.array([[0, 0, 0, 1], [0, 0, -1, 0], [0, -1, 0, 0], [1, 0, 0, 0]], dtype=np.float64)


class Flattening(NamedTuple):
    """points: (p, 2) m. steps: of Newton's method. converged: whether nothing is left to gain."""

    points: FloatArray
    steps: int
    converged: bool


def least_distortion(points: FloatArray, faces: IntArray, start: FloatArray) -> Flattening:
    """From a start (p, 2) in m without turned faces to where the energy of a panel (p, 3) is least."""
    rest = local_frames(points, faces)
    area = 0.5 * np.linalg.det(rest)
    inverse: FloatArray = np.linalg.inv(rest).astype(np.float64)
    # J of a face is a linear map of its six coordinates, x0 y0 x1 y1 x2 y2
    slope = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    of_points = np.zeros((len(faces), 4, 6))
    for axis in range(2):
        of_points[:, 2 * axis : 2 * axis + 2, axis::2] = slope.transpose(0, 2, 1)
    at = (2 * faces[:, :, None] + np.arange(2)).reshape(-1, 6)
    i, j = np.repeat(at, 6, axis=1).ravel(), np.tile(at, (1, 6)).ravel()
    # a point and the height of a far one say where the panel lies
    far = int(np.argmax(np.linalg.norm(start - start[0], axis=1)))
    spread = start[far] - start[0]
    held = [0, 1, 2 * far + int(abs(spread[0]) > abs(spread[1]))]
    free = np.setdiff1d(np.arange(start.size), held)
    x = start.copy()
    value = float(area @ density(_derivative(x, faces, inverse)))
    for step in range(MOST_STEPS):
        slopes, curves = derivatives(_derivative(x, faces, inverse))
        gradient = np.zeros(x.size)
        np.add.at(gradient, at, area[:, None] * np.einsum("fkc,fk->fc", of_points, slopes))
        blocks = area[:, None, None] * (of_points.transpose(0, 2, 1) @ curves @ of_points)
        matrix = sp.csc_matrix((blocks.ravel(), (i, j)), shape=(x.size, x.size))[free][:, free].tocsc()
        factor = symmetric_factor(matrix)
        if factor is None:
            return Flattening(x, step, False)
        move = np.zeros(x.size)
        move[free] = factor.solve(-gradient[free])
        gain = -float(gradient @ move)
        way = move.reshape(-1, 2)
        if gain <= CONVERGED * value:
            # the energy does not tell the last steps apart any more, but where an isometry is they are the best ones
            return Flattening(x + way if gain >= 0.0 else x, step, bool(gain >= -CONVERGED * value))
        length = min(1.0, BEFORE_COLLAPSE * _collapse(x, way, faces))
        while True:
            trial = x + length * way
            now = float(area @ density(_derivative(trial, faces, inverse)))
            if now <= value - ARMIJO * length * gain:
                break
            length *= 0.5
            if length < 1e-12:  # rounding is all that is left
                return Flattening(x, step, False)
        x, value = trial, now
    return Flattening(x, MOST_STEPS, False)


def density(j: FloatArray) -> FloatArray:
    """(f,) energy per area of derivatives (f, 2, 2); infinite where a face is turned over."""
    det = np.linalg.det(j)
    square = (j * j).sum(axis=(1, 2))
    with np.errstate(divide="ignore", over="ignore"):
        return np.where(det > 0.0, 0.5 * square * (1.0 + 1.0 / np.where(det > 0.0, det, 1.0) ** 2), np.inf)


def derivatives(j: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First (f, 4) and second (f, 4, 4) derivatives of `density` in J, row by row; the second semidefinite."""
    flat = j.reshape(-1, 4)
    det, square = np.linalg.det(j)[:, None], (flat * flat).sum(axis=1)[:, None]
    of_det = np.stack([flat[:, 3], -flat[:, 2], -flat[:, 1], flat[:, 0]], axis=1)
    first = (1.0 + det**-2) * flat - square * det**-3 * of_det
    mixed = flat[:, :, None] * of_det[:, None, :]
    whole = (
        (1.0 + det**-2)[:, :, None] * np.eye(4)
        - 2.0 * det[:, :, None] ** -3 * (mixed + mixed.transpose(0, 2, 1))
        + 3.0 * (square * det**-4)[:, :, None] * of_det[:, :, None] * of_det[:, None, :]
        - (square * det**-3)[:, :, None] * SECOND
    )
    own, vectors = np.linalg.eigh(whole)
    return first, (vectors * np.maximum(own, 0.0)[:, None, :]) @ vectors.transpose(0, 2, 1)


def _derivative(x: FloatArray, faces: IntArray, inverse: FloatArray) -> FloatArray:
    return np.asarray(planar_frames(x, faces) @ inverse)


def _collapse(x: FloatArray, way: FloatArray, faces: IntArray) -> float:
    """The first length of a step at which the area of a face is zero: least positive root of a quadratic."""
    e, d = planar_frames(x, faces), planar_frames(way, faces)
    c, a = np.linalg.det(e), np.linalg.det(d)
    b = e[:, 0, 0] * d[:, 1, 1] + d[:, 0, 0] * e[:, 1, 1] - e[:, 0, 1] * d[:, 1, 0] - d[:, 0, 1] * e[:, 1, 0]
    root = np.sqrt(np.maximum(b * b - 4.0 * a * c, 0.0))
    q = -0.5 * (b + np.where(b < 0.0, -root, root))
    with np.errstate(divide="ignore", invalid="ignore"):
        roots = np.stack([q / a, c / q])
    roots[~(roots > 0.0) | (b * b < 4.0 * a * c)] = np.inf
    return float(roots.min())
