"""Grippers on the nonconforming model: friction bears what it bears, and no more."""

import numpy as np
import pytest
from continued import assert_continues_with_the_same_bits

import isocloth as ic

FABRIC = ic.Fabric(density=0.2, bending=1e-5)
WIDTH, HEIGHT, MU = 0.3, 0.4, 0.5
WEIGHT = FABRIC.density * WIDTH * HEIGHT * 9.81
CENTRE, JAWS = [0.15, 0.0, -0.05], [0.16, 0.02, 0.12]


def pinched(share, *, path=None, damping=0.0):
    """A sheet that hangs in the plane y = 0 from a gripper whose friction bears `share` times its weight."""
    mesh = ic.meshes.rectangle(WIDTH, HEIGHT, shape=(7, 7), element="triangle")
    x, y, _ = mesh.vertices.T
    hanging = mesh.with_vertices(np.stack([x, 0 * x, y - HEIGHT], axis=1))
    fabric = ic.Fabric(density=0.2, bending=1e-5, damping=damping)
    sim = ic.Simulation(hanging, fabric, rest=mesh, model="nonconforming", timestep=1e-3)
    force = share * WEIGHT / (2 * MU)
    return sim, sim.pinch(CENTRE, JAWS, normal=[0, 1, 0], force=force, friction=MU, path=path)


@pytest.mark.parametrize("share", [1.1, 2.0])
def test_a_sheet_is_held_while_friction_bears_its_weight(share):
    sim, gripper = pinched(share, damping=0.4)
    force = []
    for _ in range(300):
        assert sim.step().converged
        force.append(gripper.force)
    assert gripper.lost == 0
    assert gripper.slip.max() < 1e-4
    np.testing.assert_allclose(np.mean(force[100:], axis=0), [0.0, 0.0, -WEIGHT], atol=2e-3 * WEIGHT)


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_sheet_slips_with_the_acceleration_that_friction_leaves(share):
    sim, gripper = pinched(share)
    mass = sim.solver.mass / sim.solver.mass.sum()
    speed = []
    while gripper.lost == 0 and len(speed) < 200:
        assert sim.step().converged
        speed.append(-float(mass @ sim.state.particle_velocities[:, 2]))
    rate = np.polyfit(sim.timestep * np.arange(10, len(speed) - 1), speed[10:-1], 1)[0]
    assert rate == pytest.approx(9.81 * (1.0 - share), rel=0.03)
    assert gripper.slip.max() > 1e-3


def test_a_gripper_takes_the_sheet_along_and_lets_it_go():
    sim, gripper = pinched(3.0, path=lambda t: np.add(CENTRE, [t**2, 0.0, 0.5 * t**2]), damping=0.0)
    nodes = gripper.nodes
    before = sim.positions[nodes].copy()
    for _ in range(200):
        assert sim.step().converged
    np.testing.assert_allclose(sim.positions[nodes] - before, np.tile([0.04, 0.0, 0.02], (len(nodes), 1)), atol=1e-4)
    gripper.release()
    mass = sim.solver.mass / sim.solver.mass.sum()
    high, rise = mass @ sim.state.memory.particles[:, 2], mass @ sim.state.particle_velocities[:, 2]
    assert rise == pytest.approx(0.2, abs=0.02)
    for _ in range(50):
        assert sim.step().converged
    assert mass @ sim.state.memory.particles[:, 2] == pytest.approx(high + rise * 0.05 - 9.81 * 0.05**2 / 2, abs=1e-4)


def test_a_jaw_holds_across_whatever_friction_does():
    """Pushed sideways by a force of ten times its weight, what slips downwards does not leave the plane of the jaws."""
    sim, gripper = pinched(0.5)
    nodes = gripper.nodes
    sim.extra_force = lambda t, x, v: np.tile([0.0, 10 * WEIGHT / len(x), 0.0], (len(x), 1))
    for _ in range(30):
        assert sim.step().converged
    assert np.abs(sim.positions[gripper.nodes, 1]).max() < 2e-6
    assert sim.positions[nodes, 2].max() < -1e-4
    assert np.abs(sim.positions[:, 1]).max() > 1e-3


def test_a_saved_state_with_a_gripper_continues_with_the_same_bits():
    assert_continues_with_the_same_bits(lambda: pinched(0.9)[0], 10)
