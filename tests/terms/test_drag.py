"""Drag of the air: a plate in closed form, directions, wind, and a sheet that falls with a constant speed."""

from __future__ import annotations

import numpy as np
import pytest

import isocloth as ic


@pytest.mark.parametrize("element", ["quad", "triangle"])
def test_a_plate_across_the_flow_feels_the_pressure_in_closed_form(element) -> None:
    mesh = ic.meshes.rectangle(0.3, 0.4, (4, 5), element=element)
    drag = ic.AirDrag(mesh, coefficient=1.3, air=1.1)
    u = np.tile([0.4, -0.3, 2.0], (mesh.n_vertices, 1))
    force = drag(0.0, mesh.vertices, u)
    # only what moves through the plane counts
    assert force.sum(axis=0) == pytest.approx([0.0, 0.0, -0.5 * 1.3 * 1.1 * 0.12 * 4.0], abs=1e-15)
    assert np.all(force[:, 2] < 0.0)
    assert np.abs(drag(0.0, mesh.vertices, u * [1.0, 1.0, 0.0])).max() == 0.0


def test_it_turns_with_the_cloth_and_knows_the_wind() -> None:
    mesh = ic.meshes.rectangle(0.3, 0.4, (4, 5))
    turn = np.array([[0.0, -1.0, 0.0], [0.6, 0.0, -0.8], [0.8, 0.0, 0.6]])
    random = np.random.default_rng(0)
    bent = mesh.vertices + 0.05 * random.standard_normal(mesh.vertices.shape)
    u = random.standard_normal(bent.shape)
    drag = ic.AirDrag(mesh)
    force = drag(0.0, bent, u)
    assert drag(0.0, bent @ turn.T, u @ turn.T) == pytest.approx(force @ turn.T, abs=1e-12)
    wind = ic.AirDrag(mesh, wind=[1.0, 2.0, 3.0])
    assert wind(0.0, bent, u + np.array([1.0, 2.0, 3.0])) == pytest.approx(force, abs=1e-12)
    assert float((force * u).sum()) < 0.0  # it takes energy, whatever the motion


def test_a_falling_sheet_comes_to_the_speed_at_which_the_air_carries_it() -> None:
    mesh = ic.meshes.rectangle(0.2, 0.2, (3, 3))
    sim = ic.Simulation(mesh, ic.Fabric(density=0.1), extra_force=ic.AirDrag(mesh, coefficient=1.2, air=1.2))
    for _ in range(200):
        assert sim.step().converged
    assert sim.velocities[:, 2] == pytest.approx(-np.sqrt(2 * 0.1 * 9.81 / 1.44), rel=1e-4)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coefficient": -1.0}, "coefficient = -1.0"),
        ({"air": np.nan}, "air = nan"),
        ({"wind": 3.0}, "wind = 3.0: expected a velocity"),
    ],
)
def test_nonsense_is_refused(options, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ic.AirDrag(ic.meshes.rectangle(0.2, 0.2, (3, 3)), **options)


def test_it_is_named_and_compared_by_its_numbers() -> None:
    mesh = ic.meshes.rectangle(0.2, 0.2, (3, 3))
    assert ic.AirDrag(mesh) == ic.AirDrag(mesh)
    assert ic.AirDrag(mesh) != ic.AirDrag(mesh, wind=[0.0, 1.0, 0.0])
    assert repr(ic.AirDrag(mesh, wind=[0.0, 1.0, 0.0])) == "AirDrag(coefficient=1.2, air=1.2, wind=[0.0, 1.0, 0.0])"
