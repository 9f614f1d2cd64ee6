"""The work of a step is bounded, and what is returned then is finite, whole and reported."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.contact.options import ContactOptions
from isocloth.simulation.state import NO_WORK
from isocloth.simulation.steppers.work import median_work


def squeezed(**limits):
    """A folded strip between a floor and a plate that comes down faster than the layers can make way."""
    mesh = ic.meshes.rectangle(0.3, 0.1, shape=(13, 5))
    x = mesh.vertices.copy()
    angle = np.clip((x[:, 0] - 0.1) / 0.03, 0.0, np.pi)
    x[:, 0] = np.minimum(x[:, 0], 0.1) + 0.03 * np.sin(angle) - np.maximum(x[:, 0] - 0.1 - 0.03 * np.pi, 0.0)
    x[:, 2] = 0.03 * (1.0 - np.cos(angle)) + 0.001
    plate = ic.Box([0.1, 0.05, 0.17], [1, 1, 0.2], velocity=[0, 0, -1.0])
    return ic.Simulation(
        mesh.with_vertices(x), ic.Fabric(thickness=1e-3), rest=mesh, obstacles=[ic.Floor(), plate], self_collision=True,
        contact_options=ContactOptions(**limits),
    )  # fmt: skip


def test_a_step_ends_with_its_work():
    sim = squeezed(max_work=60)
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
        sim = squeezed(max_work=40)
        for _ in range(7):
            sim.step()
        ways.append(sim.positions.copy())
    np.testing.assert_array_equal(*ways)


def test_some_work_is_needed():
    with pytest.raises(ic.IsoclothError, match="max_work"):
        ContactOptions(max_work=0)


def test_a_step_may_take_fifty_times_the_median_of_those_before_and_no_less_than_an_impact_needs():
    options = ContactOptions()
    assert options.most_work(1.0) == options.least_work
    assert options.most_work(40.0) == options.least_work
    assert options.most_work(100.0) == 5000
    assert ContactOptions(least_work=60, work_ratio=10.0).most_work(7.0) == 70
    assert ContactOptions(max_work=300).most_work(40.0) == 300
    with pytest.raises(ic.IsoclothError, match="least_work"):
        ContactOptions(least_work=0)


@pytest.mark.parametrize("work", [[3], [1, 1, 5], [1, 2, 3, 4], [9, 1, 9, 1, 9], [70, 80, 2]])
def test_the_median_of_the_work_is_known_from_counts(work):
    counts = np.bincount(np.minimum(work, 63), minlength=64)
    assert median_work(counts) == min(int(np.quantile(work, 0.5, method="lower")), 63)
    assert median_work(NO_WORK) == 0


def test_the_work_of_steps_is_part_of_the_state_and_a_resumed_run_gives_up_the_same_ones():
    whole, first, second = (squeezed(least_work=20, work_ratio=2.0) for _ in range(3))
    said = [whole.step().problem for _ in range(9)]
    assert any("max_work" in problem for problem in said)
    assert whole.state.work.sum() == 9
    for _ in range(5):
        first.step()
    kept = type(first.state).from_dict(first.state.copy().to_dict())
    assert kept.work.sum() == 5
    second.state = kept
    assert [second.step().problem for _ in range(4)] == said[5:]
    np.testing.assert_array_equal(second.positions, whole.positions)
    np.testing.assert_array_equal(second.state.work, whole.state.work)
