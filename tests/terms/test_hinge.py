from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isocloth as ic
from isocloth.base.errors import FabricError, MeshError
from isocloth.terms.dihedral import FLATTEST, hinge_stencils
from isocloth.terms.hinge import SHARPEST, HingeBending, angle_measure
from isocloth.terms.term import assembled_blocks, assembled_gradient, assembled_hessian, total_energy

ANGLES = [0.0, 3.0, -40.0, 90.0, -120.0, 149.0, -149.0, 151.0, -151.0, 165.0, 179.0, -179.0]  # degrees
PAIR = np.array([[0, 1, 2], [1, 0, 3]])


def bent(angle, rng=None):
    """Two triangles about an edge along x that turn by `angle` (rad); with rng of any shape, anywhere in space."""
    feet, heights, length = (0.5, 0.5), (1.0, 1.0), 1.0
    if rng is not None:
        feet, heights, length = rng.uniform(-0.3, 1.3, 2), rng.uniform(0.4, 1.6, 2), rng.uniform(0.5, 1.5)
    x = np.array([
        [0.0, 0.0, 0.0],
        [length, 0.0, 0.0],
        [feet[0] * length, heights[0] * np.cos(angle / 2), -heights[0] * np.sin(angle / 2)],
        [feet[1] * length, -heights[1] * np.cos(angle / 2), -heights[1] * np.sin(angle / 2)],
    ])  # fmt: skip
    return x if rng is None else x @ rotation(rng).T + rng.standard_normal(3)


def rotation(rng):
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return q * np.sign(np.linalg.det(q))


def one_hinge(rng, bending=1.7, damped=True):
    """A random hinge with a random rest shape, and its rest positions."""
    X = bent(rng.uniform(-2.0, 2.0), rng)
    term = HingeBending.of(ic.Mesh(X, PAIR), bending)
    return (term.damped(0.6, rng.uniform(-2.0, 2.0, 1)) if damped else term), X


def crumpled(seed, spread=0.05):
    """An irregular mesh with a rest shape that is not flat, its damped hinges, and positions far from rest."""
    rng = np.random.default_rng(seed)
    mesh = ic.meshes.irregular_rectangle(1.0, 1.0, nodes=60, seed=seed)
    rest = mesh.with_vertices(mesh.vertices + 0.3 * spread * rng.standard_normal(mesh.vertices.shape))
    x = rest.vertices + spread * rng.standard_normal(rest.vertices.shape)
    term = HingeBending.of(rest, 1.3)
    past = term.strain(rest.vertices + 0.2 * spread * rng.standard_normal(x.shape))
    return rest, term.damped(0.4, past), x


def differences(function, at, step):
    """Derivative (output, input) of a function of an array by central differences of fourth order."""
    columns = []
    for k in range(at.size):
        d = np.zeros(at.size)
        d[k] = step
        d = d.reshape(at.shape)
        near = np.ravel(function(at + d)) - np.ravel(function(at - d))
        far = np.ravel(function(at + 2 * d)) - np.ravel(function(at - 2 * d))
        columns.append((8.0 * near - far) / (12.0 * step))
    return np.stack(columns, axis=1)


def close(found, expected, tolerance=1e-6):
    return np.abs(found - expected).max() <= tolerance * np.abs(expected).max()


# The angle


@pytest.mark.parametrize("degrees", ANGLES)
def test_strain_is_the_measure_of_the_dihedral_angle(degrees):
    term = HingeBending.of(ic.Mesh(bent(0.0), PAIR), 1.0)
    assert term.strain(bent(np.deg2rad(degrees)))[0] == pytest.approx(angle_measure(np.deg2rad(degrees)), rel=1e-9)


def test_the_first_triangle_runs_along_the_edge_and_the_second_against_it():
    for mesh in (ic.meshes.irregular_rectangle(1.0, 1.0, nodes=80, seed=1), ic.meshes.tank_top()):
        mesh = mesh.triangulated()
        sides = {(int(f[k - 1]), int(f[k])): int(f[k - 2]) for f in mesh.faces for k in range(3)}
        stencils = hinge_stencils(mesh)
        assert len(stencils) == len(mesh.edges) - len(mesh.boundary_edges)
        for i, j, first, second in stencils.tolist():
            assert sides[i, j] == first
            assert sides[j, i] == second


