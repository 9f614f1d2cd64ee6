"""Simulations with the nonconforming model against closed forms."""

import numpy as np
import pytest
from continued import assert_continues_with_the_same_bits
from scipy.special import j0

import isocloth as ic

MESH = ic.meshes.irregular_rectangle(0.4, 0.3, nodes=80, seed=0)


def distance_error(sim):
    mid, x = sim.solver.midpoints, sim.state.memory.particles
    return np.abs(np.linalg.norm(x[mid.pairs[:, 0]] - x[mid.pairs[:, 1]], axis=1) - mid.lengths).max()


def test_free_fall_is_exact():
    sim = ic.Simulation(MESH, ic.Fabric(density=0.2), model="nonconforming")
    for _ in range(20):
        sim.step()
    np.testing.assert_allclose(sim.positions[:, 2], -9.81 * 0.2**2 / 2, rtol=1e-12)
    np.testing.assert_allclose(sim.velocities[:, 2], -9.81 * 0.2, rtol=1e-12)
    energy = sim.energy
    assert energy["kinetic"] + energy["potential"] == pytest.approx(0.0, abs=1e-12)


def test_a_free_sheet_slows_down_at_the_rate_of_its_damping():
    sim = ic.Simulation(MESH, ic.Fabric(density=0.2, damping=0.4), model="nonconforming", gravity=0.0, timestep=1e-3)
    sim.velocities = np.tile([1.0, 0.0, 0.5], (MESH.n_vertices, 1))
    for _ in range(500):
        sim.step()
    np.testing.assert_allclose(sim.velocities[:, 0], np.exp(-2.0 * 0.5), rtol=2e-3)


def test_a_spinning_sheet_keeps_momentum_and_energy():
    sim = ic.Simulation(MESH, ic.Fabric(density=0.2), model="nonconforming", gravity=0.0, timestep=1e-3)
    centre = MESH.vertices.mean(axis=0)
    sim.velocities = np.cross([0.5, 0.2, 6.0], MESH.vertices - centre)
    before = sim.energy["kinetic"]
    mass = sim.solver.mass[:, None]
    spin = np.sum(mass * np.cross(sim.state.memory.particles, sim.state.particle_velocities), axis=0)
    for _ in range(200):
        report = sim.step()
        assert report.converged
        assert distance_error(sim) <= 1e-6
    after = np.sum(mass * np.cross(sim.state.memory.particles, sim.state.particle_velocities), axis=0)
    np.testing.assert_allclose(after, spin, rtol=1e-3, atol=1e-3 * np.abs(spin).max())
    assert sim.energy["kinetic"] == pytest.approx(before, rel=5e-3)


def test_a_hanging_strip_swings_with_the_period_of_a_chain():
    """Small oscillations of a chain of length L: the first zero of Bessel's J0 gives omega = 2.4048/2 sqrt(g/L)."""
    flat = ic.meshes.irregular_rectangle(0.6, 0.6, nodes=200, seed=0)
    x, y, _ = flat.vertices.T
    mesh = flat.with_vertices(np.stack([x, 0 * x, -y], axis=1))
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2, bending=1e-7), model="nonconforming", timestep=2e-3)
    sim.grasp(np.flatnonzero(y < 1e-9))
    mode = j0(2.4048 * np.sqrt(np.clip((0.6 - y) / 0.6, 0.0, None)))
    sim.velocities = 0.2 * mode[:, None] * np.array([0.0, 1.0, 0.0])
    tip = np.flatnonzero(y > 0.599)
    signal = []
    for _ in range(700):
        assert sim.step().converged
        signal.append(sim.positions[tip, 1].mean())
    crossings = np.flatnonzero(np.diff(np.sign(signal)) != 0) * 2e-3
    period = 2 * np.pi / (2.4048 / 2 * np.sqrt(9.81 / 0.6))
    np.testing.assert_allclose(crossings, [period / 2, period], rtol=0.03)


def test_a_sheet_at_rest_hangs_with_its_weight_and_no_distance_is_off():
    sim = ic.Simulation(MESH, ic.Fabric(density=0.2, damping=2.0, bending=1e-5), model="nonconforming", timestep=2e-3)
    grasp = sim.grasp(MESH.nearest([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0]]))
    for _ in range(1000):
        report = sim.step()
        assert report.converged
    assert distance_error(sim) <= 1e-6
    np.testing.assert_allclose(sim.positions[grasp.nodes], MESH.vertices[grasp.nodes], atol=1e-6)
    assert grasp.force.sum(axis=0)[2] == pytest.approx(0.2 * 0.12 * 9.81, rel=0.02)


def test_a_grasp_follows_its_path_and_can_be_released():
    sim = ic.Simulation(MESH, ic.Fabric(density=0.2, damping=0.2), model="nonconforming", timestep=2e-3)
    node = MESH.nearest([[0.0, 0.0, 0.0]])
    grasp = sim.grasp(node, lambda t: MESH.vertices[node] + [[0.1 * t, 0.0, 0.2 * t]])
    for _ in range(50):
        sim.step()
    np.testing.assert_allclose(sim.positions[node], MESH.vertices[node] + [[0.01, 0.0, 0.02]], atol=1e-6)
    grasp.release()
    for _ in range(5):
        assert sim.step().converged
    assert sim.positions[node][0, 2] < 0.1


