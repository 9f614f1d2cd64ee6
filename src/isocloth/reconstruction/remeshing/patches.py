"""Patches: 2-cells cut open along the arcs between them, and which arcs they are bounded by.

Arcs are 1-cells cut where they meet (remark 5.4.5), at sharp corners of the boundary, and what slits a cell that has no
1-cell. A patch is a disc whose boundary is a closed walk along arcs; an arc lies once on the walk of each of the two
patches beside it, or twice on that of one, and once where it is part of the boundary of the surface. This is all that
gluing needs: what sits on an arc is the same for both patches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes import topology
from isocloth.reconstruction.morse.cells import CellComplex, cut_paths
from isocloth.reconstruction.morse.discrete_gradient import Gradient
from isocloth.reconstruction.remeshing.parametrise import Chart, cut_open, slit, tutte
from isocloth.reconstruction.triangulation.complex import Complex, oriented


class Patch(NamedTuple):
    """A disc of triangles. Its own points are numbered from 0; those on arcs occur as often as the walk passes them."""

    cell: int  #: 2-cell it is part of
    points: IntArray  #: (k,) points of the surface
    triangles: IntArray  #: (l, 3) between its own points, turned alike, as those of the surface if it has two sides
    boundary: IntArray  #: (b,) its own points around it, from one end of an arc on
    sides: list[tuple[int, bool]]  #: arcs around it, each with whether it is walked from its first point
    starts: IntArray  #: (d,) places in `boundary` at which the sides begin


class Skeleton(NamedTuple):
    """Where the surface is cut."""

    edges: BoolArray  #: (ne,) edges of the surface
    arcs: list[IntArray]  #: points of every arc, in order
    lengths: FloatArray  #: (na,) of the arcs, in m
    patches: list[Patch]


def cut(surface: Complex, cells: CellComplex, gradient: Gradient, corners: IntArray, more: BoolArray) -> Skeleton:
    """Cut a surface along its 1-cells and along edges `more` (ne,); `corners`: further points at which arcs end."""
    edges = cells.skeleton | more
    met = np.zeros(len(surface.points), dtype=np.bool_)
    met[surface.edges[edges]] = True
    for cell in cells.two:
        if not met[cell.points].any():
            edges = edges | slit(surface, gradient, cell.points)
    ends = np.concatenate([[int(c.points[0]) for c in cells.zero], corners]).astype(np.int64)
    fixed, arcs = cut_paths(surface.edges[edges], ends)
    lengths = [float(np.linalg.norm(np.diff(surface.points[a], axis=0), axis=1).sum()) for a in arcs]
    inner = ~edges & (surface.edge_triangles[:, 1] >= 0)
    count, label = topology.component_labels(len(surface.triangles), surface.edge_triangles[inner])
    by_patch = np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label, minlength=count))[:-1])
    number = {t: k for k, t in enumerate(gradient.maxima.tolist())}
    cell_of = [number[int(gradient.maximum[chosen[0]])] for chosen in by_patch]
    first = first_steps(arcs)
    patches = [
        _patch(surface, edges, fixed, first, np.sort(chosen), cell)
        for chosen, cell in zip(by_patch, cell_of, strict=True)
    ]
    return Skeleton(edges, arcs, np.array(lengths), patches)


def first_steps(arcs: list[IntArray]) -> dict[tuple[int, int], tuple[int, bool]]:
    """The arc that begins with a step from one point to another, and whether it does so at its first point."""
    steps = {(int(a[0]), int(a[1])): (k, True) for k, a in enumerate(arcs)}
    return steps | {(int(a[-1]), int(a[-2])): (k, False) for k, a in enumerate(arcs)}


def _patch(
    surface: Complex,
    edges: BoolArray,
    fixed: IntArray,
    first: dict[tuple[int, int], tuple[int, bool]],
    chosen: IntArray,
    cell: int,
) -> Patch:
    """The patch of triangles `chosen`; `first`: the `first_steps` of all arcs."""
    points, triangles = cut_open(surface, chosen, edges)
    triangles, _ = oriented(triangles)  # a disc can be, on a one-sided surface too
    table = topology.edge_table(triangles)
    loops = topology.boundary_loops(topology.boundary_sides(triangles, table))
    if len(loops) != 1 or len(points) - len(table.edges) + len(triangles) != 1:
        raise AssertionError("a patch is not a disc; please report this")
    places = np.flatnonzero(np.isin(points[loops[0]], fixed))
    boundary = np.roll(loops[0], -places[0])
    starts = places - places[0]
    here = points[boundary]
    sides = [first[int(here[s]), int(here[(s + 1) % len(here)])] for s in starts.tolist()]
    return Patch(cell, points, triangles, boundary, sides, starts)


def flattened(surface: Complex, patch: Patch) -> Chart:
    """The chart of a patch on the disc, its boundary by arc length."""
    positions = surface.points[patch.points]
    loop = positions[patch.boundary]
    step = np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1)
    angle = 2.0 * np.pi * (np.cumsum(step) - step) / step.sum()
    rim = step.sum() / (2.0 * np.pi) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    uv = tutte(len(positions), patch.triangles, patch.boundary, rim)
    closed = np.append(patch.boundary, patch.boundary[0])
    after = [*patch.starts[1:].tolist(), len(patch.boundary)]
    sides = [closed[a : b + 1] for a, b in zip(patch.starts.tolist(), after, strict=True)]
    return Chart(uv, positions, patch.points, patch.triangles, patch.boundary, sides)
