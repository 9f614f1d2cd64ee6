import numpy as np
import pytest

from isocloth.meshes.surfaces import surface
from isocloth.reconstruction.triangulation.neighbours import nearest
from isocloth.reconstruction.triangulation.normals import normals, tangent_frames


def test_normals_of_a_sphere_are_radial():
    points = surface("sphere").sample(3000, seed=0)
    frames, flatness = tangent_frames(points, nearest(points)[0])
    cosine = np.abs((normals(frames) * points).sum(axis=1))
    assert np.degrees(np.arccos(np.clip(cosine, -1, 1))).max() < 6.0
    assert np.median(flatness) < 0.1


def test_frames_are_orthonormal_and_span_the_plane_that_numpy_finds():
    points = np.random.default_rng(0).normal(size=(60, 5)) * [3.0, 2.0, 0.2, 0.1, 0.05]
    near, _ = nearest(points, 59)
    frames, _ = tangent_frames(points, near, 59)
    np.testing.assert_allclose(np.einsum("nai,nbi->nab", frames, frames), np.tile(np.eye(2), (60, 1, 1)), atol=1e-12)
    _, _, axes = np.linalg.svd(points - points.mean(axis=0))
    overlap = np.abs(np.linalg.det(np.einsum("nai,bi->nab", frames, axes[:2])))
    assert overlap.min() > 0.9  # weights differ from those of the plain fit


def test_a_ball_of_points_is_not_flat():
    points = np.random.default_rng(0).normal(size=(500, 3))
    assert np.median(tangent_frames(points, nearest(points)[0])[1]) > 0.5


def test_only_space_has_one_normal():
    with pytest.raises(ValueError, match="4 coordinates"):
        normals(np.zeros((2, 2, 4)))
