"""Protocols by statics: shells on strips, stability counted, thresholds by eigenvalues, projective friction."""

import numpy as np
import pytest

import isocloth as ic
from isocloth import protocols
from isocloth.protocols.cantilever import needs_squares
from isocloth.protocols.strip import make_strip, material
from isocloth.protocols.upright import turn

VARIANTS = protocols.BY_VARIANT


@pytest.mark.parametrize("model", ["koiter", "koiter-sin", "woven", "discrete_shell"])
def test_a_shell_hangs_as_the_elastica_and_stays(model):
    verdict = protocols.cantilever(VARIANTS[model], gammas=[1.0, 10.0], elements=24)
    assert (verdict.unsolved, verdict.unstable) == (0, 0)
    # a discrete shell has an effective Poisson's ratio of its own, by which a narrow strip hangs lower
    assert verdict.worst < (0.3 if model == "discrete_shell" else 0.02), verdict.table()
    assert verdict.ok == (model != "discrete_shell")


def test_an_unstable_point_is_ko():
    x = np.array([1.0, 2.0])
    good = protocols.Verdict("cantilever", "koiter", "Gamma", "H/W", x, x, x, 0.02)
    bad = protocols.Verdict("cantilever", "koiter", "Gamma", "H/W", x, x, x, 0.02, unstable=1)
    assert (good.ok, bad.ok) == (True, False)
    assert "1 unstable" in bad.line()
    assert "the thesis: OK" in good.line()


def test_the_answer_does_not_depend_on_the_way_there():
    alone = protocols.cantilever("koiter", gammas=[300.0], elements=24, finest=0.1)
    followed = protocols.cantilever("koiter", gammas=[0.1, 3.0, 300.0], elements=24, finest=0.1)
    moved = protocols.cantilever("koiter", gammas=[300.0], elements=24, finest=0.1, solver=protocols.settle)
    assert followed.computed[-1] == pytest.approx(alone.computed[0], rel=1e-6)
    assert moved.computed[0] == pytest.approx(alone.computed[0], rel=1e-3)


def test_a_strip_that_curls_lies_between_a_sheet_and_a_beam():
    sheet, beam = protocols.bracket([0.1, 1.0], 0.3)
    assert beam / sheet == pytest.approx([1 / 0.91, 1 / 0.91], rel=0.01)
    verdict = protocols.cantilever(VARIANTS["koiter-tan"], gammas=[0.1, 1.0], elements=24, poisson=0.3)
    assert np.all(verdict.computed > 1.02 * sheet)
    assert np.all(verdict.computed < 1.02 * beam)


def test_stability_and_procedure_find_the_same_threshold():
    exact, walked = (
        protocols.lateral_buckling(widths=[0.5], elements=8, method=method) for method in ("stability", "procedure")
    )
    assert walked.computed == pytest.approx(exact.computed, rel=0.01)
    assert exact.worst < 0.05


def test_angles_of_edges_soften_a_strip_that_buckles():
    verdict = protocols.lateral_buckling(VARIANTS["koiter-tan"], widths=[0.5], elements=8)
    assert verdict.ok, verdict.table()


def test_a_strip_beyond_the_threshold_is_flat_and_unstable_or_buckled_and_stable():
    strip = make_strip(0.1, 0.05, 8, 4, element="alike")
    upright = strip.mesh.with_vertices(turn(strip.mesh.vertices, 0.0))
    model, fabric, _ = material(
        VARIANTS["koiter-tan"],
        rigidity=0.1 * 9.81 * 1e-3 / 35.0,
        thickness=6e-5,
        poisson=0.35,
        fabric=ic.Fabric(density=0.1),
    )
    problem = protocols.Problem(mesh=upright, rest=strip.mesh, model=model, fabric=fabric, held=strip.held)
    flat, buckled = (protocols.Follower(stable=stable)(problem) for stable in (False, True))
    assert flat.converged
    assert not flat.stable
    assert np.abs(flat.positions[:, 1]).max() < 1e-6
    assert buckled.stable
    assert abs(buckled.positions[strip.tip, 1].mean()) > 1e-3  # so few triangles lock: it ought to be ten times that


