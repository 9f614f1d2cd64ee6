"""Tangent planes: the plane of largest variance of the points around each point."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray

#: nearest points that a plane is fitted to
FITTED = 20


def tangent_frames(points: FloatArray, near: IntArray, count: int = FITTED) -> tuple[FloatArray, FloatArray]:
    """Orthonormal tangent vectors (n, 2, N) at every point, and how far from flat its surroundings are (n,).

    The covariance of the nearest points about their weighted mean, farther ones with less weight, has its two largest
    eigenvalues in the tangent plane; flatness is sqrt(third / second): 0 on a plane, and 1 where there is no plane.
    Chapter 5 fits the plane through the point itself; the mean does not follow the noise of one point.
    """
    chosen = near[:, : min(count, near.shape[1])]
    around = np.concatenate([points[:, None, :], points[chosen]], axis=1)
    squared = ((around - points[:, None, :]) ** 2).sum(axis=2)
    weight = np.exp(-1.5 * squared / squared.max(axis=1, keepdims=True).clip(min=1e-300))
    weight /= weight.sum(axis=1, keepdims=True)
    offset = around - (weight[:, :, None] * around).sum(axis=1, keepdims=True)
    covariance = np.einsum("nk,nki,nkj->nij", weight, offset, offset, optimize=True)
    values, vectors = np.linalg.eigh(covariance)
    frames = np.ascontiguousarray(np.swapaxes(vectors[:, :, [-1, -2]], 1, 2))
    flatness = np.sqrt(values[:, -3].clip(min=0.0) / values[:, -2].clip(min=1e-300))
    return frames, flatness.clip(max=1.0)


def normals(frames: FloatArray) -> FloatArray:
    """Unit normals (n, 3) of frames in space, each with an arbitrary sign."""
    if frames.shape[2] != 3:
        raise InputError(f"points have {frames.shape[2]} coordinates; a surface has one normal only where they have 3")
    return np.cross(frames[:, 0], frames[:, 1])
