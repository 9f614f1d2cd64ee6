"""Garments from flat panels: a front and a back, meshed apart, sewn along seams and blown up.

A panel is a closed outline in the plane (x, z), counter-clockwise, made of curves that are either seams,
where front and back are sewn together, or openings, where the garment ends.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes.inflate import thickness
from isocloth.meshes.merge import merge_vertices
from isocloth.meshes.mesher import interior_count, mesh_polygon, spacing_for_triangles
from isocloth.meshes.polygons import curve_length, polygon_area, resample
from isocloth.meshes.subdivide import triangles_to_quads

MIN_SEGMENTS = 2
"""Every curve of an outline has at least this many edges, so that a strap never becomes a single edge."""


LEAST_TRIANGLES = {"triangle": 300, "quad": 1440}
"""Fewer elements cannot follow the outlines of a garment."""


@dataclass(frozen=True)
class Curve:
    """A piece of an outline."""

    points: FloatArray
    """(k, 2) polyline, in m, ending where the next curve starts."""
    seam: bool
    """Whether front and back are joined along it."""


@dataclass(frozen=True)
class Outline:
    """Nodes around a panel."""

    points: FloatArray
    """(b, 2) positions, counter-clockwise, in m."""
    seam: BoolArray
    """(b,) whether front and back share the node."""


def garment(
    front: list[Curve], back: list[Curve], *, triangles: int, element: str, depth: float, seed: int
) -> tuple[FloatArray, IntArray]:
    """Vertices (n, 3) in m and faces of two panels sewn together, as triangles or half as many quads."""
    if element == "triangle":
        return sew(front, back, triangles=triangles, depth=depth, seed=seed)
    # Every triangle becomes three quads, and a quad stands for two triangles.
    return triangles_to_quads(*sew(front, back, triangles=round(triangles / 6), depth=depth, seed=seed))


def sew(
    front: list[Curve], back: list[Curve], *, triangles: int, depth: float, seed: int
) -> tuple[FloatArray, IntArray]:
    """Mesh two outlines with the same seams and join them into one surface around the plane y = 0.

    The front bulges to y = -depth / 2 and the back to y = depth / 2, in m. Returns vertices (n, 3) and
    faces (m, 3), m within one of `triangles`, normals pointing outwards.
    """
    area = sum(polygon_area(_join(curves)) for curves in (front, back))
    spacing = spacing_for_triangles(area, triangles)
    outlines = [_outline(curves, spacing) for curves in (front, back)]
    inner = _share_interior(outlines, spacing, triangles)
    vertices, faces, shift = [], [], 0
    for side, outline, count in zip((-1.0, 1.0), outlines, inner, strict=True):
        points, panel = mesh_polygon(outline.points, count, seed=seed)
        y = side * 0.5 * depth * thickness(points, panel, np.flatnonzero(outline.seam))
        vertices.append(np.column_stack([points[:, 0], y, points[:, 1]]))
        # Seen from -y, x to the right and z up are a right-handed plane: only the back must be turned.
        faces.append((panel if side < 0.0 else panel[:, ::-1]) + shift)
        shift += len(points)
    # Front and back agree at seam nodes and nowhere else.
    return merge_vertices(np.concatenate(vertices), np.concatenate(faces))


def line(*points: tuple[float, float]) -> FloatArray:
    """Polyline through points (x, z), in m."""
    return np.array(points, dtype=np.float64)


def arc(start: tuple[float, float], end: tuple[float, float], *, level_at_start: bool) -> FloatArray:
    """Quarter of an ellipse between two points, horizontal at one end and vertical at the other."""
    t = np.linspace(0.0, 0.5 * np.pi, 65)
    across, along = (np.sin(t), 1.0 - np.cos(t)) if level_at_start else (1.0 - np.cos(t), np.sin(t))
    x = start[0] + (end[0] - start[0]) * across
    z = start[1] + (end[1] - start[1]) * along
    curve = np.stack([x, z], axis=1)
    curve[-1] = end
    return curve


def mirrored(curves: list[Curve]) -> list[Curve]:
    """The same curves on the other side of x = 0, in the order that continues around the outline."""
    return [Curve(curve.points[::-1] * [-1.0, 1.0], curve.seam) for curve in reversed(curves)]


def _join(curves: list[Curve]) -> FloatArray:
    return np.concatenate([curve.points[:-1] for curve in curves])


def _outline(curves: list[Curve], spacing: float) -> Outline:
    """Evenly spaced nodes on every curve; an end belongs to a seam if either of its curves does."""
    points, seam = [], []
    for before, curve in zip([curves[-1], *curves[:-1]], curves, strict=True):
        segments = max(MIN_SEGMENTS, round(curve_length(curve.points) / spacing))
        points.append(resample(curve.points, segments)[:-1])
        shared = np.full(segments, curve.seam)
        shared[0] |= before.seam
        seam.append(shared)
    return Outline(np.concatenate(points), np.concatenate(seam))


def _share_interior(outlines: list[Outline], spacing: float, triangles: int) -> list[int]:
    """Interior nodes of the two panels so that the number of triangles is met.

    A panel has 2 interior + b - 2 triangles, b its number of boundary nodes.
    """
    total = round((triangles + 4 - sum(len(o.points) for o in outlines)) / 2)
    first = max(0, round(interior_count(outlines[0].points, spacing)))
    return [first, max(0, total - first)]
