"""Forces of the user's own: the same as weight and damping where these are known, of second order, in every model."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic
from isocloth.terms.mass import lumped_areas

MESH = ic.meshes.rectangle(0.3, 0.4, (4, 5))


def weight(mesh: ic.Mesh, density: float):
    """The force of gravity on so many kg/m^2 more."""
    force = np.zeros((mesh.n_vertices, 3))
    force[:, 2] = -9.81 * density * lumped_areas(mesh.vertices, mesh.faces)
    return lambda time, positions, velocities: force


@pytest.mark.parametrize("model", ["isometric", "quasi_inextensible", "elastic", "mass_spring"])
def test_an_added_weight_is_the_weight_of_a_heavier_cloth(model: str) -> None:
    runs = []
    for delta, extra in ((0.2, None), (0.12, weight(MESH, 0.08))):
        sim = ic.Simulation(MESH, ic.Fabric(density=0.2, gravity_density=delta), model=model, extra_force=extra)
        held = sim.grasp(MESH.corners[:2])
        runs.append((sim.run(0.3).positions, held.force))
    assert runs[1][0] == pytest.approx(runs[0][0], abs=1e-7)
    # reactions carry it too; projection stops early, and theirs change with the last digits of a position
    assert runs[1][1] == pytest.approx(runs[0][1], rel=1e-4, abs=1e-6)


def test_an_added_weight_on_particles_and_in_contact() -> None:
    triangles = MESH.triangulated()
    x, y, z = triangles.vertices.T
    wavy = triangles.with_vertices(np.stack([x, y, z + 1e-3 * np.sin(20.0 * x)], axis=1))
    totals = []
    for delta, extra in ((0.2, None), (0.12, weight(triangles, 0.08))):
        fabric = ic.Fabric(density=0.2, gravity_density=delta, damping=2.0, bending=1e-4)
        sim = ic.Simulation(wavy, fabric, rest=triangles, model="nonconforming", timestep=2e-3, extra_force=extra)
        held = sim.grasp(triangles.corners[:2])
        for _ in range(1500):
            sim.step()
        totals.append(held.force.sum(axis=0)[2])
    # lumped areas of nodes and of particles share the weight out differently, and it hangs a little differently
    assert totals == pytest.approx([0.2 * 9.81 * 0.12] * 2, rel=1e-3)
    floor = ic.Floor()
    sim = ic.Simulation(
        MESH.transformed(translation=[0.0, 0.0, 2e-3]), ic.Fabric(density=0.2), obstacles=[floor],
        extra_force=weight(MESH, 0.1),
    )  # fmt: skip
    sim.run(0.2)
    assert floor.force[2] == pytest.approx(-0.3 * 9.81 * 0.12, rel=1e-3)


def test_a_force_that_depends_on_the_velocity_is_of_second_order() -> None:
    mesh = ic.meshes.rectangle(0.2, 0.2, (2, 2))
    area = lumped_areas(mesh.vertices, mesh.faces)[:, None]
    rho, alpha = 0.2, 0.8
    errors = []
    for dt in (0.02, 0.01, 0.005):
        sim = ic.Simulation(mesh, ic.Fabric(density=rho), timestep=dt, extra_force=lambda t, x, v: -alpha * area * v)
        sim.run(0.4)
        fallen = rho / alpha * 9.81 * (0.4 - rho / alpha * (1.0 - np.exp(-alpha / rho * 0.4)))
        errors.append(abs(sim.positions[0, 2] + fallen))
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(orders > 1.7)


def test_it_is_given_the_time_and_what_it_must_not_change() -> None:
    seen = []

    def force(time, positions, velocities):
        seen.append(time)
        with pytest.raises(ValueError, match="read-only"):
            positions[0] = 0.0
        return np.zeros_like(positions)

    sim = ic.Simulation(MESH, ic.Fabric(density=0.2), extra_force=force)
    sim.run(0.03)
    assert seen == pytest.approx([0.01, 0.02, 0.03])


@pytest.mark.parametrize(
    ("force", "message"),
    [
        (lambda t, x, v: np.zeros(3), r"has shape \(3,\): expected finite forces \(20, 3\)"),
        (lambda t, x, v: np.full_like(x, np.nan), "at t = 0.01 s is not finite"),
    ],
)
def test_a_force_that_is_none_is_refused_and_nothing_has_moved(force, message: str) -> None:
    sim = ic.Simulation(MESH, ic.Fabric(density=0.2), extra_force=force)
    with pytest.raises(ValueError, match=message):
        sim.step()
    assert sim.time == 0.0
    with pytest.raises(TypeError, match="expected a function of time, positions and velocities"):
        ic.Simulation(MESH, extra_force=np.zeros((20, 3)))