def test_a_ridge_is_positive_and_a_valley_negative():
    hill = ic.meshes.rectangle(1.0, 1.0, shape=(5, 5), element="triangle")
    term = HingeBending.of(hill, 1.0)
    v = hill.vertices.copy()
    v[:, 2] = -0.2 * np.sum((v - v.mean(axis=0)) ** 2, axis=1)
    up = np.sign(hill.vertex_normals[0, 2])
    assert (up * term.strain(v) > -1e-12).all()
    assert up * term.strain(v).sum() > 1.0


# The measure k


def test_measure_is_twice_the_tangent_of_half_the_angle_up_to_150_degrees():
    angles = np.linspace(-SHARPEST, SHARPEST, 41)
    np.testing.assert_allclose(angle_measure(angles), 2 * np.tan(angles / 2), rtol=1e-14)
    assert angle_measure(np.pi) == pytest.approx(22.9, abs=0.1)


@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_energy_slope_and_curvature_are_continuous_at_150_degrees(side):
    term, _ = one_hinge(np.random.default_rng(2))
    gap = 1e-9
    inside, outside = bent(side * (SHARPEST - gap)), bent(side * (SHARPEST + gap))
    assert total_energy(term, outside) == pytest.approx(total_energy(term, inside), rel=1e-7)
    assert close(assembled_gradient(term, outside, 4), assembled_gradient(term, inside, 4), 1e-7)
    for psd in (False, True):
        a, b = (assembled_hessian(term, x, 4, psd).toarray() for x in (inside, outside))
        assert close(b, a, 1e-7)


def test_energy_of_a_flat_rest_shape_increases_to_the_closed_fold_and_is_the_same_on_both_sides():
    term = HingeBending.of(ic.Mesh(bent(0.0), PAIR), 1.0)
    up, down = (
        np.array([total_energy(term, bent(side * a)) for a in np.linspace(0, np.pi - 1e-9, 200)]) for side in (1, -1)
    )
    assert (np.diff(up) > 0.0).all()
    np.testing.assert_allclose(up, down, rtol=1e-6)
    assert up[-1] == pytest.approx(0.5 * term.weight[0] * angle_measure(np.pi) ** 2, rel=1e-6)


# Derivatives by finite differences


@pytest.mark.parametrize("degrees", ANGLES)
@pytest.mark.parametrize("seed", range(3))
def test_derivatives_of_one_hinge_at_every_angle(degrees, seed):
    rng = np.random.default_rng(seed)
    term, _ = one_hinge(rng)
    x = bent(np.deg2rad(degrees), rng)
    step = 2e-4 if abs(degrees) < 148 else 5e-5  # neither across 150 degrees nor across 180
    slope = differences(lambda y: total_energy(term, y), x, step)
    assert close(assembled_gradient(term, x, 4).ravel(), slope[0], 1e-6)
    second = differences(lambda y: assembled_gradient(term, y, 4), x, step)
    assert close(assembled_hessian(term, x, 4, False).toarray(), second, 1e-6)
    assert close(term.strain_gradient(x).ravel(), differences(term.strain, x, step)[0], 1e-6)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-179.0, 179.0))
def test_derivatives_of_random_hinges(seed, degrees):
    degrees += np.sign(degrees) * 2.0 * (abs(abs(degrees) - 150.0) < 1.0) * (-1.0 if abs(degrees) < 150.0 else 1.0)
    rng = np.random.default_rng(seed)
    term, _ = one_hinge(rng)
    x = bent(np.deg2rad(degrees), rng)
    slope = differences(lambda y: total_energy(term, y), x, 5e-5)[0]
    second = differences(lambda y: assembled_gradient(term, y, 4), x, 5e-5)
    assert np.abs(assembled_gradient(term, x, 4).ravel() - slope).max() <= 1e-6 * max(np.abs(slope).max(), 1.0)
    assert close(assembled_hessian(term, x, 4, False).toarray(), second, 1e-6)


@pytest.mark.parametrize("seed", range(3))
def test_derivatives_on_an_irregular_mesh(seed):
    _, term, x = crumpled(seed)
    n = len(x)
    d = np.random.default_rng(seed).standard_normal(x.shape)
    along = np.array([0.0])
    slope = differences(lambda s: total_energy(term, x + s[0] * d), along, 1e-6)
    assert np.sum(assembled_gradient(term, x, n) * d) == pytest.approx(slope[0, 0], rel=1e-6)
    second = differences(lambda s: assembled_gradient(term, x + s[0] * d, n), along, 1e-6)[:, 0]
    matrix = assembled_hessian(term, x, n, False)
    assert close(matrix @ d.ravel(), second, 1e-6)
    assert abs(matrix - matrix.T).max() <= 1e-12 * abs(matrix).max()


