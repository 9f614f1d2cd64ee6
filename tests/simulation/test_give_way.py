"""Hands that give way: a largest force, and presses that stop where nothing gives."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isocloth as ic
from isocloth.obstacles import shapes

FABRIC = ic.Fabric(density=0.2, thickness=1e-3)
SIZE = 0.3
WEIGHT = FABRIC.density * SIZE**2 * 9.81
MIDDLE = 40


def sheet(height=0.0006, nodes=9):
    mesh = ic.meshes.rectangle(SIZE, SIZE, shape=(nodes, nodes))
    return mesh.transformed(translation=[0, 0, height])


def pull(grasp):
    return np.linalg.norm(grasp.force.sum(axis=0))


def downwards(start, speed):
    return lambda t: (start + np.array([0.0, 0.0, -speed * t]))[None]


def folded():
    """A strip folded once on a floor, at rest, and a node of its upper layer."""
    mesh = ic.meshes.rectangle(0.4, 0.2, shape=(17, 9)).transformed(translation=[0, 0, 0.0006])
    fabric = ic.Fabric(thickness=1e-3, bending=1e-5, damping=2.0)
    sim = ic.Simulation(mesh, fabric, obstacles=[ic.Floor(friction=0.5)], self_collision=True)
    ends = np.flatnonzero(mesh.vertices[:, 0] > 0.4 - 1e-9)
    start = mesh.vertices[ends]

    def over(t):
        angle, r = 0.98 * np.pi * min(t / 0.8, 1.0), 0.98 * (start[:, 0] - 0.2)
        return np.stack([0.2 + r * np.cos(angle), start[:, 1], start[:, 2] + r * np.sin(angle) + 0.004], axis=1)

    grasp = sim.grasp(ends, lambda t: over(t) if t > 0 else start)
    sim.run(0.85)
    grasp.release()
    sim.run(0.3)
    upper = np.flatnonzero(
        (mesh.vertices[:, 0] > 0.25) & (sim.positions[:, 2] > 0.0014) & (sim.positions[:, 2] < 0.004)
    )
    centre = sim.positions[upper].mean(axis=0)
    return sim, int(upper[np.linalg.norm((sim.positions[upper] - centre)[:, :2], axis=1).argmin()])


def table():
    vertices, faces = shapes.box(np.array([1.0, 1.0, 0.2]))
    return ic.TriangleMesh(vertices, faces, centre=[0.15, 0.15, -0.1])


BODIES = [
    ic.Floor(), ic.Box([0.15, 0.15, -0.1], [1, 1, 0.2]), ic.Sphere([0.15, 0.15, -5.0], 5.0), table(),
    ic.Cylinder([0.15, -1, -2.0], [0.15, 1, -2.0], 2.0), ic.Capsule([0.15, -1, -2.0], [0.15, 1, -2.0], 2.0),
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES, ids=lambda body: body.name)
def test_a_node_pressed_into_a_body_stops_at_its_surface_and_is_named(body):
    sim = ic.Simulation(sheet(), FABRIC, obstacles=[body])
    grasp = sim.grasp(MIDDLE, downwards(sim.positions[MIDDLE], 0.1))
    for k in range(40):
        report = sim.step()
        assert sim.positions[MIDDLE, 2] > 0.0004 - 0.0001  # penetration a fifth of the thickness at most
        assert report.isometry_error < 0.03
        if k > 2:
            assert not report.converged
            assert f"node {MIDDLE} is pressed into {body!r}" in report.problem
    assert grasp.lag == pytest.approx(0.04 - 0.0001, abs=2e-4)
    assert pull(grasp) == pytest.approx(100 * WEIGHT, rel=0.02)
    assert -body.force[2] == pytest.approx(pull(grasp) + WEIGHT, rel=0.02)


def test_a_path_that_comes_back_takes_its_node_along():
    sim = ic.Simulation(sheet(), FABRIC, obstacles=[ic.Floor()])
    start = sim.positions[MIDDLE].copy()
    grasp = sim.grasp(MIDDLE, lambda t: (start - np.array([0, 0, 0.03 * np.sin(10 * t)]))[None])
    reports = [sim.step() for _ in range(60)]
    assert not reports[15].converged
    assert all(report.converged for report in reports[40:])  # above the floor
    assert grasp.lag < 1e-4
    assert sim.positions[MIDDLE, 2] > 0.008
    assert np.linalg.norm(sim.velocities, axis=1).max() < 2.0


def test_a_node_pressed_into_layers_stops_there_and_takes_no_longer_than_50_steps():
    sim, node = folded()
    usual = np.median([sim.step().iterations for _ in range(10)])
    start, begin = sim.positions[node].copy(), sim.time
    assert 0.0014 < start[2] < 0.004
    sim.grasp(node, lambda t: (start + np.array([0, 0, -0.05 * (t - begin)]))[None])
    for _ in range(20):
        report = sim.step()
        assert sim.positions[node, 2] > 0.0015 - 0.0003
        assert report.min_gap > -0.5e-3
        assert report.isometry_error < 0.03
        assert report.iterations <= max(50 * usual, 150)
    assert not report.converged
    assert f"node {node} is pressed into layers of the cloth" in report.problem


@pytest.mark.parametrize("surrounded", [False, True])
def test_a_taut_cloth_is_pulled_with_the_largest_force_and_no_more(surrounded):
    around = {"obstacles": [ic.Sphere([5, 5, 5], 0.1)]} if surrounded else {}
    mesh = sheet()
    sim = ic.Simulation(mesh, FABRIC, gravity=0.0, **around)
    fixed, ends = sim.grasp(np.arange(9)), np.arange(72, 81)
    start = mesh.vertices[ends]
    grasp = sim.grasp(ends, lambda t: start + np.array([0.1 * t, 0, 0]), max_force=5.0)
    for _ in range(50):
        report = sim.step()
        assert report.converged
        assert report.isometry_error < 1e-3
    assert pull(grasp) == pytest.approx(5.0, rel=0.01)
    assert pull(fixed) == pytest.approx(5.0, rel=0.01)
    assert grasp.lag == pytest.approx(0.05, rel=0.02)


def test_a_sheet_too_heavy_to_be_dragged_stays_and_a_lighter_one_follows():
    for part, follows in ((0.9, False), (1.3, True)):
        sim = ic.Simulation(sheet(0.0005), FABRIC, obstacles=[ic.Floor(friction=0.5)])
        start = sim.positions[76].copy()
        grasp = sim.grasp(76, lambda t, s=start: (s + np.array([0.2 * t, 0, 0]))[None], max_force=part * 0.5 * WEIGHT)
        reports = [sim.step() for _ in range(50)]
        assert all(report.converged for report in reports)
        assert (sim.positions[76, 0] - start[0] > 0.08) == follows
        assert (grasp.lag < 0.02) == follows
        assert pull(grasp) <= 1.01 * part * 0.5 * WEIGHT


def test_a_wall_in_the_way_is_pushed_with_the_largest_force():
    wall = ic.Box([0.15, 0.15, -0.1], [1, 1, 0.2])
    sim = ic.Simulation(sheet(), FABRIC, obstacles=[wall])
    grasp = sim.grasp(MIDDLE, downwards(sim.positions[MIDDLE], 0.3), max_force=2.0)
    reports = [sim.step() for _ in range(40)]
    assert all(report.converged for report in reports)
    assert -wall.force[2] == pytest.approx(2.0 + WEIGHT, rel=0.01)
    assert grasp.lag == pytest.approx(0.12, abs=1e-3)


def test_a_grasp_that_may_bear_less_than_the_weight_falls_with_the_rest():
    sim = ic.Simulation(sheet(), FABRIC)
    everywhere = np.arange(81)
    grasp = sim.grasp(everywhere, max_force=WEIGHT / 2)
    for _ in range(20):
        assert sim.step().converged
    mean = np.average(sim.velocities[:, 2], weights=sim.cloth.area)
    assert mean == pytest.approx(-0.2 * 9.81 / 2, rel=0.02)
    assert pull(grasp) == pytest.approx(WEIGHT / 2, rel=0.01)


def test_a_grasp_within_its_largest_force_is_one_without():
    ways = []
    for most in (None, 50.0):
        sim = ic.Simulation(sheet(), FABRIC)
        grasp = sim.grasp([0, 8], max_force=most)
        sim.run(0.2)
        assert grasp.lag == 0.0
        ways.append(sim.positions.copy())
    np.testing.assert_array_equal(*ways)


def test_lags_end_with_the_grasp_and_bad_forces_are_refused():
    sim = ic.Simulation(sheet(), FABRIC)
    grasp = sim.grasp(0, max_force=0.01)
    sim.run(0.1)
    assert grasp.lag > 0.001
    grasp.release()
    assert grasp.lag == 0.0
    for bad in (0.0, -1.0, np.inf, np.nan, "strong"):
        with pytest.raises(ic.IsoclothError, match="max_force"):
            sim.grasp(0, max_force=bad)
    assert sim.grasps == ()
    with pytest.raises(ic.IsoclothError, match="max_force"):
        ic.Simulation(sheet().triangulated(), FABRIC, model="nonconforming").grasp(0, max_force=1.0)


@settings(max_examples=8, deadline=None)
@given(st.floats(0.05, 20.0), st.floats(-1.0, 1.0), st.floats(-1.0, 1.0))
def test_no_grasp_bears_more_than_it_may(most, x, y):
    sim = ic.Simulation(sheet(), FABRIC, obstacles=[ic.Floor(friction=0.4)])
    fixed = sim.grasp(0)
    start = sim.positions[80].copy()
    grasp = sim.grasp(80, lambda t: (start + t * np.array([x, y, -0.5]))[None], max_force=most)
    for _ in range(30):
        report = sim.step()
        assert np.isfinite(sim.positions).all()
        assert report.isometry_error < 0.03
        assert pull(grasp) <= 1.02 * most
        assert sim.positions[:, 2].min() > -0.0005
    assert fixed.lag < 2e-4
