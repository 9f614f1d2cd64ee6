"""The second derivative of the distance in the rest shape, and what Gauss and Newton keep of it.

With S = dx/dX of the draped cloth, A S = -dF/dX over the free nodes, and A p = x - target (`adjoint.py`), the
direct-adjoint way (the thesis, appendix D) gives of J = |Phi(X) - target|^2 / 2

    d^2J/dX^2 = S^T (1 - Q_xx) S - Q_Xx S - (Q_Xx S)^T - Q_XX,      Q(x, X) = p . F(x, X) with p fixed:

a right-hand side for every coordinate of the rest shape, and one factor. Gauss and Newton keep S^T S, which is all of
it where the cloth is at the target, as p is zero there.

Q is the derivative of the energy along p, so that its second derivatives are third ones of the energy. Those in the
positions are taken by central differences along p of the second derivatives. Q_XX is by central differences of
(dF/dX)^T p, whose parts know a few points each: points that no part shares are moved at once, so that a few dozen
evaluations give the whole matrix whatever the mesh. Both are good to about 1e-8 of the derivative.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp

from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.thesis.draping import Draped, Draping
from isocloth.inverse.thesis.free_matrix import FreeFactor
from isocloth.inverse.thesis.potential import Potential

#: of the size of a face: steps of differences, which leave errors of its square, and 1e-16 over it of rounding
STEP = 1e-5


def sensitivity(draping: Draping, draped: Draped, columns: IntArray) -> FloatArray:
    """S (c, k): how the coordinates of the free nodes follow coordinates `columns` (k,) of the rest shape."""
    factor = _factor(draped)
    force = draped.potential.rest_matrix(draped.positions)
    rows = (3 * draping.free[:, None] + np.arange(3)).ravel()
    return -factor.solve(force[rows][:, columns].toarray())


def gauss_newton(slope: FloatArray) -> FloatArray:
    """S^T S (k, k) of S (c, k)."""
    return np.asarray(slope.T @ slope)


def distance_hessian(draping: Draping, draped: Draped, adjoint: FloatArray, columns: IntArray) -> FloatArray:
    """d^2J/dX^2 (k, k) over coordinates `columns` (k,) of the rest shape; adjoint: p (n, 3) m of the distance."""
    slope = sensitivity(draping, draped, columns)
    found = gauss_newton(slope)
    if not adjoint.any():
        return found
    potential, x = draped.potential, draped.positions
    rows = (3 * draping.free[:, None] + np.arange(3)).ravel()
    way, step = _along(potential, adjoint)
    layout = draping.layout(potential)
    ahead, behind = (layout.assembled(potential.blocks(x + s * way)) for s in (1.0, -1.0))
    bent = layout.matrix((ahead - behind) / (2.0 * step))
    mixed = potential.rest_matrix(x + way) - potential.rest_matrix(x - way)
    mixed = (mixed[rows][:, columns] / (2.0 * step)).tocsr()
    across = np.asarray(mixed.T @ slope)
    found -= slope.T @ (bent @ slope) + across + across.T
    found -= rest_hessian(draping, potential, x, adjoint)[columns][:, columns].toarray()
    return np.asarray((found + found.T) / 2.0)


def rest_hessian(draping: Draping, potential: Potential, x: FloatArray, way: FloatArray) -> sp.csr_matrix:
    """Q_XX (3p, 3p) N/m of Q = v . F in the points of the rest shape, for a displacement v (n, 3) m."""
    points = potential.points
    count = len(points)
    parts = [places for places, _ in potential.rest_parts(x, way)]
    colours = coloured(parts, count)
    step = STEP * float(np.sqrt(potential.rest.areas.mean()))
    rows, columns, values = [], [], []
    for colour in range(int(colours.max()) + 1):
        moved = np.flatnonzero(colours == colour)
        owner = np.full(count, -1, dtype=np.int64)
        owner[moved] = moved
        for axis in range(3):
            sides = []
            for sign in (1.0, -1.0):
                tried = points.copy()
                tried[moved, axis] += sign * step
                sides.append(draping.potential(tried).rest_parts(x, way))
            for (places, ahead), (_, behind) in zip(*sides, strict=True):
                own = owner[places].max(axis=1)  # of a part the one point that moved, if any
                here = np.flatnonzero(own >= 0)
                row = 3 * places[here][:, :, None] + np.arange(3)
                rows.append(row.ravel())
                columns.append(np.broadcast_to(3 * own[here][:, None, None] + axis, row.shape).ravel())
                values.append(((ahead - behind)[here] / (2.0 * step)).ravel())
    where = (np.concatenate(rows), np.concatenate(columns))
    matrix = sp.csr_matrix((np.concatenate(values), where), shape=(3 * count, 3 * count))
    return sp.csr_matrix((matrix + matrix.T) / 2.0)


def coloured(parts: Sequence[IntArray], count: int) -> IntArray:
    """(count,) colours of points, such that two points of a part (e, k) of any of the lists never have the same."""
    rows, columns = [], []
    for part in parts:
        rows.append(np.repeat(part, part.shape[1], axis=1).ravel())
        columns.append(np.tile(part, part.shape[1]).ravel())
    pairs = (np.concatenate(rows), np.concatenate(columns))
    near = sp.csr_matrix((np.ones(len(pairs[0]), dtype=np.int8), pairs), shape=(count, count))
    colours = np.full(count, -1, dtype=np.int64)
    for point in range(count):
        taken = set(colours[near.indices[near.indptr[point] : near.indptr[point + 1]]].tolist())
        colour = 0
        while colour in taken:
            colour += 1
        colours[point] = colour
    return colours


def _factor(draped: Draped) -> FreeFactor:
    if draped.factor is None:
        raise ConvergenceError(
            f"the draped cloth is no stable equilibrium (largest force left {draped.residual:.2e} N): its shape has no "
            "derivative; drape it with a larger attraction, or a stiffer model"
        )
    return draped.factor


def _along(potential: Potential, adjoint: FloatArray) -> tuple[FloatArray, float]:
    """A short displacement along p, and what part of p it is."""
    longest = float(np.linalg.norm(adjoint, axis=1).max())
    step = STEP * float(np.sqrt(potential.rest.areas.mean())) / longest
    return step * adjoint, step
