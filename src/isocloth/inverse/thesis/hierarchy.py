"""From coarse to fine: a rest shape of a coarse target begins the search for a finer one (the thesis, 6.3.3).

The coarse target is carried to the finer one by linear interpolation, every node of the finer one from the nearest
point of a coarse face, and its rest shape by the same weights. The finer search begins one density below the best
coarse one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import InputError
from isocloth.base.numeric import as_array
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.inverse.thesis.continuation import MassContinuation, mass_continuation
from isocloth.meshes import Mesh

#: points whose distances from all faces are computed at once
CHUNK = 256


def mass_hierarchy(
    targets: Sequence[Mesh], fabric: Fabric | None = None, *, densities: Sequence[float], held: Sequence[Any],
    methods: Sequence[str] | None = None, **options: Any,
) -> tuple[MassContinuation, ...]:  # fmt: skip
    """Continuations of the same target on finer and finer meshes.

    Args:
        targets: coarse to fine; held: nodes of each.
        densities: kg/m^2, of the coarsest; finer ones begin one before its best.
        methods: of each; None: "bfgs".
        options: as of `mass_continuation`.
    """
    ways = ["bfgs"] * len(targets) if methods is None else list(methods)
    if not len(targets) == len(held) == len(ways) > 0:
        raise InputError(
            f"targets, held and methods have {len(targets)}, {len(held)} and {len(ways)} entries: expected one for "
            "each mesh, coarse to fine"
        )
    left, start, found = list(densities), None, list[MassContinuation]()
    for target, nodes, method in zip(targets, held, ways, strict=True):
        if found:
            last = found[-1]
            k = max(left.index(last.best.density) - 1, 0)
            stage = next(s for s in last.stages if s.density == left[k])
            left, start = left[k:], barycentric_map(last.target, target.vertices) @ stage.points
        found.append(
            mass_continuation(target, fabric, densities=left, held=nodes, method=method, start=start, **options)
        )
    return tuple(found)


def barycentric_map(mesh: Mesh, points: FloatArray) -> sp.csr_matrix:
    """(k, n) weights of the nodes of a triangle mesh in the nearest points of its faces to points (k, 3) m."""
    given = as_array(points, "points", "(k, 3)")
    corners = mesh.vertices[mesh.faces]
    rows, columns, values = [], [], []
    for begin in range(0, len(given), CHUNK):
        part = given[begin : begin + CHUNK]
        weights, square = _nearest(corners, part)
        face = square.argmin(axis=1)
        every = np.arange(len(part))
        rows.append(np.repeat(begin + every, 3))
        columns.append(mesh.faces[face].ravel())
        values.append(weights[every, face].ravel())
    where = (np.concatenate(rows), np.concatenate(columns))
    return sp.csr_matrix((np.concatenate(values), where), shape=(len(given), mesh.n_vertices))


def _nearest(corners: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Weights (k, f, 3) of the corners (f, 3, 3) in the point of every face that is nearest to points (k, 3), and its
    squared distance (k, f): within the face, or on the nearest of its edges."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    u, v = b - a, c - a
    gram = np.stack([np.sum(u * u, axis=1), np.sum(u * v, axis=1), np.sum(v * v, axis=1)])
    off = points[:, None] - a
    along, beside = np.einsum("kfd,fd->kf", off, u), np.einsum("kfd,fd->kf", off, v)
    det = gram[0] * gram[2] - gram[1] ** 2
    t, s = (gram[2] * along - gram[1] * beside) / det, (gram[0] * beside - gram[1] * along) / det
    tried = [np.stack([1.0 - t - s, t, s], axis=2)]
    for first, second in ((0, 1), (1, 2), (2, 0)):
        side = corners[:, second] - corners[:, first]
        part = np.einsum("kfd,fd->kf", points[:, None] - corners[:, first], side) / np.sum(side * side, axis=1)
        part = np.clip(part, 0.0, 1.0)
        weights = np.zeros((*part.shape, 3))
        weights[:, :, first], weights[:, :, second] = 1.0 - part, part
        tried.append(weights)
    square = [np.sum((np.einsum("kfc,fcd->kfd", w, corners) - points[:, None]) ** 2, axis=2) for w in tried]
    square[0] = np.where((tried[0] >= 0.0).all(axis=2), square[0], np.inf)
    best = np.argmin(square, axis=0)
    whole = np.stack(tried)
    k, f = np.indices(best.shape)
    return whole[best, k, f], np.stack(square)[best, k, f]
