import numpy as np
import pytest

from isocloth import meshes
from isocloth.meshes.surfaces import NAMES, surface
from isocloth.reconstruction.triangulation.complex import Complex, compact, large_components, oriented, without_pinches
from isocloth.reconstruction.triangulation.handles import small_handles


@pytest.mark.parametrize("name", ["sphere", "torus", "annulus", "pair of pants", "tank top", "ellipsoid vest"])
def test_known_surfaces_have_their_invariants(name):
    """The truth of all other tests: spheres have a pinhole at each pole that is left."""
    shape = surface(name)
    found, _ = compact(shape.vertices, shape.triangles)
    pinholes = {"sphere": 2, "pair of pants": 1}.get(name, 0)
    wanted = shape.invariants
    assert found.components == wanted[0]
    assert found.euler_characteristic == wanted[1] - pinholes
    assert len(found.boundary_curves) == wanted[2] + pinholes
    assert found.orientable == wanted[3]
    assert name in NAMES


def test_a_mesh_says_the_same_as_a_complex():
    mesh = meshes.tank_top(triangles=400)
    found = Complex(mesh.vertices, mesh.triangles)
    assert found.euler_characteristic == mesh.euler_characteristic
    assert found.area == pytest.approx(mesh.area)
    assert {frozenset(c.tolist()) for c in found.boundary_curves} == {
        frozenset(c.tolist()) for c in mesh.boundary_loops
    }


def test_turning_triangles_over_orients_them_again():
    mesh = meshes.ring(0.1, 0.2, shape=(3, 20)).triangulated()
    flip = np.random.default_rng(0).uniform(size=mesh.n_faces) < 0.5
    mixed = np.where(flip[:, None], mesh.faces[:, ::-1], mesh.faces)
    turned, orientable = oriented(mixed)
    assert orientable
    directed = np.stack([turned, np.roll(turned, -1, axis=1)], axis=2).reshape(-1, 2)
    assert len(np.unique(directed, axis=0)) == len(directed)


def test_a_moebius_strip_cannot_be_oriented():
    strip = [[i, (i + 1) % 5, (i + 2) % 5] for i in range(5)]
    assert not oriented(np.array(strip))[1]


def test_of_two_fans_that_meet_in_a_point_the_smaller_goes():
    triangles = np.array([[0, 1, 2], [0, 2, 3], [0, 4, 5]])
    assert without_pinches(triangles).tolist() == [[0, 1, 2], [0, 2, 3]]


def test_triangles_at_an_edge_of_three_go():
    triangles = np.array([[0, 1, 2], [0, 1, 3], [0, 1, 4], [2, 5, 6]])
    assert without_pinches(triangles).tolist() == [[2, 5, 6]]


def test_small_components_go():
    triangles = np.array([[0, 1, 2], [1, 3, 2], [4, 5, 6]])
    assert large_components(triangles, 4).tolist() == [[0, 1, 2], [1, 3, 2]]


def test_a_ball_holds_a_handle_when_it_is_as_large_as_the_handle():
    shape = surface("torus")  # the tube has a circumference of 2.5 m
    found, _ = compact(shape.vertices, shape.triangles)
    assert not small_handles(found, 0.8)
    assert small_handles(found, 4.5)


def test_a_ball_that_only_closes_around_a_tube_is_no_handle():
    ring = meshes.ring(0.1, 0.2, shape=(3, 20)).triangulated()
    assert not small_handles(Complex(ring.vertices, ring.triangles), 5.0)
