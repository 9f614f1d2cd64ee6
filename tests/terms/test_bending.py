import numpy as np
import pytest
import scipy.sparse.linalg as sla
from hypothesis import given, settings
from hypothesis import strategies as st

import isocloth as ic
from isocloth.terms.bending import bending, laplacian, near_bending

MESHES = {
    "quads": ic.meshes.rectangle(1.0, 1.3, shape=(13, 11)),
    "cut triangles": ic.meshes.rectangle(1.0, 1.0, shape=(13, 13), element="triangle"),
    "irregular": ic.meshes.irregular_rectangle(1.0, 1.0, nodes=200, seed=3),
    "ring": ic.meshes.ring(0.09, 0.15, shape=(5, 32)),
    "one quad": ic.meshes.rectangle(1.0, 1.3, shape=(2, 2)),
    "strip one wide": ic.meshes.rectangle(1.0, 0.1, shape=(11, 2)),
    "triangle strip one wide": ic.meshes.rectangle(1.0, 0.1, shape=(11, 2), element="triangle"),
}


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(sorted(MESHES)))
def test_no_force_on_any_affine_image_of_a_flat_mesh(seed, name):
    mesh = MESHES[name]
    k = bending(mesh)
    a = np.random.default_rng(seed).standard_normal((3, 3))
    force = k @ (mesh.vertices @ a.T + 1.0)
    assert np.abs(force).max() < 1e-11 * np.abs(k).max()


@pytest.mark.parametrize("name", sorted(MESHES))
def test_only_affine_maps_cost_nothing(name):
    mesh = MESHES[name]
    values = np.linalg.eigvalsh(bending(mesh).toarray())
    # constants, x and y; a zigzag with no energy would be a fourth
    assert np.abs(values[:3]).max() < 1e-9 * values[-1]
    assert values[3] > 1e-7 * values[-1]


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (5, 4), (9, 9), (2, 20)])
def test_a_twist_has_its_energy_on_every_grid_to_the_corners(shape):
    mesh = ic.meshes.rectangle(1.0, 1.3, shape=shape)
    z = mesh.vertices[:, 0] * mesh.vertices[:, 1]  # z_xy = 1
    assert z @ (bending(mesh) @ z) == pytest.approx(2 * mesh.area, rel=1e-9)


def rolled(v, angle):
    along = v[:, 0] * np.cos(angle) + v[:, 1] * np.sin(angle)
    across = v[:, 1] * np.cos(angle) - v[:, 0] * np.sin(angle)
    return np.stack([np.sin(along), across, 1 - np.cos(along)], axis=1)


@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 4])
@pytest.mark.parametrize("element", ["quad", "triangle", "irregular"])
def test_the_energy_of_a_roll_converges_to_its_curvature(element, angle):
    errors, sizes = [], (9, 17, 33)
    for n in sizes:
        if element == "irregular":
            mesh = ic.meshes.irregular_rectangle(1.0, 1.0, nodes=n * n, seed=0)
        else:
            mesh = ic.meshes.rectangle(1.0, 1.0, shape=(n, n), element=element)
        y = rolled(mesh.vertices, angle)
        errors.append(abs(np.sum(y * (bending(mesh) @ y)) - mesh.area))
    rate = np.polyfit(np.log(1 / (np.array(sizes) - 1)), np.log(errors), 1)[0]
    # first order: half an element along a free end carries no curvature across it
    assert rate > 0.85
    assert errors[-1] < 0.035


@pytest.mark.parametrize("name", ["quads", "cut triangles", "irregular"])
@pytest.mark.parametrize("angle", [0.0, np.pi / 8, np.pi / 4])
def test_a_uniform_curvature_held_at_the_border_stays_uniform_inside(name, angle):
    # the patch test: nothing may be gained by crumpling the inside of a parabolic cylinder
    mesh = MESHES[name]
    k = bending(mesh).tocsr()
    along = mesh.vertices[:, 0] * np.cos(angle) + mesh.vertices[:, 1] * np.sin(angle)
    w = along**2 / 2
    fixed = np.zeros(mesh.n_vertices, dtype=bool)
    fixed[mesh.boundary_nodes] = True
    for _ in range(2):
        near = fixed[mesh.edges].any(axis=1)
        fixed[mesh.edges[near]] = True
    free = ~fixed
    relaxed = w.copy()
    relaxed[free] = sla.spsolve(k[free][:, free].tocsc(), -(k[free][:, fixed] @ w[fixed]))
    assert relaxed @ (k @ relaxed) > 0.99 * (w @ (k @ w))


def test_the_papers_matrix_curls_flat_edges_and_interior_rows_do_not():
    mesh = MESHES["quads"]
    assert np.abs(bending(mesh, "laplacian") @ mesh.vertices).max() > 1.0
    assert np.abs(bending(mesh, "interior") @ mesh.vertices).max() < 1e-9


@pytest.mark.parametrize("name", ["quads", "irregular"])
def test_the_laplacian_is_exact_on_linear_and_consistent_on_quadratic_functions_inside(name):
    mesh = MESHES[name]
    x, y = mesh.vertices[:, 0], mesh.vertices[:, 1]
    inside = mesh.interior_nodes
    lap = laplacian(mesh)
    assert np.abs((lap @ (3 * x - y))[inside]).max() < 1e-10
    assert np.mean((lap @ (x**2))[inside]) == pytest.approx(2.0, rel=0.03)


def test_an_unknown_model_names_the_known_ones():
    with pytest.raises(ValueError, match="hessian, laplacian, interior"):
        bending(MESHES["quads"], "willmore")


@pytest.mark.parametrize("element", ["quad", "triangle"])
def test_bending_within_elements_is_nowhere_softer(element):
    mesh = ic.meshes.rectangle(0.6, 0.4, shape=(13, 9), element=element)
    matrix = bending(mesh)
    near, furthest = near_bending(mesh, matrix)
    together = np.zeros(matrix.shape, dtype=bool)
    for face in mesh.faces:
        together[np.ix_(face, face)] = True
    assert not near.toarray()[~together].any()
    assert furthest > 0.0
    values = np.linalg.eigvalsh((near - matrix).toarray())
    assert values.min() > -1e-9 * values.max()


def test_nothing_is_moved_where_there_is_no_bending():
    mesh = ic.meshes.rectangle(0.6, 0.4, shape=(4, 4))
    near, furthest = near_bending(mesh, 0.0 * bending(mesh))
    assert furthest == 0.0
    assert abs(near).max() == 0.0