@pytest.mark.parametrize("degrees", ANGLES)
@pytest.mark.parametrize("damped", [False, True])
def test_rest_gradient_of_one_hinge(degrees, damped):
    rng = np.random.default_rng(7)
    term, X = one_hinge(rng, damped=damped)
    x = bent(np.deg2rad(degrees), rng)

    def gradient(rest):
        other = HingeBending.of(ic.Mesh(rest, PAIR), 1.7)
        return assembled_gradient(other.damped(term.rate, term.past), x, 4)

    assert close(term.rest_gradient(x)[0], differences(gradient, X, 1e-4), 1e-6)


@pytest.mark.parametrize("degrees", [170.0, -155.0, 120.0])
def test_rest_gradient_where_the_rest_shape_itself_is_folded(degrees):
    rng = np.random.default_rng(8)
    X, x = bent(np.deg2rad(degrees), rng), bent(0.5, rng)
    term = HingeBending.of(ic.Mesh(X, PAIR), 1.0)
    found = differences(lambda r: assembled_gradient(HingeBending.of(ic.Mesh(r, PAIR), 1.0), x, 4), X, 1e-5)
    assert close(term.rest_gradient(x)[0], found, 1e-6)


def test_rest_gradient_on_an_irregular_mesh():
    rest, term, x = crumpled(3)
    n = len(x)
    d = np.random.default_rng(5).standard_normal(x.shape)

    def gradient(s):
        other = HingeBending.of(rest.with_vertices(rest.vertices + s[0] * d), 1.3)
        return assembled_gradient(other.damped(0.4, term.past), x, n)

    found = differences(gradient, np.array([0.0]), 1e-6)[:, 0]
    assert close(assembled_blocks(term, term.rest_gradient(x), n) @ d.ravel(), found, 1e-6)


def test_rest_gradient_with_rest_angles_by_hand_sees_the_weight_alone():
    rng = np.random.default_rng(9)
    X, x = bent(0.4, rng), bent(1.1, rng)
    term = HingeBending.of(ic.Mesh(X, PAIR), 1.0, angles=-0.3)
    assert term.target[0] == pytest.approx(2 * np.tan(-0.15))
    found = differences(
        lambda r: assembled_gradient(HingeBending.of(ic.Mesh(r, PAIR), 1.0, angles=-0.3), x, 4), X, 1e-4
    )
    assert close(term.rest_gradient(x)[0], found, 1e-6)


def test_gradients_in_the_parameters():
    _, term, x = crumpled(4)
    n = len(x)
    found = term.parameter_gradient(x)
    assert set(found) == {"bending", "rate"}
    for name, field in (("bending", "stiffness"), ("rate", "rate")):
        at = getattr(term, field)
        slope = differences(
            lambda s, field=field, at=at: assembled_gradient(replace(term, **{field: at + s[0]}), x, n),
            np.zeros(1),
            0.1,
        )
        total = np.zeros((n, 3))
        np.add.at(total, term.stencils, found[name])
        assert close(total.ravel(), slope[:, 0], 1e-9)
    elastic = replace(term, rate=np.zeros_like(term.rate))
    gradient = np.empty((len(term.stencils), 4, 3))
    elastic.gradient(x, gradient)
    np.testing.assert_allclose(found["bending"], gradient / 1.3, rtol=1e-12, atol=1e-12)


# Mechanics


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_rigid_motions_cost_nothing_and_forces_balance(seed):
    rng = np.random.default_rng(seed)
    _, term, x = crumpled(seed % 5)
    moved = x @ rotation(rng).T + rng.standard_normal(3)
    assert total_energy(term, moved) == pytest.approx(total_energy(term, x), rel=1e-8)
    force = -assembled_gradient(term, x, len(x))
    size = np.abs(force).max()
    assert np.abs(force.sum(axis=0)).max() < 1e-10 * size
    assert np.abs(np.cross(x, force).sum(axis=0)).max() < 1e-10 * size


