import numpy as np
import pytest
from sheets import flat, folded_in_four, grid_triangles, needles, scene, stick

from isocloth.contact import (
    Pairs,
    build_surface,
    candidates,
    contacts,
    contacts_and_near,
    crossings,
    pair_key,
    smallest_distance,
)
from isocloth.contact.distance import closest, gather, point_triangle

TRIANGLE = np.array([[0, 1, 2]])
THICKNESS = 1e-3
CORNERS = [[0.0, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.1, 0.0]]


def detect(surface, x0, y, rest=None, omega=0.5, margin=1e-4):
    pairs = candidates(surface, x0, y, margin)
    return contacts(surface, pairs, x0, y, x0 if rest is None else rest, omega, margin)


def apart(found, x):
    """closest point a - closest point b (c, 3)."""
    return np.einsum("ck,ckd->cd", found.weights, x[found.nodes])


def node_over_face(height):
    return np.array([*CORNERS, [0.03, 0.03, height]])


def crossed_edges(height):
    """Two triangles of cloth of which one edge each crosses the other's at some height, far from everything else."""
    lower = [[-0.1, 0.0, 0.0], [0.1, 0.0, 0.0], [0.0, 0.0, -0.5]]
    upper = [[0.0, -0.1, height], [0.0, 0.1, height], [0.0, 0.0, height + 0.5]]
    return build_surface(6, np.array([[0, 1, 2], [3, 4, 5]]), THICKNESS), np.array(lower + upper)


# ------------------------------------------------------------------ the side


@pytest.mark.parametrize("start", [0.05, 2e-3, 5e-4, 1e-5, -0.02, -3e-4])
@pytest.mark.parametrize("omega", [0.5, 0.1, 0.0])
def test_a_node_that_passes_right_through_a_face_stays_on_its_side(start, omega):
    surface = build_surface(4, TRIANGLE, THICKNESS)
    x0, y = node_over_face(start), node_over_face(-3 * start)
    y[3, :2] += 0.005
    found = detect(surface, x0, y, rest=node_over_face(1.0), omega=omega)
    assert len(found.gap) == 1
    assert found.crossed[0]
    np.testing.assert_allclose(found.normal[0], [0, 0, np.sign(start)], atol=1e-6)
    assert found.gap[0] == pytest.approx(-3 * abs(start) - THICKNESS, abs=1e-6)
    np.testing.assert_array_equal(found.nodes[0], [3, 0, 1, 2])
    assert found.weights[0, 0] == 1.0


@pytest.mark.parametrize("start", [0.05, 5e-4, -0.02])
def test_edges_that_pass_through_each_other_stay_on_their_sides(start):
    surface, x0 = crossed_edges(start)
    y = x0.copy()
    y[3:, 2] -= 2 * start
    found = detect(surface, x0, y, rest=crossed_edges(1.0)[1])
    edge = found.crossed & (np.abs(found.weights) > 1e-6).all(axis=1)
    assert edge.any()
    sign = np.sign(found.weights[:, 0] * (found.nodes[:, 0] >= 3) - found.weights[:, 0] * (found.nodes[:, 0] < 3))
    np.testing.assert_allclose(found.normal[edge, 2] * sign[edge], np.sign(start), atol=1e-6)
    assert found.gap[edge].max() < -abs(start)


def test_what_is_frozen_on_the_way_holds_at_the_start_and_fails_at_the_end():
    surface, x0, y, rest = scene("fast", 0)
    found = detect(surface, x0, y, rest)
    crossed = found.crossed
    assert crossed.sum() > 20
    assert np.all(np.einsum("cd,cd->c", found.normal, apart(found, y))[crossed] < 0.9 * 7.5e-3)
    assert found.gap[crossed].max() < 0.0


def test_a_node_that_nearly_touches_on_the_way_is_frozen_there():
    surface = build_surface(4, TRIANGLE, THICKNESS)
    x0, y = node_over_face(2e-3), node_over_face(0.15e-3)
    found = detect(surface, x0, y, rest=node_over_face(1.0))
    assert found.crossed[0]
    assert found.gap[0] == pytest.approx(-0.85e-3, abs=1e-9)
    assert not detect(surface, x0, node_over_face(0.25e-3), rest=node_over_face(1.0)).crossed[0]
    assert not detect(surface, x0, y, rest=node_over_face(1.0), omega=0.1).crossed[0]


