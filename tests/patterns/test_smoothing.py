"""Smoothing of captured surfaces: what is smooth stays, errors go, and borders do not shrink."""

from __future__ import annotations

import numpy as np

import isocloth as ic
from isocloth.patterns import cut_open, flatten
from isocloth.patterns.smoothing import gradient_jumps, smoothed

MESH = ic.meshes.rectangle(0.6, 0.4, (31, 21), element="triangle")
CUT = cut_open(MESH)
FLAT = MESH.vertices[:, :2]


def waved() -> np.ndarray:
    x, y, _ = MESH.vertices.T
    return np.stack([x, y, 0.05 * np.sin(8.0 * x + 2.0 * y)], axis=1)


def test_jumps_of_a_linear_function_vanish() -> None:
    jumps = gradient_jumps(MESH, CUT, FLAT)
    assert np.abs(jumps @ (MESH.vertices @ [2.0, -3.0, 0.0] + 1.0)).max() < 1e-12
    assert np.abs(jumps @ waved()).max() > 1e-2


def test_errors_go_and_their_size_is_said() -> None:
    noisy = waved() + 2e-3 * np.random.default_rng(0).normal(size=MESH.vertices.shape)
    found = smoothed(MESH.with_vertices(noisy), CUT, FLAT)
    left = np.sqrt(np.mean((found.points - waved()) ** 2))
    assert left < 0.45 * 2e-3
    assert abs(found.noise / 2e-3 - 1.0) < 0.1
    assert 0.05 < found.followed < 0.4


def test_an_exact_surface_stays_but_for_its_curvature_between_nodes() -> None:
    found = smoothed(MESH.with_vertices(waved()), CUT, FLAT)
    assert np.sqrt(np.mean((found.points - waved()) ** 2)) < 1e-3 * 0.05
    assert found.noise < 1e-4


def test_a_noisy_plane_is_flattened_and_does_not_shrink() -> None:
    """Errors within the plane stay: the panel in which gradients are taken follows them."""
    noisy = MESH.vertices + 1e-3 * np.random.default_rng(1).normal(size=MESH.vertices.shape)
    mesh = MESH.with_vertices(noisy)
    found = smoothed(mesh, CUT, flatten(mesh, CUT).points)
    assert found.points[:, 2].std() < 0.5 * noisy[:, 2].std()
    left, right = (MESH.vertices[:, 0] == x for x in (0.0, MESH.vertices[:, 0].max()))
    assert abs(found.points[right, 0].mean() - found.points[left, 0].mean() - 0.6) < 1e-3
