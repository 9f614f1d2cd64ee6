"""contact="gauss_seidel": slopes, layers, jaws, certificates; and its linearisations by the default law as well."""

import numpy as np
import pytest
from slope import NORMAL, TILT, UPHILL, sheet_on_slope

import isocloth as ic
from isocloth.contact.options import ContactOptions
from validation.both_laws import watched


def drape(contact, **options):
    mesh = ic.meshes.rectangle(0.5, 0.5, shape=(7, 7)).transformed(translation=[-0.2, -0.25, 0.21])
    obstacles = [ic.Sphere([0, 0, 0.1], 0.1, friction=0.4), ic.Floor(friction=0.3)]
    fabric = ic.Fabric(density=0.2)
    return ic.Simulation(mesh, fabric, obstacles=obstacles, self_collision=True, contact=contact, **options)


def test_it_slides_with_the_acceleration_of_coulomb_friction():
    sim, plane = sheet_on_slope("gauss_seidel", 0.2)
    reports = [sim.step() for _ in range(10)]
    before = sim.velocities.mean(axis=0) @ UPHILL
    reports += [sim.step() for _ in range(10)]
    found = (before - sim.velocities.mean(axis=0) @ UPHILL) / 0.1
    assert found == pytest.approx(9.81 * (np.sin(TILT) - 0.2 * np.cos(TILT)), rel=1e-6)
    assert all(r.converged and r.sweeps >= 1 for r in reports)
    assert max(r.friction_residual for r in reports) < 1e-6
    weight = sim.fabric.density * 0.2**2 * 9.81
    assert plane.force @ NORMAL == pytest.approx(-weight * np.cos(TILT), rel=1e-6)


def test_what_sticks_does_not_move():
    sim, _ = sheet_on_slope("gauss_seidel", 1.01 * np.tan(TILT))
    start = sim.positions.copy()
    assert all(sim.step().converged for _ in range(30))
    assert np.abs(sim.positions - start).max() < 1e-8


def test_a_cloth_with_layers_falls_on_a_sphere():
    sim = drape("gauss_seidel")
    reports = [sim.step() for _ in range(40)]
    assert all(r.converged for r in reports)
    assert max(r.contacts for r in reports) > 5
    assert min(r.min_gap for r in reports) > -0.02 * sim.fabric.thickness  # a fifth of what is accepted
    assert max(r.friction_residual for r in reports) < 1e-2


def test_whole_steps_with_an_impact_end_where_those_of_the_default_law_end():
    """Without the tolerances of every day: hard springs, tight Newton, no loosening."""
    law = ContactOptions(friction=1e-6, friction_loosened=(), sliding=1e-6, loaded=1e-6, stiffness=1e6)
    newton = ic.NewtonOptions(force=0.0, force_floor=1e-6, strain_gap=1e-9, max_iterations=60)
    sims = [drape(contact, contact_options=law, solver_options=newton) for contact in ("coulomb", "gauss_seidel")]
    for _ in range(10):
        reports = [sim.step() for sim in sims]
        assert all(r.converged for r in reports)
    assert reports[1].contacts == reports[0].contacts > 1
    assert np.abs(sims[1].positions - sims[0].positions).max() < 1e-7
    assert np.abs(sims[1].velocities - sims[0].velocities).max() < 1e-5


def test_both_laws_agree_on_linearisations_with_friction():
    sim = drape("gauss_seidel")
    both = watched(sim, every=2)
    for _ in range(30):
        sim.step()
    lawful = [c for c in both.compared if c.law < 1e-9]
    assert len(lawful) > 10
    assert max(c.contacts for c in lawful) > 4
    assert all(c.exact.converged for c in both.compared)
    assert max(c.displacements for c in lawful) < 1e-6
    assert max(c.forces for c in lawful if c.law + c.exact.error < 1e-7 * c.smallest) < 1e-6


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_jaws_bear_what_their_friction_bears(share):
    flat = ic.meshes.rectangle(0.3, 0.4, shape=(5, 5))
    x, y, _ = flat.vertices.T
    mesh = flat.with_vertices(np.stack([x, 0 * x, y - 0.4], axis=1))
    fabric = ic.Fabric(density=0.2)
    weight = fabric.density * 0.3 * 0.4 * 9.81
    sim = ic.Simulation(mesh, fabric, rest=flat, contact="gauss_seidel")
    sim.pinch([0.15, 0.0, -0.05], [0.16, 0.02, 0.12], normal=[0, 1, 0], force=share * weight / (2 * 0.5), friction=0.5)
    reports = [sim.step() for _ in range(10)]
    assert all(r.converged for r in reports)
    fallen = mesh.vertices[:, 2].mean() - sim.positions[:, 2].mean()
    free = 0.5 * (1.0 - share) * 9.81 * 0.1**2
    if share > 1.0:
        assert abs(fallen) < 1e-4
    else:
        assert fallen == pytest.approx(free, rel=0.15)


def test_a_law_that_is_not_met_is_not_converged_and_says_so():
    options = ContactOptions(friction=1e-15, friction_loosened=(), max_work=60)
    sim = drape("gauss_seidel", contact_options=options)
    with pytest.warns(ic.ConvergenceWarning):
        sim.run(0.12)


def test_a_run_resumed_from_a_state_has_the_same_bits():
    sim = drape("gauss_seidel")
    for _ in range(8):
        sim.step()
    saved = sim.state.copy()
    for _ in range(3):
        sim.step()
    end = sim.positions.copy()
    sim.state = saved
    for _ in range(3):
        sim.step()
    assert np.array_equal(sim.positions, end)
