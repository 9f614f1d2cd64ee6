"""Rest shapes of coarse meshes as a start on finer ones."""

import numpy as np
import pytest

import isocloth as ic
from isocloth.inverse.thesis.hierarchy import barycentric_map, mass_hierarchy

SHELL = ic.models.DiscreteShell(stretch=5.0, bending=1e-2, area=2.0)


def square(side):
    return ic.meshes.rectangle(1.0, 1.0, (side, side), element="triangle")


def test_points_of_faces_are_their_own_nearest_points():
    mesh = square(4)
    rng = np.random.default_rng(0)
    x = mesh.vertices + 0.05 * rng.normal(size=mesh.vertices.shape)
    bent = mesh.with_vertices(x)
    part = rng.dirichlet([1.0, 1.0, 1.0], size=mesh.n_faces)
    inside = np.einsum("fc,fcd->fd", part, x[mesh.faces])
    weights = barycentric_map(bent, np.concatenate([inside, x]))
    assert weights.min() >= 0.0
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(weights @ x, np.concatenate([inside, x]), atol=1e-12)


def test_beyond_the_border_the_nearest_point_is_on_it():
    weights = barycentric_map(square(3), np.array([[1.5, 0.25, 0.0], [-1.0, -1.0, 1.0], [0.3, 0.4, 2.0]]))
    found = weights @ square(3).vertices
    np.testing.assert_allclose(found, [[1.0, 0.25, 0.0], [0.0, 0.0, 0.0], [0.3, 0.4, 0.0]], atol=1e-12)


def test_a_finer_search_begins_below_the_best_of_the_coarse_one():
    fine = square(7)
    hung = ic.equilibrium(fine, ic.Fabric(density=0.25), model=SHELL, held=fine.corners).positions
    coarse = square(4)
    same = np.arange(49).reshape(7, 7)[::2, ::2].ravel()
    np.testing.assert_allclose(fine.vertices[same], coarse.vertices, atol=1e-12)
    targets = [coarse.with_vertices(hung[same]), fine.with_vertices(hung)]
    first, second = mass_hierarchy(
        targets, densities=[0.2, 0.25, 0.3], held=[m.corners for m in targets], model=SHELL, progress=False,
        methods=["gauss-newton", "l-bfgs"], developability=1e-4, iterations=15,
    )  # fmt: skip
    tried = [s.density for s in first.stages]
    begin = max(tried.index(first.density) - 1, 0)
    assert [s.density for s in second.stages] == tried[begin:]
    assert second.target is not None
    assert second.best.distance < second.stages[-1].distance
    with pytest.raises(ic.IsoclothError, match="one for each"):
        mass_hierarchy(targets, densities=[0.1], held=[[0]])
