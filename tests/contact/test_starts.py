"""Starts that cannot be are found with their place and depth; those that touch, or lie a little too deep, are not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starts import BODIES, cuboid, sheet

import isocloth as ic
from isocloth.contact.starts import start_faults, surface_distances, winding_number
from isocloth.contact.world import CollisionWorld
from isocloth.obstacles import shapes


def faults(mesh, obstacles, *, rest=None, self_collision=False):
    world = CollisionWorld(rest or mesh, ic.Fabric(), obstacles, self_collision)
    return start_faults(world, mesh.vertices, 0.0)


@pytest.mark.parametrize("name", BODIES)
def test_a_start_inside_a_body_is_refused_with_place_depth_and_remedy(name):
    body, depth, words = BODIES[name]
    (found,) = faults(sheet(), [ic.Sphere([9, 9, 9], 0.1), body])
    assert found.body == 1
    if depth is not None:
        assert found.depth == pytest.approx(depth, abs=1e-6)
    assert words in found.message
    assert repr(body) in found.message
    assert "node" in found.message
    assert "resolve_start=True" in found.message
    with pytest.raises(ic.IsoclothError, match=r"at the start|starts"):
        ic.Simulation(sheet(), obstacles=[body])


@pytest.mark.parametrize("name", BODIES)
def test_an_obstacle_put_into_the_cloth_is_refused_and_leaves_no_trace(name):
    sim = ic.Simulation(sheet(), obstacles=[ic.Sphere([9, 9, 9], 0.1)], gravity=0.0)
    with pytest.raises(ic.IsoclothError, match=r"resolve_start|at the start"):
        sim.add(BODIES[name][0])
    assert len(sim.obstacles) == 1
    assert sim.state.placed.shape == (1, 4, 3)
    assert sim.world.numbers.tolist() == [1]


@pytest.mark.parametrize("height", [0.0, 0.0005, 0.0004, -0.00049])
def test_a_cloth_that_lies_on_a_table_up_to_half_its_thickness_too_deep_is_accepted(height):
    assert faults(sheet(height=height), [ic.Floor()]) == []
    assert faults(sheet(height=height), [ic.Box([0, 0, -0.1], [1, 1, 0.2])]) == []


def test_a_cloth_deeper_than_half_its_thickness_is_not():
    assert len(faults(sheet(height=-0.00051), [ic.Floor()])) == 1


def test_a_cloth_beside_or_above_a_mesh_is_accepted():
    assert faults(sheet(), [cuboid([0, 0, -0.0501], [0.6, 0.6, 0.1])]) == []
    assert faults(sheet(), [cuboid([0.3, 0, 0], [0.2, 0.2, 0.2])]) == []


def test_layers_that_coincide_are_refused():
    mesh = ic.meshes.rectangle(0.4, 0.1, shape=(17, 5))
    folded = mesh.vertices.copy()
    over = folded[:, 0] > 0.2
    folded[over, 0] = 0.4 - folded[over, 0]
    start = mesh.with_vertices(folded)
    (found,) = faults(start, [], rest=mesh, self_collision=True)
    assert "two layers of the cloth coincide" in found.message
    with pytest.raises(ic.IsoclothError, match="resolve_start=True did not find a start: two layers"):
        ic.Simulation(start, rest=mesh, self_collision=True, resolve_start=True)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(-1.5, 1.5), min_size=3, max_size=3))
def test_a_closed_surface_winds_once_around_what_is_inside(point):
    vertices, faces = shapes.box(np.array([2.0, 1.0, 1.6]))
    mesh = ic.TriangleMesh(vertices, faces)
    away = np.abs(point) - [1.0, 0.5, 0.8]
    if abs(away.max()) < 1e-3:
        return
    found = winding_number(np.array(point), mesh.vertices(0.0), mesh.faces)
    assert found == pytest.approx(1.0 if away.max() < 0 else 0.0, abs=1e-9)
    expected = -away.max() if away.max() < 0 else np.linalg.norm(np.maximum(away, 0.0))
    distance = surface_distances(np.array([point]), mesh.vertices(0.0), mesh.faces.astype(np.int64))
    assert distance[0] == pytest.approx(expected, abs=1e-12)
