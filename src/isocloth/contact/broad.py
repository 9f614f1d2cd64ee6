"""Candidates for contact: pairs whose boxes, swept along a step, come near each other.

The boxes of the cloth lie in uniform grids, each filed once under the cell of its lower corner, so that no pair is
found twice. A box looks for others in the cells from its own lower corner less their largest extent up to its upper
corner; cells are neighbours in memory along the last axis. Boxes much larger than the average have a coarser grid of
their own, four times as coarse per level: a few long edges or a few fast nodes do not slow down the rest. Features of
obstacles only look, whatever their size.

All displacements are taken relative to the mean displacement of the cloth. Distances do not feel it, and the boxes of
a sheet that flies as a whole stay small.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from isocloth.base.compiled import kernel
from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.surface import Pairs, Surface

LEVELS = 8

#: m, against rounding when boxes just touch
SLACK = 1e-12


class Grid(NamedTuple):
    """Boxes sorted by level and cell."""

    members: IntArray  #: (m,) what the boxes hold, in sorted order
    boxes: FloatArray  #: (m, 6) lower and upper corners, in sorted order
    start: IntArray  #: (cells + 1,) where a cell begins in the sorted order
    first: IntArray  #: (levels + 1,) first cell of a level
    shape: IntArray  #: (levels, 3) cells along the axes
    origin: FloatArray  #: (levels, 3) lower corner of the grid
    cell: FloatArray  #: (levels,) size of the cells, in m
    extent: FloatArray  #: (levels, 3) largest box of a level


@kernel
def mean_displacement(body: IntArray, x0: FloatArray, x1: FloatArray) -> FloatArray:
    """Mean displacement (3,) of the cloth, in m."""
    drift = np.zeros(3)
    count = 0
    for v in range(len(body)):
        for c in range(3):
            if not (math.isfinite(x0[v, c]) and math.isfinite(x1[v, c])):
                raise InputError("positions must be finite to look for contacts")
        if body[v] == 0:
            count += 1
            for c in range(3):
                drift[c] += x1[v, c] - x0[v, c]
    for c in range(3):
        drift[c] /= max(count, 1)
    return drift


@kernel
def swept_boxes(x0: FloatArray, x1: FloatArray, drift: FloatArray, elements: IntArray) -> FloatArray:
    """Boxes (m, 6) of elements (m, k), swept from x0 to x1 - drift."""
    boxes = np.empty((len(elements), 6))
    for e in range(len(elements)):
        for c in range(3):
            low, high = math.inf, -math.inf
            for q in range(elements.shape[1]):
                v = elements[e, q]
                start, end = x0[v, c], x1[v, c] - drift[c]
                low, high = min(low, start, end), max(high, start, end)
            boxes[e, c], boxes[e, 3 + c] = low, high
    return boxes


@kernel
def file_boxes(boxes: FloatArray, members: IntArray, smallest: float, levels: int) -> Grid:
    """Sort the boxes of `members` into cells of about their size, and not below `smallest` m.

    The number of levels is an argument so that no compiler unrolls them.
    """
    count = len(members)
    width = np.empty(count)
    mean = 0.0
    for m in range(count):
        b = members[m]
        width[m] = max(boxes[b, 3] - boxes[b, 0], boxes[b, 4] - boxes[b, 1], boxes[b, 5] - boxes[b, 2])
        mean += width[m] / count
    level = np.zeros(count, dtype=np.int64)
    origin, top = np.empty((levels, 3)), np.empty((levels, 3))
    extent = np.zeros((levels, 3))
    number = np.zeros(levels, dtype=np.int64)
    base = max(2.0 * mean, smallest)
    for m in range(count):
        b = members[m]
        limit = base
        while width[m] > limit and level[m] < levels - 1:
            level[m] += 1
            limit *= 4.0
        k = level[m]
        for c in range(3):
            if number[k] == 0:
                origin[k, c] = top[k, c] = boxes[b, c]
            origin[k, c], top[k, c] = min(origin[k, c], boxes[b, c]), max(top[k, c], boxes[b, c])
            extent[k, c] = max(extent[k, c], boxes[b, 3 + c] - boxes[b, c])
        number[k] += 1
    shape = np.zeros((levels, 3), dtype=np.int64)
    first = np.zeros(levels + 1, dtype=np.int64)
    cell = np.ones(levels)
    for k in range(levels):
        cells = 0
        if number[k] > 0:
            cell[k] = max(extent[k, 0], extent[k, 1], extent[k, 2], smallest)
            room = 8.0 * number[k] + 4096.0
            # a thin sheet across a large box would need more empty cells than it has boxes: make them larger
            while True:
                size = 1.0
                for c in range(3):
                    size *= math.floor((top[k, c] - origin[k, c]) / cell[k]) + 1.0
                if size <= room:
                    break
                cell[k] *= 1.25
            cells = 1
            for c in range(3):
                shape[k, c] = int((top[k, c] - origin[k, c]) / cell[k]) + 1
                cells *= shape[k, c]
        first[k + 1] = first[k] + cells
    place = np.empty(count, dtype=np.int64)
    start = np.zeros(first[levels] + 1, dtype=np.int64)
    for m in range(count):
        b, k = members[m], level[m]
        index = 0
        for c in range(3):
            index = index * shape[k, c] + int((boxes[b, c] - origin[k, c]) / cell[k])
        place[m] = first[k] + index
        start[place[m] + 1] += 1
    for q in range(first[levels]):
        start[q + 1] += start[q]
    sorted_members = np.empty(count, dtype=np.int64)
    sorted_boxes = np.empty((count, 6))
    for m in range(count):
        slot = start[place[m]]
        start[place[m]] += 1
        sorted_members[slot] = members[m]
        for c in range(6):
            sorted_boxes[slot, c] = boxes[members[m], c]
    for q in range(first[levels], 0, -1):  # filing has moved every start to the next one
        start[q] = start[q - 1]
    start[0] = 0
    return Grid(sorted_members, sorted_boxes, start, first, shape, origin, cell, extent)


@kernel
def look(grid: Grid, boxes: FloatArray, row: int, radius: float, after: int, hits: IntArray) -> int:
    """Write members whose boxes are within `radius` of boxes[row] along every axis into hits; return their number.

    Only those behind the place `after` in the sorted order, so that two boxes of the same grid meet once.
    """
    found = 0
    members, theirs, start, first = grid.members, grid.boxes, grid.start, grid.first
    shape, origin, cell, extent = grid.shape, grid.origin, grid.cell, grid.extent
    x0, y0, z0 = boxes[row, 0] - radius, boxes[row, 1] - radius, boxes[row, 2] - radius
    x1, y1, z1 = boxes[row, 3] + radius, boxes[row, 4] + radius, boxes[row, 5] + radius
    for k in range(len(cell)):
        nx, ny, nz = shape[k, 0], shape[k, 1], shape[k, 2]
        if nx == 0 or start[first[k + 1]] <= after + 1:
            continue
        ox, oy, oz, size = origin[k, 0], origin[k, 1], origin[k, 2], cell[k]
        if x1 < ox or y1 < oy or z1 < oz:
            continue
        i0 = int(max((x0 - extent[k, 0] - ox) / size, 0.0))
        j0 = int(max((y0 - extent[k, 1] - oy) / size, 0.0))
        k0 = int(max((z0 - extent[k, 2] - oz) / size, 0.0))
        i1 = int(min((x1 - ox) / size, nx - 1.0))
        j1 = int(min((y1 - oy) / size, ny - 1.0))
        k1 = int(min((z1 - oz) / size, nz - 1.0))
        if k0 > k1:
            continue
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                line = first[k] + (i * ny + j) * nz
                for slot in range(max(start[line + k0], after + 1), start[line + k1 + 1]):
                    # which boxes meet is a matter of chance: a wrong guess costs a processor more than six comparisons
                    hits[found] = members[slot]
                    found += (
                        (theirs[slot, 0] <= x1)
                        & (theirs[slot, 3] >= x0)
                        & (theirs[slot, 1] <= y1)
                        & (theirs[slot, 4] >= y0)
                        & (theirs[slot, 2] <= z1)
                        & (theirs[slot, 5] >= z0)
                    )
    return found


@kernel
def _room_for(pairs: IntArray, count: int, more: int) -> IntArray:
    """The buffer, or a larger copy of its first `count` pairs if `more` do not fit."""
    if count + more <= len(pairs):
        return pairs
    grown = np.empty((2 * (count + more), 2), dtype=np.int64)
    for q in range(count):
        grown[q, 0], grown[q, 1] = pairs[q, 0], pairs[q, 1]
    return grown


@kernel
def _of_body(elements: IntArray, body: IntArray, cloth: bool) -> IntArray:
    """Numbers of the elements (m, k) that belong to the cloth, or that do not."""
    chosen = np.empty(len(elements), dtype=np.int64)
    count = 0
    for e in range(len(elements)):
        if (body[elements[e, 0]] == 0) == cloth:
            chosen[count] = e
            count += 1
    return chosen[:count]


@kernel
def _node_face(
    surface: Surface, x0: FloatArray, x1: FloatArray, drift: FloatArray, margin: float, layers: bool
) -> IntArray:
    """Pairs (p, 2) of vertices and faces."""
    body, faces = surface.body, surface.faces
    nodes = surface.nodes.reshape(-1, 1)
    face_boxes = swept_boxes(x0, x1, drift, faces)
    node_boxes = swept_boxes(x0, x1, drift, nodes)
    cloth_faces = _of_body(faces, body, True)
    size = 0.0
    for f in cloth_faces:
        for c in range(3):
            size += (face_boxes[f, 3 + c] - face_boxes[f, c]) / (2.0 * len(cloth_faces))
    # faces look for nodes: cells of the size of nodes, which may not move at all, would be too small for them
    grid = file_boxes(node_boxes, _of_body(nodes, body, True), size, LEVELS)
    hits = np.empty(max(len(nodes), len(faces)), dtype=np.int64)
    pairs = np.empty((16 * len(nodes), 2), dtype=np.int64)
    count = 0
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        if body[a] == 0 and not layers:
            continue
        found = look(grid, face_boxes, f, surface.reach[body[a]] + margin + SLACK, -1, hits)
        pairs = _room_for(pairs, count, found)
        for q in range(found):
            p = surface.nodes[hits[q]]
            if p != a and p != b and p != c:
                pairs[count, 0], pairs[count, 1] = p, f
                count += 1
    others = _of_body(nodes, body, False)
    if len(others) > 0:
        grid = file_boxes(face_boxes, cloth_faces, 0.0, LEVELS)
        for m in others:
            p = surface.nodes[m]
            found = look(grid, node_boxes, m, surface.reach[body[p]] + margin + SLACK, -1, hits)
            pairs = _room_for(pairs, count, found)
            for q in range(found):
                pairs[count, 0], pairs[count, 1] = p, hits[q]
                count += 1
    return pairs[:count]


@kernel
def _edge_edge(
    surface: Surface, x0: FloatArray, x1: FloatArray, drift: FloatArray, margin: float, layers: bool
) -> IntArray:
    """Pairs (p, 2) of edges."""
    body, edges = surface.body, surface.edges
    boxes = swept_boxes(x0, x1, drift, edges)
    grid = file_boxes(boxes, _of_body(edges, body, True), 0.0, LEVELS)
    hits = np.empty(len(grid.members), dtype=np.int64)
    pairs = np.empty((16 * len(edges), 2), dtype=np.int64)
    count = 0
    radius = surface.reach[0] + margin + SLACK
    for slot in range(len(grid.members) if layers else 0):
        e = grid.members[slot]
        found = look(grid, boxes, e, radius, slot, hits)
        pairs = _room_for(pairs, count, found)
        a, b = edges[e, 0], edges[e, 1]
        for q in range(found):
            f = hits[q]
            c, d = edges[f, 0], edges[f, 1]
            if a != c and a != d and b != c and b != d:
                pairs[count, 0], pairs[count, 1] = min(e, f), max(e, f)
                count += 1
    for e in _of_body(edges, body, False):
        found = look(grid, boxes, e, surface.reach[body[edges[e, 0]]] + margin + SLACK, -1, hits)
        pairs = _room_for(pairs, count, found)
        for q in range(found):
            pairs[count, 0], pairs[count, 1] = hits[q], e
            count += 1
    return pairs[:count]


@kernel
def _far_apart(surface: Surface, x0: FloatArray, x1: FloatArray, margin: float) -> bool:
    """Whether the box of the cloth and the box of all obstacle features, swept along the step, are out of reach."""
    low, high = np.full((2, 3), math.inf), np.full((2, 3), -math.inf)
    for v in range(len(surface.body)):
        side = min(surface.body[v], 1)
        for c in range(3):
            low[side, c] = min(low[side, c], x0[v, c], x1[v, c])
            high[side, c] = max(high[side, c], x0[v, c], x1[v, c])
    reach = margin + SLACK
    for body in range(1, len(surface.reach)):
        reach = max(reach, surface.reach[body] + margin + SLACK)
    apart = False
    for c in range(3):
        apart = apart or low[0, c] > high[1, c] + reach or low[1, c] > high[0, c] + reach
    return apart


@kernel
def candidates(surface: Surface, x0: FloatArray, x1: FloatArray, margin: float, layers: bool = True) -> Pairs:
    """Pairs that may come within their separation + `margin` (m) while vertices move linearly from x0 to x1 (V, 3).

    Contains all such pairs and others whose boxes are as near. Pairs of two obstacles and pairs that share a vertex
    are left out, and those of two parts of the cloth if there are no `layers`. The order follows from the positions
    alone.
    """
    drift = mean_displacement(surface.body, x0, x1)
    if not layers and _far_apart(surface, x0, x1, margin):
        return Pairs(np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64))
    return Pairs(_node_face(surface, x0, x1, drift, margin, layers), _edge_edge(surface, x0, x1, drift, margin, layers))
