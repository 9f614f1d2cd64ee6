"""A first flat shape of every panel: what has to be stretched is stretched as little as possible, and nothing folds.

What can be unrolled without stretch, is. Panels lie beside each other, upright along the grain: what points up on the
target points up in the plane. They are seen from outside, from where faces are counter-clockwise.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull

from isocloth.base.errors import InputError, MeshError
from isocloth.base.numeric import as_array, shown
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.meshes.polygons import closed_reach
from isocloth.patterns.cut import Cut, edge_lengths
from isocloth.patterns.layout import in_rows
from isocloth.patterns.planar_start import local_frames, planar_frames, planar_start
from isocloth.patterns.stretch_energy import least_distortion

#: of the size of the largest panel: space between panels
GAP = 0.1
#: part of a panel's area on which "up" has to agree to be its grain
LEAST_GRAIN = 0.05


class Flat(NamedTuple):
    """points: (p, 2) m. stretch: (e,) of `Cut.edges`, of a length on the target, 0 of an isometry.

    converged: (panels,) whether distortion is least. steps: (panels,) of Newton's method.
    """

    points: FloatArray
    stretch: FloatArray
    converged: BoolArray
    steps: IntArray


def flatten(mesh: Mesh, cut: Cut, *, up: ArrayLike = (0.0, 0.0, 1.0)) -> Flat:
    """Flat panels of a target that is cut open; up: (3,) what the grain follows, minus gravity say."""
    direction = as_array(up, "up", "(3,)")
    if direction.shape != (3,) or not np.isfinite(direction).all() or not direction.any():
        raise InputError(f"up is {shown(up)}: expected three finite numbers, a direction")
    points = mesh.vertices[cut.node]
    flat = np.zeros((len(points), 2))
    converged, steps = np.zeros(cut.n_panels, dtype=np.bool_), np.zeros(cut.n_panels, dtype=np.int64)
    for panel in range(cut.n_panels):
        own = np.flatnonzero(cut.panel == panel)
        number = np.full(len(points), -1, dtype=np.int64)
        number[own] = np.arange(len(own))
        faces = number[cut.corners[cut.face_panel == panel]]
        loops = [number[loop] for loop in cut.loops[panel]]
        loops.sort(key=lambda loop: -closed_reach(points[own][loop])[-1])
        start = planar_start(points[own], faces, loops)
        if (np.linalg.det(planar_frames(start, faces)) <= 0.0).any():
            raise MeshError(
                f"panel {panel + 1}, with node {cut.node[own[0]]}, cannot be laid out without faces that lie on each "
                "other: expected faces that are not so thin; mesh the target more evenly"
            )
        found = least_distortion(points[own], faces, start)
        flat[own] = _upright(points[own], faces, found.points, direction)
        converged[panel], steps[panel] = found.converged, found.steps
    flat = laid_out(flat, cut)
    return Flat(flat, edge_stretch(mesh, cut, flat), converged, steps)


def edge_stretch(mesh: Mesh, cut: Cut, flat: FloatArray) -> FloatArray:
    """(e,) by how much the edges of panels (p, 2) are longer than on the target, of their length there."""
    return edge_lengths(flat, cut.edges) / edge_lengths(mesh.vertices[cut.node], cut.edges) - 1.0


def laid_out(flat: FloatArray, cut: Cut, gap: float | None = None) -> FloatArray:
    """(p, 2) the panels (p, 2) beside each other without overlap, gap m apart, the first at the bottom left, (0, 0)."""
    low, high = (
        np.stack([bound(flat[cut.panel == panel], axis=0) for panel in range(cut.n_panels)])
        for bound in (np.min, np.max)
    )
    space = GAP * float((high - low).max()) if gap is None else gap
    return np.asarray(flat + (in_rows(high - low, space) - low)[cut.panel])


def _upright(points: FloatArray, faces: IntArray, flat: FloatArray, up: FloatArray) -> FloatArray:
    """A panel turned so that what is up on the target is up; one that lies level stands on its shorter side."""
    rest, now = local_frames(points, faces), planar_frames(flat, faces)
    u, v = points[faces[:, 1]] - points[faces[:, 0]], points[faces[:, 2]] - points[faces[:, 0]]
    tangent = np.stack([u, v], axis=1)
    # the part of `up` along a face, in its edges: metric coefficients = tangent up
    metric = tangent @ tangent.transpose(0, 2, 1)
    coefficients = np.linalg.solve(metric, (tangent @ (up / np.linalg.norm(up)))[:, :, None])
    area = 0.5 * np.linalg.det(rest)
    grain = area @ (now @ coefficients)[:, :, 0]
    if np.linalg.norm(grain) < LEAST_GRAIN * area.sum():
        grain = _longest_side(flat)
    y = grain / np.linalg.norm(grain)
    return flat @ np.array([[y[1], y[0]], [-y[0], y[1]]])


def _longest_side(flat: FloatArray) -> FloatArray:
    """(2,) along the longer side of the smallest rectangle around points (p, 2); one side is on the hull."""
    hull = flat[ConvexHull(flat).vertices]
    way = np.roll(hull, -1, axis=0) - hull
    way /= np.linalg.norm(way, axis=1)[:, None]
    across = np.stack([-way[:, 1], way[:, 0]], axis=1)
    high, wide = (np.ptp(hull @ axis.T, axis=0) for axis in (way, across))
    best = int(np.argmin(np.round(high * wide / (high * wide).min(), 9)))
    side: FloatArray = way[best] if high[best] >= wide[best] else across[best]
    upwards = side[1] > 1e-9 or (abs(side[1]) <= 1e-9 and side[0] > 0.0)
    return side if upwards else -side


def smallest_box(flat: FloatArray) -> tuple[float, float]:
    """m, the shorter and the longer side of the smallest rectangle around points (p, 2)."""
    way = _longest_side(flat)
    return float(np.ptp(flat @ np.array([way[1], -way[0]]))), float(np.ptp(flat @ way))
