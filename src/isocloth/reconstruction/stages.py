"""The stages from points to triangles, and what each of them found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.reconstruction import boundary, neighbours, net, normals, ribbon
from isocloth.reconstruction import fill as filling
from isocloth.typing import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Stages:
    """What every stage found, for those who want to look. All arrays are over the points that passed the filters.

    kept: (n,) which rows of the given cloud these are. nearest: (n, k). spacing: (n,) in m. frames: (n, 2, N) tangent
    vectors. flatness: (n,) 0 on a plane, 1 where there is none. enclosed: (n,) whether the neighbours enclose the point
    in its tangent plane; where not, it lies on a boundary or a gap. net: (e, 2) edges. untwisted: edges that had to be
    removed. gap_radii: (faces,) of all polygons of the net, in spacings. opened: (faces,) which are holes.
    """

    kept: IntArray
    nearest: IntArray
    spacing: FloatArray
    frames: FloatArray
    flatness: FloatArray
    enclosed: BoolArray
    net: IntArray
    untwisted: int
    gap_radii: FloatArray
    opened: BoolArray


def weave(points: FloatArray, kept: IntArray, largest_gap: float) -> tuple[Stages, IntArray]:
    """The stages from neighbours to triangles (m, 3)."""
    near, away = neighbours.nearest(points)
    spacing = neighbours.local_spacing(near, away)
    frames, flatness = normals.tangent_frames(points, near)
    found, enclosed = neighbours.tangent_neighbours(points, frames, near, spacing, neighbours.EMPTY_CIRCLE)
    candidates, _ = net.candidate_edges(points, found)
    around, degree = net.weave(points, frames, near, away, spacing, candidates, net.GAP, net.APART, net.BENT)
    ribbon.rotations(points, frames, around, degree)
    nodes, start, untwisted = ribbon.untwist(points, frames, around, degree)
    start_of, slot = np.nonzero(around > np.arange(len(points))[:, None])
    edges = np.stack([start_of, around[start_of, slot]], axis=1)
    radii = boundary.hole_radii(points, spacing, nodes, start)
    triangles, opened = filling.fill(points, around, degree, nodes, start, radii, largest_gap, filling.LARGEST)
    stages = Stages(kept, near, spacing, frames, flatness, enclosed, edges, untwisted, radii, opened)
    return stages, triangles
