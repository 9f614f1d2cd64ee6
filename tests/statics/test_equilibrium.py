"""The interface: what is held, where it starts, what it is compared with, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import isocloth as ic

FABRIC = ic.Fabric(bending=3e-4, damping=1.0)


def sheet(n: int = 9) -> ic.Mesh:
    return ic.meshes.rectangle(0.4, 0.4, shape=(n, n))


@pytest.fixture(scope="module")
def hung() -> ic.Equilibrium:
    """From a flat horizontal start, held by two corners."""
    return ic.equilibrium(sheet(), FABRIC, held=[0, 8])


def test_a_hung_cloth_is_where_damped_motion_leads(hung: ic.Equilibrium) -> None:
    assert hung.converged
    assert hung.problem == ""
    assert hung.residual < 1e-9
    assert hung.stable
    sim = ic.Simulation(sheet(), FABRIC)
    sim.grasp([0, 8])
    sim.run(10.0, every=10.0)
    assert np.linalg.norm(hung.positions - sim.positions, axis=1).max() < 1e-4
    assert hung.energy == pytest.approx(sim.energy["potential"], rel=1e-6)


def test_the_held_nodes_carry_the_weight(hung: ic.Equilibrium) -> None:
    weight = 9.81 * FABRIC.density * 0.16
    assert hung.grasp is not None
    assert list(hung.forces) == [hung.grasp]
    assert hung.forces[hung.grasp].force == pytest.approx([0.0, 0.0, -weight], abs=1e-7 * weight)
    assert hung.reactions[[0, 8]].sum(axis=0) == pytest.approx([0.0, 0.0, weight], abs=1e-7 * weight)
    assert repr(hung).startswith("<Equilibrium of Mesh('rectangle', 81 vertices, 64 quads), residual ")


def test_a_simulation_begins_at_rest(hung: ic.Equilibrium) -> None:
    sim = hung.simulation(timestep=0.02)
    assert sim.timestep == 0.02
    sim.run(0.2)
    assert np.linalg.norm(sim.positions - hung.positions, axis=1).max() < 1e-6


def test_the_same_bits_come_twice(hung: ic.Equilibrium) -> None:
    again = ic.equilibrium(sheet(), FABRIC, held=[0, 8])
    assert np.array_equal(again.positions, hung.positions)
    assert again.smallest_eigenvalue == hung.smallest_eigenvalue


def test_a_mapping_says_where_nodes_are_held(hung: ic.Equilibrium) -> None:
    mesh = sheet()
    shifted = {0: mesh.vertices[0] + [0.0, 0.0, 0.3], 8: mesh.vertices[8] + [0.0, 0.0, 0.3]}
    found = ic.equilibrium(mesh, FABRIC, held=shifted)
    assert found.converged
    # of a flat start either side is as good: the sheet bulges to one of them, by less than a millimetre
    sides = [np.abs(found.positions - hung.positions * [side, 1.0, 1.0] - [0.0, 0.0, 0.3]).max() for side in (1, -1)]
    assert min(sides) < 1e-6


def test_an_equilibrium_is_its_own(hung: ic.Equilibrium) -> None:
    for start in (hung, hung.positions, hung.mesh):
        again = ic.equilibrium(sheet(), FABRIC, held=[0, 8], start=start)
        assert again.iterations <= 10
        assert np.abs(again.positions - hung.positions).max() < 1e-8


@pytest.mark.parametrize("model", ["elastic", "mass_spring", "quasi_inextensible"])
def test_other_models_come_to_rest_too(model: str) -> None:
    found = ic.equilibrium(sheet(7), FABRIC, model=model, held=[0, 6])
    assert found.converged
    assert found.stable
    weight = 9.81 * FABRIC.density * 0.16
    assert found.grasp is not None
    assert found.forces[found.grasp].force[2] == pytest.approx(-weight, rel=1e-6)


def test_triangles_with_hinges_come_to_rest_too() -> None:
    mesh = ic.meshes.rectangle(0.4, 0.4, shape=(7, 7), element="triangle")
    found = ic.equilibrium(mesh, FABRIC, model=ic.models.Isometric(bending="hinge"), held=[0, 6])
    assert found.converged
    assert found.stable


@pytest.fixture(scope="module")
def clamped() -> tuple[ic.Mesh, np.ndarray, ic.Equilibrium]:
    """A strip along x that is held level at its end."""
    mesh = ic.meshes.rectangle(0.2, 0.04, shape=(21, 3))
    held = np.flatnonzero(mesh.vertices[:, 0] < 0.0101)
    return mesh, held, ic.equilibrium(mesh, ic.Fabric(bending=1e-3), held=held)


def test_values_are_followed_one_after_the_other(clamped: tuple[ic.Mesh, np.ndarray, ic.Equilibrium]) -> None:
    mesh, held, bent = clamped
    followed = bent.continued("bending", [5e-4, 5e-5])
    direct = ic.equilibrium(mesh, ic.Fabric(bending=5e-5), held=held)
    assert all(e.converged and e.stable and not e.snapped for e in followed)
    assert np.abs(followed[-1].positions - direct.positions).max() < 1e-6
    less = bent.continued("gravity", [5.0])[0]
    assert less.grasp is not None
    assert less.forces[less.grasp].force[2] == pytest.approx(-5.0 * FABRIC.density * 0.008, rel=1e-6)


def test_a_function_turns_a_clamp(clamped: tuple[ic.Mesh, np.ndarray, ic.Equilibrium]) -> None:
    mesh, held, bent = clamped

    def turned(angle: float) -> dict[str, Any]:
        x, y, _ = mesh.vertices[held].T
        return {"held": np.stack([x * np.cos(angle), y, x * np.sin(angle)], axis=1)}

    up, down = bent.continued(turned, [0.3, -np.pi / 2])
    assert up.converged
    assert up.positions[held] == pytest.approx(turned(0.3)["held"])
    assert down.positions[:, 2].min() == pytest.approx(-0.2, abs=1e-4)


def test_progress_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    ic.equilibrium(sheet(7), FABRIC, held=[0, 6], progress=True)
    assert "residual" in capsys.readouterr().err


# ------------------------------------------------------------------------------- refused


def test_a_cloth_that_nothing_holds_falls() -> None:
    with pytest.raises(ic.ConvergenceError, match="nothing holds the cloth"):
        ic.equilibrium(sheet(), FABRIC)
    beside = ic.Sphere([5.0, 0.0, 0.0], 0.1)
    with pytest.raises(ic.ConvergenceError, match="the cloth falls"):
        ic.equilibrium(sheet(5), FABRIC, obstacles=[beside])


def test_without_gravity_a_cloth_rests_anywhere() -> None:
    found = ic.equilibrium(sheet(5), FABRIC, gravity=0.0)
    assert found.converged
    assert found.stable


def test_what_is_torn_is_not_converged() -> None:
    mesh = sheet(5)
    found = ic.equilibrium(mesh, FABRIC, held={0: [0.0, 0.0, 0.0], 4: [0.6, 0.0, 0.0]})
    assert not found.converged
    assert "stretched" in found.problem


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"mesh": 3}, "mesh is int"),
        ({"fabric": "denim"}, "fabric is str"),
        ({"held": [99]}, "held node 99 does not exist"),
        ({"held": [1, 1]}, "named twice"),
        ({"held": [0.5]}, "expected indices of nodes"),
        ({"held": [[0], [1, 2]]}, "expected indices of nodes"),
        ({"held": {0: [np.nan, 0.0, 0.0]}}, "not finite"),
        ({"held": {0: [0.0, 0.0]}}, "have shape"),
        ({"held": {0: "here"}}, "expected numbers"),
        ({"gravity": -1.0}, "gravity"),
        ({"gravity": np.nan}, "gravity"),
        ({"start": np.zeros((3, 3))}, "start have shape"),
        ({"start": np.full((25, 3), np.nan)}, "not finite"),
        ({"model": "nonconforming"}, "no potential energy"),
        ({"model": "rubber"}, "unknown"),
        ({"obstacles": [ic.Sphere([0, 0, -1], 0.1, velocity=[1, 0, 0])]}, "moves"),
        ({"obstacles": 3}, "expected a list"),
        ({"self_collision": "no"}, "self_collision"),
        ({"progress": 1}, "progress"),
        ({"rest": np.zeros((3, 3))}, "vertices"),
    ],
)
def test_bad_input_is_refused(change: dict[str, Any], what: str) -> None:
    arguments: dict[str, Any] = {"mesh": sheet(5), "held": [0], **change}
    with pytest.raises(ic.IsoclothError, match=what):
        ic.equilibrium(**arguments)


@pytest.mark.parametrize(
    ("parameter", "values", "what"),
    [
        ("weather", [1.0], "unknown"),
        ("shear", [1.0], "is None"),
        ("gravity", 3.0, "expected several"),
        ("gravity", [np.nan], "finite"),
        ("gravity", ["much"], "finite"),
        ("bending", [-1.0], "bending"),
        (3, [1.0], "expected a name"),
        ("held", [np.zeros((1, 3))], "shape"),
        (lambda value: value, [1.0], "expected a mapping"),
    ],
)
def test_bad_continuations_are_refused(hung: ic.Equilibrium, parameter: Any, values: Any, what: str) -> None:
    with pytest.raises(ic.IsoclothError, match=what):
        hung.continued(parameter, values)


@pytest.mark.parametrize("change", [{"step": 0.0}, {"step": "long"}, {"count": 0}, {"count": 1.5}, {"forward": 1}])
def test_bad_branches_are_refused(hung: ic.Equilibrium, change: dict[str, Any]) -> None:
    with pytest.raises(ic.IsoclothError, match=next(iter(change))):
        hung.branch("gravity", **change)


def test_a_name_is_no_parameter_to_continue_in():
    mesh = ic.meshes.rectangle(0.2, 0.1, (3, 2), element="triangle")
    hung = ic.equilibrium(mesh, ic.Fabric(density=0.1), model="koiter", held=[0, 1])
    with pytest.raises(ic.IsoclothError, match=r"'stvk'.*number"):
        hung.continued("membrane", [1.0])
