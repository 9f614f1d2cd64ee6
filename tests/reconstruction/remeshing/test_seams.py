"""Patches, nodes on their seams, grids on rectangles, and turned edges."""

from collections import Counter

import numpy as np
import pytest
from scipy.spatial import Delaunay

from isocloth.meshes.geometry import corner_angles
from isocloth.reconstruction.remeshing.balance import balanced
from isocloth.reconstruction.remeshing.flips import flipped
from isocloth.reconstruction.remeshing.grids import Grid, best_grid, quads
from isocloth.reconstruction.remeshing.parametrise import Chart
from isocloth.reconstruction.remeshing.patches import Patch, Skeleton, cut, flattened
from isocloth.reconstruction.remeshing.remesh import boundary_corners
from isocloth.reconstruction.remeshing.seams import Seams, evenly_spaced, nodes_around, seam_nodes

from ..shapes import NAMES, found

# ---------------------------------------------------------------------- patches and seams


def skeleton_of(result, edge):
    corners = boundary_corners(result.surface, edge)
    none = np.zeros(len(result.surface.edges), dtype=np.bool_)
    return corners, cut(result.surface, result.cell_complex, result.gradient, corners, none)


@pytest.mark.parametrize("name", NAMES)
def test_every_side_of_an_arc_is_on_one_patch(name):
    result = found(name)
    _, skeleton = skeleton_of(result, 2.0 * result.spacing)
    times = Counter(arc for patch in skeleton.patches for arc, _ in patch.sides)
    counts = {tuple(e): n for e, n in zip(result.surface.edges.tolist(), result.surface.table.counts, strict=True)}
    for k, arc in enumerate(skeleton.arcs):
        assert times[k] == counts[tuple(sorted(arc[:2].tolist()))]
    boundary = sum(len(curve) for curve in result.boundary_curves)
    walked = sum(len(patch.boundary) for patch in skeleton.patches)
    assert walked == 2 * np.count_nonzero(skeleton.edges) - boundary
    assert sum(len(patch.triangles) for patch in skeleton.patches) == len(result.surface.triangles)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("even", [False, True])
def test_nodes_of_an_arc_are_the_same_from_both_sides(name, even):
    result = found(name)
    _, skeleton = skeleton_of(result, 2.0 * result.spacing)
    seams = seam_nodes(result.surface, skeleton, 2.0 * result.spacing, even=even)
    assert not even or all((len(on) - 1) % 2 == 0 for on in seams.on)
    pairs = seams.edges
    assert len(np.unique(pairs, axis=0)) == len(pairs)  # no two segments between the same nodes
    assert (pairs[:, 0] != pairs[:, 1]).all()
    for patch in skeleton.patches:
        nodes, distance = nodes_around(skeleton, seams, patch)
        chart = flattened(result.surface, patch)
        loop = chart.positions[np.append(chart.boundary, chart.boundary[0])]
        at = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(loop, axis=0), axis=1))])
        places = np.stack([np.interp(distance, at, loop[:, c]) for c in range(loop.shape[1])], axis=1)
        # arcs that have shrunk to a node are shorter than half of a segment
        limit = 0.5 * (2 if even else 1) * 2.0 * result.spacing
        assert np.linalg.norm(places - seams.places[nodes], axis=1).max() < limit


def test_nodes_on_the_boundary_are_evened_between_corners():
    result = found("annulus")
    corners, skeleton = skeleton_of(result, 2.0 * result.spacing)
    seams = seam_nodes(result.surface, skeleton, 2.0 * result.spacing)
    places = evenly_spaced(result.surface, skeleton, seams, corners)
    moved = np.linalg.norm(places - seams.places, axis=1)
    inside = np.setdiff1d(
        np.arange(len(places)),
        np.concatenate(
            [on for on, arc in zip(seams.on, skeleton.arcs, strict=True) if result.surface.on_boundary[arc].all()]
        ),
    )
    assert (moved[inside] == 0.0).all()
    assert 0.0 < moved.max() < 2.0 * result.spacing


# ---------------------------------------------------------------------------------- grids


def flat_chart(width, height, count, seed=0):
    """A rectangle of random points as a chart, with 60 points on its sides."""
    random = np.random.default_rng(seed)
    inner = random.uniform(0.03, 0.97, size=(count, 2)) * [width, height]
    s = np.arange(15) / 15.0
    rim = np.concatenate(
        [
            np.stack([s * width, 0 * s], axis=1), np.stack([width + 0 * s, s * height], axis=1),
            np.stack([(1 - s) * width, height + 0 * s], axis=1), np.stack([0 * s, (1 - s) * height], axis=1),
        ]
    )  # fmt: skip
    uv = np.concatenate([rim, inner])
    triangles = Delaunay(uv).simplices.astype(np.int64)
    p = uv[triangles]
    area = np.cross(np.pad(p[:, 1] - p[:, 0], ((0, 0), (0, 1))), np.pad(p[:, 2] - p[:, 0], ((0, 0), (0, 1))))[:, 2]
    triangles[area < 0] = triangles[area < 0][:, ::-1]
    positions = np.column_stack([uv, np.zeros(len(uv))])
    return Chart(uv, positions, np.arange(len(uv)), triangles, np.arange(60), [])


