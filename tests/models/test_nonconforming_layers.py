"""Layers of the nonconforming model that meet: nothing passes, momentum stays, and what is not solved is told."""

import copy

import numpy as np
import pytest

import isocloth as ic
from isocloth.contact.contact_set import ContactSet
from isocloth.friction.gauss_seidel import projected_gauss_seidel, unmet
from shapes.layers import Layers

FABRIC = ic.Fabric(density=0.2, thickness=1e-3, bending=1e-5, bending_damping=1e-6)


def clapping(self_collision):
    """A sheet bent around half a cylinder whose wings fly together at 0.6 m/s each, without weight."""
    flat = ic.meshes.irregular_rectangle(0.3, 0.15, nodes=150, seed=0)
    x, y, _ = flat.vertices.T
    along, radius = x - 0.15, 0.03
    angle = np.clip(along / radius, -np.pi / 2, np.pi / 2)
    wing = np.abs(along - radius * angle)
    start = np.stack([wing - radius * np.cos(angle), y, radius * np.sin(angle)], axis=1)
    sim = ic.Simulation(
        flat.with_vertices(start), FABRIC, model="nonconforming", rest=flat, timestep=1e-3, gravity=0.0,
        self_collision=self_collision,
    )  # fmt: skip
    speed = -0.6 * np.sign(start[:, 2]) * np.clip(wing / 0.05, 0.0, 1.0)
    sim.velocities = speed[:, None] * np.array([0.0, 0.0, 1.0])
    sim.step()
    return sim


def test_wings_that_clap_do_not_pass_and_keep_their_momentum():
    sim = clapping(True)
    mass = sim.solver.mass
    layers, before = Layers(sim.mesh, sim.positions), mass @ sim.state.particle_velocities
    touched = 0
    for _ in range(100):
        report = sim.step()
        assert report.converged
        assert not layers.intersect(sim.positions)
        assert report.min_gap > -0.3 * FABRIC.thickness
        # the certificate is what an independent library measures
        apart = layers.apart(sim.positions, FABRIC.thickness)
        if apart < FABRIC.thickness:
            assert report.min_gap == pytest.approx(apart - FABRIC.thickness, abs=0.02 * FABRIC.thickness)
        touched = max(touched, report.contacts)
    assert touched > 3
    again = copy.deepcopy(sim.solver), copy.deepcopy(sim.stepper)  # what is factorised for contact stays behind
    assert all(part is not None for part in again)
    np.testing.assert_allclose(mass @ sim.state.particle_velocities, before, atol=1e-12)


def test_without_self_collision_the_wings_do_pass():
    sim = clapping(False)
    layers = Layers(sim.mesh, sim.positions)
    passed = 0
    for _ in range(100):
        sim.step()
        passed += layers.intersect(sim.positions)
    assert passed > 20


def test_a_sheet_folded_on_the_floor_rests_on_itself():
    mesh = ic.meshes.irregular_rectangle(0.3, 0.3, nodes=120, seed=0)
    x, y, _ = mesh.vertices.T
    mesh = mesh.with_vertices(np.stack([x, y, 2e-3 + 2e-3 * np.sin(20 * x) * np.sin(14 * y)], axis=1))
    floor = ic.Floor(friction=0.5)
    fabric = ic.Fabric(density=0.2, thickness=1e-3, bending=2e-5, bending_damping=2e-6, damping=0.5)
    sim = ic.Simulation(
        mesh, fabric, model="nonconforming", timestep=2e-3, obstacles=[floor], self_collision=True
    )  # fmt: skip
    corners = mesh.nearest([[0.0, 0.0, 0.0], [0.3, 0.0, 0.0]])
    begin = mesh.vertices[corners].copy()

    def over(time):
        turn = np.pi * min(1.0, time / 0.6)
        done = (1.0 - np.cos(turn)) / 2
        return begin + np.array([0.0, 0.27 * done, 0.12 * np.sin(turn) + 4e-3 * done])

    grasp = sim.grasp(corners, over)
    layers = Layers(mesh, sim.positions)
    force = []
    for k in range(550):
        if k == 325:
            grasp.release()
        report = sim.step()
        assert report.converged
        assert report.min_gap > -0.5 * fabric.thickness
        if k % 10 == 0:
            assert not layers.intersect(sim.positions)
        force.append(floor.force[2])
    assert sim.positions[corners, 1].min() > 0.2  # it stays folded
    assert sim.positions[:, 2].max() < 0.03
    assert np.mean(force[-100:]) == pytest.approx(-0.2 * 0.09 * 9.81, rel=0.03)


