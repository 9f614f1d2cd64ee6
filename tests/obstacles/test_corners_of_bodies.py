"""Corners that bodies name: where they are, and that they point out of the body."""

import numpy as np
import pytest

from isocloth.obstacles import Box, Cylinder, Sphere, TriangleMesh, shapes
from isocloth.obstacles.corners import AROUND


@pytest.mark.parametrize(
    ("body", "count"),
    [
        (Box([0.1, 0.2, 0.3], [0.2, 0.3, 0.4], rotation=shapes.frame(np.array([0.6, 0.0, 0.8]))), 8),
        (Cylinder([0.0, 0.1, 0.0], [0.2, 0.1, 0.3], 0.1), 2 * AROUND),
    ],
)
def test_corners_are_on_the_surface_and_their_edges_lead_into_the_body(body, count):
    corners = body.sharp_corners()
    assert len(corners.depth) == count
    assert body.gaps(corners.place, 0.0)[0] == pytest.approx(0.0, abs=1e-9)
    out = -corners.inward.sum(axis=1)
    assert (body.gaps(corners.place + 1e-3 * out, 0.0)[0] > 0.0).all()
    assert (body.gaps(corners.place - 1e-3 * out, 0.0)[0] < 0.0).all()
    assert np.linalg.norm(corners.inward, axis=2) == pytest.approx(1.0)


def test_corners_move_with_their_body():
    box = Box([0.0, 0.0, 0.0], [0.2, 0.2, 0.2], velocity=[1.0, 0.0, 0.0], spin=[0.0, 0.0, 0.5 * np.pi])
    turned = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert box.sharp_corners(1.0).place == pytest.approx(box.sharp_corners(0.0).place @ turned.T + [1.0, 0.0, 0.0])
    assert box.sharp_corners(1.0).inward == pytest.approx(box.sharp_corners(0.0).inward @ turned.T, abs=1e-9)


def test_round_bodies_and_meshes_name_none():
    ball, mesh = Sphere([0.0, 0.0, 0.0], 0.1), TriangleMesh(*shapes.box(np.array([0.1, 0.1, 0.1])))
    assert len(ball.sharp_corners().depth) == len(mesh.sharp_corners().depth) == 0
