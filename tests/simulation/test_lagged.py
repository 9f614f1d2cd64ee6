"""The papers' friction in the simulation: what it does right, what it does wrong, and who solves its problems."""

import numpy as np
import pytest
from slope import NORMAL, TILT, UPHILL, sheet_on_slope

import isocloth as ic
from isocloth.friction.active_set import solve_active_set
from isocloth.friction.contact_qp import ContactQP


def test_it_slides_with_the_acceleration_of_coulomb_friction_and_says_how_well_the_law_is_met():
    sim, plane = sheet_on_slope("lagged", 0.2)
    reports = [sim.step() for _ in range(20)]
    before = sim.velocities.mean(axis=0) @ UPHILL
    reports += [sim.step() for _ in range(20)]
    found = (before - sim.velocities.mean(axis=0) @ UPHILL) / 0.2
    assert found == pytest.approx(9.81 * (np.sin(TILT) - 0.2 * np.cos(TILT)), rel=1e-6)
    assert all(r.converged and r.substeps == 1 for r in reports)
    assert max(r.friction_residual for r in reports) < 1e-6
    assert reports[-1].contacts == 25
    weight = sim.fabric.density * 0.2**2 * 9.81
    assert plane.force @ NORMAL == pytest.approx(-weight * np.cos(TILT), rel=1e-6)


def test_what_should_stick_is_pushed_uphill_and_the_residual_tells():
    sim, _ = sheet_on_slope("lagged", 1.1 * np.tan(TILT))
    start = sim.positions.copy()
    reports = [sim.step() for _ in range(50)]
    assert np.abs(sim.positions - start).max() > 1e-4  # ours: less than a micrometre
    assert max(r.friction_residual for r in reports) > 0.05
    assert all(r.converged for r in reports)


@pytest.mark.parametrize("library", ["clarabel", "piqp"])
def test_solvers_from_libraries_lead_to_the_same_motion(library):
    pytest.importorskip(library)
    sims = [sheet_on_slope("lagged", 0.2, contact_solver=solver)[0] for solver in ("active_set", library)]
    for _ in range(20):
        for sim in sims:
            assert sim.step().converged
    assert sims[1].positions == pytest.approx(sims[0].positions, abs=1e-7)


def test_a_cloth_with_layers_falls_on_a_sphere():
    mesh = ic.meshes.rectangle(0.5, 0.5, shape=(7, 7)).transformed(translation=[-0.2, -0.25, 0.21])
    obstacles = [ic.Sphere([0, 0, 0.1], 0.1, friction=0.4), ic.Floor(friction=0.3)]
    fabric = ic.Fabric(density=0.2)
    sim = ic.Simulation(mesh, fabric, obstacles=obstacles, self_collision=True, contact="lagged")
    reports = [sim.step() for _ in range(40)]
    assert max(r.contacts for r in reports) > 5
    assert min(r.min_gap for r in reports) > -0.1 * fabric.thickness
    assert np.mean([r.converged for r in reports]) > 0.9
    assert np.isfinite(sim.positions).all()


def test_a_run_resumed_from_a_state_has_the_same_bits():
    sim, _ = sheet_on_slope("lagged", 0.3)
    for _ in range(5):
        sim.step()
    saved = sim.state.copy()
    for _ in range(5):
        sim.step()
    end = sim.positions.copy()
    sim.state = saved
    for _ in range(5):
        sim.step()
    assert np.array_equal(sim.positions, end)


def test_bad_choices_are_named():
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(3, 3))
    with pytest.raises(ValueError, match="contact 'penalty' is unknown; choose one of coulomb, lagged, gauss_seidel"):
        ic.Simulation(mesh, contact="penalty")
    with pytest.raises(ValueError, match="contact solver 'osqp' is unknown; choose one of active_set"):
        ic.Simulation(mesh, contact="lagged", contact_solver="osqp")
    with pytest.raises(ValueError, match="goes with contact='lagged'"):
        ic.Simulation(mesh, contact_solver="active_set")


def test_a_missing_library_is_named_at_once(monkeypatch):
    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr("isocloth.friction.library_qp.import_module", missing)
    with pytest.raises(ImportError, match=r"isocloth\[contact\]"):
        ic.Simulation(ic.meshes.rectangle(0.2, 0.2, shape=(3, 3)), contact="lagged", contact_solver="piqp")


@pytest.mark.parametrize("contact", ["coulomb", "lagged"])
def test_contact_problems_are_recorded_and_saved(contact, tmp_path):
    mesh = ic.meshes.rectangle(0.2, 0.2, shape=(4, 4)).transformed(translation=[0, 0, 0.001])
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), obstacles=[ic.Floor()], contact=contact)
    problems = []
    sim.record_contact(problems.append)
    for _ in range(5):
        sim.step()
    count = len(problems)
    assert count >= 3
    sim.record_contact(None)
    sim.step()
    assert len(problems) == count
    problems[-1].save(tmp_path / "problem.npz")
    again = ContactQP.load(tmp_path / "problem.npz")
    answer = solve_active_set(again)
    assert answer.converged
    # a sheet at rest: the floor carries its weight
    assert answer.multipliers.sum() == pytest.approx(sim.fabric.density * 0.2**2 * 9.81, rel=1e-3)


def test_without_contact_there_is_nothing_to_record():
    sim = ic.Simulation(ic.meshes.rectangle(0.2, 0.2, shape=(3, 3)))
    with pytest.raises(ValueError, match="no contact to record"):
        sim.record_contact(print)
