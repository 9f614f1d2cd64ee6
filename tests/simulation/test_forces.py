"""Forces are results: impulses of whole steps, by body, restored with the state."""

import copy

import numpy as np
import pytest

import isocloth as ic
from isocloth.simulation import substeps
from isocloth.simulation.wrench import Forces, Wrench

FABRIC = ic.Fabric(density=0.2, bending=1e-5, thickness=1e-3, friction=0.4)


def thrown(integrator="bdf2", most=6):
    """A sheet thrown at a floor and a ball at 5 m/s, solved so impatiently that impacts are cut into parts."""
    mesh = ic.meshes.rectangle(0.5, 0.5, shape=(12, 12))
    start = mesh.transformed(translation=[0.0, 0.0, 0.03])
    obstacles = [ic.Floor(friction=0.4), ic.Sphere([0.25, 0.25, -0.05], 0.07, friction=0.4)]
    sim = ic.Simulation(
        start, FABRIC, rest=mesh, obstacles=obstacles, self_collision=True, integrator=integrator,
        solver_options=ic.NewtonOptions(max_iterations=most),
    )  # fmt: skip
    noise = np.random.default_rng(0).standard_normal((144, 3))
    sim.velocities = np.array([0.3, 0.0, -5.0]) + 0.1 * noise
    return sim


def momenta(sim):
    """Momentum (3,) and angular momentum about the origin (3,)."""
    impulse = FABRIC.density * sim.cloth.area[:, None] * sim.velocities
    return impulse.sum(axis=0), np.cross(sim.positions, impulse).sum(axis=0)


@pytest.mark.parametrize("integrator", ["bdf2", "euler"])
def test_the_impulse_of_a_cut_step_is_the_change_of_momentum(integrator):
    sim, cut = thrown(integrator), 0
    scale = FABRIC.density * 0.25 * 5.0
    for _ in range(20):
        before = momenta(sim)[0]
        report = sim.step()
        assert report.converged
        pressed = sum(report.forces[o].force for o in sim.obstacles)
        change = momenta(sim)[0] - before
        if report.substeps > 1:
            cut += 1
            assert change == pytest.approx(sim.timestep * (sim.cloth.weight.sum(axis=0) - pressed), abs=1e-9 * scale)
            if cut == 1:
                assert np.linalg.norm(change) > 0.1 * scale  # an impact, and not a step that just failed
    assert cut > 0


def test_the_angular_impulse_of_obstacles_and_grasps_is_the_change_of_angular_momentum():
    """Implicit Euler: m x' = x (m v' - m v) adds x' x m (v' - v), while v' = (x' - x)/h makes x' x v' = x x v'."""
    sim = thrown("euler")
    grasp = sim.grasp(sim.mesh.corners[:2])
    for _ in range(20):
        before, speed = sim.positions, sim.velocities
        report = sim.step()
        mass = FABRIC.density * sim.cloth.area[:, None]
        if report.substeps > 1:
            continue  # positions change between the parts
        change = np.cross(sim.positions, mass * (sim.velocities - speed)).sum(axis=0)
        weight = np.cross(sim.positions, sim.cloth.weight).sum(axis=0)
        centres = [*[o.centre(sim.time) for o in sim.obstacles], sim.positions[grasp.nodes].mean(axis=0)]
        wrenches = [*[report.forces[o] for o in sim.obstacles], report.forces[grasp]]
        torque = sum(w.torque + np.cross(c, w.force) for c, w in zip(centres, wrenches, strict=True))
        unbalanced = report.force_residual * (FABRIC.density * 0.25) * 0.5  # of the solver's tolerance, on free nodes
        assert change / sim.timestep == pytest.approx(weight - torque, abs=5.0 * unbalanced + 1e-9)
        assert not np.array_equal(before, sim.positions)


def test_forces_of_a_state_come_back_with_it():
    sim = thrown()
    grasp = sim.grasp(sim.mesh.corners[0])
    for _ in range(8):
        report = sim.step()
    floor, ball = sim.obstacles
    state, forces = sim.state.copy(), (floor.force, ball.force, grasp.force)
    known = {body: report.forces[body] for body in (floor, ball, grasp)}
    for _ in range(5):
        sim.step()
    assert not np.array_equal(floor.force, forces[0])
    sim.state = state
    for now, then in zip((floor.force, ball.force, grasp.force), forces, strict=True):
        np.testing.assert_array_equal(now, then)
    for body, wrench in known.items():
        np.testing.assert_array_equal(sim.forces[body].force, wrench.force)
        np.testing.assert_array_equal(sim.forces[body].torque, wrench.torque)


