"""Unevenness of strain: derivatives, what it does not see, and that it does not depend on how fine a mesh is."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic
from isocloth.inverse.strain_smoothness import StrainSmoothness, neighbours
from isocloth.patterns import cut_open

MESH = ic.meshes.rectangle(0.5, 0.3, (6, 4), element="triangle")
MEASURE = StrainSmoothness(MESH, MESH.faces)


def lifted(points: np.ndarray) -> np.ndarray:
    """Out of the plane, and stretched unevenly."""
    x, y, z = points.T
    return np.stack([1.1 * x + 0.2 * y * x, y - 0.05 * np.sin(7.0 * x), z + 0.1 * np.cos(5.0 * x + 3.0 * y)], axis=1)


@pytest.mark.parametrize("moved", [0, 1], ids=["positions", "points"])
def test_derivatives_are_those_of_differences(moved: int) -> None:
    rng = np.random.default_rng(0)
    at = [lifted(MESH.vertices), MESH.vertices.copy()]
    change = rng.normal(size=at[moved].shape)
    if moved == 1:
        change[:, 2] = 0.0  # panels stay in the plane
    step = 1e-6
    sides = []
    for sign in (1.0, -1.0):
        here = [a.copy() for a in at]
        here[moved] = here[moved] + sign * step * change
        sides.append(MEASURE(*here))
    told = MEASURE.derivatives(*at)[moved] @ change.ravel()
    np.testing.assert_allclose(told, (sides[0] - sides[1]) / (2.0 * step), atol=1e-7 * np.abs(told).max())


def test_a_cloth_that_is_turned_moved_and_stretched_alike_everywhere_is_even() -> None:
    stretch = np.array([[1.1, 0.2, 0.0], [0.0, 0.9, 0.0], [0.3, -0.2, 1.0]])
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    at = MESH.vertices @ stretch.T @ turn + [1.0, 2.0, 3.0]
    assert np.abs(MEASURE(at, MESH.vertices)).max() < 1e-14
    assert np.abs(MEASURE(lifted(MESH.vertices), MESH.vertices)).max() > 1e-2


def test_it_goes_to_a_number_as_the_mesh_gets_finer() -> None:
    values = []
    for n in (16, 32, 64):
        mesh = ic.meshes.rectangle(0.5, 0.3, (n + 1, n + 1), element="triangle")
        u = StrainSmoothness(mesh, mesh.faces)(lifted(mesh.vertices), mesh.vertices)
        values.append(float(u @ u))
    assert abs(values[2] / values[1] - 1.0) < 0.5 * abs(values[1] / values[0] - 1.0) < 0.05


def test_strains_are_not_compared_across_a_seam() -> None:
    path = [int(n) for n in np.flatnonzero(np.abs(MESH.vertices[:, 0] - 0.2) < 1e-9)]
    path.sort(key=lambda n: MESH.vertices[n, 1])
    cut = cut_open(MESH, [path])
    assert len(neighbours(MESH, MESH.faces)) - len(neighbours(MESH, cut.corners)) == len(path) - 1
