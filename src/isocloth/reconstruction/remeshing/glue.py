"""One mesh glued from the charts of all 2-cells, section 5.4.9 and remark 5.4.7.

The surface is cut into patches, seams get their nodes, every patch becomes a sheet of triangles or a grid of quads
with these nodes on its sides, and sheets are put together. Then nodes are spread out along the fitted surface, and
edges that are on no 1-cell are turned where this makes better triangles: charts decide what is joined to what, the
surface decides where. Quads: patches that fit on a rectangle without being stretched much become grids, the others
triangles cut in three.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from isocloth.base.errors import MeshError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes.geometry import corner_angles, corner_crosses, triangulate, vector_areas, vertex_normals
from isocloth.meshes.subdivide import triangles_to_quads
from isocloth.meshes.topology import edge_table
from isocloth.reconstruction.morse.cells import CellComplex
from isocloth.reconstruction.morse.discrete_gradient import Gradient
from isocloth.reconstruction.remeshing.balance import balanced
from isocloth.reconstruction.remeshing.fitting import Fit, smoothed
from isocloth.reconstruction.remeshing.flat_meshes import sheets
from isocloth.reconstruction.remeshing.flips import flipped
from isocloth.reconstruction.remeshing.grids import Grid, best_grid, quads
from isocloth.reconstruction.remeshing.patches import Skeleton, cut, flattened
from isocloth.reconstruction.remeshing.remesh import boundary_corners, same_surface
from isocloth.reconstruction.remeshing.seams import Seams, evenly_spaced, nodes_around, seam_nodes
from isocloth.reconstruction.remeshing.split_charts import split_edges
from isocloth.reconstruction.triangulation.complex import Complex

#: times that nodes are spread out and edges turned in turn, and rounds of spreading in each
TURNS, ROUNDS = 4, 4
#: times that patches which are far from flat are cut in two
CUTS = 8
#: a patch is cut into a grid if this stretches it by no more
STRETCH = 0.8
#: and if its quads have a smallest angle of this on average, and all but 1 % of them of that, in degrees; quads of
#: triangles cut in three have 59 and 37
REGULAR, SHARPEST = 60.0, 30.0
#: median edge of quads beside the distance of nodes on seams: those of triangles cut in three are shorter inside
QUAD = 0.8


class Glued(NamedTuple):
    """A glued mesh."""

    vertices: FloatArray  #: (n, 3) in m
    faces: IntArray  #: (m, 3) or (m, 4)
    cell: IntArray  #: (m,) 2-cell of every face
    seams: IntArray  #: (k, 2) edges on 1-cells, smaller node first
    folded: int  #: faces with a corner that lies upside down against the surface


def glue(
    surface: Complex,
    cells: CellComplex,
    gradient: Gradient,
    fitted: Fit,
    edge: float,
    element: Literal["triangle", "quad"],
) -> Glued:
    """A mesh with edges of about `edge` m, shorter where faces would fold: then the fewest folds are taken."""
    smallest = float(np.median(surface.edge_lengths))
    more = _more_cuts(surface, cells, gradient)
    best: Glued | None = None
    length = edge
    while best is None or (best.folded > 0 and length > smallest):
        corners = boundary_corners(surface, length)
        skeleton = cut(surface, cells, gradient, corners, more)
        made = (_triangles if element == "triangle" else _quads)(surface, skeleton, fitted, length, corners)
        if best is None or made.folded < best.folded:
            best = made
        length *= 0.8
    if element == "quad" and best.folded > 0:
        flat = _flat_quads(glue(surface, cells, gradient, fitted, 2.0 * edge / QUAD, "triangle"))
        best = flat if flat.folded < best.folded else best
    if not same_surface(surface, best.vertices, triangulate(best.faces)):
        raise MeshError("what the charts are glued to has another topology than the surface; use remeshed()")
    return best


def _more_cuts(surface: Complex, cells: CellComplex, gradient: Gradient) -> BoolArray:
    """(ne,) edges along which to cut cells that are far from flat."""
    more = np.zeros(len(surface.edges), dtype=np.bool_)
    for _ in range(CUTS):
        skeleton = cut(surface, cells, gradient, np.empty(0, dtype=np.int64), more)
        found = split_edges(surface, skeleton.patches)
        if not found.any():
            break
        more |= found | skeleton.edges  # with the slits that it was found on
    return more


def _triangles(surface: Complex, skeleton: Skeleton, fitted: Fit, edge: float, corners: IntArray) -> Glued:
    """All patches as triangles."""
    seams = seam_nodes(surface, skeleton, edge)
    everywhere = list(range(len(skeleton.patches)))
    made, places = sheets(surface, skeleton, seams, everywhere, edge, len(seams.places))
    vertices = np.concatenate([evenly_spaced(surface, skeleton, seams, corners), places])
    faces = np.concatenate([s.number[s.faces] for s in made])
    cell = np.concatenate([np.full(len(s.faces), s.cell) for s in made])
    vertices, faces = _improved(surface, fitted, vertices, faces, seams.edges)
    folds = _folds(vertices, faces, _normals(surface, vertices))
    return Glued(vertices, faces, cell, seams.edges, int(np.count_nonzero(folds)))


def _quads(surface: Complex, skeleton: Skeleton, fitted: Fit, edge: float, corners: IntArray) -> Glued:
    """Patches as grids where these are good, else as triangles twice as large, cut in three."""
    refused: set[int] = set()
    while True:
        seams, grids = _grids(surface, skeleton, edge, refused)
        if len(grids) < len(skeleton.patches):
            seams, grids = _grids(surface, skeleton, edge / QUAD, refused)
        places = evenly_spaced(surface, skeleton, seams, corners)
        others = [k for k in range(len(skeleton.patches)) if k not in grids]
        vertices, faces, patch = _cut_triangles(surface, skeleton, fitted, seams, places, others, edge / QUAD)
        for k, grid in grids.items():
            number = grid.nodes.copy()
            own = number < 0
            number[own] = len(vertices) + np.arange(np.count_nonzero(own))
            vertices = np.concatenate([vertices, grid.places[own]])
            faces = np.concatenate([faces, quads(number)])
            patch = np.concatenate([patch, np.full(grid.nodes[1:, 1:].size, k)])
        normals = _normals(surface, vertices)
        vertices = smoothed(fitted, vertices, faces, TURNS * ROUNDS)
        folds = _folds(vertices, faces, normals)
        angles = np.degrees(corner_angles(vertices, faces).min(axis=1))
        bad = {k for k in grids if folds[patch == k].any() or not _regular(angles[patch == k])}
        if not bad:
            break
        refused |= bad
    cell = np.array([p.cell for p in skeleton.patches])[patch]
    return Glued(vertices, faces, cell, seams.edges, int(np.count_nonzero(folds)))


def _flat_quads(made: Glued) -> Glued:
    """Triangles cut in three without moving a node: no quad folds that was no folded triangle."""
    vertices, faces = triangles_to_quads(made.vertices, made.faces)
    edges = edge_table(made.faces).edges
    n = len(made.vertices)
    middle = n + np.searchsorted(edges[:, 0] * n + edges[:, 1], made.seams[:, 0] * n + made.seams[:, 1])
    seams = np.concatenate([np.stack([made.seams[:, end], middle], axis=1) for end in range(2)])
    return Glued(vertices, faces, np.repeat(made.cell, 3), seams, made.folded)


def _grids(surface: Complex, skeleton: Skeleton, edge: float, refused: set[int]) -> tuple[Seams, dict[int, Grid]]:
    """Nodes on seams, and the grids of the patches that have good ones and are not refused."""
    charts = {k: flattened(surface, p) for k, p in enumerate(skeleton.patches) if k not in refused}

    def good(seams: Seams, wanted: dict[int, tuple[int, int]]) -> dict[int, Grid]:
        found = {}
        for k, chart in charts.items():
            grid = best_grid(chart, *nodes_around(skeleton, seams, skeleton.patches[k]), wanted.get(k))
            if grid is not None and grid.stretch <= STRETCH:
                found[k] = grid
        return found

    seams = seam_nodes(surface, skeleton, edge, even=True)
    grids = good(seams, {})
    segments, corners = balanced(skeleton, seams, grids)
    if not corners:
        return seams, grids
    wanted = {}
    for k, sides in corners.items():
        on_sides = segments[[arc for arc, _ in skeleton.patches[k].sides]]
        starts = np.cumsum(on_sides) - on_sides
        wanted[k] = (int(starts[sides[0]]), int(starts[sides[1]] - starts[sides[0]]))
    seams = seam_nodes(surface, skeleton, edge, even=True, wanted=segments)
    return seams, good(seams, wanted)


def _cut_triangles(
    surface: Complex,
    skeleton: Skeleton,
    fitted: Fit,
    seams: Seams,
    places: FloatArray,
    chosen: list[int],
    edge: float,
) -> tuple[FloatArray, IntArray, IntArray]:
    """Vertices, those of the seams first; quads of some patches, and the patch of each."""
    if not chosen:
        return places, np.empty((0, 4), dtype=np.int64), np.empty(0, dtype=np.int64)
    half = seams.every_other()
    made, own = sheets(surface, skeleton, half, chosen, 2.0 * edge, len(places))
    numbers = np.concatenate([s.number[s.faces] for s in made])
    patch = np.concatenate([np.full(len(s.faces), k) for s, k in zip(made, chosen, strict=True)])
    used, local = np.unique(numbers, return_inverse=True)
    kept = half.edges[np.isin(half.edges, used).all(axis=1)]
    start = np.concatenate([places, own])[used]
    vertices, triangles = _improved(surface, fitted, start, local.reshape(-1, 3), np.searchsorted(used, kept))
    finer, faces = triangles_to_quads(vertices, triangles)
    # of the new nodes, those in the middle of an edge of a seam are there already
    between = {}
    for on in seams.on:
        for a, middle, b in zip(on[:-2:2].tolist(), on[1::2].tolist(), on[2::2].tolist(), strict=True):
            between[min(a, b), max(a, b)] = middle
    number = np.full(len(finer), -1, dtype=np.int64)
    number[: len(used)] = used
    for k, (a, b) in enumerate(np.sort(used[edge_table(triangles).edges], axis=1).tolist()):
        number[len(used) + k] = between.get((a, b), -1)
    new = number < 0
    number[new] = len(places) + len(own) + np.arange(np.count_nonzero(new))
    result = np.concatenate([places, own, finer[new]])
    result[used] = vertices
    return result, number[faces], np.repeat(patch, 3)


def _improved(
    surface: Complex, fitted: Fit, vertices: FloatArray, faces: IntArray, kept: IntArray
) -> tuple[FloatArray, IntArray]:
    """Vertices spread out along the fitted surface, and edges turned that are not kept."""
    normals = _normals(surface, vertices)
    for _ in range(TURNS):
        faces = flipped(vertices, faces, normals, kept)
        vertices = smoothed(fitted, vertices, faces, ROUNDS)
    return vertices, flipped(vertices, faces, normals, kept)


def _regular(angles: FloatArray) -> bool:
    """Whether the smallest angles (m,) of the quads of a grid are better than those of triangles cut in three."""
    return bool(angles.mean() >= REGULAR and np.percentile(angles, 1.0) >= SHARPEST)


def _normals(surface: Complex, vertices: FloatArray) -> FloatArray:
    """(n, 3) unit normals of the surface at its points next to the vertices."""
    return vertex_normals(surface.points, surface.triangles)[np.asarray(cKDTree(surface.points).query(vertices)[1])]


def _folds(vertices: FloatArray, faces: IntArray, normals: FloatArray) -> BoolArray:
    """(m,) faces with a corner that lies upside down, against the surface or against the face itself."""
    crosses = corner_crosses(vertices, faces)
    up = normals[faces].sum(axis=1)
    own = vector_areas(vertices, faces)
    least = np.minimum((crosses * up[:, None]).sum(axis=2), (crosses * own[:, None]).sum(axis=2)).min(axis=1)
    found: BoolArray = least <= 1e-9 * (crosses**2).sum(axis=2).max(axis=1)
    return found
