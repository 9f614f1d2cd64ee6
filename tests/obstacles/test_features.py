"""Points, sticks and closed meshes."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import isocloth as ic
from isocloth.obstacles import Features


def ball(radius: float = 0.2) -> tuple[np.ndarray, np.ndarray]:
    found = trimesh.creation.icosphere(subdivisions=2, radius=radius)
    return np.array(found.vertices), np.array(found.faces)


def test_points_have_no_edges():
    tips = ic.Points([[0, 0, 0], [1, 0, 0]], velocity=[0, 0, 1], friction=0.1)
    assert isinstance(tips, Features)
    assert (tips.edges.shape, tips.faces.shape, tips.radius) == ((0, 2), (0, 3), 0.0)
    np.testing.assert_array_equal(tips.vertices(0.5), [[0, 0, 0.5], [1, 0, 0.5]])


def test_a_stick_is_cut_into_edges():
    stick = ic.Stick([0, 0, 0], [1, 0, 0], 0.0075)
    assert stick.edges.tolist() == [[i, i + 1] for i in range(10)]
    assert stick.faces.shape == (0, 3)
    assert stick.radius == 0.0075
    np.testing.assert_allclose(stick.vertices(3.0), [[x, 0, 0] for x in np.linspace(0, 1, 11)])
    assert len(ic.Stick([0, 0, 0], [1, 0, 0], 0.01, pieces=3).vertices(0.0)) == 4


def test_a_stick_follows_both_of_its_ends():
    times = [0.0, 1.0]
    ends = [[[0, 0, 0], [1, 0, 0]], [[0, 0, 1], [0, 1, 1]]]
    for path in ((times, ends), lambda t: (1 - t) * np.array(ends[0]) + t * np.array(ends[1])):
        stick = ic.Stick(*ends[0], 0.01, path=path)
        np.testing.assert_allclose(stick.ends(0.5), [[0, 0, 0.5], [0.5, 0.5, 0.5]])
        np.testing.assert_allclose(stick.vertices(0.5)[5], [0.25, 0.25, 0.5])
        np.testing.assert_allclose(stick.centre(0.5), [0.25, 0.25, 0.5])


def test_a_stick_may_move_like_other_bodies():
    stick = ic.Stick([0, 0, 0], [1, 0, 0], 0.01, velocity=[0, 0, 1], spin=[0, 0, np.pi])
    np.testing.assert_allclose(stick.ends(1.0), [[1, 0, 1], [0, 0, 1]], atol=1e-15)


def test_a_closed_mesh_has_all_of_its_edges_and_faces():
    body = ic.TriangleMesh(*ball(), centre=[0, 0, 1])
    assert (body.vertices(0.0).shape, body.edges.shape, body.faces.shape) == ((162, 3), (480, 2), (320, 3))
    np.testing.assert_allclose(np.linalg.norm(body.vertices(0.0) - [0, 0, 1], axis=1), 0.2)


def test_meshes_come_as_arrays_values_or_files(tmp_path):
    vertices, faces = ball()
    mesh = ic.Mesh(vertices, faces)
    wanted = ic.TriangleMesh(vertices, faces)
    for suffix in ("obj", "stl"):
        mesh.save(tmp_path / f"ball.{suffix}")
    for given in (mesh, tmp_path / "ball.obj", str(tmp_path / "ball.stl")):
        body = ic.TriangleMesh(given)
        assert (len(body.edges), len(body.faces)) == (480, 320)
        assert np.abs(body.vertices(0.0)).max() == pytest.approx(np.abs(wanted.vertices(0.0)).max(), rel=1e-6)


def test_faces_look_outwards_and_quads_are_split():
    vertices, faces = ball()
    for given in (faces, faces[:, ::-1]):
        body = ic.TriangleMesh(vertices, given)
        assert trimesh.Trimesh(body.vertices(0.0), body.faces, process=False).volume > 0
    corners = np.array([[x, y, z] for x in (0.0, 1) for y in (0.0, 1) for z in (0.0, 1)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    body = ic.TriangleMesh(corners, quads)
    assert (len(body.edges), body.faces.shape) == (18, (12, 3))
    assert trimesh.Trimesh(body.vertices(0.0), body.faces, process=False).volume == pytest.approx(1.0)
