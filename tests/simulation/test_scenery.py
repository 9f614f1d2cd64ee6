"""Obstacles that come, go and move at run time."""

import pickle

import numpy as np
import pytest

import isocloth as ic
from isocloth.obstacles.motion import turned_about

FABRIC = ic.Fabric(density=0.2, bending=1e-5, thickness=1e-3, friction=0.5, damping=0.2)
SHEET = ic.meshes.rectangle(0.3, 0.3, shape=(7, 7)).transformed(translation=[-0.15, -0.15, 5e-4])


def test_an_obstacle_put_below_catches_the_cloth_and_taken_away_lets_it_fall():
    sim = ic.Simulation(SHEET, FABRIC)
    for _ in range(5):
        sim.step()
    floor = ic.Floor(-0.03)
    sim.add(floor)
    assert sim.obstacles == (floor,)
    for _ in range(40):
        assert sim.step().converged
    weight = 0.2 * 0.09 * 9.81
    assert floor.force[2] == pytest.approx(-weight, rel=1e-3)
    sim.remove(floor)
    assert sim.obstacles == ()
    begin, height = sim.time, sim.positions[:, 2].mean()
    for _ in range(10):
        sim.step()
    fallen = height - sim.positions[:, 2].mean()
    t = sim.time - begin
    assert fallen == pytest.approx(0.5 * 9.81 * t * t, rel=0.12)  # of first order where the history starts anew
    with pytest.raises(ValueError, match="not in this simulation"):
        sim.remove(floor)


def test_what_rests_on_one_obstacle_does_not_notice_others_that_come_and_go():
    sims = []
    for visit in (False, True):
        slope = ic.Plane([0.0, 0.0, 0.0], [0.2, 0.0, 1.0], friction=0.5)
        stick = ic.Stick([0.4, -0.5, 0.3], [0.4, 0.5, 0.3], 0.01)
        tilt = ic.meshes.rectangle(0.3, 0.3, shape=(7, 7)).transformed(translation=[-0.15, -0.15, 0.0])
        x, y, _ = tilt.vertices.T
        axis = np.array([1.0, 0.0, -0.2]) / np.hypot(1.0, 0.2)
        normal = np.array([0.2, 0.0, 1.0]) / np.hypot(1.0, 0.2)
        start = np.outer(x, axis) + np.outer(y, [0.0, 1.0, 0.0]) + 5e-4 * normal
        sim = ic.Simulation(tilt.with_vertices(start), FABRIC, rest=tilt, obstacles=[slope])
        for k in range(60):
            if visit and k == 20:
                sim.add(stick)
            if visit and k == 40:
                sim.remove(stick)
            assert sim.step().converged
        sims.append(sim)
    # it sticks, before, with and after the visitor: contacts keep their history
    assert np.abs(sims[0].positions - sims[1].positions).max() < 1e-6
    assert np.abs(sims[1].velocities).max() < 1e-5


def test_a_table_that_is_lowered_and_turned_at_run_time_carries_the_cloth():
    table = ic.Box([0.0, 0.0, -0.05], [0.6, 0.6, 0.1], friction=0.6)
    sim = ic.Simulation(SHEET, FABRIC, obstacles=[table])
    for k in range(60):
        share = 0.5 - 0.5 * np.cos(np.pi * (k + 1) / 60)  # slowly at first: a jerk would slide it
        sim.move_to(table, [0.05 * share, 0.0, -0.05 - 0.04 * share], turned_about(np.array([0.0, 0.0, 0.4 * share])))
        assert sim.step().converged
    for _ in range(30):
        sim.step()
    turn = turned_about(np.array([0.0, 0.0, 0.4]))
    expected = SHEET.vertices @ turn.T + [0.05, 0.0, -0.04]
    assert np.abs(sim.positions - expected)[:, :2].max() < 2e-4
    assert sim.positions[:, 2] == pytest.approx(expected[:, 2], abs=1e-4)
    assert table.centre().tolist() == [0.0, 0.0, -0.05]  # the value itself stays
    force, torque = sim.forces[table]
    assert force[2] == pytest.approx(-0.2 * 0.09 * 9.81, rel=1e-3)
    assert np.abs(torque).max() < 1e-2 * 0.3 * abs(force[2])  # about the centre as it is now


