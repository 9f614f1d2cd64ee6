"""Projective dynamics: the same steps as Newton's, friction that is exact on a plane, and stacks that stand."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic
from isocloth.contact.contact_set import ContactSet
from isocloth.friction.layers import FLOATING, layers, outwards

SPRINGS = ic.models.MassSpring(stretch=200.0, flexion=0.0)
FABRIC = ic.Fabric(density=0.2, bending=1e-4, thickness=2e-3)
MESH = ic.meshes.rectangle(0.3, 0.3, shape=(6, 6), element="triangle")


def projective(mesh: ic.Mesh = MESH, fabric: ic.Fabric = FABRIC, **kwargs: object) -> ic.Simulation:
    options = ic.ProjectiveOptions(
        **{k: kwargs.pop(k) for k in list(kwargs) if k in ic.ProjectiveOptions.__annotations__}
    )
    return ic.Simulation(
        mesh, fabric, model=SPRINGS, timestep=0.005, solver="projective", solver_options=options, **kwargs
    )  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::isocloth.ConvergenceWarning")
@pytest.mark.parametrize("element", ["triangle", "quad"])
def test_enough_iterations_end_where_newton_does(element: str) -> None:
    mesh = ic.meshes.rectangle(0.3, 0.3, shape=(6, 6), element=element)
    tight = ic.NewtonOptions(force=1e-9, force_floor=1e-9, strain_gap=1e-9, max_iterations=60)
    exact = ic.Simulation(mesh, FABRIC, model=SPRINGS, timestep=0.005, integrator="euler", solver_options=tight)
    exact.grasp([0, 5])
    for _ in range(10):
        exact.step()
    off = {}
    for iterations in (5, 40, 1500):
        sim = projective(mesh, iterations=iterations, force=1e-10, force_floor=1e-9)
        sim.grasp([0, 5])
        for _ in range(10):
            report = sim.step()
        off[iterations] = np.abs(sim.positions - exact.positions).max()
        assert sim.solver.factorisations == 1
        assert report.converged is (iterations == 1500)
    assert off[5] > off[40] > off[1500]
    assert off[1500] < 1e-8


@pytest.mark.parametrize("mu", [0.1, 0.2, 0.5])
def test_a_sheet_on_a_slope_slides_as_coulomb_says_after_one_iteration(mu: float) -> None:
    slope, h, steps = np.deg2rad(20.0), 0.005, 40
    down, normal = np.array([np.cos(slope), 0.0, -np.sin(slope)]), np.array([np.sin(slope), 0.0, np.cos(slope)])
    x, y, _ = MESH.vertices.T
    start = x[:, None] * down + y[:, None] * np.array([0.0, 1.0, 0.0]) + 0.5 * FABRIC.thickness * normal
    sim = projective(
        MESH.with_vertices(start), rest=MESH, iterations=1, obstacles=[ic.Plane([0.0, 0.0, 0.0], normal, friction=mu)]
    )
    for _ in range(steps):
        report = sim.step()
        assert report.converged
    acceleration = max(0.0, 9.81 * (np.sin(slope) - mu * np.cos(slope)))
    way = (sim.positions - start) @ down
    assert way == pytest.approx(0.5 * acceleration * h**2 * steps * (steps + 1), abs=1e-10)  # Euler's steps
    assert report.friction_residual < 1e-9
    assert abs(report.min_gap) < 1e-12
    weight = FABRIC.density * MESH.area * 9.81
    assert -sim.obstacles[0].force @ normal == pytest.approx(weight * np.cos(slope), rel=1e-9)


def test_a_moving_floor_carries_the_sheet_and_air_brakes_what_falls() -> None:
    h, steps = 0.005, 20
    floor = ic.Box([0.0, 0.0, -0.1], [4.0, 4.0, 0.2], velocity=[0.2, 0.0, 0.0], friction=1.0)
    lying = projective(MESH.transformed(translation=[0.0, 0.0, 1e-3]), obstacles=[floor], iterations=30)
    for _ in range(60):
        lying.step()
    assert lying.velocities.mean(axis=0)[0] == pytest.approx(0.2, rel=0.02)
    falling = projective(drag=0.02)
    mass, speed = FABRIC.density * MESH.area / MESH.n_vertices, 0.0
    for _ in range(steps):
        falling.step()
        speed = (speed + h * 9.81) / (1.0 + h * 0.02 / mass)
    assert -falling.velocities[:, 2].mean() == pytest.approx(speed, rel=0.15)  # lumped masses differ at the border
    assert -falling.velocities[:, 2].mean() < 0.9 * steps * h * 9.81


def contact_set(bodies: list[int], nodes: list[list[int]]) -> ContactSet:
    n = len(bodies)
    weights = np.array([[1.0, 0.0 if b else -1.0, 0.0, 0.0] for b in bodies])
    padded = np.array([row + [0] * (4 - len(row)) for row in nodes])
    return ContactSet(
        padded, weights, np.tile([0.0, 0.0, 1.0], (n, 1)), np.zeros(n), np.zeros((n, 3)), np.zeros(n), np.arange(n),
        np.array(bodies), np.zeros(n),
    )  # fmt: skip


def test_contacts_are_visited_outwards_from_the_obstacle() -> None:
    # a stack 0 - 1 - 2 - 3 on an obstacle, in any order, and a pair 4 - 5 that floats
    c = contact_set([0, 0, 0, 1, 0], [[3, 2], [5, 4], [2, 1], [0], [1, 0]])
    assert layers(c, 6).tolist() == [3, FLOATING, 2, 0, 1]
    assert outwards(c, 6).key.tolist() == [3, 4, 2, 0, 1]


def test_a_stack_of_layers_stands_if_they_are_visited_in_order() -> None:
    height, count = FABRIC.thickness, 4
    sheet = ic.meshes.rectangle(0.1, 0.1, shape=(3, 3), element="triangle")
    # a tenth of a thickness apart, so that they fall onto each other
    parts = [sheet.vertices + np.array([0.0, 0.0, height * (1.1 * k + 0.5)]) for k in range(count)]
    faces = np.concatenate([sheet.faces + k * sheet.n_vertices for k in range(count)])

    def stack(ordered: bool) -> ic.Simulation:
        mesh = ic.Mesh(np.concatenate(parts), faces, pieces=True)
        return projective(mesh, obstacles=[ic.Floor(friction=0.3)], self_collision=True, ordered=ordered, iterations=10)

    sim = stack(True)
    for _ in range(40):
        report = sim.step()
    assert report.min_gap > -0.02 * height
    assert np.abs(sim.velocities).max() < 1e-3
    sim = stack(False)
    with pytest.raises(ic.ConvergenceError, match="ordered=False"):
        sim.run(0.2)


def test_penalty_contact_sinks_in_where_the_law_does_not() -> None:
    sinks = {}
    for contact in ("friction", "penalty"):
        sim = projective(
            MESH.transformed(translation=[0.0, 0.0, 1e-3]), obstacles=[ic.Floor(friction=0.5)], contact=contact
        )
        for _ in range(20):
            report = sim.step()
        sinks[contact] = -report.min_gap
    assert abs(sinks["friction"]) < 1e-9
    assert 1e-9 < sinks["penalty"] < 1e-3


def test_what_projective_dynamics_cannot_do_is_refused() -> None:
    with pytest.raises(ValueError, match="mass_spring"):
        ic.Simulation(MESH, FABRIC, solver="projective")
    for bad in ({"iterations": 0}, {"force": -1.0}, {"contact": "glue"}, {"drag": np.nan}, {"iterations": 2.5}):
        with pytest.raises(ValueError):
            ic.ProjectiveOptions(**bad)
    sim = projective()
    sim.pinch([0.0, 0.0, 0.0], [0.1, 0.1, 0.1], normal=[0.0, 0.0, 1.0], force=1.0, friction=0.5)
    with pytest.raises(ValueError, match="gripper"):
        sim.step()
