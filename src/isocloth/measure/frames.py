"""Positions of one frame, or of many: measures take either, and answer with a number or an array."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.meshes import Mesh


def frames_of(mesh: Mesh, positions: ArrayLike) -> FloatArray:
    """Positions (n, 3) or (T, n, 3) as frames (T, n, 3)."""
    points = np.asarray(positions, dtype=np.float64)
    if points.ndim not in (2, 3) or points.shape[-2:] != (mesh.n_vertices, 3):
        raise InputError(
            f"positions have shape {points.shape}: expected ({mesh.n_vertices}, 3) or (frames, {mesh.n_vertices}, 3)"
        )
    return points[None] if points.ndim == 2 else points


def shaped(positions: ArrayLike, *series: FloatArray) -> list[FloatArray | float]:
    """Series over frames; of one frame its numbers."""
    single = np.ndim(positions) == 2
    return [float(s[0]) if single else s for s in series]
