"""Simulations with every model: closed forms of strips, oscillations, contact, and what is refused."""

import numpy as np
import pytest
from continued import assert_continues_with_the_same_bits

import isocloth as ic
from isocloth.solvers import Newton, Projection

GRAVITY = 9.81


def hanging_strip(mesh_shape=(3, 21), *, model, density=0.3, element="quad", **options):
    """0.1 x 0.5 m, hanging along -z from its whole upper edge."""
    flat = ic.meshes.rectangle(0.1, 0.5, mesh_shape, element=element)
    x, y, _ = flat.vertices.T
    mesh = flat.with_vertices(np.stack([x, 0 * x, -y], axis=1))
    sim = ic.Simulation(mesh, ic.Fabric(density=density, damping=20 * density), model=model, **options)
    sim.grasp(np.flatnonzero(mesh.vertices[:, 2] == 0.0))
    return sim


def elongation(sim, seconds):
    for _ in range(round(seconds / sim.timestep)):
        report = sim.step()
    assert report.converged
    assert np.abs(sim.velocities).max() < 1e-5
    low = sim.mesh.vertices[:, 2] < -0.4999
    return -sim.positions[low, 2].mean() - 0.5


def test_an_elastic_strip_is_as_long_under_its_own_weight_as_hooke_says():
    sim = hanging_strip(model=ic.models.Elastic(stretch=900.0, weft=200.0, shear=30.0), solver_options=ic.TIGHT)
    # its warp is along x, across the strip
    assert elongation(sim, 3.0) == pytest.approx(0.3 * GRAVITY * 0.5**2 / (2 * 200.0), rel=1e-4)
    triangles = hanging_strip(model=ic.models.Elastic(stretch=200.0), element="triangle", solver_options=ic.TIGHT)
    assert elongation(triangles, 3.0) == pytest.approx(0.3 * GRAVITY * 0.5**2 / (2 * 200.0), rel=1e-2)


def test_a_strip_of_springs_is_as_long_under_its_own_weight_as_hooke_says():
    plain = ic.models.MassSpring(stretch=200.0, shear=0.0, flexion=0.0)
    free = elongation(hanging_strip(model=plain, solver_options=ic.TIGHT), 3.0)
    assert free == pytest.approx(0.3 * GRAVITY * 0.5**2 / (2 * 200.0), rel=1e-4)
    # with springs across square cells: C11 = C22 = s + k, C12 = k; and one over every second node
    both = ic.models.MassSpring(stretch=200.0, shear=60.0, flexion=0.0)
    square = elongation(hanging_strip((5, 21), model=both, solver_options=ic.TIGHT), 3.0)
    young = 260.0 - 60.0**2 / 260.0
    assert square == pytest.approx(0.3 * GRAVITY * 0.5**2 / (2 * young), rel=2e-2)
    stiffer = ic.models.MassSpring(stretch=200.0, shear=0.0, flexion=50.0)
    assert elongation(hanging_strip(model=stiffer, solver_options=ic.TIGHT), 3.0) == pytest.approx(
        0.3 * GRAVITY * 0.5**2 / (2 * 250.0), rel=3e-2
    )


@pytest.mark.parametrize(
    "model", [ic.models.Elastic(stretch=20.0), ic.models.MassSpring(stretch=20.0, shear=0.0, flexion=0.0)]
)
def test_a_strip_rings_along_itself_with_its_own_period(model):
    """First mode of a rod held at one end, f = sqrt(E h / rho) / 4 L."""
    mesh = ic.meshes.rectangle(0.05, 0.5, (2, 26))
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), model=model, gravity=0.0, timestep=1e-3, solver_options=ic.TIGHT)
    sim.grasp(np.flatnonzero(mesh.vertices[:, 1] == 0.0))
    sim.positions = mesh.vertices + [0, 1e-3, 0] * np.sin(np.pi * mesh.vertices[:, 1:2] / 1.0)
    tip = int(np.argmax(mesh.vertices[:, 1]))
    signal = []
    for _ in range(500):
        sim.step()
        signal.append(sim.positions[tip, 1] - 0.5)
    down = np.flatnonzero((np.array(signal[:-1]) > 0) & (np.array(signal[1:]) <= 0))
    crossing = down + np.array(signal)[down] / (np.array(signal)[down] - np.array(signal)[down + 1])
    period = np.diff(crossing).mean() * 1e-3
    assert period == pytest.approx(4 * 0.5 / np.sqrt(20.0 / 0.2), rel=2e-3)


def test_threads_of_the_quasi_inextensible_model_keep_their_length_and_it_shears():
    mesh = ic.meshes.rectangle(0.4, 0.3, shape=(9, 7))
    drop = {}
    for name, model in (("quasi_inextensible", ic.models.QuasiInextensible(shear=0.2)), ("isometric", "isometric")):
        sim = ic.Simulation(mesh, ic.Fabric(density=0.2, damping=1.0), model=model)
        assert isinstance(sim.solver, Projection if name == "quasi_inextensible" else Newton)
        sim.grasp(mesh.nearest([[0, 0, 0]]))
        reports = [sim.step() for _ in range(150)]
        assert all(r.converged for r in reports)
        assert max(r.residuals["edge_stretch"] for r in reports[-3:]) < 1.1e-3
        far = sim.positions[mesh.nearest([[0.4, 0.3, 0]])] - sim.positions[mesh.nearest([[0, 0, 0]])]
        drop[name] = np.linalg.norm(far) / 0.5
    assert drop["isometric"] < 1.01
    assert drop["quasi_inextensible"] > 1.1


