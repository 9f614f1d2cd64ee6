"""Triangulation of a cloud: the stages from points to triangles, and what each of them found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.reconstruction.triangulation import boundary, complex, handles, neighbours, net, normals, ribbon
from isocloth.reconstruction.triangulation import fill as filling
from isocloth.reconstruction.triangulation.remove_handles import remove_handles

#: rounds in which small handles are removed; what is left after them is a doubt
REMOVALS = 5


@dataclass(frozen=True, eq=False)
class Stages:
    """What every stage found, for those who want to look. All arrays are over the points that passed the filters.

    kept: (n,) which rows of the given cloud these are. nearest: (n, k). spacing: (n,) in m. frames: (n, 2, N) tangent
    vectors. flatness: (n,) 0 on a plane, 1 where there is none. enclosed: (n,) whether the neighbours enclose the point
    in its tangent plane; where not, it lies on a boundary or a gap. net: (e, 2) edges. untwisted: edges that had to be
    removed. mended: edges removed since they made a handle or a crosscap too small to be true. gap_radii: (faces,) of
    all polygons of the net, in spacings. opened: (faces,) which are holes.
    """

    kept: IntArray
    nearest: IntArray
    spacing: FloatArray
    frames: FloatArray
    flatness: FloatArray
    enclosed: BoolArray
    net: IntArray
    untwisted: int
    mended: int
    gap_radii: FloatArray
    opened: BoolArray


def triangulate(points: FloatArray, kept: IntArray, largest_gap: float) -> tuple[Stages, IntArray]:
    """Triangulate points (n, N): what the stages found, and triangles (m, 3) between the points."""
    near, away = neighbours.nearest(points)
    spacing = neighbours.local_spacing(near, away)
    frames, flatness = normals.tangent_frames(points, near)
    found, enclosed = neighbours.tangent_neighbours(points, frames, near, spacing, neighbours.EMPTY_CIRCLE)
    candidates, _ = net.candidate_edges(points, found)
    around, degree = net.planar_graph(points, frames, near, away, spacing, candidates, net.GAP, net.APART, net.BENT)
    ribbon.rotations(points, frames, around, degree)
    nodes, start, untwisted = ribbon.remove_twisted_edges(points, frames, around, degree)
    triangles, radii, opened = _filled(points, spacing, around, degree, nodes, start, largest_gap)
    mended = 0
    for _ in range(REMOVALS):
        cut = _remove_small_handles(points, frames, spacing, around, degree, triangles)
        if cut == 0:
            break
        mended += cut
        nodes, start, more = ribbon.remove_twisted_edges(points, frames, around, degree)
        untwisted += more
        triangles, radii, opened = _filled(points, spacing, around, degree, nodes, start, largest_gap)
    start_of, slot = np.nonzero(around > np.arange(len(points))[:, None])
    edges = np.stack([start_of, around[start_of, slot]], axis=1)
    stages = Stages(kept, near, spacing, frames, flatness, enclosed, edges, untwisted, mended, radii, opened)
    return stages, triangles


def _filled(
    points: FloatArray,
    spacing: FloatArray,
    around: IntArray,
    degree: IntArray,
    nodes: IntArray,
    start: IntArray,
    largest_gap: float,
) -> tuple[IntArray, FloatArray, BoolArray]:
    """Triangles of all polygons but the holes, and of every polygon its reach and whether it is a hole."""
    radii = boundary.hole_radii(points, spacing, nodes, start)
    diagonals = around.copy(), degree.copy()
    triangles, opened = filling.fill(points, *diagonals, nodes, start, radii, largest_gap, filling.LARGEST)
    return triangles, radii, opened


def _remove_small_handles(
    points: FloatArray,
    frames: FloatArray,
    spacing: FloatArray,
    around: IntArray,
    degree: IntArray,
    triangles: IntArray,
) -> int:
    """Take handles and crosscaps too small to be true out of the net, in place; return how many edges this removed."""
    clean = complex.without_pinches(triangles)
    if len(clean) == 0:
        return 0
    surface, used = complex.compact(points, clean)
    small = handles.small_handles(surface, handles.SMALL * float(np.median(spacing[used])))
    return sum(remove_handles(frames, around, degree, used[ball]) for ball in small)


def manifold_components(
    points: FloatArray, spacing: FloatArray, triangles: IntArray, largest_gap: float, least: int
) -> IntArray:
    """Triangles that make a manifold, in components of at least `least` points.

    Taking out triangles at pinched points and crowded edges tears small holes, which are closed as other gaps are.
    """
    clean = complex.without_pinches(triangles)
    if len(clean) == 0:
        return clean
    if len(clean) < len(triangles):
        surface, used = complex.compact(points, clean)
        curves = surface.boundary_curves
        small = boundary.curve_radii(surface.points, spacing[used], curves) <= largest_gap
        torn = [curve for curve, is_small in zip(curves, small, strict=True) if is_small]
        more = filling.closed(surface.points, surface.triangles, surface.edges, torn)
        clean = complex.without_pinches(used[more])
    return complex.large_components(clean, least) if len(clean) else clean