def test_the_rest_shape_has_no_energy_and_no_force_flat_or_not():
    rest, term, _ = crumpled(6)
    flat = ic.meshes.irregular_rectangle(1.0, 1.0, nodes=60, seed=6)
    for mesh in (rest, flat):
        own = HingeBending.of(mesh, 2.0)
        assert total_energy(own, mesh.vertices) < 1e-25
        assert np.abs(assembled_gradient(own, mesh.vertices, mesh.n_vertices)).max() < 1e-10
    assert np.abs(term.strain(rest.vertices)).max() > 0.1


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_no_flat_state_of_a_flat_rest_shape_has_energy(seed):
    rng = np.random.default_rng(seed)
    flat = ic.meshes.irregular_rectangle(1.0, 1.0, nodes=60, seed=1)
    x = flat.vertices + np.append(rng.uniform(-0.01, 0.01, (60, 2)), np.zeros((60, 1)), axis=1)
    x = (x * [1.0 + rng.uniform(-0.3, 0.3), 1.0, 1.0]) @ rotation(rng).T
    assert total_energy(HingeBending.of(flat, 1.0), x) < 1e-22


def test_damping_adds_the_viscous_potential_and_replaces_the_one_before():
    _, damped, x = crumpled(2)
    elastic = replace(damped, rate=np.zeros_like(damped.rate))
    k = elastic.strain(x)
    viscous = 0.5 * 0.4 * np.sum(damped.weight * (k - damped.past) ** 2)
    assert total_energy(damped, x) == pytest.approx(total_energy(elastic, x) + viscous, rel=1e-12)
    # up to a constant it is one spring of the stiffness B + r towards the mean of both targets
    mean = (1.3 * damped.target + 0.4 * damped.past) / 1.7
    single = replace(elastic, stiffness=elastic.stiffness + 0.4, target=mean)
    np.testing.assert_allclose(assembled_gradient(damped, x, len(x)), assembled_gradient(single, x, len(x)), atol=1e-9)
    assert total_energy(damped.damped(0.0, damped.past), x) == pytest.approx(total_energy(elastic, x), rel=1e-14)
    assert not damped.damped(0.4, k).parameter_gradient(x)["rate"].any()


# Newton's matrix


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.floats(-179.9, 179.9))
def test_psd_variant_is_positive_semidefinite(seed, degrees):
    rng = np.random.default_rng(seed)
    term, _ = one_hinge(rng)
    matrix = np.empty((1, 12, 12))
    term.hessian(bent(np.deg2rad(degrees), rng), matrix, True)
    values = np.linalg.eigvalsh(matrix[0])
    assert values[0] >= -1e-9 * values[-1]
    np.testing.assert_array_equal(matrix[0], matrix[0].T)


def test_psd_variant_is_the_second_derivative_where_there_is_no_moment():
    rest, term, _ = crumpled(1)
    own = term.damped(0.4, term.strain(rest.vertices))
    raw, psd = (assembled_hessian(own, rest.vertices, rest.n_vertices, p).toarray() for p in (False, True))
    assert np.abs(raw - psd).max() < 1e-10 * np.abs(raw).max()


@pytest.mark.parametrize("degrees", [-170.0, -100.0, -10.0, 30.0, 100.0, 160.0])
def test_psd_variant_has_the_curvature_of_the_energy_in_the_angle(degrees):
    rng = np.random.default_rng(3)
    term = HingeBending.of(ic.Mesh(bent(0.0), PAIR), 1.2)
    angle = np.deg2rad(degrees)
    h = 1e-4
    energies = [total_energy(term, bent(angle + s * h)) for s in (-1, 0, 1)]
    expected = (energies[0] - 2 * energies[1] + energies[2]) / h**2
    x = bent(angle, rng)
    slope = differences(lambda y: 2 * np.arctan(term.strain(y) / 2), x, 1e-5).ravel()
    if abs(degrees) > 150:  # k is no longer the tangent there: the chain rule by the derivative of k in the angle
        slope = differences(term.strain, x, 1e-5).ravel()
        slope /= differences(lambda a: angle_measure(a), np.array([angle]), 1e-5)[0, 0]
    matrix = np.empty((1, 12, 12))
    term.hessian(x, matrix, True)
    assert close(matrix[0], expected * np.outer(slope, slope), 1e-5)