# ------------------------------------------------------------- linearised at y


@pytest.mark.parametrize("height", [1e-3, 0.7e-3, 1.05e-3])
def test_the_gap_is_the_distance_less_the_thickness(height):
    surface = build_surface(4, TRIANGLE, THICKNESS)
    found = detect(surface, node_over_face(2e-3), node_over_face(height), rest=node_over_face(1.0))
    assert found.gap[0] == pytest.approx(height - THICKNESS, abs=1e-12)
    assert not found.crossed[0]
    assert found.body[0] == 0


def test_pairs_beyond_the_margin_are_left_out():
    surface = build_surface(4, TRIANGLE, THICKNESS)
    assert len(detect(surface, node_over_face(2e-3), node_over_face(1.2e-3), rest=node_over_face(1.0)).gap) == 0


@pytest.mark.parametrize("kind", ["crumpled", "folded"])
def test_gaps_and_their_gradients_at_the_iterate(kind):
    """Weights add up to zero, the normal has unit length, and gap + separation is the distance to first order."""
    surface, _, y, rest = scene(kind, 5)
    found = detect(surface, y, y, rest, margin=5e-3)
    assert len(found.gap) > 30
    assert not found.crossed.any()
    np.testing.assert_allclose(found.weights.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(found.normal, axis=1), 1.0, atol=1e-12)
    distance = np.linalg.norm(apart(found, y), axis=1)
    np.testing.assert_allclose(np.einsum("cd,cd->c", found.normal, apart(found, y)), distance, atol=1e-12)
    separation = distance - found.gap
    obstacle = found.body > 0
    np.testing.assert_allclose(separation[obstacle], surface.reach[found.body[obstacle]], atol=1e-12)
    assert separation[~obstacle].max() <= THICKNESS + 1e-12
    step, direction = 1e-7, np.random.default_rng(0).standard_normal(y.shape)
    keys = {key: c for c, key in enumerate(found.key)}
    shifted = [detect(surface, y + s * direction, y + s * direction, rest, margin=5e-3) for s in (step, -step)]
    expected = np.einsum("cd,cd->c", found.normal, apart(found, direction))
    values = [dict(zip(f.key, f.gap, strict=True)) for f in shifted]
    checked = 0
    for key, c in keys.items():
        if key in values[0] and key in values[1]:
            checked += 1
            difference = (values[0][key] - values[1][key]) / (2 * step)
            assert difference == pytest.approx(expected[c], abs=1e-3)
    assert checked > 0.9 * len(keys)


def test_layers_at_the_thickness_have_no_gap():
    surface, x, rest = folded_in_four(10)
    found = detect(surface, x, x, rest)
    inside = np.abs(found.gap) < 1e-9
    assert inside.sum() > 100
    pairs = candidates(surface, x, x, 1e-4)
    assert smallest_distance(surface, pairs, x, rest) <= found.gap.min() + 1e-12


