import numpy as np
import pytest

import isocloth as ic
from isocloth.simulation.diagnosis import (
    HEALED,
    INFEASIBLE,
    diagnose,
    errors,
    limit_speed,
    overstretched,
    relaxed_targets,
    unsolved,
)
from isocloth.solvers.outcome import Outcome


def sheet(**fabric):
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(3, 3))
    return mesh, ic.Simulation(mesh, ic.Fabric(**fabric)).cloth


def test_what_was_torn_on_the_way_and_is_whole_at_the_end_is_told_as_such():
    mesh, problem = sheet()
    nobody = np.zeros(9, dtype=bool)
    assert diagnose(problem, mesh.vertices, nobody, 0.5 * INFEASIBLE) == ""
    told = diagnose(problem, mesh.vertices, nobody, 0.2)
    assert "off by up to 10.0 % in a part of the step" in told
    assert "no isometric image" in diagnose(problem, 1.1 * mesh.vertices, nobody, 0.21)


def test_a_soft_membrane_does_not_tear():
    assert overstretched(sheet()[1], 0.1)
    assert not overstretched(sheet(membrane=10.0)[1], 0.1)


def test_nothing_gets_faster_than_it_may():
    after = limit_speed(np.array([[3.0, 4.0, 0.0], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]]), 0.5)
    assert after == pytest.approx(np.array([[0.3, 0.4, 0.0], [0.0, 0.0, 0.2], [0.0, 0.0, 0.0]]))
    assert not limit_speed(after, 0.0).any()


def test_a_cloth_torn_by_a_stick_follows_it():
    """Held at its corners, with a stick that goes on where it cannot: it tears, as fast as the stick moves."""
    mesh = ic.meshes.rectangle(0.3, 0.3, shape=(7, 7))
    speed, ends = 2.0, np.array([[-0.1, 0.15, 0.02], [0.4, 0.15, 0.02]])
    stick = ic.Stick(*ends, 0.0075, path=lambda t: ends - [0.0, 0.0, speed * t])
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), obstacles=[stick], self_collision=True)
    sim.grasp(mesh.corners)
    steps = [(sim.step().converged, float(np.linalg.norm(sim.velocities, axis=1).max())) for _ in range(6)]
    torn_at = [fastest for converged, fastest in steps if not converged]
    assert len(torn_at) > 2
    assert torn_at == pytest.approx([speed] * len(torn_at), rel=0.02)


def test_a_torn_cloth_is_asked_for_a_part_of_its_errors():
    mesh, problem = sheet(density=0.2)
    rows, stretched = problem.rows, 1.1 * mesh.vertices
    before = rows.values(stretched)
    slack = relaxed_targets(problem, stretched) - rows.rest
    assert before - slack == pytest.approx(np.where(rows.enforced, HEALED[0] * before, before))
    error, gap = errors(problem, stretched, rows.weight * (before - slack))
    assert error == pytest.approx(0.21)
    assert gap == pytest.approx((1.0 - HEALED[0]) * 0.21)
    assert relaxed_targets(problem, mesh.vertices) is None


def test_a_cloth_that_contact_squeezes_is_not_told_to_check_its_positions():
    mesh, problem = sheet()
    nobody = np.zeros(9, dtype=bool)
    told = diagnose(problem, 1.1 * mesh.vertices, nobody, 0.21, touching=True)
    assert "nobody holds the cloth" in told
    assert "what touches it" in told
    assert "assigned" not in told


def test_short_steps_are_not_advised_to_be_shorter():
    outcome = Outcome(np.zeros((1, 3)), np.zeros(1), np.zeros((1, 3)), 3, False, 0.1, 0.2, 0.3)
    assert "use a smaller timestep" in unsolved(outcome, 0.01)
    assert "a longer timestep" in unsolved(outcome, 1e-5)
    with pytest.raises(ValueError, match="at least 1e-06 s"):
        ic.Simulation(sheet()[0], timestep=1e-9)
