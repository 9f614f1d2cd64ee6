"""Simulations of elastic shells: closed forms, rest shapes, contact, checkpoints, and what is refused."""

import warnings

import numpy as np
import pytest
from continued import assert_continues_with_the_same_bits

import isocloth as ic
from isocloth.base.errors import FabricError, InputError, InputTypeError, MeshError
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.term import total_energy

GRAVITY = 9.81
SHELLS = {
    "discrete": ic.models.DiscreteShell.from_rigidity(2e-5, stretch=10.0),
    "discrete with areas": ic.models.DiscreteShell(stretch=5.0, area=200.0),
    "koiter average": ic.models.KoiterShell(),
    "koiter sin": ic.models.KoiterShell(normals="sin"),
    "koiter tan": ic.models.KoiterShell(normals="tan"),
    "neo-hookean": ic.models.KoiterShell(membrane="neo-hookean"),
    "woven": ic.models.WovenShell(),
}


def sheet(n=9, size=0.2):
    return ic.meshes.rectangle(size, size, shape=(n, n), element="triangle")


def total(model, mesh, x):
    return sum(total_energy(term, x) for term in model.energies(RestShape.of(mesh)))


@pytest.mark.parametrize("name", SHELLS)
def test_the_energy_of_a_simulation_is_that_of_the_terms_and_of_gravity(name):
    mesh = sheet(6)
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), model=SHELLS[name])
    x = mesh.vertices + 0.004 * np.random.default_rng(1).standard_normal(mesh.vertices.shape)
    sim.positions = x
    weight = 0.2 * GRAVITY * np.sum(sim.cloth.area * x[:, 2])
    assert sim.energy["potential"] - weight == pytest.approx(total(SHELLS[name], mesh, x), rel=1e-6)


@pytest.mark.parametrize("name", SHELLS)
def test_a_shell_hangs_touches_a_sphere_and_keeps_its_certificate(name):
    mesh = sheet()
    start = mesh.transformed(translation=[-0.1, -0.1, 0.0508])
    ball = ic.Sphere([0.0, 0.0, 0.0], 0.05)
    sim = ic.Simulation(
        start, ic.Fabric(density=0.2, damping=2.0, bending_damping=1e-6), model=SHELLS[name], rest=mesh,
        obstacles=[ball], self_collision=True,
    )  # fmt: skip
    reports = [sim.step() for _ in range(60)]
    assert all(r.converged for r in reports)
    assert min(r.min_gap for r in reports) > -1e-4
    assert 1e-4 < max(r.isometry_error for r in reports) < 0.2
    # what moves slowly is carried
    assert sim.force_on(ball)[2] == pytest.approx(-0.2 * GRAVITY * 0.04, rel=0.25)


def test_a_gripper_holds_a_shell_by_friction():
    flat = sheet(7)
    hung = flat.with_vertices(flat.vertices[:, [0, 2, 1]] * [1, 1, -1])
    model = ic.models.KoiterShell(normals="tan")
    sim = ic.Simulation(hung, ic.Fabric(density=0.2, damping=4.0), model=model, rest=flat)
    jaws = sim.pinch([0.1, 0.0, 0.0], [0.22, 0.02, 0.02], normal=[0.0, 1.0, 0.0], force=1.0, friction=0.5)
    for _ in range(60):
        report = sim.step()
    assert report.converged
    assert report.forces[jaws].force[2] == pytest.approx(-0.2 * GRAVITY * 0.04, rel=5e-2)
    assert np.abs(jaws.slip).max() < 1e-4


@pytest.mark.parametrize("normals", ["average", "tan"])
def test_a_clamped_strip_hangs_as_the_heavy_elastica_does(normals):
    """Gamma = rho g L^3 / D = 10: the tip is 1.0668 as far below the clamp as away from it."""
    along, across, free = 24, 3, 0.24
    quads = ic.meshes.rectangle(0.25, 0.03, shape=(along + 2, across + 1))
    # diagonals that alternate from row to row, so that a strip does not twist
    odd = np.rint(quads.vertices[quads.faces].mean(axis=1)[:, 1] / 0.01 - 0.5) % 2 == 1
    faces = np.where(odd[:, None], np.roll(quads.faces, 1, axis=1), quads.faces)
    mesh = ic.Mesh(quads.vertices, np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]]))
    length = free + 0.005  # from the middle of the held squares
    rigidity = 0.2 * GRAVITY * length**3 / 10.0
    thickness = 1e-3
    model = ic.models.KoiterShell(young=12 * rigidity / thickness**3, poisson=0.0, thickness=thickness, normals=normals)
    fabric = ic.Fabric(density=0.2, damping=0.2 * 8.0)
    sim = ic.Simulation(mesh, fabric, model=model, integrator="euler", timestep=0.02)
    sim.grasp(np.flatnonzero(mesh.vertices[:, 0] < 0.0101))
    for _ in range(150):
        report = sim.step()
    assert report.converged
    assert np.abs(sim.velocities).max() < 1e-3
    x, _, z = sim.positions[mesh.vertices[:, 0] > 0.2499].mean(axis=0)
    assert -z / (x - 0.005) == pytest.approx(1.0668, rel=2e-2)


