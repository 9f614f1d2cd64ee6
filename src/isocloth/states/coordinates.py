"""dGLI cloth coordinates: the upper triangle of the table of dGLI between chosen boundary segments (thesis 7.8)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError
from isocloth.base.typing import BoolArray, FloatArray
from isocloth.meshes import Mesh
from isocloth.states.boundary import boundary_of, corner_segments, nodes
from isocloth.states.dgli import UP, dgli
from isocloth.states.segments import Touching

#: largest value, in units of 1 / (mean length of the segments). Segments of a flat cloth reach some hundredths;
#: where one passes closely over the end of another there is no bound.
CAP = 1.0


def coordinates(
    mesh: Mesh,
    positions: ArrayLike | None = None,
    *,
    segments: ArrayLike | None = None,
    direction: ArrayLike = UP,
    cap: float = CAP,
    touching: Touching = "raise",
) -> FloatArray:
    """dGLI cloth coordinates of a cloth, in 1/m: for m segments the m (m - 1) / 2 numbers of pairs i < j, row by row.

    positions : (n, 3) in m; the rest shape if None.
    segments : (m, 2) pairs of nodes. None: the eight segments next to the corners of a rectangular cloth, found by
        length along the sides, so that a finer mesh of the same cloth has the same 28 coordinates.
    direction : normal of the table.
    cap : values are cut at +-cap / (mean length of the segments).
    touching : "raise" (default) refuses segments that touch; "nan" leaves their pairs undefined.
    """
    if segments is None:
        chosen = corner_segments(boundary_of(mesh, positions))
    else:
        ends = np.asarray(segments)
        if ends.ndim != 2 or ends.shape[1] != 2 or not np.issubdtype(ends.dtype, np.integer):
            raise InputError(
                f"segments have shape {ends.shape} of {ends.dtype}, expected (m, 2) integers: pairs of nodes"
            )
        if ends.size and (ends.min() < 0 or ends.max() >= mesh.n_vertices):
            raise InputError(f"segments name nodes {ends.min()} to {ends.max()}, expected 0 to {mesh.n_vertices - 1}")
        x = mesh.vertices if positions is None else nodes(mesh, positions)
        chosen = x[ends]
    return of_segments(chosen, direction=direction, cap=cap, touching=touching)


def of_segments(
    segments: ArrayLike, *, direction: ArrayLike = UP, cap: float = CAP, touching: Touching = "raise"
) -> FloatArray:
    """dGLI coordinates of segments (m, 2, 3) in m. A segment with NaN is hidden: its pairs become NaN."""
    x = np.asarray(segments, dtype=np.float64)
    if x.ndim != 3 or x.shape[1:] != (2, 3) or len(x) < 2:
        raise InputError(f"segments have shape {x.shape}, expected (m, 2, 3) with m at least 2: two ends in space each")
    if np.isinf(x).any():
        raise InputError("segments have infinite coordinates; expected numbers in m, or NaN for a hidden segment")
    if not cap > 0.0:
        raise InputError(f"cap is {cap}, expected a positive number")
    seen: BoolArray = np.asarray(np.isfinite(x.reshape(len(x), 6)).all(axis=1))
    lengths = np.sqrt(((x[:, 1] - x[:, 0]) ** 2).sum(axis=1))
    if (lengths[seen] == 0.0).any():
        where = int(np.flatnonzero(seen & (lengths == 0.0))[0])
        raise InputError(f"segment {where} has no length; give two different ends, or NaN if it is hidden")
    i, j = np.triu_indices(len(x), 1)
    values = np.full(len(i), np.nan)
    both = seen[i] & seen[j]
    if both.any():
        i, j = i[both], j[both]
        limit = cap / float(lengths[seen].mean())
        values[both] = np.clip(dgli(x[i, 0], x[i, 1], x[j, 0], x[j, 1], direction, touching=touching), -limit, limit)
    return values


def as_matrix(values: ArrayLike) -> FloatArray:
    """The coordinates (m (m - 1) / 2,) as a symmetric table (m, m), its diagonal zero."""
    v = np.asarray(values, dtype=np.float64)
    m = round((1.0 + np.sqrt(1.0 + 8.0 * v.size)) / 2.0)
    if v.ndim != 1 or m * (m - 1) // 2 != v.size:
        raise InputError(
            f"{v.shape} values are no upper triangle; expected m (m - 1) / 2 of them, such as 28 for m = 8"
        )
    table = np.zeros((m, m))
    table[np.triu_indices(m, 1)] = v
    return table + table.T
