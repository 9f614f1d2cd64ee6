import ipctk
import numpy as np
import pytest
from sheets import flat, folded_in_four, grid_triangles, needles, scene, stick

from isocloth.contact import build_surface, candidates
from isocloth.contact.distance import point_triangle, segment_segment

KINDS = ["crumpled", "fast", "folded", "runaway"]


def as_sets(pairs):
    return {tuple(p) for p in pairs.node_face.tolist()}, {tuple(p) for p in pairs.edge_edge.tolist()}


def allowed(surface):
    """All pairs of nodes and faces, and of edges, that may touch."""
    body = surface.body
    node_face = {
        (int(p), f)
        for p in surface.nodes
        for f, corners in enumerate(surface.faces)
        if p not in corners and (body[p] == 0 or body[corners[0]] == 0)
    }
    edge_edge = {
        (e, f)
        for e, one in enumerate(surface.edges)
        for f, two in enumerate(surface.edges)
        if e < f and not set(one) & set(two) and (body[one[0]] == 0 or body[two[0]] == 0)
    }
    return node_face, edge_edge


def boxes_meet(surface, x0, x1, margin, one, two):
    """Whether the swept boxes of two sets of vertices are within reach, seen from the moving cloth."""
    cloth = surface.body == 0
    x1 = x1 - (x1[cloth] - x0[cloth]).mean(axis=0)
    radius = surface.reach[max(surface.body[one[0]], surface.body[two[0]])] + margin
    a, b = np.concatenate([x0[one], x1[one]]), np.concatenate([x0[two], x1[two]])
    return np.all(a.min(axis=0) <= b.max(axis=0) + radius) and np.all(b.min(axis=0) <= a.max(axis=0) + radius)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", KINDS)
def test_candidates_are_those_of_brute_force(kind, seed):
    surface, x0, x1, _ = scene(kind, seed)
    margin = 1e-3
    node_face, edge_edge = allowed(surface)
    meet = lambda one, two: boxes_meet(surface, x0, x1, margin, one, two)  # noqa: E731
    expected_faces = {(p, f) for p, f in node_face if meet(np.array([p]), surface.faces[f])}
    expected_edges = {(e, f) for e, f in edge_edge if meet(surface.edges[e], surface.edges[f])}
    pairs = candidates(surface, x0, x1, margin)
    found_faces, found_edges = as_sets(pairs)
    assert found_faces == expected_faces
    assert found_edges == expected_edges
    assert len(found_faces) == len(pairs.node_face), "a pair is found twice"
    assert len(found_edges) == len(pairs.edge_edge), "a pair is found twice"
    assert found_faces
    assert found_edges


@pytest.mark.parametrize("kind", KINDS)
def test_no_pair_that_comes_close_is_missing(kind):
    surface, x0, x1, _ = scene(kind, 2)
    margin = 2e-3
    faces, edges = as_sets(candidates(surface, x0, x1, margin))
    node_face, edge_edge = allowed(surface)
    for time in np.linspace(0, 1, 5):
        x = [tuple(v) for v in (x0 + time * (x1 - x0)).tolist()]
        for p, f in node_face - faces:
            corners = surface.faces[f]
            near = surface.reach[max(surface.body[p], surface.body[corners[0]])] + margin
            assert point_triangle(x[p], *(x[v] for v in corners))[0] > near**2
        for e, f in edge_edge - edges:
            near = surface.reach[max(surface.body[surface.edges[e, 0]], surface.body[surface.edges[f, 0]])] + margin
            assert segment_segment(*(x[v] for v in (*surface.edges[e], *surface.edges[f])))[0] > near**2


