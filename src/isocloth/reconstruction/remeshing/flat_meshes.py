"""Charts meshed in their flat domains, as sheets with given nodes on their sides.

Each chart adds nodes of its own, spread evenly over its part of the surface, to those of its seams, and is meshed on
the disc, where Delaunay's triangulation ends at the nodes of the sides. Gluing is then a matter of names: a node of a
seam has one number in all sheets. What remains to be looked after are edges that become the same by gluing, as those
from a node to the two sides of a slit: one of them is cut in two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import Delaunay

from isocloth.base.errors import MeshError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.meshes.polygons import closed_reach
from isocloth.meshes.topology import edge_sides, edge_table
from isocloth.reconstruction.remeshing.parametrise import Chart
from isocloth.reconstruction.remeshing.patches import Skeleton, flattened
from isocloth.reconstruction.remeshing.remesh import spread_nodes
from isocloth.reconstruction.remeshing.seams import Seams, nodes_around
from isocloth.reconstruction.triangulation.complex import Complex
from isocloth.reconstruction.triangulation.geodesics import neighbour_lists

#: a node of a chart stays so far away from the sides of its domain, in lengths of the side between two nodes
CLEAR = 0.15
#: rounds in which edges are cut that become the same by gluing
ROUNDS = 30


@dataclass(eq=False)
class Sheet:
    """The mesh of one chart: faces (m, 3) between its own nodes, which have numbers (k,) after gluing."""

    chart: Chart
    cell: int
    uv: FloatArray
    number: IntArray
    faces: IntArray


def sheets(
    surface: Complex, skeleton: Skeleton, seams: Seams, chosen: list[int], edge: float, first: int
) -> tuple[list[Sheet], FloatArray]:
    """Sheets of the patches `chosen` with edges of about `edge` m, and positions of their own nodes, numbered on."""
    places, made = [np.empty((0, surface.points.shape[1]))], []
    count = first
    for k in chosen:
        patch = skeleton.patches[k]
        sheet = _triangulated(flattened(surface, patch), *nodes_around(skeleton, seams, patch), patch.cell, edge, count)
        made.append(sheet)
        places.append(sheet.chart(sheet.uv[sheet.number >= count]))
        count += len(places[-1])
    for _ in range(ROUNDS):
        wrong = _same_by_gluing(made, seams)
        if not any(len(w) for w in wrong):
            return made, np.concatenate(places)
        for sheet, edges in zip(made, wrong, strict=True):
            middles = _cut_edges(sheet, edges, count)
            places.append(sheet.chart(middles))
            count += len(middles)
    raise MeshError("edges of the charts stay the same by gluing; ask for a shorter edge, or use remeshed()")


def _triangulated(chart: Chart, nodes: IntArray, distance: FloatArray, cell: int, edge: float, first: int) -> Sheet:
    """The mesh of one chart on the disc, with `nodes` around it; those of its own are numbered from `first` on."""
    own = Complex(chart.positions, chart.triangles)
    loop = chart.positions[chart.boundary]
    at = closed_reach(loop)
    angle = 2.0 * np.pi * distance / at[-1]
    rim = at[-1] / (2.0 * np.pi) * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    nearest = np.abs(at[None, :-1] - distance[:, None]).argmin(axis=1)
    spread = spread_nodes(own, *neighbour_lists(own), np.unique(chart.boundary[nearest]), edge)
    inner = np.setdiff1d(spread, chart.boundary)
    inner = inner[_depth(rim, chart.uv[inner]) > CLEAR]
    uv = np.concatenate([rim, chart.uv[inner]])
    faces = Delaunay(uv).simplices.astype(np.int64)
    if len(faces) != len(rim) - 2 + 2 * len(inner):
        raise MeshError(
            "a chart is squeezed too much to be meshed; choose another direction of the height, or use remeshed()"
        )
    p = uv[faces]
    u, v = p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]
    turned = u[:, 0] * v[:, 1] < u[:, 1] * v[:, 0]
    faces[turned] = faces[turned][:, ::-1]
    return Sheet(chart, cell, uv, np.concatenate([nodes, first + np.arange(len(inner))]), faces)


def _depth(rim: FloatArray, places: FloatArray) -> FloatArray:
    """(k,) distances of places to the sides of a convex polygon, in lengths of the side; negative outside."""
    after = np.roll(rim, -1, axis=0) - rim
    inwards = np.stack([-after[:, 1], after[:, 0]], axis=1) / (after**2).sum(axis=1)[:, None]
    return ((places[:, None] - rim[None]) * inwards[None]).sum(axis=2).min(axis=1)


def _same_by_gluing(sheets: list[Sheet], seams: Seams) -> list[IntArray]:
    """Inner edges (k, 2) of every sheet that are closed by gluing, or the same as one of a seam or one found before."""
    inner = []
    for sheet in sheets:
        table = edge_table(sheet.faces)
        inner.append(table.edges[table.counts == 2])
    pairs = np.concatenate([seams.edges, *(np.sort(s.number[e], axis=1) for s, e in zip(sheets, inner, strict=True))])
    _, first = np.unique(pairs, axis=0, return_index=True)
    wrong = np.ones(len(pairs), dtype=np.bool_)
    wrong[first] = False
    wrong |= pairs[:, 0] == pairs[:, 1]
    parts = np.split(wrong[len(seams.edges) :], np.cumsum([len(e) for e in inner])[:-1])
    return [e[part] for e, part in zip(inner, parts, strict=True)]


def _cut_edges(sheet: Sheet, chosen: IntArray, first: int) -> FloatArray:
    """Cut inner edges (k, 2) of a sheet in two, in place; places (l, 2) of the new nodes, numbered from `first` on.

    Of edges in the same triangle only the first is cut, the others wait for the next round.
    """
    if len(chosen) == 0:
        return np.empty((0, 2))
    table = edge_table(sheet.faces)
    pairs = edge_sides(table)
    stride = len(sheet.uv)
    which = np.searchsorted(table.edges[:, 0] * stride + table.edges[:, 1], chosen[:, 0] * stride + chosen[:, 1])
    faces = sheet.faces.tolist()
    middles: list[FloatArray] = []
    used: set[int] = set()
    for e in which.tolist():
        f, g = (int(s) // 3 for s in pairs[e])
        if f in used or g in used:
            continue
        used |= {f, g}
        a, b = table.edges[e].tolist()
        new = stride + len(middles)
        middles.append(0.5 * (sheet.uv[a] + sheet.uv[b]))
        for t in (f, g):
            faces.append([new if v == a else v for v in faces[t]])
            faces[t] = [new if v == b else v for v in faces[t]]
    sheet.faces = np.array(faces, dtype=np.int64)
    sheet.uv = np.concatenate([sheet.uv, middles])
    sheet.number = np.concatenate([sheet.number, first + np.arange(len(middles))])
    return np.array(middles)
