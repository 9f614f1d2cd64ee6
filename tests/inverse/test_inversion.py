"""`ic.invert`: known rest shapes come back, targets stay, and what cannot be is told."""

import numpy as np
import pytest
from small_targets import bowl, strip

import isocloth as ic
from isocloth.inverse.rest_forces import RestForces

SHELL = ic.models.DiscreteShell(stretch=50.0, bending=5e-2)
HEAVY = ic.Fabric(density=0.5)


def distances(points):
    return np.linalg.norm(points[:, None] - points[None], axis=2)


def test_two_triangles_come_back_flat():
    """The thesis' bitriangle: with masses that follow the rest shape it is the square again, to rounding."""
    flat = ic.Mesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.0]], [[0, 1, 2], [0, 2, 3]])
    hung = ic.equilibrium(flat, HEAVY, model=SHELL, held=[0, 1, 2])
    assert np.abs(hung.positions - flat.vertices).max() > 0.1
    found = ic.invert(hung.mesh, HEAVY, model=SHELL, held=[0, 1, 2])
    assert found.reached
    assert found.stable
    np.testing.assert_allclose(distances(found.rest.vertices), distances(flat.vertices), atol=1e-12)
    # masses of the target, which is larger, in place of those of the rest shape
    forces = RestForces(hung.mesh, SHELL, 0.5, 9.81)
    wrong = forces.weight(hung.positions) - forces.weight(flat.vertices)
    assert np.abs(wrong).max() > 1e-3 * np.abs(forces.weight(flat.vertices)).max()


@pytest.mark.parametrize("model", [
    ic.models.DiscreteShell(stretch=20.0, bending=2e-3, area=5.0),
    ic.models.KoiterShell(young=1e6, poisson=0.3, thickness=1e-3),
], ids=["discrete", "koiter"])  # fmt: skip
def test_the_forces_have_the_derivatives_they_say(model):
    target, _ = strip(6)
    rng = np.random.default_rng(0)
    forces = RestForces(target, model, 0.2, 9.81)
    points = target.vertices + 2e-3 * rng.normal(size=target.vertices.shape)
    way = rng.normal(size=points.shape)
    h = 1e-6
    numeric = (forces(points + h * way) - forces(points - h * way)) / (2 * h)
    exact = (forces.derivative(points) @ way.ravel()).reshape(-1, 3)
    assert np.abs(numeric - exact).max() < 1e-6 * np.abs(exact).max()


def test_a_wavy_strip_keeps_its_wave_where_a_naive_one_sags():
    target, edge = strip()
    fabric, paper = ic.Fabric(density=0.2), ic.models.DiscreteShell(stretch=50.0, bending=5e-3)
    found = ic.invert(target, fabric, model=paper, held=edge)
    assert found.reached
    assert found.problem == ""
    assert found.target_error < 1e-18
    assert found.friction_error < 1e-18
    naive = ic.equilibrium(target, fabric, model=paper, held=edge)
    assert np.abs(naive.positions - target.vertices).max() > 0.02
    sim = found.simulation()
    for _ in range(30):
        assert sim.step().converged
    assert np.abs(sim.positions - target.vertices).max() < 1e-9
    weight = 9.81 * 0.2 * found.rest.area
    assert found.contact_forces[:, 2].sum() == pytest.approx(weight, rel=1e-9)
    assert found.stretch.shape == (len(target.edges),)
    assert np.abs(found.bend).max() > 0.01


def test_on_a_ball_forces_are_in_their_cones_and_the_cloth_stays():
    target, ball, fabric = bowl()
    found = ic.invert(target, fabric, model=ic.models.DiscreteShell(stretch=5.0, bending=1e-3), obstacles=[ball])
    assert found.reached
    assert found.stable
    assert found.target_error < 1e-18
    assert found.friction_error < 1e-18
    # centres of faces lie inside the ball where nodes are on it, by about a sixth of a side squared over the diameter
    longest = target.edge_lengths.max()
    assert np.abs(found.target.vertices - target.vertices).max() < longest**2 / (2 * 0.1)
    sim = ic.Simulation(found.target, fabric, model=found.equilibrium._problem.model, rest=found.rest, obstacles=[ball])
    for _ in range(30):
        assert sim.step().converged
    assert np.abs(sim.positions - found.target.vertices).max() < 0.02 * fabric.thickness  # what contacts yield


def test_a_cloth_that_is_too_soft_is_told_which_weight_it_bears():
    target, edge = strip(wave=0.04)
    found = ic.invert(
        target, ic.Fabric(density=5.0), model=ic.models.DiscreteShell(stretch=2.0, bending=1e-5), held=edge
    )
    assert not found.reached
    assert not found.stable
    assert 0.0 <= found.load_reached < 1.0
    assert "soft" in found.problem


