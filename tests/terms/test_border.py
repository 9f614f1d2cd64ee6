"""Rows of triangles resist an even stretch as linear elements do, at the border too."""

import numpy as np
import pytest

from isocloth import meshes
from isocloth.terms.border import border_metric
from isocloth.terms.isometry import isometry
from isocloth.terms.rows import select

SIZE = 0.6, 0.6  # m
MESHES = {
    "cut crosswise": meshes.rectangle(*SIZE, shape=(8, 7), element="triangle"),
    "irregular": meshes.irregular_rectangle(*SIZE, nodes=90, seed=3),
}


def integral_of_metric(mesh, x, axis: int) -> float:
    """Integral (m^2) of E or G over linear triangles."""
    p, q = mesh.vertices[mesh.faces][:, :, :2], x[mesh.faces]
    before, after = (np.stack([t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]], axis=2) for t in (p, q))
    gradient = after @ np.linalg.inv(before)
    return float((mesh.face_areas * np.sum(gradient[:, :, axis] ** 2, axis=1)).sum())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("name", MESHES)
def test_forces_of_an_even_stretch_are_those_of_linear_elements(name: str, axis: int) -> None:
    mesh = MESHES[name]
    rows = select(both := isometry(mesh, 1.0), both.enforced)
    x = mesh.vertices.copy()
    x[:, axis] *= 1.1
    force = (rows.jacobian(x).T @ (rows.weight * rows.values(x))).reshape(-1, 3)
    step, expected = 1e-5, np.zeros_like(x)
    for i in range(len(x)):
        for d in range(3):
            ends = []
            for sign in (1.0, -1.0):
                moved = x.copy()
                moved[i, d] += sign * step
                ends.append(integral_of_metric(mesh, moved, axis))
            expected[i, d] = (1.1**2 - 1.0) * (ends[0] - ends[1]) / (2.0 * step)
    # the two sides across the stretch would need the metric across themselves, too: they bear no tension when free
    side = mesh.vertices[:, axis]
    near = np.zeros(len(x), dtype=bool)
    ends_of = np.flatnonzero((side < 1e-9) | (side > SIZE[axis] - 1e-9))
    near[mesh.faces[np.isin(mesh.faces, ends_of).any(axis=1)]] = True
    assert (~near).sum() > 10
    np.testing.assert_allclose(force[~near], expected[~near], atol=1e-9)
    along = np.abs(mesh.vertices[:, 1 - axis] - 0.5 * SIZE[1 - axis]) > 0.5 * SIZE[1 - axis] - 1e-9
    assert (along & ~near).sum() >= 4


@pytest.mark.parametrize("name", MESHES)
def test_the_metric_along_the_border_is_one_at_rest_and_squared_when_stretched(name: str) -> None:
    mesh = MESHES[name]
    rows, nodes = border_metric(mesh)
    assert sorted(nodes) == sorted([*mesh.boundary_nodes, *mesh.corners])
    assert rows.rest == pytest.approx(1.0)
    x = mesh.vertices * [1.2, 1.0, 1.0]
    stretched = rows.values(x)
    corner = np.isin(nodes, mesh.corners)
    low = np.abs(mesh.vertices[nodes, 1] - 0.5 * SIZE[1]) > 0.5 * SIZE[1] - 1e-9
    assert stretched[low & ~corner] == pytest.approx(0.44)
    assert stretched[~low & ~corner] == pytest.approx(0.0, abs=1e-12)
    assert np.sort(stretched[corner]) == pytest.approx([0.0] * 4 + [0.44] * 4, abs=1e-12)


def test_a_closed_surface_has_no_border_and_a_smooth_one_no_corners() -> None:
    corners = np.array([[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1.0]])
    faces = np.array([[0, 1, 4], [1, 2, 4], [2, 3, 4], [3, 0, 4], [1, 0, 5], [2, 1, 5], [3, 2, 5], [0, 3, 5]])
    assert len(border_metric(meshes.Mesh(0.1 * corners, faces))[0]) == 0
    turn = np.linspace(0.0, 2.0 * np.pi, 13)[:-1]
    rim = np.stack([np.cos(turn), np.sin(turn), 0.0 * turn], axis=1)
    fan = np.array([[12, i, (i + 1) % 12] for i in range(12)])
    disc = meshes.Mesh(0.1 * np.concatenate([rim, np.zeros((1, 3))]), fan)
    rows, nodes = border_metric(disc)
    assert sorted(nodes) == list(range(12))
    assert rows.rest == pytest.approx(1.0)
