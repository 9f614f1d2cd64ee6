"""Several pieces of cloth, each with a fabric of its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import isocloth as ic
from isocloth.cloth.cloth import kinetic_energy
from isocloth.contact.detector import ContactDetector
from isocloth.contact.world import CollisionWorld

LIGHT = ic.Fabric(density=0.1, bending=2e-5, damping=0.05, bending_damping=1e-6, shear=40.0, friction=0.2)
HEAVY = ic.Fabric(density=0.4, gravity_density=0.35, bending=4e-4, damping=0.4, bending_damping=2e-5, friction=0.45)
#: of what a shell takes from a fabric
PLAIN = {"bending": 0.0, "shear": None, "bending_damping": 0.0}

APART = np.array([3.0, 0.0, 0.0])

#: solved so far that nothing is left of where an iteration stops, which others in the same matrix decide too
TIGHT = {
    "newton": ic.NewtonOptions(strain_gap=1e-11, force=1e-10, force_floor=1e-10),
    "projective": ic.ProjectiveOptions(iterations=3000, force=1e-9, force_floor=1e-9),
    "projection": ic.ProjectionOptions(tolerance=1e-11, regularisation=1e-13),
}

CASES = {
    "isometric quads": ("quad", {}, {}),
    "hinges": ("triangle", {"bending_model": "hinge"}, {}),
    "shells": ("triangle", {"model": "koiter"}, PLAIN),
    "springs": ("quad", {"model": "mass_spring"}, {}),
    "projective": ("quad", {"model": "mass_spring", "solver": "projective"}, {}),
    "projection": ("quad", {"solver": "projection"}, {"shear": None}),
}


def _sheets(element):
    one = ic.meshes.rectangle(0.3, 0.2, shape=(5, 4), element=element)
    other = ic.meshes.rectangle(0.25, 0.25, shape=(4, 5), element=element)
    return one, other.with_vertices(other.vertices + APART)


@pytest.mark.parametrize("case", CASES)
def test_pieces_far_apart_move_each_like_alone(case):
    element, options, changes = CASES[case]
    meshes, fabrics = _sheets(element), [replace(f, **changes) for f in (LIGHT, HEAVY)]
    options = {**options, "solver_options": TIGHT[options.get("solver", "newton")]}
    together = ic.Simulation(list(meshes), fabrics, **options)
    assert together.fabrics == tuple(fabrics)
    near = 1e-3 if case == "projection" else 1e-7  # whose dependent rows are regularised by the mean of all
    first = meshes[0].n_vertices
    together.grasp([0, 1])
    together.grasp([first, first + 1])
    alone = [ic.Simulation(mesh, fabric, **options) for mesh, fabric in zip(meshes, fabrics, strict=True)]
    for sim in alone:
        sim.grasp([0, 1])
    for _ in range(8):
        for sim in (together, *alone):
            sim.step()
    for sim, part in zip(alone, (together.positions[:first], together.positions[first:]), strict=True):
        moved = np.abs(sim.positions - sim.mesh.vertices).max()
        assert moved > 0.02, "it swings down"
        np.testing.assert_allclose(part, sim.positions, atol=near * moved)
    for kind in ("kinetic", "potential"):
        assert together.energy[kind] == pytest.approx(
            sum(sim.energy[kind] for sim in alone), rel=1e-6 if case != "projection" else 1e-3
        )
    assert kinetic_energy(together.cloth, together.velocities) == pytest.approx(together.energy["kinetic"])


def test_pieces_of_one_fabric_need_no_list():
    meshes = list(_sheets("quad"))
    sims = [ic.Simulation(meshes, fabric) for fabric in (HEAVY, [HEAVY, HEAVY])]
    for sim in sims:
        sim.grasp([0])
        sim.run(0.05)
    assert sims[1].fabrics == (HEAVY,)
    np.testing.assert_array_equal(sims[0].positions, sims[1].positions)


def test_a_mesh_of_several_pieces_in_a_list_has_one_fabric():
    one, other = _sheets("quad")
    pair = ic.meshes.together([one, other])
    third = one.with_vertices(one.vertices - APART)
    sim = ic.Simulation([pair, third], [replace(LIGHT, shear=None), HEAVY])
    assert [f.density for f in sim.fabrics] == [0.1, 0.1, 0.4]
    mass = sim.cloth.mass
    assert mass[: pair.n_vertices].sum() == pytest.approx(0.1 * pair.area)
    assert mass[pair.n_vertices :].sum() == pytest.approx(0.4 * third.area)


def test_equilibria_of_pieces_are_those_of_each():
    meshes, fabrics = _sheets("quad"), (replace(LIGHT, shear=None), HEAVY)
    first = meshes[0].n_vertices
    both = ic.equilibrium(list(meshes), list(fabrics), held=[0, 3, first, first + 4])
    assert both.converged
    for mesh, fabric, held, part in zip(
        meshes, fabrics, ([0, 3], [0, 4]), (both.positions[:first], both.positions[first:]), strict=True
    ):
        alone = ic.equilibrium(mesh, fabric, held=held)
        np.testing.assert_allclose(part, alone.positions, atol=2e-5)
    with pytest.raises(ic.IsoclothError, match="one for every piece"):
        both.continued("bending", [1e-4])


def _stacked():
    """A sheet above another one that is larger, on a slope of 17 degrees: between the tangents of both means."""
    angle = np.deg2rad(17.3)
    turn = np.array([[np.cos(angle), 0.0, np.sin(angle)], [0.0, 1.0, 0.0], [-np.sin(angle), 0.0, np.cos(angle)]])
    below = ic.meshes.rectangle(0.6, 0.4, shape=(13, 9), element="triangle")
    above = ic.meshes.rectangle(0.2, 0.2, shape=(5, 5), element="triangle")
    above = above.with_vertices(above.vertices + np.array([0.11, 0.09, LIGHT.thickness]))
    return angle, [mesh.with_vertices(mesh.vertices @ turn.T) for mesh in (below, above)], (below, above)


def test_friction_between_two_pieces_is_the_geometric_mean():
    _, meshes, _ = _stacked()
    mesh = ic.meshes.together(meshes)
    world = CollisionWorld(mesh, (LIGHT, HEAVY), [ic.Floor(-5.0, friction=0.7)], True)
    nobody = np.zeros(mesh.n_vertices, dtype=bool)
    found = ContactDetector(world, mesh.vertices, nobody, 0.0, 0.01).find(mesh.vertices)
    assert len(found.friction) > 20
    np.testing.assert_allclose(found.friction, 0.3, rtol=1e-12)
    alike = CollisionWorld(mesh, (LIGHT, replace(HEAVY, friction=0.2)), [], True)
    found = ContactDetector(alike, mesh.vertices, nobody, 0.0, 0.01).find(mesh.vertices)
    assert (found.friction == 0.2).all(), "bit for bit"


def test_a_piece_slides_on_another_with_the_friction_of_both():
    angle, meshes, flat = _stacked()
    h, steps = 0.005, 60
    free = {"bending": 0.0, "damping": 0.0, "bending_damping": 0.0, "gravity_density": None}
    sim = ic.Simulation(
        meshes, [replace(fabric, **free) for fabric in (LIGHT, HEAVY)],
        model=ic.models.MassSpring(flexion=0.0), rest=ic.meshes.together(flat), timestep=h, self_collision=True,
        solver="projective",
    )  # fmt: skip
    first = meshes[0].n_vertices
    sim.grasp(np.arange(first))
    for _ in range(steps):
        sim.step()
    down = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    acceleration = 9.81 * (np.sin(angle) - np.sqrt(0.2 * 0.45) * np.cos(angle))
    way = 0.5 * acceleration * h**2 * steps * (steps + 1)
    moved = (sim.positions[first:] - meshes[1].vertices) @ down
    np.testing.assert_allclose(moved, way, rtol=0.01)


def test_what_pieces_cannot_have_is_said():
    meshes = list(_sheets("triangle"))
    with pytest.raises(ic.IsoclothError, match="3 fabrics are given for 2 pieces"):
        ic.Simulation(meshes, [LIGHT, HEAVY, HEAVY])
    with pytest.raises(ic.IsoclothError, match=r"0.001 m and 0.002 m thick: expected one thickness"):
        ic.Simulation(meshes, [LIGHT, replace(HEAVY, thickness=2e-3)])
    with pytest.raises(ic.IsoclothError, match="knows one"):
        ic.Simulation(meshes, [replace(LIGHT, bending=0.0), HEAVY], model="nonconforming")
    with pytest.raises(ic.IsoclothError, match="shell has stiffnesses of its own"):
        ic.Simulation(meshes, [replace(LIGHT, **PLAIN), HEAVY], model="koiter")
    with pytest.raises(TypeError, match="expected an isocloth"):
        ic.Simulation(meshes, [LIGHT, "wool"])
