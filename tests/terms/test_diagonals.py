"""Diagonals of a net: they see what edges and angles do not, and let quads fold along either of them."""

from __future__ import annotations

import numpy as np
import pytest

from isocloth import meshes
from isocloth.meshes import Mesh
from isocloth.terms.diagonals import SLACK, diagonals
from isocloth.terms.isometry import isometry
from isocloth.terms.rows import Rows, evaluate, select, shorter, stack

STIFFNESS = 3e4


def net(shape: tuple[int, int] = (7, 7)) -> tuple[Mesh, Rows, Rows]:
    """A square net of unit elements, its enforced rows and its diagonals."""
    mesh = meshes.rectangle(shape[0] - 1.0, shape[1] - 1.0, shape=shape)
    rows = isometry(mesh, STIFFNESS)
    return mesh, select(rows, rows.enforced), select(rows, rows.partner != 0)


def herringbone(mesh: Mesh, angle: float) -> np.ndarray:
    """Rows of elements sheared to and fro in turn; all edges keep their length."""
    x, y, z = mesh.vertices.T
    return np.stack([x + np.sin(angle) * (np.round(y) % 2), y * np.cos(angle), z], axis=1)


def egg_crate(mesh: Mesh, angle: float) -> np.ndarray:
    """Nodes lifted in turn; all edges keep their length."""
    x, y, _ = mesh.vertices.T
    return np.stack([x * np.cos(angle), y * np.cos(angle), np.sin(angle) * (np.round(x + y) % 2)], axis=1)


@pytest.mark.parametrize("shape", [herringbone, egg_crate])
def test_what_edges_and_angles_inside_do_not_see_the_diagonals_do(shape) -> None:
    mesh, enforced, soft = net()
    crumpled = shape(mesh, 0.5)
    seen = np.abs(enforced.values(crumpled))[(enforced.sizes == 2) | (enforced.sizes > 4)]  # all but F of the corners
    assert seen.max() < 1e-12
    assert len(seen) == len(mesh.edges) + len(mesh.interior_nodes)
    resisted = np.abs(soft.values(crumpled)).reshape(-1, 2)
    assert (resisted > 0.1).sum(axis=1).tolist() == [1] * len(mesh.faces)  # one of the two of every quad


def test_a_quad_folds_along_either_diagonal_by_any_angle() -> None:
    mesh, _, soft = net((2, 2))
    rest = mesh.vertices - 0.5 * np.array([1.0, 1.0, 0.0])
    for axis, moved in (((1.0, 1.0), (1.0, -1.0)), ((1.0, -1.0), (1.0, 1.0))):
        along, across = np.append(axis, 0.0) / np.sqrt(2.0), np.append(moved, 0.0) / np.sqrt(2.0)
        for angle in (0.3, 1.5, 3.1):
            far = np.maximum(rest @ across, 0.0)[:, None]
            turned = np.cos(angle) * across + np.sin(angle) * np.array([0.0, 0.0, 1.0])
            folded = rest + far * (turned - across)
            assert np.abs(folded @ along - rest @ along).max() < 1e-12
            assert np.abs(soft.values(folded)).max() == 0.0


@pytest.mark.parametrize("degrees", [0.0, 15.0, 30.0, 45.0, -60.0, 90.0])
def test_a_smooth_fold_of_any_direction_meets_no_resistance(degrees: float) -> None:
    mesh, _, soft = net((9, 9))
    c, s, radius = np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 3.0
    x, y, _ = mesh.vertices.T
    across, along = c * x + s * y, c * y - s * x
    u, z = radius * np.sin(across / radius), radius * (1.0 - np.cos(across / radius))
    # its longer chords are short by less than the slack, and none is long
    assert np.abs(soft.values(np.stack([c * u - s * along, s * u + c * along, z], axis=1))).max() == 0.0


def test_what_partners_resist_has_the_slope_of_its_energy() -> None:
    mesh, _, soft = net((4, 4))
    rng = np.random.default_rng(0)
    for noise in (0.02, 0.2):
        x = mesh.vertices + rng.normal(0.0, noise, mesh.vertices.shape)
        direction = rng.normal(size=x.shape)

        def energy(t: float, x: np.ndarray = x, direction: np.ndarray = direction) -> float:
            return float(0.5 * soft.weight @ soft.values(x + t * direction) ** 2)

        slope = soft.weight * soft.values(x) @ (soft.jacobian(x) @ direction.ravel())
        assert (energy(1e-6) - energy(-1e-6)) / 2e-6 == pytest.approx(slope, rel=1e-5, abs=1e-6)


def test_partners_are_the_diagonals_of_a_quad_wherever_the_rows_are_stacked() -> None:
    mesh, enforced, soft = net((4, 3))
    assert diagonals(mesh).reshape(-1, 4)[:, [0, 2, 1, 3]].tolist() == mesh.faces.tolist()
    both = stack(enforced, soft, enforced)
    sheared = herringbone(mesh, 0.3)
    values, jacobian = np.empty(len(both)), np.empty((len(both.nodes), 3))
    evaluate(both.arrays, both.rest, shorter(both.arrays, sheared), sheared, values, jacobian)
    assert values[len(enforced) : len(enforced) + len(soft)] == pytest.approx(soft.values(sheared), abs=1e-15)
    assert soft.values(sheared).max() == pytest.approx(np.sin(0.3) - SLACK)


def test_a_fabric_that_may_shear_has_no_diagonals() -> None:
    mesh = meshes.rectangle(1.0, 1.0, shape=(4, 4))
    assert not isometry(mesh, STIFFNESS, shear=False).partner.any()
    assert not isometry(mesh, STIFFNESS, "nodal").partner.any()


@pytest.mark.parametrize(
    ("element", "discretisation", "part"), [("quad", "net", 0.5), ("quad", "nodal", 0.25), ("triangle", "nodal", 0.25)]
)
def test_an_edge_of_the_border_has_the_stiffness_of_the_area_it_stands_for(element, discretisation, part) -> None:
    mesh = meshes.rectangle(0.6, 0.6, shape=(7, 7), element=element)
    rows = isometry(mesh, 1.0, discretisation)
    on = {tuple(edge) for edge in np.sort(mesh.boundary_edges, axis=1).tolist()}
    nodes = [tuple(sorted(rows.nodes[a:b])) for a, b in zip(rows.ptr[:-1], rows.ptr[1:], strict=True)]
    border = np.array([n in on for n in nodes])
    assert border.sum() == len(on)
    assert rows.weight[border] == pytest.approx(part * 0.01)


def test_a_step_never_changes_the_diagonal_along_which_a_quad_is_folded() -> None:
    mesh, _, soft = net((2, 2))
    first, second = diagonals(mesh)
    start, end = mesh.vertices.copy(), mesh.vertices.copy()
    for positions, pair, part in ((start, first, 0.2), (end, first, 0.1), (end, second, 0.3)):
        positions[pair[0]] += part * (positions[pair[1]] - positions[pair[0]])
    free = shorter(soft.arrays, start)
    values, jacobian = np.empty(2), np.empty((4, 3))
    evaluate(soft.arrays, soft.rest, free, end, values, jacobian)
    assert free.tolist() == [True, False]
    assert shorter(soft.arrays, end).tolist() == [False, True]
    assert values.tolist() == pytest.approx([0.0, 0.7**2 - 1.0 + SLACK])  # the second resists, now the shorter
    assert soft.values(end).tolist() == pytest.approx([0.9**2 - 1.0 + SLACK, 0.0])  # the next step chooses the less
