"""Where markers lie between the nodes of a flat mesh."""

from __future__ import annotations

import numpy as np

from isocloth.base.errors import RecordingError
from isocloth.base.typing import FloatArray, IntArray

#: how far outside the mesh a marker may lie, relative to the size of an element
OUTSIDE = 1e-6


def weights_at(flat: FloatArray, faces: IntArray, places: FloatArray) -> tuple[FloatArray, IntArray]:
    """Weights (k, c) and nodes (k, c) that interpolate at places (k, 2) in a flat mesh: nodes (n, 2), faces (m, c).

    Linear on triangles, bilinear on quads that are rectangles.
    """
    corners = flat[faces]
    weights = np.zeros((len(places), faces.shape[1]))
    nodes = np.zeros((len(places), faces.shape[1]), dtype=np.int64)
    for i, place in enumerate(places):
        inside = _linear(corners, place) if faces.shape[1] == 3 else _bilinear(corners, place)
        best = int(np.argmax(inside.min(axis=1)))
        if inside[best].min() < -max(OUTSIDE, 1e-3):
            raise RecordingError(
                f"marker {i} at {place[0]:.4g}, {place[1]:.4g} m lies outside the cloth: the mesh does not fit the "
                "markers; check their rest positions and the size"
            )
        weights[i] = np.clip(inside[best], 0.0, None)
        weights[i] /= weights[i].sum()
        nodes[i] = faces[best]
    return weights, nodes


def _linear(corners: FloatArray, place: FloatArray) -> FloatArray:
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    area = _cross(b - a, c - a)
    return (
        np.stack([_cross(b - place, c - place), _cross(c - place, a - place), _cross(a - place, b - place)], 1)
        / (area[:, None])
    )


def _bilinear(corners: FloatArray, place: FloatArray) -> FloatArray:
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 3] - corners[:, 0]
    det = _cross(u, v)
    s, t = _cross(place - a, v) / det, _cross(u, place - a) / det
    return np.stack([(1 - s) * (1 - t), s * (1 - t), s * t, (1 - s) * t], axis=1)


def _cross(p: FloatArray, q: FloatArray) -> FloatArray:
    return p[..., 0] * q[..., 1] - p[..., 1] * q[..., 0]