def test_a_fold_that_is_pulled_through_itself_is_reported_and_does_not_pass():
    """Held corners are sent through a layer that is held too: there is no solution, and no intersection either."""
    sim = clapping(True)
    upper = sim.mesh.nearest([[0.1, 0.0, 0.03], [0.1, 0.15, 0.03]])
    lower = sim.mesh.nearest([[0.1, 0.0, -0.03], [0.1, 0.15, -0.03]])
    high, low = sim.grasp(upper), sim.grasp(lower)
    layers = Layers(sim.mesh, sim.positions)
    reports = []
    for _ in range(40):
        high.move_to(sim.positions[upper] - np.array([0.0, 0.0, 1e-3]))
        low.move_to(sim.positions[lower] + np.array([0.0, 0.0, 1e-3]))
        reports.append(sim.step())
        assert not layers.intersect(sim.positions)
    assert np.isfinite(sim.positions).all()
    assert any(not r.converged for r in reports)


def test_a_start_whose_distances_are_off_is_repaired_and_told():
    flat = ic.meshes.irregular_rectangle(0.3, 0.3, nodes=300, seed=0)
    x, y, _ = flat.vertices.T
    bent = flat.with_vertices(np.stack([x, y, 0.01 * np.sin(12 * y) + 0.004 * np.sin(9 * x + 3)], axis=1))
    sim = ic.Simulation(bent, FABRIC, model="nonconforming", rest=flat, timestep=1e-3)
    reports = [sim.step() for _ in range(20)]
    assert reports[-1].converged
    assert sim.positions[:, 2].mean() < bent.vertices[:, 2].mean() - 1e-3  # it falls, and does not hang in the air


def one_contact(gap, slip, friction):
    normal = np.array([[0.0, 0.0, 1.0]])
    number = np.zeros(1, dtype=np.int64)
    return ContactSet(
        np.array([[0, 1, 0, 0]]), np.array([[1.0, -1.0, 0.0, 0.0]]), normal, np.array([gap]), np.array([[slip, 0, 0]]),
        np.array([friction]), number, number, np.zeros(1),
    )  # fmt: skip


def test_how_far_the_law_is_from_being_met():
    """Two nodes of 1 and 3 kg, 2 mm too deep, slipping by 1 mm: a push of 2 mm / (1 + 1/3), friction 0.3 of it."""
    mass, held = np.array([1.0, 3.0]), np.zeros(2, dtype=bool)
    c = one_contact(-2e-3, 1e-3, 0.3)
    moved, push = np.zeros((2, 3)), np.zeros((1, 3))
    projected_gauss_seidel(c, mass, held, 30, 1e-12, moved, push)
    np.testing.assert_allclose(push, [[-0.3 * 1.5e-3, 0.0, 1.5e-3]], rtol=1e-9)
    assert unmet(c, mass, held, moved, push) == pytest.approx(0.0, abs=1e-9)
    # of the way apart, a half is taken back: half the normal push is missing, and its friction
    back = moved.copy()
    back[:, 2] /= 2
    missing = np.hypot(0.75e-3, 0.3 * 0.75e-3)
    assert unmet(c, mass, held, back, push) == pytest.approx(missing / np.linalg.norm(push), rel=1e-9)