def test_projection_and_newton_agree_on_the_quasi_inextensible_cloth_at_rest():
    flat = ic.meshes.rectangle(0.3, 0.3, shape=(7, 7))
    x, y, _ = flat.vertices.T
    mesh = flat.with_vertices(np.stack([x, 0.02 * np.sin(10 * x), -y], axis=1))
    found = []
    for solver in ("projection", "newton"):
        sim = ic.Simulation(
            mesh, ic.Fabric(density=0.3, damping=3.0, bending=1e-4), model="quasi_inextensible", solver=solver
        )
        held = mesh.nearest([[0, 0, 0], [0.3, 0, 0]])
        sim.grasp(
            held,
            (
                np.array([0.0, 0.5]),
                np.stack([mesh.vertices[held], mesh.vertices[held] + [[0.02, 0, 0], [-0.02, 0, 0]]]),
            ),
        )
        for _ in range(400):
            sim.step()
        found.append(sim.positions.copy())
    assert np.linalg.norm(found[0] - found[1], axis=1).max() < 3e-3


SOFT = ("quasi_inextensible", "elastic", "mass_spring")


@pytest.mark.parametrize("name", SOFT)
def test_a_cloth_of_every_model_lies_on_a_sphere_and_a_floor_with_its_weight(name):
    flat = ic.meshes.rectangle(0.3, 0.3, shape=(9, 9))
    mesh = flat.with_vertices(flat.vertices + np.array([-0.15, -0.15, 0.105]))
    ball = ic.Sphere([0.0, 0.0, 0.05], 0.05, friction=0.5)
    sim = ic.Simulation(
        mesh, ic.Fabric(density=0.2, damping=1.0, bending=1e-5), model=name, obstacles=[ball, ic.Floor()]
    )
    reports = [sim.step() for _ in range(200)]
    assert sum(not r.converged for r in reports) == 0
    assert min(r.min_gap for r in reports) > -1e-4
    force = sum(o.force[2] for o in sim.obstacles)
    assert force == pytest.approx(-0.2 * 0.09 * GRAVITY, rel=0.03)


@pytest.mark.parametrize("name", SOFT)
def test_a_run_of_every_model_can_be_saved_and_continued_with_the_same_bits(name, tmp_path):
    mesh = ic.meshes.rectangle(0.3, 0.3, shape=(7, 7))

    def begin():
        sim = ic.Simulation(mesh, ic.Fabric(density=0.2), model=name)
        sim.grasp(mesh.corners[:2])
        return sim

    assert_continues_with_the_same_bits(begin, 5)
    trajectory = begin().run(0.02)
    assert trajectory.metadata["model"]["name"] == name


@pytest.mark.parametrize("name", ["elastic", "mass_spring"])
def test_the_default_tolerance_follows_the_tight_one(name):
    mesh = ic.meshes.rectangle(0.42, 0.594, (9, 9))
    found = []
    for options in (None, ic.TIGHT):
        sim = ic.Simulation(mesh, ic.Fabric(density=0.3, damping=0.3), model=name, solver_options=options)
        sim.grasp(mesh.nearest([[0.0, 0.0, 0.0], [0.42, 0.0, 0.0]]))
        reports = [sim.step() for _ in range(60)]
        assert all(r.converged for r in reports)
        found.append(sim.positions.copy())
    assert np.linalg.norm(found[0] - found[1], axis=1).mean() < 5e-3


def test_a_stretched_cloth_is_no_fault_of_a_model_that_stretches():
    mesh = ic.meshes.rectangle(0.3, 0.3, shape=(5, 5))
    left, right = np.flatnonzero(mesh.vertices[:, 0] == 0.0), np.flatnonzero(mesh.vertices[:, 0] == 0.3)
    sim = ic.Simulation(mesh, ic.Fabric(density=0.2), model="elastic", gravity=0.0)
    sim.grasp(left)
    pulled = sim.grasp(right)
    for k in range(20):
        pulled.move_to(mesh.vertices[right] + [0.0015 * (k + 1), 0, 0])
        report = sim.step()
    assert report.converged
    assert report.isometry_error == pytest.approx(2 * 0.1, rel=0.05)
    assert pulled.force[:, 0].sum() == pytest.approx(5000.0 * 0.1 * 0.3, rel=0.05)


def test_what_a_model_cannot_do_is_refused_with_its_reason():
    quads, triangles = ic.meshes.rectangle(0.3, 0.3, (4, 4)), ic.meshes.rectangle(0.3, 0.3, (4, 4), element="triangle")
    with pytest.raises(ValueError, match=r"model 'rubber' is unknown; choose one of isometric, .*mass_spring"):
        ic.Simulation(quads, model="rubber")
    with pytest.raises(TypeError, match=r"model is int: .*ic\.models\.Elastic"):
        ic.Simulation(quads, model=3)
    with pytest.raises(ic.MeshError, match="needs quads"):
        ic.Simulation(triangles, model="quasi_inextensible")
    with pytest.raises(ic.MeshError, match="springs across the cells need quads"):
        ic.Simulation(triangles, model=ic.models.MassSpring(shear=20.0))
    with pytest.raises(ValueError, match="discretisation = 'net' is one of the isometric model"):
        ic.Simulation(quads, model="elastic", discretisation="net")
    with pytest.raises(ic.FabricError, match=r"stretch = -1 N/m: expected a finite number"):
        ic.models.Elastic(stretch=-1)
    with pytest.raises(TypeError, match="shear = 'much'"):
        ic.models.QuasiInextensible(shear="much")