def test_the_smallest_displacement_of_particles_moves_nodes_by_just_what_is_asked():
    sim = ic.Simulation(MESH, model="nonconforming")
    wanted = np.random.default_rng(0).normal(size=(MESH.n_vertices, 3))
    lifted = sim.stepper.contact.lift(wanted)
    np.testing.assert_allclose(sim.solver.midpoints.to_nodes @ lifted, wanted, atol=1e-12)


def test_a_sheet_lies_on_the_floor_with_its_weight():
    mesh = MESH.with_vertices(MESH.vertices + np.array([0.0, 0.0, 0.01]))
    floor = ic.Floor(friction=0.5)
    sim = ic.Simulation(
        mesh, ic.Fabric(density=0.2, bending=1e-5, damping=1.0), model="nonconforming", timestep=2e-3, obstacles=[floor]
    )
    force = []
    for _ in range(300):
        report = sim.step()
        assert report.converged
        force.append(floor.force[2])
    assert report.min_gap > -1e-5
    assert np.abs(sim.velocities).max() < 1e-2  # it trembles: contact and distances take turns
    assert np.mean(force[-100:]) == pytest.approx(-0.2 * 0.12 * 9.81, rel=0.02)


@pytest.mark.parametrize(("mu", "sticks"), [(0.2, False), (0.5, True)])
def test_a_sheet_on_a_slope_slides_or_sticks(mu, sticks):
    angle = np.radians(20.0)
    turn = np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]])
    normal = turn[:, 2]
    mesh = MESH.with_vertices(MESH.vertices @ turn.T + 5e-4 * normal)
    plane = ic.Plane([0, 0, 0], normal, friction=mu)
    sim = ic.Simulation(
        mesh, ic.Fabric(density=0.2, bending=1e-5), model="nonconforming", timestep=2e-3, obstacles=[plane]
    )
    speeds = []
    for _ in range(100):
        assert sim.step().converged
        speeds.append(sim.velocities.mean(axis=0) @ turn[:, 0])
    acceleration = (speeds[-1] - speeds[49]) / 0.1
    wanted = 0.0 if sticks else 9.81 * (np.sin(angle) - mu * np.cos(angle))
    assert acceleration == pytest.approx(wanted, rel=0.02, abs=1e-3)


def test_a_saved_state_continues_with_the_same_bits(tmp_path):
    def begin():
        sim = ic.Simulation(MESH, ic.Fabric(density=0.2, bending=1e-5), model="nonconforming", timestep=2e-3)
        sim.grasp(MESH.corners[:2])
        return sim

    first = assert_continues_with_the_same_bits(begin, 10)
    trajectory = begin().run(0.02)
    assert trajectory.metadata["model"]["name"] == "nonconforming"
    assert trajectory.metadata["solver"] == "impulses"
    with pytest.raises(ValueError, match="belongs to a simulation with another"):
        ic.Simulation(MESH, model="elastic").state = first.state


def test_what_the_model_cannot_do_is_refused():
    quads = ic.meshes.rectangle(0.3, 0.3, (4, 4))
    with pytest.raises(ic.MeshError, match="needs triangles"):
        ic.Simulation(quads, model="nonconforming")
    with pytest.raises(ValueError, match="solved by its own impulses"):
        ic.Simulation(MESH, model="nonconforming", solver="newton")
    with pytest.raises(ValueError, match="contact of its own"):
        ic.Simulation(MESH, model="nonconforming", contact="lagged")
    with pytest.raises(ic.FabricError, match="tolerance = 0 m: expected a finite number, positive"):
        ic.models.Nonconforming(tolerance=0)


def test_nodes_pulled_too_far_apart_are_reported_and_nothing_explodes():
    sim = ic.Simulation(MESH, ic.Fabric(density=0.2), model="nonconforming", gravity=0.0, timestep=2e-3)
    nodes = MESH.nearest([[0.0, 0.0, 0.0], [0.4, 0.0, 0.0]])
    pulled = sim.grasp(nodes)
    pulled.move_to(MESH.vertices[nodes] + [[0.0, 0.0, 0.0], [0.05, 0.0, 0.0]])
    report = sim.step()
    assert not report.converged
    assert "solver stopped" in report.problem
    assert np.abs(sim.positions - MESH.vertices).max() < 0.05


def test_a_sheet_falls_on_a_stick_and_does_not_pass():
    mesh = MESH.with_vertices(MESH.vertices + np.array([-0.2, -0.15, 0.01]))
    stick = ic.Stick([0.0, -0.5, 0.0], [0.0, 0.5, 0.0], radius=0.004, friction=0.8)
    sim = ic.Simulation(
        mesh, ic.Fabric(density=0.2, bending=1e-4, bending_damping=1e-5), model="nonconforming", timestep=1e-3,
        obstacles=[stick],
    )  # fmt: skip
    reports = [sim.step() for _ in range(150)]
    assert all(r.converged for r in reports)
    middle = np.abs(sim.positions[:, 0]) < 0.03
    assert sim.positions[middle, 2].max() > 0.0
    assert sim.positions[:, 2].min() < -0.02
    assert stick.force[2] < 0.0