def test_what_cannot_be_reached_has_a_nearest_shape_that_the_cloth_takes():
    target, edge = strip(nodes=13, wave=0.03)
    fabric, soft = ic.Fabric(density=0.2), ic.models.DiscreteShell(stretch=30.0, bending=1e-3)
    found = ic.invert(target, fabric, model=soft, held=edge)
    assert not found.reached
    naive = ic.equilibrium(target, fabric, model=soft, held=edge)
    sagged = 0.5 * np.sum((naive.positions - target.vertices) ** 2)
    assert found.target_error < 0.05 * sagged
    assert found.equilibrium.converged
    assert found.equilibrium.stable
    assert found.friction_error < 1e-12
    sim = found.simulation()
    for _ in range(20):
        assert sim.step().converged
    assert np.abs(sim.positions - found.positions).max() < 1e-6


def test_a_ball_without_friction_does_not_carry_a_cap_that_leans():
    target, _, fabric = bowl()
    lean = np.radians(25)
    turn = [[np.cos(lean), 0, np.sin(lean)], [0, 1, 0], [-np.sin(lean), 0, np.cos(lean)]]
    smooth = ic.Sphere([0, 0, 0], 0.1, friction=0.0)
    found = ic.invert(target.transformed(rotation=turn), fabric, obstacles=[smooth])
    assert not found.reached
    assert "friction" in found.problem


def test_bad_inputs_are_named():
    target, edge = strip()
    quads = ic.meshes.rectangle(1, 1, (3, 3))
    with pytest.raises(ic.MeshError, match="triangles"):
        ic.invert(quads, held=[0, 1])
    with pytest.raises(ic.IsoclothError, match="rest shape"):
        ic.invert(target, model="isometric", held=edge)
    with pytest.raises(ic.ConvergenceError, match="nothing holds"):
        ic.invert(target)
    with pytest.raises(ic.ConvergenceError, match="touches nothing"):
        ic.invert(target, obstacles=[ic.Floor(-1.0)])
    with pytest.raises(ic.ConvergenceError, match="node 0 alone"):
        ic.invert(target, held=[0])
    with pytest.raises(ic.IsoclothError, match="margin"):
        ic.invert(target, held=edge, margin=2.0)
    with pytest.raises(ic.IsoclothError, match="gravity"):
        ic.invert(target, held=edge, gravity=0.0)
    with pytest.raises(ic.IsoclothError, match="weight"):
        ic.invert(target, ic.Fabric(gravity_density=0.0), held=edge)
    with pytest.raises(ic.IsoclothError, match="normals = 'tan'"):
        ic.invert(target, model=ic.models.KoiterShell(normals="tan"), held=edge)
    with pytest.raises(ic.IsoclothError, match="too near"):
        ic.invert(target, obstacles=[ic.Floor(target.vertices[:, 2].min())])


def test_a_sheet_that_lies_on_another_is_carried_by_it():
    """Two pieces: the lower one on a floor, an arched one on it, with friction between them."""
    thickness = 1e-3
    lower = ic.meshes.rectangle(0.2, 0.1, (12, 6), element="triangle")
    lower = lower.transformed(translation=[0.0, 0.0, thickness / 2])
    upper = ic.meshes.rectangle(0.12, 0.06, (9, 5), element="triangle")
    arch = 0.01 * np.sin(np.pi * np.clip((upper.vertices[:, 0] / 0.12 - 0.25) / 0.5, 0, 1)) ** 2
    lifted = upper.vertices + np.stack([0 * arch, 0 * arch, arch], axis=1)
    upper = upper.with_vertices(lifted).transformed(translation=[0.04, 0.02, 1.5 * thickness])
    both, fabric = ic.meshes.together([lower, upper]), ic.Fabric(density=0.3, thickness=thickness, friction=0.5)
    shell = ic.models.DiscreteShell(stretch=20.0, bending=1e-3)
    found = ic.invert(both, fabric, model=shell, obstacles=[ic.Floor(friction=0.5)], self_collision=True)
    assert found.reached
    assert found.target_error < 1e-18
    assert found.friction_error < 1e-18
    layers = found.pushes.body == 0
    own = (both.piece[found._carried.supports.nodes] == 1) & (found._carried.supports.weights != 0.0)
    share = np.where(own, found._carried.supports.weights, 0.0).sum(axis=1)
    lift = (share[layers, None] * found.pushes.forces[layers]).sum(axis=0)
    weight = 9.81 * 0.3 * found.rest.face_areas[both.piece[both.faces[:, 0]] == 1].sum()
    np.testing.assert_allclose(lift, [0.0, 0.0, weight], atol=1e-9 * weight)
    sim = found.simulation()
    begin = sim.positions.copy()
    for _ in range(20):
        assert sim.step().converged
    assert np.abs(sim.positions - begin).max() < 1e-6
