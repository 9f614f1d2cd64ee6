"""The thickness of a bag against the closed form in a strip."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth.meshes import rectangle
from isocloth.meshes.inflate import thickness


def test_a_strip_between_two_seams_becomes_an_ellipse():
    mesh = rectangle(2.0, 1.0, (21, 11), "triangle")
    x = mesh.vertices[:, 0]
    half = thickness(mesh.vertices[:, :2], mesh.faces, np.flatnonzero((x == 0.0) | (x == 2.0)))
    assert half == pytest.approx(np.sqrt(1.0 - (x - 1.0) ** 2), abs=2e-3)


def test_the_seam_is_flat_and_the_rest_is_not():
    mesh = rectangle(2.0, 1.0, (9, 9), "triangle")
    half = thickness(mesh.vertices[:, :2], mesh.faces, mesh.boundary_nodes)
    assert (half[mesh.boundary_nodes] == 0.0).all()
    assert (half[mesh.interior_nodes] > 0.0).all()
    assert half.max() == 1.0
