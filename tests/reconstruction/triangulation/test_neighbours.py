import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay

from isocloth.reconstruction.triangulation.neighbours import local_spacing, nearest, tangent_neighbours, voronoi_cell


def test_the_nearest_points_are_those_of_exhaustive_search():
    points = np.random.default_rng(0).normal(size=(80, 4))
    index, distance = nearest(points, 7)
    all_pairs = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(all_pairs, np.inf)
    assert (index == np.argsort(all_pairs, axis=1)[:, :7]).all()
    np.testing.assert_allclose(distance, np.sort(all_pairs, axis=1)[:, :7])


def test_a_point_is_not_its_own_neighbour_even_if_it_has_twins():
    points = np.repeat(np.random.default_rng(1).normal(size=(10, 3)), 4, axis=0)
    index, _ = nearest(points, 6)
    assert (index != np.arange(len(points))[:, None]).all()


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10_000))
def test_voronoi_neighbours_are_delaunay_neighbours(seed):
    """The cell cut out of a large disc has a side for every edge of Qhull's Delaunay triangulation."""
    places = np.random.default_rng(seed).normal(size=(20, 2))
    everything = np.vstack([[0.0, 0.0], places])
    first, beside = Delaunay(everything).vertex_neighbor_vertices
    wanted = set((beside[first[0] : first[1]] - 1).tolist())
    found, enclosed = voronoi_cell(places[np.argsort(np.linalg.norm(places, axis=1))], 1e4)
    order = np.argsort(np.linalg.norm(places, axis=1))
    angles = np.sort(np.arctan2(places[:, 1], places[:, 0]))
    widest = np.diff(np.append(angles, angles[0] + 2 * np.pi)).max()
    if widest < np.pi - 1e-3:  # in the hull some sides are infinitely long and may end outside the disc
        assert set(order[found].tolist()) == wanted
        assert enclosed[0]
    elif widest > np.pi + 1e-3:
        assert not enclosed[0]


def test_the_spacing_is_the_root_of_area_over_points():
    points = np.column_stack([np.random.default_rng(2).uniform(size=(20_000, 2)), np.zeros(20_000)])
    index, distance = nearest(points)
    assert np.median(local_spacing(index, distance)) == pytest.approx(1 / np.sqrt(20_000), rel=0.15)


def test_neighbours_do_not_reach_across_a_slit():
    random = np.random.default_rng(3)
    points = np.column_stack([random.uniform(size=(4000, 2)), np.zeros(4000)])
    width = 7.0 / np.sqrt(4000)
    points = points[np.abs(points[:, 0] - 0.5) > width / 2]
    index, distance = nearest(points)
    frames = np.tile(np.eye(3)[:2], (len(points), 1, 1))
    found, enclosed = tangent_neighbours(points, frames, index, local_spacing(index, distance), 2.5)
    left = points[:, 0] < 0.5
    start, slot = np.nonzero(found >= 0)
    assert (left[start] == left[found[start, slot]]).all()
    # and points that are not enclosed lie on the boundary, but for a few beside a gap in the sample
    edge = np.minimum.reduce([points[:, 0], points[:, 1], 1 - points[:, 0], 1 - points[:, 1]])
    edge = np.minimum(edge, np.abs(points[:, 0] - 0.5) - width / 2)
    assert np.mean(edge[~enclosed] < 3 / np.sqrt(4000)) > 0.95
