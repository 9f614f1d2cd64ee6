"""The descent within a linearisation, against sparse matrices assembled apart."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.solvers.contact_newton import ContactNewton


def fallen(steps, *, bending=0.0, friction=0.5):
    """A sheet on its way down over a ball, layers and all."""
    mesh = ic.meshes.rectangle(0.5, 0.5, shape=(9, 9))
    above = mesh.with_vertices(mesh.vertices + np.array([-0.2, -0.25, 0.11]))
    sim = ic.Simulation(
        above, ic.Fabric(density=0.2, damping=0.4, bending=bending, friction=0.3), rest=mesh,
        obstacles=[ic.Sphere([0.0, 0.0, 0.0], 0.1, friction=friction), ic.Floor(-0.12, friction=friction)],
        self_collision=True,
    )  # fmt: skip
    return sim, [sim.step() for _ in range(steps)]


def test_the_cloth_of_every_linearisation_is_balanced_with_the_forces_it_is_left_with(monkeypatch):
    sim, _ = fallen(1)
    solver = sim.stepper.contact
    solve, seen = ContactNewton._solve_linearised, []

    def watched(self, step, lam, contacts, law, curvature, *rest):
        spent = solve(self, step, lam, contacts, law, curvature, *rest)
        if spent[0] > 0 and len(contacts.gap):
            matrix, g = solver.linearised.at(step, solver.newton.work, lam, curvature)
            d = solver.newton.work.solution[: 3 * len(step.held)]
            balance = (matrix @ d + g).reshape(-1, 3)
            np.subtract.at(balance, contacts.nodes.ravel(),
                           (contacts.weights[:, :, None] * law.force[:, None, :]).reshape(-1, 3))  # fmt: skip
            free = ~step.held
            seen.append(np.abs(balance[free]).max() / np.abs(g).max())
        return spent

    monkeypatch.setattr(ContactNewton, "_solve_linearised", watched)
    for _ in range(45):
        assert sim.step().converged
    assert len(seen) > 45
    assert max(seen) < 1e-8


def test_a_sheet_which_slides_steadily_needs_one_factorisation_and_obeys_the_law():
    mesh = ic.meshes.rectangle(0.4, 0.4, shape=(7, 7))
    angle = np.deg2rad(30.0)
    normal = np.array([-np.sin(angle), 0.0, np.cos(angle)])
    turned = mesh.vertices @ np.array([[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], normal]) + 5e-4 * normal
    slope = ic.Plane([0.0, 0.0, 0.0], normal, friction=0.3)
    sim = ic.Simulation(mesh.with_vertices(turned), ic.Fabric(density=0.2), rest=mesh, obstacles=[slope])
    reports = [sim.step() for _ in range(30)][5:]
    assert max(r.iterations for r in reports) == 1
    assert max(r.friction_residual for r in reports[5:]) < 1e-6


def test_bending_within_elements_adds_nothing_to_what_the_tolerances_leave():
    mesh = ic.meshes.rectangle(0.4, 0.6, shape=(9, 13))
    ends = []
    for options in (ic.NewtonOptions(), ic.NewtonOptions(soft_bending=0.0), ic.TIGHT):
        sim = ic.Simulation(mesh, ic.Fabric(density=0.2, damping=0.2, bending=1e-4), solver_options=options)
        assert sim.solver.soft == (options.soft_bending > 0.0)
        sim.grasp(mesh.corners[:2])
        assert all(sim.step().converged for _ in range(30))
        ends.append(sim.positions)
    soft, whole = (np.linalg.norm(end - ends[2], axis=1).mean() for end in ends[:2])
    assert whole < 3e-3
    assert soft < 1.3 * whole


@pytest.mark.parametrize("surrounded", [False, True])
def test_a_longer_timestep_brings_all_of_bending_back(surrounded):
    mesh = ic.meshes.rectangle(0.4, 0.4, shape=(9, 9))
    obstacles = [ic.Floor(-1.0)] if surrounded else []
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2, bending=1e-4), timestep=2e-3, obstacles=obstacles)
    sim.grasp([0, 8])
    assert sim.solver.soft
    assert sim.step().converged
    sim.timestep = 2e-2
    assert not sim.solver.soft
    assert sim.step().converged