def test_where_the_mesh_is_finer_than_the_cloth_is_thick_it_keeps_nine_tenths_of_the_rest():
    rest = flat(6, 6, spacing=1e-3)
    surface = build_surface(36, grid_triangles(6, 6), 3e-3)
    found = detect(surface, rest, rest, rest, margin=2e-3)
    distance = np.linalg.norm(apart(found, rest), axis=1)
    assert len(found.gap) > 0
    assert found.gap.min() > 0.0, "a flat sheet is in contact with itself"
    np.testing.assert_allclose(distance - found.gap, np.minimum(3e-3, 0.9 * distance), atol=1e-12)
    pairs = candidates(surface, rest, rest, 2e-3)
    assert smallest_distance(surface, pairs, rest, rest) == pytest.approx(found.gap.min(), abs=1e-12)
    hairpin = rest.copy()
    hairpin[:, [0, 2]] = 1e-3 * np.repeat([[2, 0], [1, 0], [0, 0], [0, 1], [1, 1], [2, 1]], 6, axis=0)
    found = detect(surface, hairpin, hairpin, rest, margin=0.0)
    distance = np.linalg.norm(apart(found, hairpin), axis=1)
    kinds = found.key >> 62
    at_rest = [np.sqrt(closest(k, gather(rest, *nodes))[0]) for k, nodes in zip(kinds, found.nodes, strict=True)]
    assert 0 < np.count_nonzero(np.less(at_rest, 3e-3)) < len(at_rest)
    np.testing.assert_allclose(distance - found.gap, np.minimum(3e-3, 0.9 * np.array(at_rest)), atol=1e-12)
    pairs = candidates(surface, hairpin, hairpin, 2e-3)
    assert smallest_distance(surface, pairs, hairpin, rest) == pytest.approx(found.gap.min(), abs=1e-12)


# ------------------------------------------------------------------ which pairs


def test_edges_that_are_closest_at_an_end_are_left_to_nodes_and_faces():
    """A corner over the middle of a face: one contact, though its edges are as close to the face's."""
    x = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0.03, 0.03, 5e-4], [0.03, 0.05, 0.1], [0.05, 0.03, 0.1]])
    surface = build_surface(6, np.array([[0, 1, 2], [3, 4, 5]]), THICKNESS)
    rest = x + np.array([[0, 0, 0]] * 3 + [[0, 0, 1.0]] * 3)
    found = detect(surface, x, x, rest)
    assert len(found.gap) == 1
    np.testing.assert_array_equal(found.nodes[0], [3, 0, 1, 2])


def test_a_node_over_an_inner_edge_has_one_contact_not_one_per_face():
    x = np.array([[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0], [0.05, 0.05, 5e-4]])
    surface = build_surface(5, np.array([[0, 1, 2], [0, 2, 3]]), THICKNESS)
    found = detect(surface, x, x, x + np.array([[0, 0, 0]] * 4 + [[0, 0, 1.0]]))
    assert len(found.gap) == 1
    x[4] = [0.0, 0.0, 5e-4]
    found = detect(surface, x, x, x + np.array([[0, 0, 0]] * 4 + [[0, 0, 1.0]]))
    assert len(found.gap) == 1


def test_a_node_beside_an_edge_meets_the_face_below_it_and_not_the_edge():
    x = np.array([[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0], [0.0501, 0.05, 5e-4]])
    surface = build_surface(5, np.array([[0, 1, 2], [0, 2, 3]]), THICKNESS)
    found = detect(surface, x, x, x + np.array([[0, 0, 0]] * 4 + [[0, 0, 1.0]]))
    assert found.nodes.tolist() == [[4, 0, 1, 2]]


def test_a_node_keeps_its_contact_with_the_face_beyond_its_own():
    """The faces that contain it are never nearer: they do not count."""
    rest = np.array([[-2e-3, 0.0, 0.0], [0.0, -0.1, 0.0], [0.0, 0.1, 0.0], [0.1, 0.0, 0.0]])
    surface = build_surface(4, np.array([[0, 1, 2], [1, 3, 2]]), THICKNESS)
    x = rest.copy()
    x[0, 0] = -5e-4
    found = detect(surface, x, x, rest)
    assert found.nodes.tolist() == [[0, 1, 3, 2]]
    assert found.gap == pytest.approx([-5e-4])