def test_newton_with_the_psd_variant_converges_from_a_roll_and_goes_downhill():
    flat = ic.meshes.rectangle(0.4, 0.1, shape=(9, 3), element="triangle")
    term = HingeBending.of(flat, 1e-4)
    v, n = flat.vertices, flat.n_vertices
    turn = (v[:, 0] - v[:, 0].min()) / 0.4 * 1.6 * np.pi
    start = np.stack([0.08 * np.sin(turn), v[:, 1], 0.08 * (1 - np.cos(turn))], axis=1)
    inertia = 0.2 * flat.area / n / 0.02**2  # N/m: a step of 20 ms from rest

    def potential(y):
        return total_energy(term, y) + 0.5 * inertia * np.sum((y - start) ** 2)

    x = start
    for _ in range(25):
        g = assembled_gradient(term, x, n) + inertia * (x - start)
        matrix = assembled_hessian(term, x, n, True).toarray() + inertia * np.eye(3 * n)
        step = -np.linalg.solve(matrix, g.ravel()).reshape(-1, 3)
        assert np.sum(step * g) <= 0.0
        size, before = 1.0, potential(x)
        while size > 1e-3 and potential(x + size * step) > before * (1 + 1e-14):
            size /= 2
        x = x + size * step
    first = np.abs(assembled_gradient(term, start, n)).max()
    assert np.abs(assembled_gradient(term, x, n) + inertia * (x - start)).max() < 1e-6 * first
    assert potential(x) < 0.9 * potential(start)


# Closed forms: the energy per area of a cylinder of radius R is D / (2 R^2)


def equilateral(n, side):
    """A torus-like patch of equilateral triangles, cut to a rectangle of rows; positions (m, 2), triangles (f, 3)."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    points = side * np.stack([i + 0.5 * j, np.sqrt(0.75) * j], axis=-1).reshape(-1, 2)
    a = (i[:-1, :-1] * n + j[:-1, :-1]).ravel()
    faces = np.concatenate([np.stack([a, a + n, a + 1], axis=1), np.stack([a + n, a + n + 1, a + 1], axis=1)])
    return points, faces


def cut_squares(n, side):
    """Squares cut along (1, 1)."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    points = side * np.stack([i, j], axis=-1).reshape(-1, 2).astype(float)
    a = (i[:-1, :-1] * n + j[:-1, :-1]).ravel()
    faces = np.concatenate([np.stack([a, a + n, a + n + 1], axis=1), np.stack([a, a + n + 1, a + 1], axis=1)])
    return points, faces


