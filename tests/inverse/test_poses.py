"""Poses of one garment: the rest shape and the stiffness ratio that they tell, and those that they do not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import isocloth as ic
from isocloth.inverse.pose import aligned, downwards, turned_obstacle
from isocloth.inverse.rest_forces import RestForces

FABRIC = ic.Fabric(density=0.2)
SHELL = ic.models.DiscreteShell(stretch=20.0, bending=2e-3)


def turned(angle):
    """A rotation about the x axis."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


@cache
def garment():
    """A curled sheet, and its poses with gravity straight and turned by 60 degrees."""
    flat = ic.meshes.rectangle(0.2, 0.12, (7, 5), element="triangle")
    x, y = flat.vertices[:, 0], flat.vertices[:, 1]
    radius = 0.25 - 0.5 * y
    rest = flat.with_vertices(np.stack([radius * np.sin(x / radius), y, radius * (1 - np.cos(x / radius))], axis=1))
    held = np.flatnonzero(x < 1e-9)
    poses = []
    for q in (np.eye(3), turned(np.pi / 3)):
        hung = ic.equilibrium(rest.transformed(rotation=q), FABRIC, model=SHELL, rest=rest, held=held)
        assert hung.converged
        assert hung.stable
        poses.append(ic.Pose(rest.with_vertices(hung.positions @ q), q.T @ [0, 0, -9.81], held=held))
    return rest, poses


def test_two_poses_give_rest_shape_and_stiffness_back():
    rest, poses = garment()
    found = ic.invert(poses, FABRIC, model=replace(SHELL, bending=3 * SHELL.bending), unknown="bending")
    assert found.reached
    assert found.stable == (True, True)
    assert found.problem == ""
    assert found.undetermined == ()
    assert found.model.bending == pytest.approx(SHELL.bending, rel=1e-4)
    assert found.ratios["bending"] == pytest.approx(SHELL.bending / 0.2, rel=1e-4)
    np.testing.assert_allclose(found.rest.edge_lengths, rest.edge_lengths, rtol=1e-4)
    assert np.abs(aligned(found.rest.vertices, rest.vertices) - rest.vertices).max() < 1e-5
    assert found.target_error < 1e-18
    assert found.friction_error < 1e-18
    for force, pose in zip(found.forces, poses, strict=True):  # what hands bear is the weight, against gravity
        np.testing.assert_allclose(force.sum(axis=0), -0.2 * rest.area * pose.gravity, rtol=1e-3, atol=1e-6)
    sim = found.simulation(1)
    sim.run(0.1)
    assert np.abs(sim.positions @ found.turns[1] - poses[1].mesh.vertices).max() < 1e-8


@pytest.mark.parametrize("which", [[0], [1], [0, 0]], ids=["straight", "turned", "twice the same"])
def test_one_pose_does_not_tell_the_stiffness(which):
    rest, poses = garment()
    wrong = replace(SHELL, bending=3 * SHELL.bending)
    found = ic.invert([poses[k] for k in which], FABRIC, model=wrong, unknown=["bending"])
    assert found.undetermined == ("bending",)
    assert found.ratios == {}
    assert found.model == wrong
    assert found.reached  # with a rest shape of its own, which is not the one it was made with
    assert np.abs(found.rest.edge_lengths / rest.edge_lengths - 1).max() > 1e-4
    assert "not determined" in found.problem
    assert "with 3 times of it another rest shape" in found.problem
    assert ic.invert([poses[k] for k in which], FABRIC, model=replace(wrong, bending=9 * SHELL.bending)).reached


def test_poses_on_a_body_give_rest_shape_and_stiffness_back():
    rest, _ = garment()
    held = np.flatnonzero(rest.vertices[:, 0] < 1e-9)
    fabric, centre = ic.Fabric(density=0.2, thickness=1e-3), np.array([0.13, 0.06, -0.18])
    poses = []
    for q in (np.eye(3), turned(np.radians(25))):
        ball = ic.Sphere(q @ centre, 0.2, friction=0.6)
        lain = ic.equilibrium(rest.transformed(rotation=q), fabric, model=SHELL, rest=rest, held=held, obstacles=[ball])
        assert lain.converged
        here = ic.Sphere(centre, 0.2, friction=0.6)
        poses.append(ic.Pose(rest.with_vertices(lain.positions @ q), q.T @ [0, 0, -9.81], [here], held))
    found = ic.invert(poses, fabric, model=replace(SHELL, bending=3 * SHELL.bending), unknown="bending")
    assert found.reached
    assert found.problem == ""
    assert found.ratios["bending"] == pytest.approx(SHELL.bending / 0.2, rel=1e-4)
    np.testing.assert_allclose(found.rest.edge_lengths, rest.edge_lengths, rtol=1e-4)
    for nodes, force, pose in zip(found.contact_nodes, found.forces, poses, strict=True):
        on = np.setdiff1d(nodes, held)
        assert (force[on] * (pose.mesh.vertices[on] - centre)).sum() > 2e-4  # N m: the ball is pressed, by over 1 mN
        np.testing.assert_allclose(force.sum(axis=0), -0.2 * rest.area * pose.gravity, rtol=1e-3, atol=1e-6)
    one = ic.invert(poses[:1], fabric, model=SHELL, unknown="bending")
    assert one.reached  # with forces in the cones, among many rest shapes
    assert one.undetermined == ("bending",)


