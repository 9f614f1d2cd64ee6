"""The net and its faces."""

import numpy as np
import pytest
import trimesh

from isocloth.meshes.surfaces import surface
from isocloth.reconstruction.triangulation import ribbon
from isocloth.reconstruction.triangulation.neighbours import MOST

from ..nets import planar_net


def graph(pairs, n):
    around, degree = np.full((n, MOST), -1), np.zeros(n, dtype=np.int64)
    for a, b in pairs:
        around[a, degree[a]], around[b, degree[b]] = b, a
        degree[a] += 1
        degree[b] += 1
    return around, degree


def segments_cross(p, q, r, s):
    def side(a, b, c):
        return np.sign((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

    return side(p, q, r) * side(p, q, s) < 0 and side(r, s, p) * side(r, s, q) < 0


def test_no_two_edges_of_a_flat_net_cross():
    points = np.column_stack([np.random.default_rng(0).uniform(size=(150, 2)), np.zeros(150)])
    _, around, *_ = planar_net(points)
    a, k = np.nonzero(around > np.arange(150)[:, None])
    edges = np.stack([a, around[a, k]], axis=1)
    for i, (a, b) in enumerate(edges):
        for c, d in edges[:i]:
            if len({a, b, c, d}) == 4:
                assert not segments_cross(points[a, :2], points[b, :2], points[c, :2], points[d, :2])


def test_edges_that_both_ends_want_are_tried_first_and_the_shorter_before_the_longer():
    points = surface("sphere").sample(300, seed=0)
    *_, edges, votes, _ = planar_net(points)
    length = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1)
    assert (np.diff(votes) <= 0).all()
    for count in (1, 2):
        assert (np.diff(length[votes == count]) >= 0).all()


def test_an_icosahedron_has_twenty_faces():
    solid = trimesh.creation.icosahedron()
    points = np.array(solid.vertices)
    normal = points / np.linalg.norm(points, axis=1, keepdims=True)
    first = np.cross(normal, [0.3, 0.5, 0.8])
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    frames = np.stack([first, np.cross(normal, first)], axis=1)
    around, degree = graph(np.array(solid.edges_unique).tolist(), 12)
    ribbon.rotations(points, frames, around, degree)
    nodes, start = ribbon.faces(frames, around, degree)
    assert np.diff(start).tolist() == [3] * 20
    assert {frozenset(nodes[a : a + 3].tolist()) for a in start[:-1]} == {frozenset(t) for t in solid.faces.tolist()}


@pytest.mark.parametrize("flip", range(4))
def test_faces_do_not_depend_on_the_sense_of_single_frames(flip):
    points = surface("torus").sample(800, seed=1)
    frames, around, degree, *_ = planar_net(points)
    counts = []
    for turned in (frames, np.where((np.arange(len(points)) % 4 == flip)[:, None, None], frames[:, ::-1], frames)):
        a, d = around.copy(), degree.copy()
        turned = np.ascontiguousarray(turned)
        ribbon.rotations(points, turned, a, d)
        _, start = ribbon.faces(turned, a, d)
        counts.append(np.bincount(np.diff(start)).tolist())
    assert counts[0] == counts[1]


def test_two_crossing_edges_are_found_by_the_face_that_meets_itself():
    """A square with both diagonals is a torus with a hole as a ribbon graph; without the longer one it is a disc."""
    points = np.array([[0.0, 0, 0], [1, 0, 0], [1.2, 1.2, 0], [0, 1, 0]])
    frames = np.tile(np.eye(3)[:2], (4, 1, 1))
    around, degree = graph([(0, 1), (1, 2), (2, 3), (3, 0), (0, 2), (1, 3)], 4)
    ribbon.rotations(points, frames, around, degree)
    _, start = ribbon.faces(frames, around, degree)
    assert 4 - 6 + len(start) - 1 == 0
    _, start, removed = ribbon.remove_twisted_edges(points, frames, around, degree)
    assert removed == 1
    assert 2 not in around[0]
    assert 4 - 5 + len(start) - 1 == 2


def test_threads_that_hang_into_a_gap_are_cut():
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0.5, 1, 0], [2, 0, 0], [3, 0, 0]])
    frames = np.tile(np.eye(3)[:2], (5, 1, 1))
    around, degree = graph([(0, 1), (1, 2), (2, 0), (1, 3), (3, 4)], 5)
    ribbon.rotations(points, frames, around, degree)
    _, _, removed = ribbon.remove_twisted_edges(points, frames, around, degree)
    assert removed == 2
    assert degree.tolist() == [2, 2, 2, 0, 0]