def test_grasps_hold_a_shell_by_its_weight():
    flat = sheet(7)
    hung = flat.with_vertices(flat.vertices[:, [0, 2, 1]] * [1, 1, -1])
    sim = ic.Simulation(hung, ic.Fabric(density=0.2, damping=4.0), model=ic.models.KoiterShell(), rest=flat)
    grasp = sim.grasp(np.flatnonzero(hung.vertices[:, 2] == 0.0))
    for _ in range(120):
        report = sim.step()
    assert report.converged
    assert report.forces[grasp].force[2] == pytest.approx(-0.2 * GRAVITY * 0.04, rel=1e-2)


def test_a_strip_is_as_long_under_its_own_weight_as_its_modulus_says():
    flat = ic.meshes.rectangle(0.05, 0.5, (4, 31), element="triangle")
    x, y, _ = flat.vertices.T
    mesh = flat.with_vertices(np.stack([x, 0 * x, -y], axis=1))
    model = ic.models.KoiterShell(young=4e5, poisson=0.0, thickness=5e-4)
    sim = ic.Simulation(mesh, ic.Fabric(density=0.3, damping=6.0), model=model, solver_options=ic.TIGHT, timestep=0.02)
    sim.grasp(np.flatnonzero(mesh.vertices[:, 2] == 0.0))
    for _ in range(100):
        sim.step()
    low = mesh.vertices[:, 2] < -0.4999
    # Green's strain e of a thread: stress (1 + 2 e)^(1/2) E h e is what hangs on it
    depth = np.linspace(0.0, 0.5, 401)
    load = 0.3 * GRAVITY * (0.5 - depth) / 200.0
    stretch = 1.0 + load
    for _ in range(20):  # l (l^2 - 1) / 2 = load
        stretch -= (stretch * (stretch**2 - 1) / 2 - load) / ((3 * stretch**2 - 1) / 2)
    expected = np.trapezoid(stretch, depth)
    assert -sim.positions[low, 2].mean() == pytest.approx(expected, rel=1e-4)


def on_cylinder(flat, radius):
    v = flat.vertices
    return flat.with_vertices(
        np.stack([radius * np.sin(v[:, 0] / radius), v[:, 1], radius * np.cos(v[:, 0] / radius)], 1)
    )


@pytest.mark.parametrize("name", ["discrete", "koiter average", "koiter tan", "woven"])
def test_a_shell_returns_to_its_curved_rest_shape(name):
    flat = sheet(8)
    rest = on_cylinder(flat, 0.1)
    sim = ic.Simulation(flat, ic.Fabric(density=0.1, damping=1.0), model=SHELLS[name], rest=rest, gravity=0.0)
    before = sim.energy["potential"]
    for _ in range(200):
        report = sim.step()
        assert report.converged
    assert before > 0.0
    assert sim.energy["potential"] < 1e-3 * before
    assert report.residuals["edge_stretch"] < 2e-3


def test_corners_of_its_own_for_every_face_are_a_rest_shape():
    flat = sheet(6)
    rest = on_cylinder(flat, 0.1)
    model, fabric = ic.models.KoiterShell(), ic.Fabric(density=0.1)
    whole = ic.Simulation(flat, fabric, model=model, rest=rest)
    cut = ic.Simulation(flat, fabric, model=model, rest=rest.vertices[flat.faces])
    for _ in range(5):
        one, other = whole.step(), cut.step()
    np.testing.assert_allclose(cut.positions, whole.positions, atol=1e-9)
    assert other.isometry_error == pytest.approx(one.isometry_error, rel=1e-6)
    assert other.area_error == pytest.approx(one.area_error, rel=1e-6)
    assert other.residuals["edge_stretch"] == pytest.approx(one.residuals["edge_stretch"], rel=1e-6)


def test_a_pattern_of_separate_panels_pulls_its_seams_together():
    """Each face a tenth smaller than the mesh wants it, and away from the others: the sheet shrinks, and stays flat."""
    flat = sheet(6)
    corners = 0.9 * flat.vertices[flat.faces] + 0.01 * np.arange(flat.n_faces)[:, None, None] * [1.0, 0.0, 0.0]
    sim = ic.Simulation(
        flat, ic.Fabric(density=0.1, damping=2.0), model=ic.models.KoiterShell(), rest=corners, gravity=0.0
    )
    for _ in range(150):
        report = sim.step()
    assert np.ptp(sim.positions[:, 0]) == pytest.approx(0.18, rel=1e-3)
    assert report.residuals["edge_stretch"] < 1e-3
    assert sim.cloth.area.sum() == pytest.approx(0.81 * flat.area)


