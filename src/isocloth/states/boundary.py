"""The boundary of a rectangular cloth as a closed polygon with four corners, and the eight segments next to them."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, MeshError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.meshes.polygons import along

#: where the segments lie, as parts of a side: the second edge from the corner on the thesis' mesh of 20 x 20 nodes.
#: The first one would touch its neighbour around the corner, where dGLI has no value.
SPAN = (1.0 / 19.0, 2.0 / 19.0)


class Boundary(NamedTuple):
    """A closed polygon that begins at a corner, the first point not repeated.

    points: (b, 3), in m.
    corners: (4,) indices into the points, increasing, the first 0.
    """

    points: FloatArray
    corners: IntArray


def boundary_of(mesh: Mesh, positions: ArrayLike | None = None) -> Boundary:
    """The boundary of a cloth with four corners, the cloth to its left at rest, from the smallest corner on.

    positions : (n, 3) in m; the rest shape if None.
    """
    loop = boundary_nodes(mesh)
    x = mesh.vertices if positions is None else nodes(mesh, positions)
    return Boundary(np.ascontiguousarray(x[loop]), np.flatnonzero(np.isin(loop, mesh.corners)))


def boundary_nodes(mesh: Mesh) -> IntArray:
    """Boundary nodes in order, from the smallest corner on."""
    if len(mesh.boundary_loops) != 1 or len(mesh.corners) != 4:
        raise MeshError(
            f"the mesh has {len(mesh.boundary_loops)} boundary curves and {len(mesh.corners)} corners, expected one "
            "curve with four corners: a rectangular cloth; name the corners with Mesh(..., corners=...)"
        )
    loop = mesh.boundary_loops[0]
    missing = np.setdiff1d(mesh.corners, loop)
    if missing.size:
        raise MeshError(f"corner {missing[0]} is not on the boundary; give four nodes of the boundary")
    return np.asarray(np.roll(loop, -int(np.flatnonzero(loop == mesh.corners.min())[0])))


def nodes(mesh: Mesh, positions: ArrayLike) -> FloatArray:
    """Positions (n, 3) of the mesh's nodes, checked."""
    x = np.asarray(positions, dtype=np.float64)
    if x.shape != mesh.vertices.shape:
        raise InputError(
            f"positions have shape {x.shape}, expected {mesh.vertices.shape}: one row per node of the mesh"
        )
    _finite("positions", x)
    return x


def as_boundary(points: ArrayLike, corners: ArrayLike | None = None) -> Boundary:
    """A boundary from points (b, 3) in m, in order, and the indices of the four corners.

    Without corners, the points begin at a corner and every side has the same number of them.
    """
    x = np.asarray(points, dtype=np.float64)
    if x.ndim != 2 or x.shape[1] != 3 or len(x) < 8:
        raise InputError(f"boundary points have shape {x.shape}, expected (b, 3) with b at least 8, two for every side")
    _finite("boundary points", x)
    if np.array_equal(x[0], x[-1]):
        raise InputError("the last boundary point repeats the first; the curve is closed by itself, leave the last out")
    steps = np.linalg.norm(np.roll(x, -1, axis=0) - x, axis=1)
    if not steps.all():
        where = int(np.argmin(steps))
        raise InputError(f"boundary points {where} and {(where + 1) % len(x)} coincide; leave one of them out")
    if corners is None:
        if len(x) % 4:
            raise InputError(
                f"{len(x)} boundary points cannot be four sides of as many points each; give corners=(i, j, k, l)"
            )
        return Boundary(x, np.arange(4) * (len(x) // 4))
    k = np.asarray(corners)
    if k.shape != (4,) or not np.issubdtype(k.dtype, np.integer):
        raise InputError(f"corners are {np.asarray(corners).tolist()}, expected four indices of boundary points")
    if k.min() < 0 or k.max() >= len(x) or len(np.unique(k)) != 4:
        raise InputError(f"corners are {k.tolist()}, expected four different indices from 0 to {len(x) - 1}")
    ahead = (k - k[0]) % len(x)
    if (np.diff(ahead) <= 0).any():
        raise InputError(f"corners are {k.tolist()}, expected them in the order of the points")
    return Boundary(np.roll(x, -int(k[0]), axis=0), ahead.astype(np.int64))


def sides(boundary: Boundary) -> list[FloatArray]:
    """The four sides as polygons (k, 3), each from corner to corner."""
    closed = np.concatenate([boundary.points, boundary.points[:1]])
    ends = [*boundary.corners.tolist(), len(boundary.points)]
    return [closed[a : b + 1] for a, b in pairwise(ends)]


def resampled(boundary: Boundary, per_side: int) -> Boundary:
    """The same curve with the same number of equally spaced points on every side."""
    if per_side < 2:
        raise InputError(f"per_side is {per_side}, expected at least 2 points on a side")
    parts = np.arange(per_side) / per_side
    return Boundary(np.concatenate([along(s, parts) for s in sides(boundary)]), np.arange(4) * per_side)


def corner_segments(boundary: Boundary, span: tuple[float, float] = SPAN) -> FloatArray:
    """The eight segments next to the corners (8, 2, 3), in m, in the order and direction of the boundary.

    span : where they lie between the corner, 0, and half of the side, 0.5. Measured by length along the side, so that
    the mesh does not matter.
    """
    low, high = span
    if not 0.0 < low < high < 0.5:
        raise InputError(f"span is {span}, expected 0 < span[0] < span[1] < 0.5: parts of a side, the corner left out")
    parts = [[low, high], [1.0 - high, 1.0 - low]]
    return np.concatenate([along(s, parts) for s in sides(boundary)])


def _finite(name: str, x: FloatArray) -> None:
    bad = ~np.isfinite(x).all(axis=-1)
    if bad.any():
        row = int(np.argmax(bad))
        raise InputError(f"{name}[{row}] is {x[row].tolist()}, expected finite coordinates in m")
