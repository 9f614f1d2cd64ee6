"""States: what is assigned belongs to the simulation from then on, and what does not fit changes nothing."""

import copy
import pickle

import numpy as np
import pytest

import isocloth as ic

MESH = ic.meshes.rectangle(0.2, 0.2, shape=(6, 6)).transformed(translation=[0.0, 0.0, 6e-4])
FABRIC = ic.Fabric(density=0.2, friction=0.4, bending=1e-5)


def lying(*obstacles):
    return ic.Simulation(MESH, FABRIC, obstacles=list(obstacles))


def test_writing_into_a_state_that_was_assigned_changes_nothing():
    sim = lying(ic.Floor())
    for _ in range(3):
        sim.step()
    saved = sim.state.copy()
    ends = []
    for spoil in (False, True):
        given = saved.copy()
        sim.state = given
        if spoil:
            given.memory.multipliers[:] = 1.0
            given.held[:] = True
            given.positions[:] = 0.0
            given.pinched[:] = 0.0
        for _ in range(5):
            sim.step()
        ends.append(sim.positions)
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("name", ["held", "pinched", "reactions"])
def test_a_state_of_the_wrong_shape_is_refused_by_name(name):
    sim = lying(ic.Floor())
    state = sim.state.copy()
    setattr(state, name, getattr(state, name)[:3])
    with pytest.raises(ValueError, match=name):
        sim.state = state


def test_a_refused_state_is_not_half_assigned():
    sim = lying(ic.Floor())
    sim.step()
    before, state = sim.state, sim.state.copy()
    state.positions += 1.0
    memory = state.memory
    coupling = memory.coupling._replace(pairs=np.array([[0, 1]]), order=np.arange(3))
    state.memory = memory._replace(coupling=coupling)
    with pytest.raises(ValueError, match="unknowns"):
        sim.state = state
    assert sim.state is before


def test_a_state_goes_on_with_the_same_bits_after_an_obstacle_was_removed():
    """Keys of contacts are those of the obstacles that are left, also in a simulation that never had the other."""
    far, floor, ball = ic.Sphere([5.0, 0.0, 0.0], 0.1), ic.Floor(), ic.Sphere([0.1, 0.1, -0.05], 0.0495)
    first = lying(far, floor, ball)
    for _ in range(5):
        first.step()
    first.remove(far)
    for _ in range(10):
        first.step()
    second = lying(floor, ball)
    second.state = first.state.copy()
    for _ in range(5):
        first.step()
        second.step()
    np.testing.assert_array_equal(first.positions, second.positions)


def test_a_state_among_other_obstacles_of_the_same_number_is_refused():
    first, second = ic.Floor(), ic.Sphere([0.1, 0.1, -0.05], 0.0495)
    sim = lying(first, second)
    sim.step()
    state = sim.state.copy()
    sim.remove(first)
    sim.add(ic.Floor(-0.01))
    with pytest.raises(ValueError, match="other obstacles"):
        sim.state = state


def test_a_removed_obstacle_has_no_force_and_does_not_complain():
    floor = ic.Floor()
    sim = lying(floor)
    for _ in range(5):
        sim.step()
    assert floor.force[2] < 0.0
    sim.remove(floor)
    assert not floor.force.any()
    with pytest.raises(ValueError, match="not in this simulation"):
        sim.force_on(floor)


def test_adding_what_is_no_obstacle_leaves_a_free_simulation_free():
    sim = ic.Simulation(MESH, FABRIC)
    with pytest.raises(TypeError, match=r"ic\.Floor"):
        sim.add("x")
    assert sim.world is None
    assert type(sim.stepper).__name__ == "FreeStepper"


def test_reports_pickle_without_the_simulation():
    sim = lying(ic.Floor())
    grasp = sim.grasp(0, lambda t: MESH.vertices[:1])
    report = sim.step()
    assert grasp in report.forces
    small = pickle.dumps(report)
    assert len(small) < 20_000
    again = pickle.loads(small)
    assert again.time == report.time
    assert len(again.forces) == 0
    assert again.residuals == report.residuals
    assert copy.copy(report).iterations == report.iterations


def test_the_torque_of_a_fresh_grasp_is_its_own(monkeypatch):
    """After a cut step moments are kept beside the reactions; those of another grasp are not shown."""
    sim = ic.Simulation(MESH, FABRIC)
    advance = type(sim.stepper).advance

    def refused(self, state, targets, h):
        part = advance(self, state, targets, h)
        return part._replace(state=None) if targets.parts == 1 else part

    monkeypatch.setattr(type(sim.stepper), "advance", refused)
    old = sim.grasp(MESH.corners[:2])
    assert sim.step().substeps == 2
    assert np.abs(sim.forces[old].torque).max() > 0.0
    old.release()
    new = sim.grasp(MESH.corners[:2])
    assert not sim.forces[new].force.any()
    assert not sim.forces[new].torque.any()