def test_views_show_what_the_report_says_with_the_signs_of_before():
    sim = thrown("euler", 25)
    grasp = sim.grasp(sim.mesh.corners[:2])
    for _ in range(10):
        report = sim.step()
    floor = sim.obstacles[0]
    np.testing.assert_array_equal(floor.force, report.forces[floor].force)
    np.testing.assert_allclose(grasp.force.sum(axis=0), -report.forces[grasp].force, atol=1e-12)
    assert grasp.force.shape == (2, 3)
    assert set(report.forces) == {*sim.obstacles, grasp}
    assert len(report.forces) == 3


def test_a_grasp_has_no_force_before_its_first_step_and_after_its_release():
    sim = thrown()
    sim.step()
    grasp = sim.grasp(sim.mesh.corners[0])
    assert not grasp.force.any()
    sim.step()
    assert grasp.force.any()
    grasp.release()
    assert not grasp.force.any()


def test_equal_bodies_have_forces_of_their_own():
    """Two equal floors: the first bears the sheet, or the second, but each is asked for by itself."""
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(4, 4)).transformed(translation=[0.0, 0.0, 5e-4])
    first, second = ic.Sphere([0.0, 0.0, -0.5], 0.1), ic.Sphere([0.0, 0.0, -0.5], 0.1)
    floor = ic.Floor()
    sim = ic.Simulation(mesh, FABRIC, obstacles=[first, floor, second])
    report = sim.step()
    assert first == second
    assert report.forces[first] is not report.forces[second]
    assert report.forces[floor].force[2] < 0.0
    with pytest.raises(KeyError, match="took no part"):
        report.forces[ic.Floor()]
    assert ic.Floor() not in report.forces
    assert floor in report.forces


def test_the_torque_on_a_floor_is_that_of_the_weight():
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(6, 6)).transformed(translation=[0.3, 0.1, 5e-4])
    floor = ic.Floor()
    sim = ic.Simulation(mesh, FABRIC, obstacles=[floor])
    for _ in range(60):
        report = sim.step()
    weight = FABRIC.density * 0.04 * 9.81
    force, torque = report.forces[floor]
    assert force == pytest.approx([0.0, 0.0, -weight], abs=1e-6 * weight)
    assert torque == pytest.approx(np.cross([0.4, 0.2, 0.0], [0.0, 0.0, -weight]), abs=1e-6 * weight)


def test_one_obstacle_may_be_shared_by_simulations():
    floor = ic.Floor()
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(4, 4)).transformed(translation=[0.0, 0.0, 5e-4])
    light, heavy = (ic.Simulation(mesh, ic.Fabric(density=d), obstacles=[floor]) for d in (0.1, 0.4))
    for _ in range(40):
        first, second = light.step(), heavy.step()
    assert second.forces[floor].force[2] == pytest.approx(4.0 * first.forces[floor].force[2], rel=1e-6)
    np.testing.assert_array_equal(floor.force, second.forces[floor].force)  # a view of the last step
    light.step()
    assert floor.force[2] == pytest.approx(0.25 * second.forces[floor].force[2], rel=1e-6)


def test_a_deep_copy_goes_on_with_the_same_bits_among_the_same_obstacles():
    sim = thrown()
    for _ in range(6):
        sim.step()
    other = copy.deepcopy(sim)
    assert other.obstacles[0] is sim.obstacles[0]
    for _ in range(6):
        first, second = sim.step(), other.step()
    np.testing.assert_array_equal(sim.positions, other.positions)
    floor = sim.obstacles[0]
    np.testing.assert_array_equal(first.forces[floor].force, second.forces[floor].force)


def test_parts_of_a_cut_step_are_weighed_by_their_lengths(monkeypatch):
    """Of a step that is cut on purpose, the mean force is that of its parts taken by themselves."""
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(4, 4))
    whole, halves = (ic.Simulation(mesh, ic.Fabric(density=0.2), integrator="euler") for _ in range(2))
    for sim in (whole, halves):
        sim.grasp(mesh.corners[:2])
    halves.timestep = 0.005
    first, second = halves.step(), halves.step()
    advance = type(whole.stepper).advance

    def refused(self, state, targets, h):
        part = advance(self, state, targets, h)
        return part._replace(state=None) if targets.parts == 1 else part

    monkeypatch.setattr(type(whole.stepper), "advance", refused)
    report = whole.step()
    assert report.substeps == 2
    np.testing.assert_allclose(whole.positions, halves.positions, atol=1e-12)
    expected = 0.5 * (first.forces[halves.grasps[0]].force + second.forces[halves.grasps[0]].force)
    np.testing.assert_allclose(report.forces[whole.grasps[0]].force, expected, rtol=1e-9, atol=1e-15)
    assert substeps.DEEPEST > 1


def test_forces_are_a_mapping_by_identity():
    bodies = [[1], [1]]
    forces = Forces(bodies, [Wrench(np.full(3, k), np.zeros(3)) for k in range(2)])
    assert [forces[b].force[0] for b in bodies] == [0, 1]
    assert list(forces) == bodies
    assert [1] not in forces