def test_poses_that_no_rest_shape_has_are_told_with_their_distances():
    _, poses = garment()
    bent = poses[1].mesh.vertices.copy()
    bent[:, 2] += 0.5 * bent[:, 0] ** 2
    found = ic.invert([poses[0], replace(poses[1], mesh=poses[1].mesh.with_vertices(bent))], FABRIC, model=SHELL)
    assert not found.reached
    assert "no one rest shape" in found.problem
    assert max(found.distances) > 1e-4
    assert max(found.imbalance) > 1e-6


@pytest.mark.parametrize("model", [
    ic.models.DiscreteShell(stretch=20.0, bending=2e-3, area=5.0),
    ic.models.KoiterShell(young=1e6, poisson=0.3, thickness=1e-3),
    ic.models.WovenShell(bending_weft=1e-5, twist=1e-5),
], ids=["discrete", "koiter", "woven"])  # fmt: skip
def test_forces_have_the_derivatives_in_stiffnesses_that_they_say(model):
    rest, poses = garment()
    random = np.random.default_rng(0)
    points = rest.vertices + 1e-3 * random.normal(size=rest.vertices.shape)
    names = [name for name, limit in model.limits.items() if limit.least >= 0.0]
    exact = RestForces(poses[0].mesh, model, 0.2, 9.81).parameter_derivative(points, names)
    for k, name in enumerate(names):
        value = getattr(model, name)
        up, down = (
            RestForces(poses[0].mesh, replace(model, **{name: value * (1 + h)}), 0.2, 9.81)(points)
            for h in (1e-4, -1e-4)
        )
        numeric = (up - down).ravel() / (2e-4 * value)
        np.testing.assert_allclose(exact[:, k], numeric, atol=1e-6 * np.abs(numeric).max())


@pytest.mark.parametrize("gravity", [9.81, [0, 0, -9.81], [0, 0, 3.0], [1.0, -2.0, 0.5]])
def test_gravity_is_turned_downwards(gravity):
    pose = ic.Pose(garment()[0], gravity)
    turn, size = downwards(pose, "it")
    g = np.array([0, 0, -9.81]) if np.isscalar(gravity) else np.array(gravity)
    np.testing.assert_allclose(turn @ g, [0, 0, -size], atol=1e-12)
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-14)
    assert np.linalg.det(turn) == pytest.approx(1.0)


@pytest.mark.parametrize("body", [
    ic.Sphere([0.1, 0.2, 0.3], 0.1), ic.Floor(-0.2), ic.Box([0.1, 0, 0.2], [0.1, 0.2, 0.3]),
    ic.Capsule([0, 0, 0], [0.1, 0.2, 0], 0.05), ic.Cylinder([0.1, 0, 0], [0, 1, 1], 0.05),
], ids=lambda body: body.name)  # fmt: skip
def test_bodies_turn_with_the_cloth(body):
    turn = downwards(ic.Pose(garment()[0], [1.0, -2.0, 0.5]), "it")[0]
    points = np.random.default_rng(2).normal(size=(50, 3))
    gap, normal = body.gaps(points, 0.0)
    there, way = turned_obstacle(body, turn).gaps(points @ turn.T, 0.0)
    np.testing.assert_allclose(there, gap, atol=1e-12)
    np.testing.assert_allclose(way, normal @ turn.T, atol=1e-12)


def test_bad_inputs_are_named():
    rest, poses = garment()
    other = ic.meshes.rectangle(1, 1, (3, 3), element="triangle")
    with pytest.raises(ic.IsoclothError, match="empty list"):
        ic.invert([], FABRIC)
    with pytest.raises(ic.IsoclothError, match=r"target\[1\] is Mesh"):
        ic.invert([poses[0], rest], FABRIC)
    with pytest.raises(ic.MeshError, match="other faces"):
        ic.invert([poses[0], ic.Pose(other, held=[0, 1])], FABRIC)
    with pytest.raises(ic.ConvergenceError, match="nothing holds"):
        ic.invert([ic.Pose(rest)], FABRIC)
    with pytest.raises(ic.IsoclothError, match="gravity"):
        ic.invert([replace(poses[0], gravity=[0, 0, 0])], FABRIC)
    with pytest.raises(ic.IsoclothError, match="number or a vector"):
        ic.invert([replace(poses[0], gravity=[0, 1])], FABRIC)
    with pytest.raises(ic.IsoclothError, match="each of them"):
        ic.invert(poses, FABRIC, held=[0])
    with pytest.raises(ic.IsoclothError, match="density is a scale"):
        ic.invert(poses, FABRIC, unknown="density")
    with pytest.raises(ic.IsoclothError, match="no stiffness"):
        ic.invert(poses, FABRIC, unknown="softness")
    with pytest.raises(ic.IsoclothError, match="above zero"):
        ic.invert(poses, FABRIC, unknown="area")
    with pytest.raises(ic.IsoclothError, match="bending_weft"):
        ic.invert(poses, FABRIC, model=ic.models.WovenShell(), unknown="bending")
    with pytest.raises(ic.IsoclothError, match="gravity with several poses"):
        ic.invert(poses, FABRIC, gravity=float("9.81"))
    with pytest.raises(TypeError, match="noise"):
        ic.invert(poses, FABRIC, noise=1e-4)
    with pytest.raises(ic.IsoclothError, match="several poses"):
        ic.invert(rest, FABRIC, held=[0, 1], unknown="bending")
    with pytest.raises(ic.IsoclothError, match="pose = 2"):
        ic.invert(poses, FABRIC, model=SHELL).simulation(2)