def test_moving_an_obstacle_gives_the_same_as_a_path_of_its_own():
    def path(t):
        return np.array([0.0, 0.0, -0.05 + 0.2 * t])

    own = ic.Box([0.0, 0.0, -0.05], [0.6, 0.6, 0.1], path=path)
    sent = ic.Box([0.0, 0.0, -0.05], [0.6, 0.6, 0.1])
    first, second = (ic.Simulation(SHEET, FABRIC, obstacles=[o]) for o in (own, sent))
    for _ in range(20):
        second.move_to(sent, path(second.time + second.timestep))
        a, b = first.step(), second.step()
        assert a.substeps == b.substeps == 1
        np.testing.assert_allclose(first.positions, second.positions, atol=1e-12)


def test_an_obstacle_that_jumps_or_has_a_motion_of_its_own_is_refused_and_nothing_is_lost():
    table, belt = ic.Box([0.0, 0.0, -0.05], [0.6, 0.6, 0.1]), ic.Floor(-1.0, velocity=[0.1, 0.0, 0.0])
    sim = ic.Simulation(SHEET, FABRIC, obstacles=[table, belt])
    sim.step()
    before = sim.state
    sim.move_to(table, [5.0, 0.0, -0.05])
    with pytest.raises(ValueError, match="further than the cloth is long"):
        sim.step()
    assert sim.state is before
    sim.move_to(table, [0.0, 0.0, -0.05])
    sim.step()
    with pytest.raises(ValueError, match="motion of its own"):
        sim.move_to(belt, [0.0, 0.0, 0.0])
    with pytest.raises(ValueError, match="position"):
        sim.move_to(table, [0.0, np.nan, 0.0])
    with pytest.raises(ValueError, match="named twice"):
        sim.add(table)
    with pytest.raises(TypeError, match=r"ic\.Floor"):
        sim.add("floor")


def test_where_obstacles_were_moved_comes_back_with_the_state():
    table = ic.Box([0.0, 0.0, -0.05], [0.6, 0.6, 0.1])
    sim = ic.Simulation(SHEET, FABRIC, obstacles=[table])
    for k in range(10):
        sim.move_to(table, [0.0, 0.0, -0.05 - 1e-3 * k])
        sim.step()
    state = sim.state.copy()
    ends = []
    for _ in range(2):
        sim.state = state
        sim.move_to(table, [0.0, 0.0, -0.07])
        for _ in range(5):
            sim.step()
        ends.append(sim.positions)
    np.testing.assert_array_equal(*ends)
    with pytest.raises(ValueError, match="obstacles"):
        ic.Simulation(SHEET, FABRIC).state = state


def test_a_simulation_pickles_and_goes_on_with_the_same_bits():
    table = ic.Box([0.0, 0.0, -0.05], [0.25, 0.6, 0.1], friction=0.4)
    sim = ic.Simulation(SHEET, FABRIC, obstacles=[table], self_collision=True)
    times = np.linspace(0.0, 1.0, 11)
    sim.grasp(SHEET.corners[:1], (times, SHEET.vertices[SHEET.corners[:1]] + 0.1 * times[:, None, None]))
    for _ in range(10):
        sim.step()
    other = pickle.loads(pickle.dumps(sim))
    for _ in range(10):
        sim.step()
        other.step()
    np.testing.assert_array_equal(sim.positions, other.positions)
    assert other.obstacles[0] == table
    np.testing.assert_array_equal(other.forces[other.obstacles[0]].force, table.force)


@pytest.mark.parametrize("model", ["nonconforming"])
def test_obstacles_come_and_go_with_particles(model):
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(5, 5), element="triangle").transformed(translation=[0.0, 0.0, 1e-3])
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), model=model, timestep=2e-3)
    floor = ic.Floor()
    sim.add(floor)
    for _ in range(100):
        report = sim.step()
    assert report.forces[floor].force[2] == pytest.approx(-0.2 * 0.04 * 9.81, rel=0.05)
    sim.remove(floor)
    for _ in range(50):
        sim.step()
    assert sim.positions[:, 2].max() < -0.03
