"""A cloth that starts inside a body is pushed out of it from rest, with its lengths kept."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isocloth as ic
from contact.starts import BODIES, sheet
from isocloth.contact.detector import ContactDetector
from isocloth.contact.starts import start_faults

FABRIC = ic.Fabric(density=0.2, bending=1e-5)


def gap(sim):
    nobody = np.zeros(len(sim.positions), dtype=bool)
    return ContactDetector(sim.world, sim.positions, nobody, 0.0, 0.0).smallest_gap(sim.positions)


@pytest.mark.parametrize("name", BODIES)
def test_a_cloth_inside_a_body_is_pushed_out_without_speed(name):
    mesh = sheet()
    sim = ic.Simulation(mesh, FABRIC, obstacles=[BODIES[name][0]], resolve_start=True)
    assert start_faults(sim.world, sim.positions, 0.0) == []
    assert gap(sim) > -0.1 * FABRIC.thickness
    np.testing.assert_array_equal(sim.velocities, 0.0)
    assert sim.time == 0.0
    assert sim.state.steps == 0
    edges = mesh.edges
    lengths = [np.linalg.norm(x[edges[:, 1]] - x[edges[:, 0]], axis=1) for x in (mesh.vertices, sim.positions)]
    np.testing.assert_allclose(*lengths, rtol=2e-3)
    reports = [sim.step() for _ in range(3)]
    assert all(report.converged for report in reports)
    # it falls and unbends, its corners ahead; thrown out, it went at 10 m/s
    assert np.linalg.norm(sim.velocities, axis=1).mean() < 0.3
    assert np.linalg.norm(sim.velocities, axis=1).max() < 1.0


def test_a_cloth_at_the_height_of_the_table_is_lifted_by_half_its_thickness_without_speed():
    sim = ic.Simulation(sheet(), FABRIC, obstacles=[ic.Floor()], resolve_start=True)
    assert np.abs(sim.positions[:, 2] - 0.0005).max() < 1e-5
    sim.step()
    assert np.abs(sim.velocities).max() < 1e-3


def test_a_start_that_is_in_order_is_not_touched():
    mesh = sheet(height=0.01)
    sim = ic.Simulation(mesh, FABRIC, obstacles=[ic.Floor()], self_collision=True, resolve_start=True)
    np.testing.assert_array_equal(sim.positions, mesh.vertices)


def test_what_has_no_way_out_is_refused_in_words():
    walls = [ic.Floor(), ic.Plane([0, 0, 0.0002], [0, 0, -1])]
    with pytest.raises(ic.IsoclothError, match="resolve_start=True did not find a start: the cloth starts inside"):
        ic.Simulation(sheet(height=-0.05), FABRIC, obstacles=[*walls, ic.Box([0, 0, 0], [9, 9, 3])], resolve_start=True)


@settings(max_examples=12, deadline=None)
@given(st.floats(-0.12, 0.12), st.floats(-0.12, 0.12), st.floats(-0.06, 0.06), st.floats(0.02, 0.08))
def test_any_ball_is_left_from_rest_with_lengths_kept(x, y, z, radius):
    sim = ic.Simulation(sheet(7), FABRIC, obstacles=[ic.Sphere([x, y, z], radius)], resolve_start=True)
    assert gap(sim) > -0.1 * FABRIC.thickness
    np.testing.assert_array_equal(sim.velocities, 0.0)
    report = sim.step()
    assert report.isometry_error < 0.03
    assert np.linalg.norm(sim.velocities, axis=1).max() < 1.0
