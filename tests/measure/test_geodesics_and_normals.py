"""Two other measures of developability, of shapes where they can be computed by hand."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.measure.geodesics import angle_differences, stars_of


def pyramid(steep):
    """Four faces around an apex, normals at the angle `steep` from the axis."""
    corners = [[0, 0, 0], [1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0]]
    x = np.array(corners, dtype=float)
    x[1:, 2] = -np.tan(steep)  # of a face over the unit square's half, whose middle is at the distance 1
    return ic.Mesh(x, np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1]]))


def test_the_spread_of_a_pyramid_by_hand():
    steep = 0.6
    s, c = np.sin(steep), np.cos(steep)
    mesh = pyramid(steep)
    apex = {by: ic.measure.normal_spread(mesh, by=by)[0] for by in ("partition", "direction", "pairs")}
    arms = mesh.vertices[[1, 2]]
    angle = np.arccos(arms[0] @ arms[1] / (arms[0] @ arms[0]))
    assert apex["partition"] == pytest.approx(8 / 9 * s**2, rel=1e-12)  # one face, and the three others
    assert apex["direction"] == pytest.approx(angle * min(2 * s**2, 4 * c**2), rel=1e-12)
    assert apex["pairs"] == pytest.approx(32 * c**2 * s**2 / (2 * c**2 + s**2), rel=1e-12)


@pytest.mark.parametrize("by", ["partition", "direction", "pairs"])
def test_a_fold_along_edges_has_no_spread(by):
    mesh = ic.meshes.rectangle(0.4, 0.4, (5, 5), element="triangle")
    x = mesh.vertices.copy()
    x[:, 2] = np.abs(x[:, 0] - 0.2)
    assert ic.measure.normal_spread(mesh, x, by=by).max() < 1e-15
    x[:, 2] += 0.3 * x[:, 1] ** 2  # what is bent across the fold as well is not developable
    assert ic.measure.normal_spread(mesh, x, by=by).max() > 1e-5
    frames = ic.measure.normal_spread(mesh, np.stack([x, mesh.vertices]), by=by)
    assert frames.shape == (2, 25)
    assert not frames[1].any()


def test_the_spread_needs_triangles_and_a_known_way():
    mesh = ic.meshes.rectangle(0.4, 0.4, (5, 5))
    with pytest.raises(ic.IsoclothError, match="triangulated"):
        ic.measure.normal_spread(mesh)
    with pytest.raises(ValueError, match="'partition', 'direction', 'pairs'"):
        ic.measure.normal_spread(mesh.triangulated(), by="pair")


def test_geodesics_of_nets_that_are_sheared_and_rolled():
    mesh = ic.meshes.rectangle(0.6, 0.4, (7, 5))
    x, y, z = mesh.vertices.T
    assert ic.measure.orthogonal_geodesics(mesh).max() < 1e-14
    rolled = np.stack([np.cos(3 * x), y, np.sin(3 * x)], axis=1)
    assert ic.measure.orthogonal_geodesics(mesh, rolled).max() < 1e-14
    # angles are t and pi - t in turn
    sheared = np.stack([x + 0.5 * y, y, z], axis=1)
    found = ic.measure.orthogonal_geodesics(mesh, sheared)
    assert found[mesh.interior_nodes] == pytest.approx(2 * 0.5 / np.sqrt(1.25), rel=1e-12)
    assert not found[mesh.boundary_nodes].any()
    # flat all the same: it is the net that is none of geodesics
    assert np.abs(ic.measure.gauss_curvature(mesh, sheared)).max() < 1e-12


def test_geodesics_need_quads_and_look_at_nodes_of_four_only():
    with pytest.raises(ic.IsoclothError, match="quads"):
        ic.measure.orthogonal_geodesics(ic.meshes.rectangle(0.4, 0.4, (5, 5), element="triangle"))
    three = np.array([[0, 1, 2, 3], [0, 3, 4, 5], [0, 5, 6, 1]])  # a corner of a cube
    assert len(stars_of(three)) == 0


def test_the_derivative_of_differences_of_angles():
    mesh = ic.meshes.rectangle(0.4, 0.4, (4, 4))
    rng = np.random.default_rng(0)
    x = mesh.vertices + 0.02 * rng.normal(size=mesh.vertices.shape)
    stars = stars_of(mesh.faces)
    assert len(stars) == 4
    slope = angle_differences(x, stars)[1]
    way, step = rng.normal(size=x.shape), 1e-6
    exact = np.einsum("kcnd,knd->kc", slope, way[stars])
    value = [angle_differences(x + s * step * way, stars)[0] for s in (1, -1)]
    np.testing.assert_allclose((value[0] - value[1]) / (2 * step), exact, rtol=1e-6, atol=1e-6)
