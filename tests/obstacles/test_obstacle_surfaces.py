"""What is drawn: closed, turned outwards, of the right size, and the same faces at all times."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

import isocloth as ic
from isocloth.obstacles import recorded

from .bodies import needles, needles_gradient

MOVING = {"velocity": [0, 0, 1], "spin": [1, 0, 0]}
BODIES = {
    "sphere": (ic.Sphere([0, 0, 1], 0.5, **MOVING), 4 / 3 * np.pi * 0.5**3),
    "cylinder": (ic.Cylinder([0, 0, 0], [1, 1, 1], 0.3, **MOVING), np.pi * 0.3**2 * 3**0.5),
    "capsule": (ic.Capsule([0, 0, 0], [1, 0, 0], 0.3, **MOVING), np.pi * 0.3**2 + 4 / 3 * np.pi * 0.3**3),
    "box": (ic.Box([0, 0, 0], [1, 2, 3], **MOVING), 6.0),
    "stick": (ic.Stick([0, 0, 0], [0, 1, 0], 0.1, **MOVING), np.pi * 0.1**2 + 4 / 3 * np.pi * 0.1**3),
    "points": (ic.Points([[0, 0, 0], [1, 0, 0]], drawn=0.2, **MOVING), 2 * 4 / 3 * 0.1**3),
}


@pytest.mark.parametrize("kind", BODIES)
def test_drawn_bodies_are_closed_and_of_the_right_volume(kind):
    body, volume = BODIES[kind]
    vertices, faces = body.surface(0.0)
    drawn = trimesh.Trimesh(vertices, faces)  # merges the rims
    assert drawn.is_watertight
    assert drawn.volume == pytest.approx(volume, rel=0.02)
    later, same = body.surface(0.8)
    np.testing.assert_array_equal(same, faces)
    assert trimesh.Trimesh(later, faces).volume == pytest.approx(drawn.volume)
    assert not np.allclose(later, vertices)


def test_planes_are_drawn_as_squares():
    vertices, faces = ic.Floor(0.3, extent=4.0).surface(0.0)
    np.testing.assert_allclose(vertices[:, 2], 0.3)
    np.testing.assert_allclose(np.ptp(vertices, axis=0), [4, 4, 0])
    corners = vertices[faces]
    assert (np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] > 0).all()
    plane = ic.Plane([1, 0, 0], [1, 0, 1])
    np.testing.assert_allclose((plane.surface(0.0)[0] - [1, 0, 0]) @ plane.normal, 0, atol=1e-14)


def test_implicit_surfaces_are_drawn_from_above_where_they_are_asked_to():
    assert ic.Implicit(needles, needles_gradient).surface(0.0) is None
    nowhere = ic.Implicit(needles, needles_gradient, extent=[[0, 1], [0, 1], [5, 6]])
    assert nowhere.surface(0.0) is None
    dome = ic.Implicit(
        lambda p: (p**2).sum(axis=1) - 1.0, lambda p: 2 * p, extent=[[-2, 2]] * 3, centre=[0, 0, 7], spin=[0, 0, 1]
    )
    vertices, faces = dome.surface(0.5)
    np.testing.assert_allclose(np.linalg.norm(vertices - [0, 0, 7], axis=1), 1.0, atol=1e-6)
    assert vertices[:, 2].min() > 6.99
    assert vertices[:, 2].max() == pytest.approx(8.0)
    assert faces.max() == len(vertices) - 1


def test_recordings_keep_moving_bodies_once_per_frame():
    times = np.linspace(0, 1, 5)
    still, moving = ic.Box([0, 0, 0], [1, 1, 1]), ic.Sphere([0, 0, 0], 1.0, velocity=[1, 0, 0])
    found = recorded([still, ic.Implicit(needles, needles_gradient), moving], times)
    assert [vertices.ndim for vertices, _ in found] == [2, 3]
    for vertices, t in zip(found[1][0], times, strict=True):
        np.testing.assert_array_equal(vertices, moving.surface(t)[0])