def test_the_second_derivative_with_angles_is_that_of_the_energy():
    """Its solution against differences of the gradient, which has the angles at least energy."""
    from isocloth.statics.polish import Polisher

    mesh = make_strip(0.1, 0.05, 5, 3, element="triangle").mesh
    x = mesh.vertices + 2e-3 * np.random.default_rng(1).standard_normal(mesh.vertices.shape)
    sim = ic.Simulation(mesh.with_vertices(x), ic.Fabric(density=0.1), model=VARIANTS["koiter-tan"], rest=mesh)
    held = mesh.vertices[:, 0] < 0.02
    solver = Polisher(sim.cloth, held)
    solver.potential.move(x)
    hessian = solver.hessian(solver.potential.tension, None)
    force = np.random.default_rng(2).standard_normal(x.shape) * ~held[:, None]
    way = hessian.solve_indefinite(force)
    size = 1e-7 / np.abs(way).max()
    gradients = []
    for sign in (1.0, -1.0):
        solver.potential.move(x + sign * size * way)
        gradients.append(solver.potential.gradient())
    found = (gradients[0] - gradients[1]) / (2.0 * size)
    assert found[~held] == pytest.approx(force[~held], abs=1e-4 * np.abs(force).max())


def test_the_rigidity_of_a_shell_that_is_named_so_can_be_continued_in():
    strip = make_strip(0.1, 0.02, 10, 2, element="triangle")
    shell = ic.models.DiscreteShell(stretch=50.0, bending=1e-4)
    hung = ic.equilibrium(strip.mesh, ic.Fabric(density=0.1), model=shell, held=strip.held)
    softer = hung.continued("bending", [5e-5])[0]
    direct = ic.equilibrium(
        strip.mesh, ic.Fabric(density=0.1), model=ic.models.DiscreteShell(stretch=50.0, bending=5e-5), held=strip.held
    )
    assert softer.positions == pytest.approx(direct.positions, abs=1e-7)
    assert softer.positions[strip.tip, 2].mean() < 1.1 * hung.positions[strip.tip, 2].mean()


def test_projective_friction_slips_near_the_master_curve():
    springs = ic.models.MassSpring(flexion=0.0)
    verdict = protocols.stick_slip(springs, solver="projective", frictions=[0.28071], elements=16, iterations=100)
    assert verdict.unsolved == 0
    assert verdict.worst < 0.06
    with pytest.raises(ValueError, match="expected 'newton' or 'projective'"):
        protocols.stick_slip(solver="guess")


def test_materials_of_shells_have_the_rigidity_and_the_membrane_of_their_thickness():
    rest = make_strip(0.1, 0.02, 10, 2, element="alike").mesh
    made = {
        name: material(VARIANTS[name], rigidity=1e-3, thickness=1e-4, poisson=0.3, fabric=ic.Fabric(), rest=rest)
        for name in ("koiter-sin", "woven", "discrete_shell")
    }
    koiter, woven, discrete = (made[name][0] for name in made)
    assert koiter.rigidity == pytest.approx(1e-3)
    assert koiter.normals == "sin"
    assert woven.bending == pytest.approx(1e-3)
    assert woven.warp == pytest.approx(12 * 1e-3 / 1e-8)
    assert discrete.bending == pytest.approx(1e-3 / 3)
    assert discrete.stretch == pytest.approx(woven.warp * rest.edge_lengths.mean() * np.sqrt(3) / 2)
    assert [poisson for _, _, poisson in made.values()] == [0.3, 0.0, 0.0]
    assert [needs_squares(VARIANTS[name]) for name in ("koiter", "koiter-tan", "isometric")] == [False, True, False]


def test_a_way_to_a_threshold_that_a_model_has_not_is_refused():
    with pytest.raises(ValueError, match="method = 'stability'"):
        protocols.lateral_buckling("nonconforming", method="stability", widths=[0.5])