@pytest.mark.parametrize("name", ["discrete", "koiter tan", "neo-hookean"])
def test_a_saved_state_continues_with_the_same_bits(name):
    mesh = sheet(6)

    def begin():
        sim = ic.Simulation(mesh, ic.Fabric(density=0.2, bending_damping=1e-6), model=SHELLS[name])
        sim.grasp(mesh.corners[:2])
        return sim

    assert_continues_with_the_same_bits(begin, 5)


def test_a_run_is_resumed_from_its_checkpoint_and_refuses_that_of_another_rest_shape(tmp_path):
    mesh = sheet(5)
    corners = mesh.vertices[mesh.faces]

    def begin(scale):
        return ic.Simulation(mesh, ic.Fabric(density=0.2), model="koiter", rest=scale * corners)

    file = tmp_path / "run.ckpt"
    whole = begin(1.0).run(0.1, checkpoint=file, keep_checkpoint=True)
    again = begin(1.0).run(0.1, checkpoint=file, keep_checkpoint=True)
    np.testing.assert_array_equal(again.positions, whole.positions)
    with pytest.raises(InputError):
        begin(0.99).run(0.1, checkpoint=file)


def test_bending_viscosity_slows_a_shell_down():
    flat = sheet(7)
    rest = on_cylinder(flat, 0.1)
    left = []
    for viscosity in (0.0, 1e-4):
        sim = ic.Simulation(
            flat, ic.Fabric(density=0.1, bending_damping=viscosity), model="koiter", rest=rest, gravity=0.0
        )
        for _ in range(5):
            sim.step()
        left.append(sim.energy["kinetic"])
    assert left[1] < 0.2 * left[0]


# What is refused


def test_a_fabric_that_bends_or_shears_by_itself_is_refused():
    for fabric, name in ((ic.Fabric(bending=1e-4), "bending"), (ic.Fabric(shear=10.0), "shear")):
        with pytest.raises(FabricError, match=f"Fabric.{name}.*leave {name} out"):
            ic.Simulation(sheet(), fabric, model="koiter")
    ic.Simulation(sheet(), model="koiter")  # without a fabric it works


@pytest.mark.parametrize("wrong", [
    lambda: ic.models.KoiterShell(young=-1.0), lambda: ic.models.KoiterShell(poisson=0.6),
    lambda: ic.models.KoiterShell(thickness=0.0), lambda: ic.models.DiscreteShell(stretch=0.0),
    lambda: ic.models.DiscreteShell.from_rigidity(-1.0), lambda: ic.models.WovenShell(warp=10.0, weft=1e4, poisson=0.5),
])  # fmt: skip
def test_parameters_out_of_range_are_refused(wrong):
    with pytest.raises(FabricError, match="expected"):
        wrong()


def test_names_and_types_that_are_unknown_are_refused():
    with pytest.raises(InputError, match="average, sin, tan"):
        ic.models.KoiterShell(normals="mean")
    with pytest.raises(InputTypeError, match="young"):
        ic.models.KoiterShell(young="stiff")
    with pytest.raises(InputError, match="leave bending_model out"):
        ic.Simulation(sheet(), model="woven", bending_model="hinge")
    with pytest.raises(InputError, match="leave bending_model out"):
        ic.models.KoiterShell(bending="hinge")
    with pytest.raises(InputError, match="leave it out"):
        ic.Simulation(sheet(), model="koiter", discretisation="net")


def test_rest_shapes_that_cannot_be_are_refused():
    mesh = sheet(4)
    with pytest.raises(MeshError, match="triangulated"):
        ic.Simulation(ic.meshes.rectangle(0.2, 0.2, shape=(4, 4)), model="koiter")
    with pytest.raises(InputError, match="other faces"):
        ic.Simulation(mesh, model="koiter", rest=sheet(5))
    with pytest.raises(InputError, match="take a shell"):
        ic.Simulation(mesh, rest=mesh.vertices[mesh.faces])
    with pytest.raises(MeshError, match="same unit"):
        ic.Simulation(mesh, model="koiter", rest=1e-3 * mesh.vertices[mesh.faces])
    flat = mesh.vertices[mesh.faces]
    flat[2, 1] = flat[2, 0]
    with pytest.raises(MeshError, match="no area"):
        ic.Simulation(mesh, model="koiter", rest=flat)
    folded = mesh.vertices.copy()
    folded[5] += [0.2, 0.2, 0.0]
    with pytest.raises(MeshError, match="inverted"):
        ic.Simulation(mesh, model="koiter", rest=folded)


def test_moduli_of_no_cloth_are_warned_of():
    with pytest.warns(ic.models.StiffnessWarning, match="not GPa"):
        ic.Simulation(sheet(), ic.Fabric(density=0.15), model=ic.models.KoiterShell(young=1e10, thickness=3e-4))
    with pytest.warns(ic.models.StiffnessWarning, match="Pa and not GPa"):
        ic.Simulation(sheet(), ic.Fabric(density=0.15), model=ic.models.KoiterShell(young=2.0, thickness=3e-4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ic.Simulation(sheet(), ic.Fabric(density=0.08), model=ic.models.KoiterShell(young=3e9, thickness=1e-4))  # paper
