"""Cloth at rest on something, and the same cloth in a simulation: it stays where it is."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic
from isocloth.statics.touching import CONE

FABRIC = ic.Fabric(bending=1e-4, damping=0.6)
WEIGHT = 9.81 * FABRIC.density * 0.4**2


def sheet(height: float) -> ic.Mesh:
    mesh = ic.meshes.rectangle(0.4, 0.4, shape=(13, 13))
    return mesh.with_vertices(mesh.vertices - [0.2, 0.2, -height])


def moved(found: ic.Equilibrium, seconds: float = 0.3) -> float:
    """m: by how much the node that moves most leaves its place in a simulation."""
    sim = found.simulation()
    sim.run(seconds)
    return float(np.linalg.norm(sim.positions - found.positions, axis=1).max())


@pytest.fixture(scope="module")
def draped() -> tuple[ic.Equilibrium, ic.Sphere]:
    ball = ic.Sphere([0.0, 0.0, 0.0], 0.1, friction=0.5)
    return ic.equilibrium(sheet(0.101), FABRIC, obstacles=[ball]), ball


def test_a_cloth_draped_over_a_ball_stays_there(draped: tuple[ic.Equilibrium, ic.Sphere]) -> None:
    found, ball = draped
    assert found.converged
    assert found.stable
    assert found.contacts >= 4
    assert found.forces[ball].force == pytest.approx([0.0, 0.0, -WEIGHT], abs=1e-6 * WEIGHT)
    assert moved(found) < 5e-5


def test_a_draped_cloth_follows_gravity(draped: tuple[ic.Equilibrium, ic.Sphere]) -> None:
    found, ball = draped
    lighter = found.continued("gravity", [9.0])[0]
    assert lighter.converged
    assert not lighter.snapped
    assert lighter.forces[ball].force[2] == pytest.approx(-WEIGHT * 9.0 / 9.81, rel=1e-6)
    assert 0.0 < np.abs(lighter.positions - found.positions).max() < 0.01


def test_friction_that_slid_does_not_let_a_cloth_slide_back() -> None:
    """Many contacts are at the edge of their cones here; without their friction the cloth would slide off."""
    sliding = 0
    for height in (0.101001, 0.101002, 0.101003, 0.101004, 0.101007, 0.1012):
        found = ic.equilibrium(sheet(height), FABRIC, obstacles=[ic.Sphere([0.0, 0.0, 0.0], 0.1, friction=0.5)])
        assert found._found.touching is not None
        sliding += int(found._found.touching.sliding.sum())
        assert found.stable
        assert moved(found) < 1e-4
    assert sliding > 5


def test_contacts_at_rest_obey_the_law_of_friction(draped: tuple[ic.Equilibrium, ic.Sphere]) -> None:
    found, ball = draped
    law = found.history.law
    points = np.einsum("ck,ckd->cd", *_points(found))
    normal = points / np.linalg.norm(points, axis=1)[:, None]
    push = np.einsum("cd,cd->c", law.force, normal)
    pull = np.linalg.norm(law.force - push[:, None] * normal, axis=1)
    assert push.min() > 0.0
    assert (pull - ball.friction * push).max() <= 1.01 * CONE * push.max()
    # no further in than the springs of a step may give way
    assert np.linalg.norm(points, axis=1).min() - 0.1 - FABRIC.thickness / 2 > -3e-5


def _points(found: ic.Equilibrium) -> tuple[np.ndarray, np.ndarray]:
    touching = found._found.touching
    assert touching is not None
    pressing = touching.known.push > 0.0
    return touching.contacts.weights[pressing], found.positions[touching.contacts.nodes[pressing]]


def test_where_a_simulation_came_to_rest_is_an_equilibrium(draped: tuple[ic.Equilibrium, ic.Sphere]) -> None:
    ball = ic.Sphere([0.0, 0.0, 0.0], 0.1, friction=0.5)
    sim = ic.Simulation(sheet(0.101), FABRIC, obstacles=[ball])
    sim.run(6.0, every=6.0)
    found = ic.equilibrium(sheet(0.101), FABRIC, obstacles=[ball], start=sim.positions)
    assert found.converged
    assert np.linalg.norm(found.positions - sim.positions, axis=1).max() < 1e-4
    known = ic.equilibrium(sheet(0.101), FABRIC, obstacles=[ball], start=sim)
    assert known.converged
    assert np.linalg.norm(known.positions - sim.positions, axis=1).max() < 1e-4, "its friction is known too"
    other = ic.equilibrium(sheet(0.101), FABRIC, obstacles=[ic.Sphere([0.0, 0.0, 0.0], 0.1, friction=0.4)], start=sim)
    assert other.converged, "of other bodies it knows nothing"


def test_without_friction_a_cloth_over_a_cylinder_is_where_damped_motion_leads() -> None:
    mesh = sheet(0.0)
    x = mesh.vertices[:, 0]
    bar = ic.Cylinder([0.05, -0.5, -0.06], [0.05, 0.5, -0.06], 0.05, friction=0.0)
    held = np.flatnonzero(x < -0.199)
    found = ic.equilibrium(mesh, FABRIC, held=held, obstacles=[bar])
    assert found.converged
    assert found.stable
    assert found.grasp is not None
    together = found.forces[found.grasp].force + found.forces[bar].force
    assert together == pytest.approx([0.0, 0.0, -WEIGHT], abs=1e-6 * WEIGHT)
    sim = ic.Simulation(mesh, FABRIC, obstacles=[bar])
    sim.grasp(held)
    sim.run(12.0, every=12.0)
    assert np.linalg.norm(found.positions - sim.positions, axis=1).max() < 1e-4


def test_a_folded_strip_keeps_its_layers_apart() -> None:
    flat = ic.meshes.rectangle(0.3, 0.06, shape=(31, 4))
    s, y, _ = flat.vertices.T
    radius = 0.012
    half = 0.15 - np.pi * radius / 2
    turn = np.clip((s - half) / radius, 0.0, np.pi)
    x = np.minimum(s, half) + radius * np.sin(turn) - np.maximum(s - half - np.pi * radius, 0.0)
    z = 6e-4 + radius * (1.0 - np.cos(turn))
    folded = np.stack([x, y, z], axis=1)
    fabric = ic.Fabric(bending=5e-5, density=0.3)
    found = ic.equilibrium(
        flat.with_vertices(folded), fabric, rest=flat, obstacles=[ic.Floor(friction=0.5)], self_collision=True
    )
    assert found.converged
    upper, lower = found.positions[s > 0.25, 2], found.positions[s < 0.05, 2]
    assert upper.min() - lower.max() > 0.8 * fabric.thickness
    assert moved(found, 0.2) < 1e-4