@pytest.mark.parametrize("away", [0.0, 1e-10, 1.5e-9, 1e-8, 1e-6])
def test_a_node_over_a_corner_has_a_contact_however_nearly_it_is_over_it(away):
    angles = np.deg2rad([0.0, 143.0, 200.0, 290.0])
    fan = 0.05 * np.stack([np.cos(angles), np.sin(angles), 0 * angles], axis=1)
    x = np.concatenate([[[0.0, 0.0, 0.0]], fan, [[away, 0.6 * away, 5e-4]]])
    surface = build_surface(6, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]]), THICKNESS)
    found = detect(surface, x, x, x + np.array([[0, 0, 0]] * 5 + [[0, 0, 1.0]]))
    assert found.gap.min() == pytest.approx(-5e-4, abs=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_every_node_keeps_the_contact_in_which_it_is_closest(seed):
    """By brute force over the faces of another layer, wavy, and shifted by any part of an element."""
    rng = np.random.default_rng(seed)
    count, triangles = 8, grid_triangles(8, 8)
    lower, upper = flat(count, count), flat(count, count)
    upper[:, :2] += rng.uniform(-0.01, 0.01, 2)
    upper[:, 2] = 1e-3
    for sheet in (lower, upper):
        sheet[:, 2] += rng.uniform(-3e-4, 3e-4, count * count)
    x = np.concatenate([lower, upper])
    surface = build_surface(2 * count**2, np.concatenate([triangles, triangles + count**2]), THICKNESS)
    margin = 2e-4
    found = detect(surface, x, x, x + [0.0, 0.0, 1.0] * (np.arange(len(x)) >= count**2)[:, None], margin=margin)
    length = np.linalg.norm(apart(found, x), axis=1)
    checked = 0
    for node in range(len(x)):
        faces = triangles + (count**2 if node < count**2 else 0)
        least = min(np.sqrt(point_triangle(tuple(x[node]), *(tuple(p) for p in x[face]))[0]) for face in faces)
        if least < THICKNESS + margin:
            mine = ((found.nodes == node) & (found.weights != 0.0)).any(axis=1)
            assert length[mine].min(initial=np.inf) <= least + 1e-12
            checked += 1
    assert checked > 60


@pytest.mark.parametrize("place", [0.5, 0.0, 1.0])
def test_a_stick_meets_edges_also_at_their_ends(place):
    """A stick has no faces: a corner of the cloth that lies on it is an edge-edge pair with an end."""
    x = np.array([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0.1], [0.1 * place, -0.1, -5e-3], [0.1 * place, 0.05, -5e-3]])
    surface = build_surface(3, TRIANGLE, THICKNESS, [stick(2, 7.5e-3)])
    found = detect(surface, x, x, x)
    lowest = found.gap.argmin()
    assert found.gap[lowest] == pytest.approx(-2.5e-3, abs=1e-12)
    assert found.body[lowest] == 1
    np.testing.assert_allclose(found.normal[lowest], [0, 0, 1], atol=1e-9)


def test_a_stick_that_hits_a_sheet_in_one_step_is_stopped_in_front_of_it():
    rest = flat(5, 5)
    surface = build_surface(25, grid_triangles(5, 5), THICKNESS, [stick(3, 7.5e-3)])
    line = np.array([[-0.02, 0.031, 0.1], [0.05, 0.033, 0.1], [0.12, 0.036, 0.1]])
    x0 = np.concatenate([rest, line])
    y = np.concatenate([rest, line - [0, 0, 0.3]])
    found = detect(surface, x0, y, rest)
    side = np.where(found.nodes[:, 0] >= 25, 1.0, -1.0)  # a stick's vertex over a face, or an edge of cloth under it
    inner = np.abs(found.normal[:, 2]) > 0.99
    assert inner.sum() >= 4
    assert np.all(found.normal[inner, 2] * side[inner] > 0)
    assert np.all(found.gap < -0.15)
    assert len(crossings(surface, candidates(surface, x0, y, 0.0), x0, y)) > 0


def test_needles_meet_faces():
    surface = build_surface(3, TRIANGLE, THICKNESS, [needles(2, 2e-3)])
    x = np.array([*CORNERS, [0.02, 0.02, -1.5e-3], [0.04, 0.02, -5e-3]])
    found = detect(surface, x, x, x)
    assert len(found.gap) == 1
    assert found.body[0] == 1
    assert found.gap[0] == pytest.approx(-0.5e-3, abs=1e-12)
    np.testing.assert_allclose(found.normal[0], [0, 0, -1], atol=1e-12)


