"""Energies of shells against closed forms: stretch, shear, cylinders, and the plate that a discrete shell is."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.base.errors import FabricError, InputError, MeshError
from isocloth.terms.area_stretch import AreaStretch
from isocloth.terms.dihedral import angle_hessians, angles, hinge_stencils
from isocloth.terms.dihedral_bending import DihedralBending
from isocloth.terms.edge_stretch import EdgeStretch
from isocloth.terms.koiter_bending import KoiterBending
from isocloth.terms.neo_hookean import NeoHookeanMembrane
from isocloth.terms.orthotropic import OrthotropicMembrane
from isocloth.terms.rest_shape import RestShape
from isocloth.terms.stvk import StVKMembrane
from isocloth.terms.term import total_energy
from isocloth.terms.woven_bending import WovenBending

SHEET = {"young": 2e5, "poisson": 0.3, "thickness": 1e-3}


def sheet(nodes=60):
    return ic.meshes.irregular_rectangle(1.0, 1.0, nodes=nodes, seed=2)


def stretched(mesh, x=1.0, y=1.0, shear=0.0):
    v = mesh.vertices.copy()
    return np.stack([x * v[:, 0] + shear * v[:, 1], y * v[:, 1], v[:, 2]], axis=1)


@pytest.mark.parametrize("make", [StVKMembrane.of, NeoHookeanMembrane.of])
@pytest.mark.parametrize(("x", "y", "shear"), [(1e-4, 0, 0), (1e-4, -3e-5, 0), (1e-4, 1e-4, 0), (0, 0, 1e-4)])
def test_small_strains_cost_what_plane_stress_costs(make, x, y, shear):
    mesh = sheet()
    term = make(RestShape.of(mesh), **SHEET)
    e, nu, h = SHEET["young"], SHEET["poisson"], SHEET["thickness"]
    expected = e * h / (2 * (1 - nu**2)) * (x**2 + y**2 + 2 * nu * x * y + (1 - nu) * shear**2 / 2)
    assert total_energy(term, stretched(mesh, 1 + x, 1 + y, shear)) == pytest.approx(expected, rel=3e-4)


def test_a_woven_membrane_has_its_moduli_along_its_threads():
    mesh, e = sheet(), 1e-4
    term = OrthotropicMembrane.of(RestShape.of(mesh), warp=3000.0, weft=800.0, shear=50.0, poisson=0.4)
    couple = 1.0 / (1.0 - 0.4**2 * 800.0 / 3000.0)
    assert total_energy(term, stretched(mesh, x=1 + e)) == pytest.approx(3000.0 * couple * e**2 / 2, rel=3e-4)
    assert total_energy(term, stretched(mesh, y=1 + e)) == pytest.approx(800.0 * couple * e**2 / 2, rel=3e-4)
    assert total_energy(term, stretched(mesh, shear=e)) == pytest.approx(50.0 * e**2 / 2, rel=3e-4)
    free = stretched(mesh, 1 + e, 1 - 0.4 * e)  # the weft contracts as it wants to
    assert total_energy(term, free) == pytest.approx(3000.0 * e**2 / 2, rel=3e-4)


def test_an_isotropic_woven_membrane_is_that_of_st_venant_and_kirchhoff():
    mesh, rng = sheet(), np.random.default_rng(1)
    x, rest = mesh.vertices + 0.05 * rng.standard_normal(mesh.vertices.shape), RestShape.of(mesh)
    e, nu, h = SHEET["young"], SHEET["poisson"], SHEET["thickness"]
    woven = OrthotropicMembrane.of(rest, warp=e * h, weft=e * h, shear=e * h / (2 * (1 + nu)), poisson=nu)
    assert total_energy(woven, x) == pytest.approx(total_energy(StVKMembrane.of(rest, **SHEET), x), rel=1e-12)


@pytest.mark.parametrize("make", ["edges", "stvk", "orthotropic"])
def test_rows_are_the_same_energy_with_the_same_forces(make):
    mesh, rng = sheet(), np.random.default_rng(1)
    rest = RestShape.of(mesh)
    term = {
        "edges": lambda: EdgeStretch.of(rest, 30.0),
        "stvk": lambda: StVKMembrane.of(rest, **SHEET),
        "orthotropic": lambda: OrthotropicMembrane.of(rest, warp=30.0, weft=8.0, shear=3.0, poisson=0.4),
    }[make]()
    x, rows = mesh.vertices + 0.05 * rng.standard_normal(mesh.vertices.shape), term.rows()
    c = rows.values(x)
    assert np.sum(rows.weight * c**2) / 2 == pytest.approx(total_energy(term, x), rel=1e-10)
    gradient = np.zeros_like(x)
    blocks = np.empty((*term.stencils.shape, 3))
    term.gradient(x, blocks)
    np.add.at(gradient, term.stencils, blocks)
    force = (rows.jacobian(x).T @ (rows.weight * c)).reshape(x.shape)
    np.testing.assert_allclose(force, gradient, atol=1e-10 * np.abs(gradient).max())
    assert np.abs(rows.values(mesh.vertices)).max() < 1e-12


def test_edges_and_areas_of_a_stretched_sheet():
    mesh = sheet()
    rest = RestShape.of(mesh)
    x = 1.01 * mesh.vertices
    assert total_energy(EdgeStretch.of(rest, 7.0), x) == pytest.approx(7.0 * 1e-4 * mesh.edge_lengths.sum() / 2)
    assert total_energy(AreaStretch.of(rest, 5.0), x) == pytest.approx(5.0 * (1.01**2 - 1) ** 2 * mesh.area / 2)


def on_cylinder(mesh, turn, radius=1.0):
    """Nodes of a flat mesh on a cylinder whose axis is turned by an angle (rad) in the plane."""
    c, s = np.cos(turn), np.sin(turn)
    along, across = c * mesh.vertices[:, 0] + s * mesh.vertices[:, 1], c * mesh.vertices[:, 1] - s * mesh.vertices[:, 0]
    return np.stack([along, radius * np.sin(across / radius), radius * (np.cos(across / radius) - 1)], axis=1)


def cut_alike(n):
    """A unit square of n x n nodes whose squares are all cut along the same diagonal."""
    quads = ic.meshes.rectangle(1.0, 1.0, shape=(n, n))
    return ic.Mesh(quads.vertices, np.concatenate([quads.faces[:, [0, 1, 2]], quads.faces[:, [0, 2, 3]]]))


def inside(mesh, margin):
    """Faces whose patch lies off the border of a unit square."""
    middle = mesh.vertices[mesh.faces].mean(axis=1)
    return (np.abs(middle[:, :2] - mesh.vertices[:, :2].mean(axis=0)) < 0.5 - margin).all(axis=1)


@pytest.mark.parametrize(
    ("normals", "kind"), [("average", "alike"), ("sin", "alike"), ("tan", "alike"), ("sin", "any"), ("tan", "any")]
)
def test_a_cylinder_costs_half_its_rigidity_times_its_curvature_squared(normals, kind):
    mesh = cut_alike(29) if kind == "alike" else ic.meshes.irregular_rectangle(1.0, 1.0, nodes=800, seed=2)
    rest = RestShape.of(mesh)
    term = KoiterBending.of(rest, normals, SHEET)
    rigidity = SHEET["young"] * SHEET["thickness"] ** 3 / (12 * (1 - SHEET["poisson"] ** 2))
    chosen = inside(mesh, 0.15)
    for turn in (0.0, 0.4, np.pi / 4, 1.9):
        energy = np.empty(mesh.n_faces)
        term.energy(on_cylinder(mesh, turn), energy)
        assert energy[chosen].sum() / rest.areas[chosen].sum() == pytest.approx(rigidity / 2, rel=1e-3)


def test_averaged_normals_are_too_stiff_across_the_diagonals_of_squares_that_are_cut_alternately():
    mesh = ic.meshes.rectangle(1.0, 1.0, shape=(29, 29), element="triangle")
    rest, chosen, energy = RestShape.of(mesh), inside(mesh, 0.15), np.empty(mesh.n_faces)
    rigidity = SHEET["young"] * SHEET["thickness"] ** 3 / (12 * (1 - SHEET["poisson"] ** 2))
    for normals, factor in (("average", 1.65), ("tan", 1.0)):
        KoiterBending.of(rest, normals, SHEET).energy(on_cylinder(mesh, np.pi / 4), energy)
        assert energy[chosen].sum() / rest.areas[chosen].sum() == pytest.approx(factor * rigidity / 2, rel=1e-2)


def test_a_woven_shell_bends_by_its_own_rigidity_along_each_thread():
    mesh = cut_alike(21)
    law = {"bending": 3.0, "bending_weft": 1.0, "twist": 0.5, "poisson": 0.0}
    rest = RestShape.of(mesh)
    term = WovenBending.of(rest, "average", law, OrthotropicMembrane.of(rest, 1.0, 1.0, 1.0, 0.0).direction)
    chosen = inside(mesh, 0.15)
    energy = np.empty(mesh.n_faces)
    for turn, stiffness in ((0.0, 1.0), (np.pi / 2, 3.0), (np.pi / 4, (3.0 + 1.0 + 2 * 0.5) / 4)):
        term.energy(on_cylinder(mesh, turn), energy)
        assert energy[chosen].sum() / rest.areas[chosen].sum() == pytest.approx(stiffness / 2, rel=2e-3)


def test_a_curved_rest_shape_costs_nothing_and_flattening_it_costs_as_much_as_rolling_it():
    mesh = ic.meshes.rectangle(1.0, 1.0, shape=(15, 15), element="triangle")
    rolled = on_cylinder(mesh, 0.0)
    for normals in ("average", "sin", "tan"):
        there = KoiterBending.of(RestShape.of(mesh, rolled), normals, SHEET)
        back = KoiterBending.of(RestShape.of(mesh), normals, SHEET)
        assert total_energy(there, rolled) < 1e-20
        flat, roll = total_energy(there, mesh.vertices.copy()), total_energy(back, rolled)
        assert flat == pytest.approx(roll, rel=5e-3)


def equilateral(rows=14):
    """A patch of equilateral triangles of side 1/rows."""
    side = 1.0 / rows
    v = np.array([[i * side + (j % 2) * side / 2, j * side * np.sqrt(3) / 2, 0] for j in range(rows + 1)
                  for i in range(rows + 1)])  # fmt: skip
    faces = []
    for j in range(rows):
        for i in range(rows):
            a, b = j * (rows + 1) + i, (j + 1) * (rows + 1) + i
            faces += [[a, a + 1, b], [a + 1, b + 1, b]] if j % 2 == 0 else [[a, a + 1, b + 1], [a, b + 1, b]]
    return ic.Mesh(v, faces)


def plate_energy(mesh, term, hessian, margin=0.2, size=1e-3):
    """Energy per area of the surface z = size x^T H x / 2, over size^2, in the middle of a mesh."""
    v = mesh.vertices - mesh.vertices.mean(axis=0)
    x = v.copy()
    x[:, 2] = 0.5 * size * np.einsum("ni,ij,nj->n", v[:, :2], np.asarray(hessian, dtype=float), v[:, :2])
    energy = np.empty(len(term.stencils))
    term.energy(x, energy)
    stencils = hinge_stencils(mesh)
    areas = np.zeros(len(stencils))
    within = mesh.edge_faces[mesh.edge_faces[:, 1] >= 0]
    areas += mesh.face_areas[within].sum(axis=1) / 3
    middle = v[stencils[:, :2]].mean(axis=1)
    chosen = (np.abs(middle[:, :2]) < 0.5 * np.ptp(v[:, :2], axis=0) - margin).all(axis=1)
    return energy[chosen].sum() / areas[chosen].sum() / size**2


def test_equilateral_triangles_are_a_plate_of_three_times_the_stiffness_with_poissons_ratio_minus_a_third():
    mesh = equilateral(60)
    term = DihedralBending.of(RestShape.of(mesh), 1.0)
    for turn in (0.0, 0.3, 1.1):
        n = np.array([np.cos(turn), np.sin(turn)])
        assert plate_energy(mesh, term, np.outer(n, n)) == pytest.approx(3.0 / 2, rel=2e-2)
    sphere = plate_energy(mesh, term, np.eye(2))
    assert sphere == pytest.approx(3.0 * (1 - 1 / 3), rel=2e-2)  # D (1 + nu)


def test_a_triangle_that_is_pressed_flat_is_refused_by_neo_hookes_law():
    mesh = sheet(20)
    term = NeoHookeanMembrane.of(RestShape.of(mesh), **SHEET)
    x = mesh.vertices.copy()
    x[:, 1] = 0.0
    assert np.isinf(total_energy(term, x))


@pytest.mark.parametrize("degrees", [0.0, 90.0, 179.0, 179.999, -179.999])
def test_the_dihedral_angle_and_its_derivatives_are_right_up_to_the_closed_fold(degrees):
    a = np.deg2rad(degrees) / 2
    x = np.array([[0.0, 0, 0], [1, 0, 0], [0.3, np.cos(a), -np.sin(a)], [0.6, -np.cos(a), -np.sin(a)]])
    stencil = np.array([[0, 1, 2, 3]])
    theta, slope, second = np.empty(1), np.empty((1, 4, 3)), np.empty((1, 12, 12))
    angles(stencil, x, theta, slope)
    angle_hessians(stencil, x, np.ones(1), second)
    assert theta[0] == pytest.approx(2 * a, abs=1e-14)
    d = np.random.default_rng(0).standard_normal((4, 3))
    step = 1e-6

    def at(s):
        t, g = np.empty(1), np.empty((1, 4, 3))
        angles(stencil, x + s * d, t, g)
        return t[0], g[0].ravel()

    (up, right), (down, left) = at(step), at(-step)
    assert (up - down) / (2 * step) == pytest.approx(np.sum(slope[0] * d), rel=1e-6)
    np.testing.assert_allclose((right - left) / (2 * step), second[0] @ d.ravel(), atol=1e-6)


# Rest shapes


def test_masses_of_a_rest_shape_and_their_derivative():
    mesh, rng = sheet(), np.random.default_rng(3)
    for rest in (RestShape.of(mesh), RestShape.of(mesh, mesh.vertices[mesh.faces])):
        assert rest.node_areas.sum() == pytest.approx(mesh.area)
        d, step = rng.standard_normal(rest.points.shape), 1e-6
        up, down = (RestShape(mesh, rest.points + s * d, rest.corners).node_areas for s in (step, -step))
        np.testing.assert_allclose(rest.node_area_gradient() @ d.ravel(), (up - down) / (2 * step), atol=1e-9)


def test_a_seam_is_sewn_flat_and_other_edges_keep_their_angle():
    mesh = ic.Mesh([[0, 0, 0], [1, 0, 0], [0.5, 1, 0.3], [0.5, -1, 0.3]], [[0, 1, 2], [1, 0, 3]])
    corners = mesh.vertices[mesh.faces]
    folded = DihedralBending.of(RestShape.of(mesh, corners), 1.0)
    assert abs(folded.target[0]) > 0.5
    corners[1] += [0, -3.0, 0]
    rest = RestShape.of(mesh, corners)
    assert not rest.joined.any()
    assert DihedralBending.of(rest, 1.0).target[0] == 0.0


@pytest.mark.parametrize("case", ["no area", "upside down", "not finite", "shape", "faces", "quads"])
def test_bad_rest_shapes_are_refused_with_a_reason(case):
    mesh = ic.meshes.rectangle(1.0, 1.0, shape=(4, 4), element="triangle")
    corners = mesh.vertices[mesh.faces]
    if case == "no area":
        corners[5, 2] = corners[5, 1]
        with pytest.raises(MeshError, match=r"face 5 .* has no area"):
            RestShape.of(mesh, corners)
    elif case == "upside down":
        edge = np.flatnonzero(mesh.edge_faces[:, 1] >= 0)[0]
        one, other = mesh.edge_faces[edge]
        ends = mesh.edges[edge]
        apex = ~np.isin(mesh.faces[other], ends)
        corners[other, apex] = corners[one, ~np.isin(mesh.faces[one], ends)]
        with pytest.raises(MeshError, match="upside down"):
            RestShape.of(mesh, corners)
    elif case == "not finite":
        corners[3, 0, 0] = np.nan
        with pytest.raises(MeshError, match="face 3"):
            RestShape.of(mesh, corners)
    elif case == "shape":
        with pytest.raises(InputError, match="three corners for every face"):
            RestShape.of(mesh, corners[:-1])
    elif case == "faces":
        with pytest.raises(InputError, match="other faces"):
            RestShape.of(mesh, ic.meshes.rectangle(1.0, 1.0, shape=(5, 4), element="triangle"))
    else:
        with pytest.raises(MeshError, match="triangulated"):
            RestShape.of(ic.meshes.rectangle(1.0, 1.0, shape=(4, 4)))


def test_a_poissons_ratio_for_which_the_energy_is_negative_is_refused():
    with pytest.raises(FabricError, match=r"poisson = 0\.9"):
        OrthotropicMembrane.of(RestShape.of(sheet(20)), warp=100.0, weft=400.0, shear=1.0, poisson=0.9)
