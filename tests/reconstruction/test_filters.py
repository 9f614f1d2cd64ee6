import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.meshes.surfaces import surface
from isocloth.reconstruction import box_grid, curvature_filter, evened, largest_cluster, outliers


def test_stray_points_are_outliers_and_sparse_parts_are_not():
    points = surface("disk").sample(2000, seed=0, uneven=10.0, outliers=20)
    apart = outliers(points)
    far = np.abs(points[2000:, 2] - 0.3 * (points[2000:, 0] ** 2 - points[2000:, 1] ** 2)) > 0.25
    assert apart[2000:][far].mean() > 0.9
    assert apart[:2000].mean() < 0.01


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 1000), st.floats(0.2, 1.0))
def test_a_box_grid_keeps_the_mean_and_one_point_per_box(seed, size):
    points = np.random.default_rng(seed).uniform(size=(60, 3))
    merged = box_grid(points, size)
    boxes = {tuple(b) for b in np.floor((points - points.min(axis=0)) / size).astype(int).tolist()}
    assert len(merged) == len(boxes)
    assert (merged >= points.min(axis=0) - 1e-12).all()
    assert (merged <= points.max(axis=0) + 1e-12).all()
    whole = box_grid(points, 10.0)
    np.testing.assert_allclose(whole, points.mean(axis=0)[None])


def test_the_curvature_filter_is_its_formula():
    points = np.random.default_rng(0).normal(size=(5, 3))
    edges = np.array([[0, 1], [0, 2], [1, 2], [2, 3]])
    once = curvature_filter(points, edges, alpha=0.4, times=1)
    np.testing.assert_allclose(once[0], 0.4 * points[0] + 0.6 * (points[1] + points[2]) / 2)
    np.testing.assert_allclose(once[3], 0.4 * points[3] + 0.6 * points[2])
    np.testing.assert_array_equal(once[4], points[4])
    np.testing.assert_allclose(curvature_filter(points, edges, times=2), curvature_filter(once, edges, times=1))


def test_evened_points_are_apart_and_cover_the_rest():
    points = surface("sphere").sample(1500, seed=1, uneven=20.0)
    kept = points[evened(points, 0.12)]
    between = np.linalg.norm(kept[:, None] - kept[None], axis=2) + 10 * np.eye(len(kept))
    assert between.min() >= 0.12
    assert np.linalg.norm(points[:, None] - kept[None], axis=2).min(axis=1).max() <= 0.12


def test_the_largest_cluster():
    random = np.random.default_rng(0)
    points = np.vstack([random.normal(size=(30, 3)), random.normal(size=(20, 3)) + 100.0])
    assert largest_cluster(points, 5.0).tolist() == list(range(30))


def test_wrong_sizes_are_refused():
    points = np.random.default_rng(0).normal(size=(30, 3))
    with pytest.raises(ValueError, match="size is 0"):
        box_grid(points, 0.0)
    with pytest.raises(ValueError, match="distance is -1"):
        evened(points, -1.0)
    with pytest.raises(ValueError, match="alpha is 2"):
        curvature_filter(points, np.array([[0, 1]]), alpha=2.0)
