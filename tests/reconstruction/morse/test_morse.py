"""The discrete gradient, the cells, their attachments, homology and level sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.meshes.surfaces import surface
from isocloth.reconstruction.morse import discrete_gradient, flows
from isocloth.reconstruction.morse.cells import arcs, decompose
from isocloth.reconstruction.morse.height import random_directions
from isocloth.reconstruction.morse.homology import boundary_matrices, homology, smith
from isocloth.reconstruction.morse.levels import level_counts, level_set, regular_levels

from ..shapes import NAMES, found


def cut(name, seed, detail=None):
    result = found(name)
    height = result.points @ random_directions(result.points.shape[1], 1, seed)[0]
    gradient = discrete_gradient.gradient(result.surface, height, result.detail if detail is None else detail)
    return result.surface, height, gradient, decompose(result.surface, height, gradient)


@pytest.mark.parametrize("name", NAMES)
@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 1000), detail=st.sampled_from([0.0, 0.05, 0.3, 10.0]))
def test_whatever_the_direction_and_detail_cells_have_the_topology_of_the_surface(name, seed, detail):
    shape, _, gradient, cells = cut(name, seed, detail)
    assert cells.euler_characteristic == shape.euler_characteristic == surface(name).invariants[1]
    d1, d2 = boundary_matrices(cells)
    assert not (d1 @ d2).any()
    assert homology(cells).betti == surface(name).betti
    assert sum(len(c.triangles) for c in cells.two) == len(shape.triangles)
    assert set(np.bincount(gradient.role, minlength=4)[:1]) == {0}


@pytest.mark.parametrize(("name", "torsion"), [("Klein bottle", (2,)), ("torus", ()), ("Moebius strip", ())])
def test_torsion_tells_one_sided_closed_surfaces(name, torsion):
    assert homology(cut(name, 0)[3]).torsion[1] == torsion


@pytest.mark.parametrize("name", NAMES)
def test_every_side_of_a_one_cell_is_in_one_word(name):
    shape, _, _, cells = cut(name, 3, 0.0)
    times = np.zeros(len(cells.one), dtype=int)
    for cell in cells.two:
        for i, _ in cell.word:
            times[i] += 1
    on_boundary = np.array([shape.table.counts[c.edge] == 1 for c in cells.one], dtype=bool)
    assert (times == np.where(on_boundary, 1, 2)).all()


def test_without_simplification_the_trees_are_the_flow_of_equation_5_2():
    shape, height, gradient, _ = cut("torus", 1, 0.0)
    down = flows.down(shape.points, shape.edges, height)
    assert (gradient.parent == down).all()
    # the sum of indices of critical points of a piecewise linear height is the Euler characteristic
    up = flows.up(shape.points, shape.edges, height)
    assert (np.flatnonzero(up == np.arange(len(up)))).size == len(gradient.maxima)


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1000))
def test_the_flows_take_the_steepest_neighbour(seed):
    random = np.random.default_rng(seed)
    points, height = random.normal(size=(12, 3)), random.normal(size=12)
    edges = np.array([(a, b) for a in range(12) for b in range(a) if random.uniform() < 0.4])
    down, up = flows.down(points, edges, height), flows.up(points, edges, height)
    for v in range(12):
        beside = [int(b if a == v else a) for a, b in edges if v in (a, b)]
        slope = {w: (height[w] - height[v]) / np.linalg.norm(points[w] - points[v]) for w in beside}
        lower, higher = [w for w in beside if slope[w] < 0], [w for w in beside if slope[w] > 0]
        assert down[v] == (min(lower, key=slope.get) if lower else v)
        assert up[v] == (max(higher, key=slope.get) if higher else v)


def test_the_restricted_flow_stays_on_the_boundary():
    result = found("annulus")
    pairs = result.surface.edges[result.surface.boundary_edges]
    down = flows.down(result.points, pairs, result.height)
    moved = down != np.arange(len(down))
    assert result.surface.on_boundary[moved].all()
    assert result.surface.on_boundary[down[moved]].all()


def test_features_smaller_than_the_detail_are_left_out():
    shape = found("sphere", 1500, 0, 0.2).surface
    height = shape.points[:, 2]
    assert len(discrete_gradient.gradient(shape, height, 0.0).maxima) > 5
    assert len(discrete_gradient.gradient(shape, height, 0.15).maxima) == 1


def test_a_torus_on_its_side_has_one_maximum_one_minimum_and_two_saddles():
    shape = found("torus").surface
    height = shape.points[:, 0]
    cells = decompose(shape, height, discrete_gradient.gradient(shape, height, 0.15))
    kinds = [p.kind for p in cells.critical_points]
    assert kinds == ["minimum", "saddle", "saddle", "maximum"]
    # of a torus with radii 1 and 0.4: at -1.4, -0.6, 0.6, 1.4
    np.testing.assert_allclose([p.height for p in cells.critical_points], [-1.4, -0.6, 0.6, 1.4], atol=0.12)


def test_a_ring_has_critical_points_on_its_boundary():
    shape = found("annulus").surface
    height = shape.points[:, 0]
    cells = decompose(shape, height, discrete_gradient.gradient(shape, height, 0.15))
    points = cells.critical_points
    assert [p.kind for p in points] == ["minimum", "boundary maximum", "boundary minimum", "maximum"] or [
        p.kind for p in points
    ] == ["minimum", "boundary minimum", "boundary maximum", "maximum"]
    assert all(p.on_boundary for p in points)
    assert len(cells.zero) == 2  # of either curve its minimum
    assert sorted(c.source for c in cells.one) == ["boundary", "boundary", "link"]


@pytest.mark.parametrize("name", NAMES)
def test_cut_where_they_meet_one_cells_do_not_overlap(name):
    shape, _, _, cells = cut(name, 5, 0.0)
    points, paths = arcs(shape, cells)
    assert len(points) - len(paths) + len(cells.two) == shape.euler_characteristic
    inner = [v for path in paths for v in path[1:-1].tolist()]
    assert len(inner) == len(set(inner))
    assert sum(len(p) - 1 for p in paths) == np.count_nonzero(cells.skeleton)


# ------------------------------------------------------------------------ level sets


def test_level_sets_of_a_sphere_are_circles_of_the_right_length():
    result = found("sphere", 5000)
    height = result.points[:, 2]
    for level in regular_levels(height, 9):
        curves = level_set(result.surface, height, float(level))
        assert (curves.circles, curves.intervals) == (1, 0)
        line = curves.curves[0]
        length = np.linalg.norm(np.roll(line, -1, axis=0) - line, axis=1).sum()
        assert length == pytest.approx(2 * np.pi * np.sqrt(1 - level**2), rel=0.06)


@pytest.mark.parametrize("name", NAMES)
def test_level_sets_are_counted_as_they_are_traced(name):
    shape, height, _, _ = cut(name, 2)
    for level in regular_levels(height, 15):
        curves = level_set(shape, height, float(level))
        assert level_counts(shape, height, float(level)) == (curves.circles, curves.intervals)
        for curve in curves.curves:
            np.testing.assert_allclose(curve @ random_directions(shape.points.shape[1], 1, 2)[0], level, atol=1e-9)


def test_level_sets_change_only_at_critical_points():
    """Between two critical heights of a smooth sample the number of curves stays, as theorem 1 of chapter 5 says."""
    shape = found("torus", 5000).surface
    height = shape.points[:, 0]
    counts = [level_counts(shape, height, c)[0] for c in (-1.0, -0.4001, 0.0002, 0.4003, 1.0)]
    assert counts == [1, 2, 2, 2, 1]


# -------------------------------------------------------------------------- homology


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.integers(1, 5), st.integers(1, 5))
def test_invariant_factors_are_those_of_minors(seed, rows, columns):
    """d1 ... dk is the greatest common divisor of all k x k minors."""
    from itertools import combinations, pairwise
    from math import gcd

    matrix = np.random.default_rng(seed).integers(-3, 4, size=(rows, columns))
    factors = smith(matrix)
    product = 1
    for k in range(1, min(rows, columns) + 1):
        minors = [
            round(np.linalg.det(matrix[np.ix_(r, c)]))
            for r in combinations(range(rows), k)
            for c in combinations(range(columns), k)
        ]
        divisor = gcd(*minors)
        if divisor == 0:
            assert len(factors) == k - 1
            break
        product *= factors[k - 1]
        assert product == divisor
    assert all(b % a == 0 for a, b in pairwise(factors))