def test_the_best_grid_of_a_rectangle_has_its_corners():
    chart = flat_chart(2.0, 1.0, 800)
    # 24 nodes 0.25 m apart, the first in the middle of a long side
    distance = (1.0 + 0.25 * np.arange(24)) % 6.0
    order = np.argsort(distance)
    nodes = np.arange(24)[order]
    grid = best_grid(chart, nodes, distance[order])
    assert sorted(grid.nodes.shape) == [5, 9]
    assert grid.stretch < 0.5
    corners = {int(grid.nodes[i, j]) for i in (0, -1) for j in (0, -1)}
    assert corners == {4, 8, 16, 20}
    # inside, nodes are where those of a true grid are, to the raggedness of Tutte's weights
    inner = grid.nodes < 0
    for axis, (low, high) in enumerate([(0.25, 1.75), (0.25, 0.75)]):
        across = grid.places[inner][:, axis]
        assert across.min() == pytest.approx(low, abs=0.1)
        assert across.max() == pytest.approx(high, abs=0.1)
    assert len(quads(np.arange(inner.size).reshape(inner.shape))) == 32


def test_a_boundary_that_turns_back_has_no_grid():
    chart = flat_chart(1.0, 1.0, 100)
    nodes = np.array([0, 1, 2, 3, 4, 3, 2, 1])  # a slit from 0 to 4
    assert best_grid(chart, nodes, 0.5 * np.arange(8)) is None
    assert best_grid(chart, np.arange(7), np.arange(7) * 4.0 / 7.0) is None
    assert best_grid(chart, np.arange(6), np.arange(6) * 4.0 / 6.0) is None


def test_opposite_sides_of_a_grid_become_equal():
    on = [np.arange(0, 9), np.arange(8, 17), np.arange(16, 27), np.append(np.arange(26, 34), 0)]  # 8, 8, 10, 8 segments
    sides = [(k, True) for k in range(4)]
    empty = np.empty(0, dtype=np.int64)
    patch = Patch(0, empty, np.empty((0, 3), dtype=np.int64), empty, sides, empty)
    lengths = np.array([0.8, 0.8, 1.0, 0.8])
    seams = Seams(np.zeros((34, 3)), on)
    grid = Grid(np.zeros((2, 2), dtype=np.int64), np.zeros((2, 2, 3)), 0, 8, 0.0)
    alone = Skeleton(np.empty(0, dtype=np.bool_), [], lengths, [patch])
    segments, corners = balanced(alone, seams, {0: grid})
    assert segments[0] == segments[2]
    assert segments[1] == segments[3] == 8
    assert corners == {0: [0, 1, 2, 3]}
    # with a second patch on all sides nothing can be moved
    shared = Skeleton(np.empty(0, dtype=np.bool_), [], lengths, [patch, patch])
    segments, corners = balanced(shared, seams, {0: grid})
    assert segments.tolist() == [8, 8, 10, 8]
    assert corners == {}


# ---------------------------------------------------------------------------------- flips


def test_turned_edges_give_the_triangulation_of_delaunay():
    random = np.random.default_rng(0)
    uv = random.uniform(size=(200, 2))
    other = Delaunay(uv * [1.0, 6.0])  # of a stretched plane: the same outline, other edges
    triangles = other.simplices.astype(np.int64)
    vertices = np.column_stack([uv, np.zeros(len(uv))])
    p = vertices[triangles]
    turned = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])[:, 2] < 0
    triangles[turned] = triangles[turned][:, ::-1]
    up = np.tile([0.0, 0.0, 1.0], (len(uv), 1))
    none = np.empty((0, 2), dtype=np.int64)
    result = flipped(vertices, triangles, up, none)
    wanted = {frozenset(t) for t in Delaunay(uv).simplices.tolist()}
    assert {frozenset(t) for t in triangles.tolist()} != wanted
    assert {frozenset(t) for t in result.tolist()} == wanted


def test_edges_that_are_kept_stay_and_none_is_made_twice():
    vertices = np.array([[0.0, 0, 0], [2, 0, 0], [1, 0.3, 0], [1, -0.3, 0]])
    triangles = np.array([[0, 1, 2], [1, 0, 3]])
    up = np.tile([0.0, 0.0, 1.0], (4, 1))
    none = np.empty((0, 2), dtype=np.int64)
    free = flipped(vertices, triangles, up, none)
    assert {frozenset(t) for t in free.tolist()} == {frozenset((0, 2, 3)), frozenset((1, 2, 3))}
    assert corner_angles(vertices, free).min() > corner_angles(vertices, triangles).min()
    np.testing.assert_array_equal(flipped(vertices, triangles, up, np.array([[0, 1]])), triangles)
    closed = np.concatenate([triangles, [[2, 3, 0], [3, 2, 1]]])  # 2-3 is an edge already
    np.testing.assert_array_equal(flipped(vertices, closed, up, none)[:2], triangles)


def test_a_triangle_that_lies_upside_down_is_righted():
    vertices = np.array([[0.0, 0, 0], [2, 0, 0], [1, 0.4, 0], [1, 1.5, 0]])  # node 2 has passed over the edge 0-1
    triangles = np.array([[1, 0, 2], [0, 1, 3]])
    up = np.tile([0.0, 0.0, 1.0], (4, 1))
    result = flipped(vertices, triangles, up, np.empty((0, 2), dtype=np.int64))
    p = vertices[result]
    assert (np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])[:, 2] > 0).all()