@pytest.mark.parametrize("kind", ["crumpled", "fast", "folded"])
def test_pairs_that_ipc_toolkit_sees_collide_are_candidates(kind):
    surface, x0, x1, _ = scene(kind, 3)
    cloth = surface.body == 0
    count = int(cloth.sum())
    edges, faces = surface.edges[cloth[surface.edges[:, 0]]], surface.faces[cloth[surface.faces[:, 0]]]
    alone = build_surface(count, faces, 1e-3)
    np.testing.assert_array_equal(alone.edges, edges)
    x0, x1 = x0[:count], x1[:count]
    found_faces, found_edges = as_sets(candidates(alone, x0, x1, 0.0))
    mesh = ipctk.CollisionMesh(x0, edges, faces)
    theirs = ipctk.Candidates()
    theirs.build(mesh, x0, x1, inflation_radius=0.0)
    hits = 0
    for pair in theirs.fv_candidates:
        face, node = pair.face_id, pair.vertex_id
        hit, _ = ipctk.TightInclusionCCD().point_triangle_ccd(
            x0[node], *x0[faces[face]], x1[node], *x1[faces[face]], min_distance=0.5e-3
        )
        hits += hit
        assert not hit or (node, face) in found_faces
    for pair in theirs.ee_candidates:
        e, f = sorted((pair.edge0_id, pair.edge1_id))
        hit, _ = ipctk.TightInclusionCCD().edge_edge_ccd(
            *x0[edges[e]], *x0[edges[f]], *x1[edges[e]], *x1[edges[f]], min_distance=0.5e-3
        )
        hits += hit
        assert not hit or (e, f) in found_edges
    assert hits > 0


def test_candidates_grow_linearly_with_the_nodes():
    rates = []
    for count in (20, 40, 80):
        surface, x, _ = folded_in_four(count)
        pairs = candidates(surface, x, x, 2e-4)
        rates.append((len(pairs.node_face) + len(pairs.edge_edge)) / count**2)
    assert max(rates) < 1.25 * min(rates)
    assert max(rates) < 60


def test_a_flat_sheet_has_no_more_candidates_than_its_neighbours():
    surface = build_surface(400, grid_triangles(20, 20), 1e-3)
    pairs = candidates(surface, flat(20, 20), flat(20, 20), 1e-3)
    assert len(pairs.node_face) < 6 * 400
    assert len(pairs.edge_edge) < 16 * 400


def test_the_same_positions_give_the_same_order():
    surface, x0, x1, _ = scene("crumpled", 4)
    first, second = candidates(surface, x0, x1, 1e-3), candidates(surface, x0, x1, 1e-3)
    np.testing.assert_array_equal(first.node_face, second.node_face)
    np.testing.assert_array_equal(first.edge_edge, second.edge_edge)


def test_a_sheet_that_flies_as_a_whole_has_the_candidates_of_one_at_rest():
    surface, x, _ = folded_in_four(12)
    at_rest = as_sets(candidates(surface, x, x, 1e-4))
    assert as_sets(candidates(surface, x, x + np.array([3.0, -2.0, 1.0]), 1e-4)) == at_rest


def test_a_few_triangles_of_another_size_do_not_spoil_the_grid():
    """One of the sheets is a hundred times coarser; its boxes are in a grid of their own."""
    surface, x, _ = folded_in_four(30)
    triangles = np.concatenate([surface.faces, [[900, 901, 902]]])
    mixed = build_surface(903, triangles, 1e-3)
    x = np.concatenate([x, [[5.0, 5.0, 5.0], [8.0, 5.0, 5.0], [5.0, 8.0, 5.0]]])
    before, after = candidates(surface, x[:900], x[:900], 1e-4), candidates(mixed, x, x, 1e-4)
    assert len(after.node_face) == len(before.node_face)
    assert len(after.edge_edge) == len(before.edge_edge)


def test_obstacles_never_meet_each_other():
    x = np.zeros((10, 3))
    x[:3] = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
    x[3:6] = [[0.2, 0.2, 0.0], [0.3, 0.3, 0.0], [0.4, 0.2, 0.1]]
    x[6:] = [[0.2, 0.2, 0.0], [0.3, 0.2, 0.0], [5.0, 5.0, 5.0], [0.2, 0.1, 0.1]]
    surface = build_surface(3, np.array([[0, 1, 2]]), 1e-3, [stick(3, 1e-2), needles(4, 1e-2)])
    faces, edges = as_sets(candidates(surface, x, x, 0.2))
    assert faces == {(3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (9, 0)}
    assert edges == {(e, f) for e in range(3) for f in (3, 4)} - {(1, 4)}


def test_nothing_is_found_where_nothing_is():
    surface = build_surface(0, np.empty((0, 3), dtype=np.int64), 1e-3)
    pairs = candidates(surface, np.empty((0, 3)), np.empty((0, 3)), 1e-3)
    assert pairs.node_face.shape == (0, 2)
    assert pairs.edge_edge.shape == (0, 2)


def test_positions_that_are_not_finite_are_refused():
    surface, x0, x1, _ = scene("folded", 0)
    x1[3, 1] = np.nan
    with pytest.raises(ValueError, match="finite"):
        candidates(surface, x0, x1, 1e-3)