def stiffness_of_roll(points, faces, direction, radius, n):
    """D / B of a sheet rolled up along `direction` (rad), from the hinges of a period in its middle."""
    flat = np.append(points, np.zeros((len(points), 1)), axis=1)
    along = points @ [np.cos(direction), np.sin(direction)]
    across = points @ [-np.sin(direction), np.cos(direction)]
    along = along - along.mean()
    rolled = np.stack([radius * np.sin(along / radius), across, radius * np.cos(along / radius)], axis=1)
    mesh = ic.Mesh(flat, faces)
    term = HingeBending.of(mesh, 1.0)
    each = np.empty(len(term.stencils))
    term.energy(rolled, each)
    # one cell of the lattice has three edges, from the node (i, j) on: those of the node in the middle
    middle = (n // 2) * n + n // 2
    own = term.stencils[:, 0] == middle
    assert own.sum() == 3
    cell = 2.0 * mesh.face_areas[0]
    return each[own].sum() / cell * 2.0 * radius**2


@pytest.mark.parametrize("degrees", [0, 90])
def test_cut_squares_rolled_up_along_their_sides_have_the_stiffness_B(degrees):
    points, faces = cut_squares(9, 0.01)
    assert stiffness_of_roll(points, faces, np.deg2rad(degrees), 20.0, 9) == pytest.approx(1.0, rel=1e-5)


def test_cut_squares_rolled_up_about_their_diagonals_have_B_and_across_them_3_B():
    points, faces = cut_squares(9, 0.01)
    assert stiffness_of_roll(points, faces, -np.pi / 4, 20.0, 9) == pytest.approx(1.0, rel=1e-5)
    assert stiffness_of_roll(points, faces, np.pi / 4, 20.0, 9) == pytest.approx(3.0, rel=1e-5)
    every = [stiffness_of_roll(points, faces, a, 20.0, 9) for a in np.linspace(0, np.pi, 37)]
    # with the curvatures xx, xy, yy of the roll: the turns of the three edges are h (xx + xy), h (yy + xy), 2^.5 h xy
    a = np.linspace(0, np.pi, 37)
    xx, xy, yy = np.cos(a) ** 2, np.sin(a) * np.cos(a), np.sin(a) ** 2
    np.testing.assert_allclose(every, (xx + xy) ** 2 + (yy + xy) ** 2 + 4 * xy**2, rtol=1e-4)
    assert max(every) == pytest.approx(3.0, rel=1e-5)


@pytest.mark.parametrize("degrees", [0, 11, 30, 45, 60, 77, 90, 120])
def test_equilateral_triangles_have_the_stiffness_B_in_every_direction(degrees):
    points, faces = equilateral(9, 0.01)
    assert stiffness_of_roll(points, faces, np.deg2rad(degrees), 20.0, 9) == pytest.approx(1.0, rel=1e-5)


def test_coarse_cylinder_of_cut_squares_has_the_energy_of_its_angles():
    # a prism of flat sides: every turn is the same, the diagonals stay flat, and k / l is the curvature of the
    # circle that touches the sides, so that the energy per area is B / (2 R^2) for every number of sides
    n, side = 9, 0.1
    points, faces = cut_squares(n, side)
    for turn in np.deg2rad([10.0, 45.0, 90.0, 140.0]):
        direction = turn * np.arange(n - 1)
        corners = np.concatenate([[[0, 0]], np.cumsum(side * np.stack([np.cos(direction), np.sin(direction)], 1), 0)])
        x = np.stack([corners[:, 0].repeat(n), points[:, 1], corners[:, 1].repeat(n)], axis=1)
        flat = ic.Mesh(np.append(points, np.zeros((n * n, 1)), axis=1), faces)
        term = HingeBending.of(flat, 2.0)
        radius = side / (2 * np.tan(turn / 2))
        bent_area = side**2 * (n - 1) * (n - 2)  # of the lines that bend, n - 2 of them, one square each
        assert total_energy(term, x) == pytest.approx(2.0 / (2 * radius**2) * bent_area, rel=1e-9)


# What cannot be, and what must not break


def test_degenerate_triangles_give_finite_numbers():
    rng = np.random.default_rng(0)
    term, X = one_hinge(rng)
    states = [np.zeros((4, 3)), np.ones((4, 3)), X * [1, 0, 0]]
    for a, b in ((0, 1), (0, 2), (2, 3), (1, 3)):
        x = X.copy()
        x[a] = x[b]
        states.append(x)
    for t in (0.3, -2.0, 1.0):
        for gap in (0.0, 1e-300, 1e-18, 1e-9, 1e-7):
            x = X.copy()
            x[2] = x[0] + t * (x[1] - x[0]) + gap * (X[2] - X[0])
            states.append(x)
    for x in states:
        energy, gradient, matrix = np.empty(1), np.empty((1, 4, 3)), np.empty((1, 12, 12))
        term.energy(x, energy)
        term.gradient(x, gradient)
        assert np.isfinite(energy).all()
        assert np.isfinite(gradient).all()
        for psd in (False, True):
            term.hessian(x, matrix, psd)
            assert np.isfinite(matrix).all()
        assert np.isfinite(term.rest_gradient(x)).all()
        assert np.abs(gradient).max() < 1e3 / FLATTEST


def test_a_triangle_without_area_has_no_angle_and_no_force_on_its_apex():
    X = bent(0.3)
    term = HingeBending.of(ic.Mesh(X, PAIR), 1.0)
    x = X.copy()
    x[2] = [0.5, 0.0, 0.0]
    gradient = np.empty((1, 4, 3))
    term.gradient(x, gradient)
    assert term.strain(x)[0] == 0.0
    assert not gradient[0, 2].any()


def test_quads_are_refused_with_the_remedy():
    with pytest.raises(MeshError, match="triangulated"):
        HingeBending.of(ic.meshes.rectangle(1.0, 1.0, shape=(3, 3)), 1.0)


def test_wrong_numbers_are_refused():
    mesh = ic.meshes.rectangle(1.0, 1.0, shape=(3, 3), element="triangle")
    with pytest.raises(FabricError, match="bending"):
        HingeBending.of(mesh, -1.0)
    with pytest.raises(ValueError, match="8 hinges"):
        HingeBending.of(mesh, np.ones(3))
    with pytest.raises(ValueError, match="not finite"):
        HingeBending.of(mesh, 1.0, angles=np.nan)
    with pytest.raises(ValueError, match="between -pi and pi"):
        HingeBending.of(mesh, 1.0, angles=4.0)
    with pytest.raises(ValueError, match="past"):
        HingeBending.of(mesh, 1.0).damped(1.0, np.ones(3))


def test_one_triangle_has_no_hinges():
    mesh = ic.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    term = HingeBending.of(mesh, 1.0)
    assert term.stencils.shape == (0, 4)
    assert total_energy(term, mesh.vertices) == 0.0
    assert term.rest_gradient(mesh.vertices).shape == (0, 12, 12)
