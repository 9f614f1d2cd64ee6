"""The work of a step is bounded, and what is returned then is finite, whole and reported."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.contact.options import ContactOptions


def squeezed(most):
    """A folded strip between a floor and a plate that comes down faster than the layers can make way."""
    mesh = ic.meshes.rectangle(0.3, 0.1, shape=(13, 5))
    x = mesh.vertices.copy()
    angle = np.clip((x[:, 0] - 0.1) / 0.03, 0.0, np.pi)
    x[:, 0] = np.minimum(x[:, 0], 0.1) + 0.03 * np.sin(angle) - np.maximum(x[:, 0] - 0.1 - 0.03 * np.pi, 0.0)
    x[:, 2] = 0.03 * (1.0 - np.cos(angle)) + 0.001
    plate = ic.Box([0.1, 0.05, 0.17], [1, 1, 0.2], velocity=[0, 0, -1.0])
    return ic.Simulation(
        mesh.with_vertices(x), ic.Fabric(thickness=1e-3), rest=mesh, obstacles=[ic.Floor(), plate], self_collision=True,
        contact_options=ContactOptions(max_work=most),
    )  # fmt: skip


def test_a_step_ends_with_its_work():
    sim = squeezed(60)
    problems = []
    for _ in range(9):
        before = sim.time
        report = sim.step()
        assert sim.time == pytest.approx(before + 0.01)
        assert report.iterations <= 60 + 150  # what is under way is finished
        assert np.isfinite(sim.positions).all()
        assert np.isfinite(sim.velocities).all()
        problems.append(report.problem)
    assert any("max_work" in problem for problem in problems)


def test_the_same_step_is_given_up_at_the_same_place():
    ways = []
    for _ in range(2):
        sim = squeezed(40)
        for _ in range(7):
            sim.step()
        ways.append(sim.positions.copy())
    np.testing.assert_array_equal(*ways)


def test_some_work_is_needed():
    with pytest.raises(ic.IsoclothError, match="max_work"):
        ContactOptions(max_work=0)