@pytest.mark.parametrize("kind", ["crumpled", "fast", "folded", "runaway"])
def test_keys_are_unique_and_name_the_pair(kind):
    surface, x0, y, rest = scene(kind, 6)
    pairs = candidates(surface, x0, y, 2e-3)
    found = contacts(surface, pairs, x0, y, rest, 0.5, 2e-3)
    assert len(np.unique(found.key)) == len(found.key) > 0
    named = {pair_key(0, p, f) for p, f in pairs.node_face} | {pair_key(1, e, f) for e, f in pairs.edge_edge}
    assert len(named) == len(pairs.node_face) + len(pairs.edge_edge)
    assert set(found.key.tolist()) <= named
    assert found.key.min() >= 0


def test_the_order_of_the_pairs_does_not_matter():
    surface, x0, y, rest = scene("folded", 7)
    pairs = candidates(surface, x0, y, 1e-3)
    rng = np.random.default_rng(0)
    mixed = Pairs(rng.permutation(pairs.node_face), rng.permutation(pairs.edge_edge))
    one, two = (contacts(surface, p, x0, y, rest, 0.5, 1e-3) for p in (pairs, mixed))
    np.testing.assert_array_equal(np.sort(one.key), np.sort(two.key))
    np.testing.assert_array_equal(one.gap[np.argsort(one.key)], two.gap[np.argsort(two.key)])


# ------------------------------------------------------------------- the checks


@pytest.mark.parametrize("kind", ["crumpled", "fast", "folded"])
@pytest.mark.parametrize("seed", range(3))
def test_the_near_pairs_are_enough_wherever_the_iterate_wanders(kind, seed):
    surface, x0, y, rest = scene(kind, seed)
    wander = 5e-4
    pairs = candidates(surface, x0, y, 4e-3)
    first, near = contacts_and_near(surface, pairs, x0, y, rest, 0.5, 2e-4, wander)
    if kind == "folded":  # what moves fast may come near anything
        assert 0 < len(near.edge_edge) < len(pairs.edge_edge)
    for a, b in zip(first, contacts(surface, pairs, x0, y, rest, 0.5, 2e-4), strict=True):
        np.testing.assert_array_equal(a, b)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        moved = y + wander * rng.choice([-1.0, 1.0], size=y.shape)
        whole = contacts(surface, pairs, x0, moved, rest, 0.5, 2e-4)
        for a, b in zip(contacts(surface, near, x0, moved, rest, 0.5, 2e-4), whole, strict=True):
            np.testing.assert_array_equal(a, b)


def test_crossings_are_found_and_nothing_else():
    surface = build_surface(4, TRIANGLE, THICKNESS)
    for end, crossed in ((-0.01, True), (-1e-5, True), (1e-5, False), (0.02, False)):
        x0, y = node_over_face(0.01), node_over_face(end)
        keys = crossings(surface, candidates(surface, x0, y, 0.0), x0, y)
        assert keys.tolist() == ([pair_key(0, 3, 0)] if crossed else [])


def test_a_step_there_and_back_in_contact_does_not_cross():
    surface, x, rest = folded_in_four(12)
    y = x + 1e-4 * np.random.default_rng(0).standard_normal(x.shape)
    pairs = candidates(surface, x, y, 1e-4)
    assert len(contacts(surface, pairs, x, y, rest, 0.5, 1e-4).gap) > 100
    assert len(crossings(surface, pairs, x, x)) == 0


def test_the_smallest_distance_of_no_pairs_is_infinite():
    surface = build_surface(4, TRIANGLE, THICKNESS)
    none = Pairs(np.empty((0, 2), dtype=np.int64), np.empty((0, 2), dtype=np.int64))
    assert smallest_distance(surface, none, node_over_face(1.0), node_over_face(1.0)) == np.inf
    assert (
        len(contacts(surface, none, node_over_face(1.0), node_over_face(1.0), node_over_face(1.0), 0.5, 0.0).gap) == 0
    )


def test_many_contacts_do_not_overrun_the_memory():
    surface, x, rest = folded_in_four(30)
    found = detect(surface, x, x, rest, margin=2.5e-3)
    assert len(found.gap) > 4096
    assert len(np.unique(found.key)) == len(found.key)
