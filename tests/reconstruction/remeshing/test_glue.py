"""Meshes glued from charts: the same surface, one set of nodes on every 1-cell, faces of a decent shape."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.base.errors import MeshError
from isocloth.meshes.geometry import corner_angles
from isocloth.meshes.surfaces import surface
from isocloth.reconstruction import reconstruct
from isocloth.reconstruction.distance import distances
from isocloth.reconstruction.remeshing.patches import cut
from isocloth.reconstruction.remeshing.split_charts import split_edges

from ..shapes import assert_simulates, found

TWO_SIDED = ["sphere", "torus", "disk", "annulus", "pair of pants"]


def assert_glued(result, mesh):
    """A Mesh is a manifold that can be oriented, or could not be made; what is left are the numbers."""
    assert mesh.euler_characteristic == result.euler_characteristic
    assert len(mesh.boundary_loops) == len(result.boundary_curves)


def away(result, mesh):
    """Mean distance of the points to a mesh, in spacings."""
    return distances(result.points, mesh.vertices, mesh.triangles).mean() / result.spacing


def wavy_sheet(*, on_the_rim):
    random = np.random.default_rng(0)
    xy = random.uniform(size=(2000, 2))
    if on_the_rim:
        s = np.arange(50) / 50.0
        zero, one = np.zeros(50), np.ones(50)
        sides = [(s, zero), (one, s), (1.0 - s, one), (zero, 1.0 - s)]
        xy = np.concatenate([xy, *(np.stack(side, axis=1) for side in sides)])
    return np.column_stack([xy, 0.05 * np.sin(6 * xy[:, 0]) * np.cos(5 * xy[:, 1]) + 0.3 * xy[:, 0]])


@pytest.mark.parametrize("name", TWO_SIDED)
@pytest.mark.parametrize("element", ["triangle", "quad"])
def test_a_glued_mesh_is_the_same_surface_close_to_the_points(name, element):
    result = found(name)
    mesh = result.glued(2.0 * result.spacing, element)
    assert mesh.element == element
    assert_glued(result, mesh)
    assert away(result, mesh) < 0.15
    assert np.degrees(corner_angles(mesh.vertices, mesh.faces).min()) > 15.0
    assert 1.2 < np.median(mesh.edge_lengths) / result.spacing < 2.3


@pytest.mark.parametrize("element", ["triangle", "quad"])
def test_the_knotted_torus_is_glued_from_several_cells(element):
    result = found("knotted torus", 8000)
    made = result.gluing(element=element)
    mesh = result.glued(element=element)
    assert_glued(result, mesh)
    assert away(result, mesh) < 0.15
    assert made.folded == 0
    assert set(made.cell.tolist()) == set(range(len(result.cell_complex.two)))
    assert len(result.cell_complex.two) > 1


@pytest.mark.parametrize("name", ["torus", "pair of pants", "knotted torus"])
@pytest.mark.parametrize("element", ["triangle", "quad"])
def test_one_cells_are_edges_and_all_that_cells_share(name, element):
    result = found(name, 8000 if name == "knotted torus" else 1500)
    made = result.gluing(element=element)
    mesh = result.glued(element=element)
    edges = {tuple(e) for e in mesh.edges.tolist()}
    seams = {tuple(sorted(e)) for e in made.seams.tolist()}
    assert seams <= edges
    for (a, b), (f, g) in zip(mesh.edges.tolist(), mesh.edge_faces.tolist(), strict=True):
        if g < 0 or made.cell[f] != made.cell[g]:
            assert (a, b) in seams
    # a critical point of every 1-cell is near a node of a seam
    on_seams = mesh.vertices[np.unique(made.seams)]
    for cell in result.cell_complex.one:
        middle = result.points[result.surface.edges[cell.edge]].mean(axis=0)
        assert np.linalg.norm(on_seams - middle, axis=1).min() < 3.0 * result.spacing


@settings(deadline=None, max_examples=6)
@given(
    name=st.sampled_from(TWO_SIDED),
    direction=st.integers(0, 1000),
    detail=st.sampled_from([None, 0.0, 0.1]),
    edge=st.sampled_from([1.5, 3.0, 6.0]),
)
def test_whatever_the_cells_the_glued_surface_is_the_same(name, direction, detail, edge):
    towards = np.random.default_rng(direction).normal(size=3)
    result = reconstruct(found(name).given, direction=towards, detail=detail)
    mesh = result.glued(edge * result.spacing)
    assert_glued(result, mesh)
    assert away(result, mesh) < (0.5 if edge < 2.0 else 2.5)


def test_many_small_cells_can_be_glued_to_quads():
    result = reconstruct(surface("torus").sample(900, seed=1, noise=0.2), detail=0.0)
    assert len(result.cell_complex.two) > 4
    mesh = result.glued(3.0 * result.spacing, "quad")
    assert_glued(result, mesh)
    assert away(result, mesh) < 0.5


def test_edges_are_shorter_where_faces_would_fold():
    result = found("torus")
    made = result.gluing(9.0 * result.spacing)  # three edges would go around the tube
    assert made.folded == 0
    assert_glued(result, result.glued(9.0 * result.spacing))


@pytest.mark.parametrize("on_the_rim", [True, False])
def test_a_sheet_becomes_a_regular_grid_of_quads(on_the_rim):
    result = reconstruct(wavy_sheet(on_the_rim=on_the_rim))
    mesh = result.glued(3.0 * result.spacing, "quad")
    degree = np.bincount(mesh.edges.ravel())
    assert (degree[mesh.interior_nodes] == 4).all()
    assert np.count_nonzero(degree[mesh.boundary_nodes] == 2) == 4
    assert np.degrees(corner_angles(mesh.vertices, mesh.faces).min()) > (75.0 if on_the_rim else 45.0)
    assert np.median(mesh.edge_lengths) == pytest.approx(3.0 * result.spacing, rel=0.1)
    for corner in ((0, 0), (1, 0), (0, 1), (1, 1)):
        four = mesh.vertices[np.flatnonzero(degree == 2)]
        assert np.linalg.norm(four[:, :2] - corner, axis=1).min() < (0.01 if on_the_rim else 0.1)


def glove(count, length, radius=0.25):
    """Points of a unit sphere with a closed finger along x."""
    random = np.random.default_rng(0)
    start = np.sqrt(1.0 - radius**2)
    areas = 2.0 * np.pi * np.array([1.0 + start, radius * length, radius**2])
    body, side, tip = random.multinomial(count, areas / areas.sum())
    ball = random.normal(size=(2 * count, 3))
    ball /= np.linalg.norm(ball, axis=1)[:, None]
    angle = random.uniform(0.0, 2.0 * np.pi, side)
    tube = [start + random.uniform(0.0, length, side), radius * np.cos(angle), radius * np.sin(angle)]
    cap = radius * np.abs(ball[-tip:, :1]) * [1, 0, 0] + radius * ball[-tip:] * [0, 1, 1] + [start + length, 0, 0]
    return np.concatenate([ball[ball[:, 0] < start][:body], np.stack(tube, axis=1), cap])


def test_a_long_finger_is_cut_open_over_its_tip():
    result = reconstruct(glove(4000, 5.0), direction=[0.05, 0.1, 1.0])
    assert result.description == "sphere"
    more = np.zeros(len(result.surface.edges), dtype=bool)
    whole = cut(result.surface, result.cell_complex, result.gradient, np.empty(0, dtype=np.int64), more)
    edges = split_edges(result.surface, whole.patches)
    assert edges.any()
    finer = cut(result.surface, result.cell_complex, result.gradient, np.empty(0, dtype=np.int64), edges | whole.edges)
    assert len(finer.patches) > len(whole.patches)
    made = result.gluing()
    assert made.folded == 0
    assert_glued(result, result.glued())
    assert away(result, result.glued()) < 0.2
    # the finger is still there
    assert result.glued().vertices[:, 0].max() > 6.0
    usual = found("torus")
    none = np.zeros(len(usual.surface.edges), dtype=bool)
    patches = cut(usual.surface, usual.cell_complex, usual.gradient, np.empty(0, dtype=np.int64), none).patches
    assert not split_edges(usual.surface, patches).any()


def test_the_simulator_accepts_a_glued_mesh_of_quads():
    result = reconstruct(wavy_sheet(on_the_rim=True))
    assert_simulates(result.glued(0.1, "quad"), [0.0, 0.0, 0.0])


def test_the_option_meshing_chooses_the_mesh():
    points = surface("disk").sample(700, seed=0)
    glued, spread = (reconstruct(points, meshing=meshing, edge=0.2) for meshing in ("charts", "spread"))
    np.testing.assert_array_equal(glued.mesh.vertices, glued.glued(0.2).vertices)
    np.testing.assert_array_equal(spread.mesh.vertices, spread.remeshed(0.2).vertices)
    assert glued.distance_to_points.shape == (len(glued.points),)
    with pytest.raises(ValueError, match="meshing is 'both'"):
        reconstruct(points, meshing="both")


def test_the_same_points_give_the_same_bits():
    points = surface("annulus").sample(700, seed=0)
    one, other = (reconstruct(points).glued(element="quad") for _ in range(2))
    np.testing.assert_array_equal(one.vertices, other.vertices)
    np.testing.assert_array_equal(one.faces, other.faces)


def test_what_is_no_mesh_is_refused():
    with pytest.raises(MeshError, match="one side only"):
        found("Moebius strip").glued()
    with pytest.raises(MeshError, match="4 coordinates"):
        found("Klein bottle").glued()
    with pytest.raises(ValueError, match="element"):
        found("disk").glued(element="hexagon")
    with pytest.raises(ValueError, match="edge is 0"):
        found("disk").glued(0.0)
