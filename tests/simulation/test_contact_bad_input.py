"""Starts and motions that cannot be: a clear error, or a bounded violation that is reported; nothing hangs."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.contact import piercings


def sheet(nodes=7, size=0.3, height=0.0):
    mesh = ic.meshes.rectangle(size, size, shape=(nodes, nodes))
    return mesh.with_vertices(mesh.vertices + np.array([-size / 2, -size / 2, height]))


def test_a_cloth_that_starts_around_an_obstacle_is_refused_or_comes_out_of_it():
    ball = ic.Sphere([0.0, 0.0, -0.02], 0.05, friction=0.3)
    fabric = ic.Fabric(density=0.2, damping=0.4, bending=1e-4)
    with pytest.raises(ValueError, match="starts inside <Sphere"):
        ic.Simulation(sheet(), fabric, obstacles=[ball])
    sim = ic.Simulation(sheet(), fabric, obstacles=[ball], resolve_start=True)
    reports = [sim.step() for _ in range(60)]
    assert np.isfinite(sim.positions).all()
    assert reports[-1].converged
    assert reports[-1].min_gap > -1e-4
    assert np.linalg.norm(sim.positions - [0.0, 0.0, -0.02], axis=1).min() > 0.05


def test_a_tangled_start_is_refused_and_told_where():
    mesh = ic.meshes.rectangle(0.4, 0.1, shape=(17, 5))
    angle = 1.6 * np.pi * mesh.vertices[:, 0] / 0.4  # a loop whose ends cross
    along = 0.06 * (1.0 + 0.6 * np.cos(angle / 1.6 * 2.0))
    crossed = np.stack([along * np.sin(2 * angle), mesh.vertices[:, 1], along * np.cos(2 * angle)], axis=1)
    with pytest.raises(ValueError, match="passes through itself at the start"):
        ic.Simulation(mesh.with_vertices(crossed), rest=mesh, self_collision=True)
    ic.Simulation(mesh.with_vertices(crossed), rest=mesh)  # without self-collision it may


@pytest.mark.parametrize("seed", range(6))
def test_piercings_agree_with_ipc_toolkit(seed):
    ipctk = pytest.importorskip("ipctk")
    mesh = ic.meshes.rectangle(0.4, 0.4, shape=(6, 6))
    rng = np.random.default_rng(seed)
    x = mesh.vertices + rng.normal(scale=0.02 * seed, size=mesh.vertices.shape)
    edges = ipctk.edges(mesh.triangles)
    found = len(piercings(x, edges, mesh.triangles)) > 0
    assert found == ipctk.has_intersections(ipctk.CollisionMesh(x, edges, mesh.triangles), x)


def test_a_flat_sheet_is_not_tangled_however_it_is_turned():
    flat = sheet(8, 0.5)
    edges = np.unique(np.sort(flat.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)
    for tilt in np.linspace(0.0, 3.0, 31):
        for twist in np.linspace(0.0, 3.0, 31):
            c, s, k, z = np.cos(tilt), np.sin(tilt), np.cos(twist), np.sin(twist)
            turn = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
            turn = turn @ np.array([[k, -z, 0.0], [z, k, 0.0], [0.0, 0.0, 1.0]])
            x = flat.vertices @ turn.T + np.array([0.0, 0.0, 0.34])
            assert len(piercings(x, edges, flat.triangles)) == 0


def test_a_cloth_squeezed_between_obstacles_is_reported_and_stays_bounded():
    press = ic.Box([0.0, 0.0, 0.06], [0.2, 0.2, 0.1], friction=0.3, velocity=[0.0, 0.0, -0.05])
    sim = ic.Simulation(sheet(height=5e-4), ic.Fabric(density=0.2), obstacles=[ic.Floor(), press])
    reports = [sim.step() for _ in range(25)]
    assert np.isfinite(sim.positions).all()
    assert not all(r.converged for r in reports)
    wrong = next(r for r in reports if not r.converged)
    assert "contacts" in wrong.problem
    assert np.abs(sim.positions).max() < 0.3
