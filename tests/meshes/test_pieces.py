"""Several cloths in one mesh: put together, told apart, and in contact with each other."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic


def test_pieces_are_put_together_and_told_apart() -> None:
    a = ic.meshes.rectangle(0.2, 0.1, shape=(3, 2))
    b = ic.meshes.rectangle(0.1, 0.1, shape=(2, 2)).transformed(translation=[0.5, 0.0, 0.0])
    both = ic.meshes.together([a, b])
    assert both.piece.tolist() == [0] * 6 + [1] * 4
    assert both.corners.tolist() == [*a.corners, *(b.corners + 6)]
    assert both.area == pytest.approx(a.area + b.area)
    assert len(both.boundary_loops) == 2
    assert a.piece.tolist() == [0] * 6


def test_pieces_that_nobody_asked_for_are_refused() -> None:
    a = ic.meshes.rectangle(0.1, 0.1, shape=(2, 2))
    vertices = np.concatenate([a.vertices, a.vertices + np.array([1.0, 0.0, 0.0])])
    faces = np.concatenate([a.faces, a.faces + 4])
    with pytest.raises(ic.MeshError, match="pieces=True"):
        ic.Mesh(vertices, faces)
    assert ic.Mesh(vertices, faces, pieces=True).piece.tolist() == [0] * 4 + [1] * 4
    with pytest.raises(ic.MeshError, match="triangulated"):
        ic.meshes.together([a, a.triangulated()])
    with pytest.raises(ic.MeshError, match="no pieces"):
        ic.meshes.together([])
    with pytest.raises(TypeError, match="list of"):
        ic.meshes.together([a, 3])  # type: ignore[list-item]


def test_every_piece_is_oriented_on_its_own() -> None:
    a = ic.meshes.rectangle(0.2, 0.2, shape=(3, 3))
    vertices = np.concatenate([a.vertices, a.vertices + np.array([1.0, 0.0, 0.0])])
    faces = np.concatenate([a.faces, a.faces + 9])
    turned = faces.copy()
    for face in (1, 5):
        turned[face, 1:] = faces[face, :0:-1]
    assert ic.Mesh(vertices, turned, orient=True, pieces=True).faces.tolist() == faces.tolist()


def test_a_sheet_lies_on_another_and_is_carried_by_its_friction() -> None:
    thickness = 2e-3
    lower = ic.meshes.rectangle(0.3, 0.3, shape=(7, 7)).transformed(translation=[0.0, 0.0, 0.5 * thickness])
    upper = ic.meshes.rectangle(0.1, 0.1, shape=(4, 4)).transformed(translation=[0.1, 0.1, 1.5 * thickness])
    fabric = ic.Fabric(density=0.2, bending=1e-5, friction=0.6, thickness=thickness)
    sim = ic.Simulation(
        [lower, upper], fabric, obstacles=[ic.Floor(friction=0.05)], self_collision=True, integrator="euler"
    )
    left = np.flatnonzero(sim.mesh.vertices[:49, 0] < 1e-9)
    start = sim.positions[left].copy()
    sim.grasp(left, lambda t: start - [0.1 * t, 0.0, 0.0])
    before = sim.positions[sim.mesh.piece == 1].copy()
    for _ in range(50):
        assert sim.step().converged
    moved = (sim.positions[sim.mesh.piece == 1] - before).mean(axis=0)
    assert moved == pytest.approx([-0.05, 0.0, 0.0], abs=2e-3)
    pressed = -sim.obstacles[0].force[2]
    carried = sim.cloth.area.sum() - sim.cloth.area[left].sum()  # the hand bears its own nodes
    assert pressed == pytest.approx(0.2 * 9.81 * carried, rel=0.02)
