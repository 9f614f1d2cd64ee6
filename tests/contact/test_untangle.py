"""Layers that cross are moved apart."""

import numpy as np

import isocloth as ic
from isocloth.contact import piercings
from isocloth.contact.untangle import untangling


def strip(slope, length=0.4, radius=0.03):
    """A strip bent into a U whose upper half descends by a slope, through the lower one if that is steep; and flat."""
    mesh = ic.meshes.rectangle(length, 0.15, shape=(17, 7))
    s, x = mesh.vertices[:, 0], mesh.vertices.copy()
    straight = (length - np.pi * radius) / 2
    angle = np.clip((s - straight) / radius, 0.0, np.pi)
    x[:, 0] = np.minimum(s, straight) + radius * np.sin(angle)
    x[:, 2] = radius * (1.0 - np.cos(angle))
    over = np.maximum(s - straight - np.pi * radius, 0.0)
    x[:, 0] -= over * np.cos(slope)
    x[:, 2] -= over * np.sin(slope)
    return mesh, mesh.with_vertices(x)


def edges(mesh):
    return np.unique(np.sort(mesh.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)


def test_what_does_not_cross_is_left_alone():
    mesh, start = strip(0.2)
    assert untangling(start.vertices, edges(mesh), mesh.triangles.astype(np.int64), 0.002) is None


def test_an_end_that_passes_a_layer_is_sent_back():
    mesh, start = strip(0.45)
    found, faces, x = edges(mesh), mesh.triangles.astype(np.int64), start.vertices
    assert len(piercings(x, found, faces)) > 0
    moved = untangling(x, found, faces, 0.002)
    assert moved[-7:, 2].min() > 0.0  # the end goes up
    assert np.abs(moved).max() < 0.01


def test_a_strip_that_crosses_itself_is_untangled_at_the_start():
    mesh, start = strip(0.45)
    sim = ic.Simulation(start, rest=mesh, self_collision=True, gravity=0.0, resolve_start=True)
    assert len(piercings(sim.positions, edges(mesh), mesh.triangles)) == 0
    assert np.abs(sim.positions - start.vertices).max() < 0.02
    np.testing.assert_array_equal(sim.velocities, 0.0)
    reports = [sim.step() for _ in range(5)]
    assert all(report.converged for report in reports)
    assert max(report.isometry_error for report in reports) < 1e-3
    assert np.linalg.norm(sim.velocities, axis=1).max() < 0.1
