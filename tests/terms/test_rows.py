import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import isocloth as ic
from isocloth.terms.isometry import isometry
from isocloth.terms.rows import select, stack
from isocloth.terms.shear import shear

MESHES = {
    "quad net": (ic.meshes.rectangle(0.4, 0.3, shape=(5, 4)), "net"),
    "quad nodal": (ic.meshes.rectangle(0.4, 0.3, shape=(5, 4)), "nodal"),
    "triangles": (ic.meshes.irregular_rectangle(0.4, 0.3, nodes=40, seed=1), "stabilised"),
    "ring": (ic.meshes.ring(0.09, 0.15, shape=(4, 16)), "net"),
}


@pytest.fixture(params=MESHES)
def cloth(request):
    mesh, kind = MESHES[request.param]
    return mesh, isometry(mesh, 1e4, kind)


def crumpled(mesh, seed=0, size=0.02):
    return mesh.vertices + size * np.random.default_rng(seed).standard_normal(mesh.vertices.shape)


def quadratic(rows):
    """All but rows with partners, which are not quadratic: tests/terms/test_diagonals.py."""
    return select(rows, rows.partner == 0)


def test_the_jacobian_is_the_derivative_of_the_values(cloth):
    mesh, rows = cloth[0], quadratic(cloth[1])
    y = crumpled(mesh)
    jacobian = rows.jacobian(y)
    direction = np.random.default_rng(1).standard_normal(y.shape)
    # rows are quadratic: a central difference is exact up to rounding
    step = 1e-3
    difference = (rows.values(y + step * direction) - rows.values(y - step * direction)) / (2 * step)
    np.testing.assert_allclose(jacobian @ direction.ravel(), difference, atol=1e-8 * np.abs(difference).max())


def test_values_follow_from_the_jacobian_as_in_the_paper(cloth):
    mesh, rows = cloth[0], quadratic(cloth[1])
    y = crumpled(mesh)
    np.testing.assert_allclose(rows.values(y), rows.jacobian(y) @ y.ravel() / 2 - rows.rest, atol=1e-10)


def test_the_geometric_stiffness_bounds_the_second_derivative_from_above(cloth):
    _, rows = cloth
    for k in range(len(rows)):
        m = rows.sizes[k]
        t, plus, minus = (a[rows.square[k] : rows.square[k + 1]].reshape(m, m) for a in (rows.T, rows.plus, rows.minus))
        scale = np.abs(t).max()
        for matrix in (plus, minus, plus - t, minus + t):
            assert np.linalg.eigvalsh(matrix).min() > -1e-10 * scale


def test_rows_do_not_see_translations_even_far_away(cloth):
    mesh, rows = cloth
    assert np.abs(rows.values(mesh.vertices + np.array([3.0, -2.0, 5.0]))).max() < 1e-11


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6))
def test_rigid_motions_leave_every_row_at_zero(seed):
    rng = np.random.default_rng(seed)
    q, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    for mesh, kind in MESHES.values():
        moved = (mesh.vertices - mesh.vertices.mean(axis=0)) @ q.T
        assert np.abs(isometry(mesh, 1.0, kind).values(moved)).max() < 1e-12


def test_stacking_and_selecting_are_inverse():
    mesh, kind = MESHES["quad net"]
    first, second = isometry(mesh, 1e4, kind, shear=False), shear(mesh, 50.0)
    both = stack(first, second)
    back = select(both, np.arange(len(both)) >= len(first))
    y = crumpled(mesh)
    np.testing.assert_array_equal(both.values(y), np.concatenate([first.values(y), second.values(y)]))
    np.testing.assert_array_equal(back.values(y), second.values(y))
    np.testing.assert_array_equal(back.weight, second.weight)


def test_the_papers_count_of_equations_on_a_grid():
    for n in (4, 7, 9):
        rows = isometry(ic.meshes.rectangle(1, 1, shape=(n, n)), 1.0, "nodal")
        assert len(rows) == 3 * n**2 - 8 * n + 12


def test_at_rest_the_metric_is_the_unit_metric_in_physical_coordinates():
    from isocloth.terms.isometry import nodal_metric

    for mesh in (ic.meshes.irregular_rectangle(0.4, 0.3, nodes=60, seed=2), ic.meshes.tank_top()):
        inside = mesh.interior_nodes
        for component, value in (("E", 1.0), ("F", 0.0), ("G", 1.0)):
            np.testing.assert_allclose(nodal_metric(mesh, component, inside).rest, value, atol=1e-12)


def test_the_papers_average_does_not_see_a_checkerboard_but_the_net_does():
    mesh = ic.meshes.rectangle(1, 1, shape=(9, 9))
    sign = np.where(np.add.outer(np.arange(9), np.arange(9)) % 2, 1.0, -1.0).ravel()
    # a vertex checkerboard in the plane changes every edge by 2 eps in turn
    eps = 1e-3
    y = mesh.vertices + eps * sign[:, None] * np.array([1.0, 0.0, 0.0])
    seen = {}
    for kind in ("nodal", "net"):
        rows = isometry(mesh, 1.0, kind)
        inside = ~np.isin(rows.nodes, mesh.boundary_nodes)
        touching = np.add.reduceat(~inside, rows.ptr[:-1]) == 0
        seen[kind] = np.abs(rows.values(y)[touching]).max()
    assert seen["net"] > 20 * seen["nodal"]
    assert seen["net"] == pytest.approx(4 * eps * 8, rel=0.05)


def test_all_edges_of_triangles_are_refused_as_constraints():
    with pytest.raises(ValueError, match=r"net.*needs quads"):
        isometry(ic.meshes.rectangle(1, 1, shape=(4, 4), element="triangle"), 1.0, "net")
    with pytest.raises(ValueError, match="unknown; choose one of"):
        isometry(ic.meshes.rectangle(1, 1, shape=(4, 4)), 1.0, "edges")


@pytest.mark.parametrize("model", [ic.models.Isometric(), ic.models.Elastic(), ic.models.MassSpring()], ids=str)
@pytest.mark.parametrize("element", ["quad", "triangle"])
def test_rows_of_lengths_are_told_from_those_of_angles(model, element):
    mesh = ic.meshes.rectangle(0.4, 0.3, shape=(5, 4), element=element)
    rows = ic.Simulation(mesh, ic.Fabric(density=0.2), model=model).cloth.rows
    ends = []
    for k in range(len(rows)):
        t = rows.T[rows.square[k] : rows.square[k + 1]].reshape(rows.sizes[k], -1)
        ends.append(np.linalg.eigvalsh(t)[[0, -1]] / np.abs(t).max())
    ends = np.array(ends)
    assert np.array_equal(rows.definite, (ends[:, 0] > -1e-9) | (ends[:, 1] < 1e-9))
    assert rows.definite.any()
    assert rows.definite.all() == isinstance(model, ic.models.MassSpring)
