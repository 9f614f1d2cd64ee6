"""Distances against SciPy's correlations, brute force, and their axioms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.spatial.distance import directed_hausdorff
from scipy.spatial.transform import Rotation
from scipy.stats import pearsonr, spearmanr

from isocloth import meshes
from isocloth.states import distance, distance_matrix
from isocloth.states.boundary import boundary_of, corner_segments
from isocloth.states.curves import aligned, centred, frechet, hausdorff, mean_curve
from isocloth.states.distances import KINDS
from isocloth.states.representations import corner_distances, edge_distances

VECTORS = hnp.arrays(np.float64, (2, 12), elements=st.floats(-3.0, 3.0).map(lambda v: round(v, 1)))


@given(VECTORS)
@settings(max_examples=100, deadline=None)
def test_correlations_are_scipys(x):
    a, b = x
    if np.ptp(a) == 0.0 or np.ptp(b) == 0.0:
        with pytest.raises(ValueError, match="all its numbers equal"):
            distance(a, b)
        return
    assert distance(a, b) == pytest.approx(1.0 - spearmanr(a, b).statistic, abs=1e-12)
    assert distance(a, b, "pearson") == pytest.approx(1.0 - pearsonr(a, b).statistic, abs=1e-12)
    assert distance(a, b) == distance(b, a)
    assert distance(a, a) == pytest.approx(0.0, abs=1e-15)
    assert 0.0 <= distance(a, b) <= 2.0


@given(VECTORS, st.floats(0.01, 100.0))
@settings(max_examples=50, deadline=None)
def test_ranks_do_not_see_scale_or_any_increasing_function(x, scale):
    a, b = x[0] + np.arange(12.0), x[1]
    if np.ptp(b) == 0.0 or np.ptp(a) == 0.0:
        return
    assert distance(scale * a, b) == pytest.approx(distance(a, b), abs=1e-12)
    assert distance(np.exp(0.1 * a), b) == pytest.approx(distance(a, b), abs=1e-12)
    assert distance(a, -a) == pytest.approx(2.0)


def test_rounding_does_not_rank():
    a = np.array([1.0, 1.0, 1.0, 2.0, 2.0, 0.5])
    noise = 1e-14 * np.random.default_rng(0).standard_normal(6)
    assert distance(a, a + noise) < 1e-15
    assert distance(a + noise, a - noise) < 1e-15


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_numbers_are_left_out_of_both(kind):
    rng = np.random.default_rng(1)
    x, y = rng.standard_normal((5, 10)), rng.standard_normal((4, 10))
    x[1, 3] = x[2, :4] = y[0, 7] = np.nan
    table = distance_matrix(x, y, kind)
    for i in range(5):
        for j in range(4):
            common = ~np.isnan(x[i]) & ~np.isnan(y[j])
            assert table[i, j] == pytest.approx(distance(x[i, common], y[j, common], kind), abs=1e-12)


def test_bad_vectors_are_named():
    with pytest.raises(ValueError, match="'hamming' is unknown; choose one of spearman"):
        distance([1, 2, 3], [1, 2, 3], "hamming")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="two vectors of the same length"):
        distance([1, 2, 3], [1, 2])
    with pytest.raises(ValueError, match="infinite"):
        distance([1, 2, np.inf], [1, 2, 3])
    with pytest.raises(ValueError, match="only 2 numbers are known"):
        distance([1, 2, np.nan], [1, 2, 3])
    with pytest.raises(ValueError, match="rows of x have 3 numbers"):
        distance_matrix(np.zeros((2, 3)), np.zeros((2, 4)))
    with pytest.raises(ValueError, match=r"expected \(n, k\)"):
        distance_matrix(np.zeros(3))


# ---------------------------------------------------------------------- curves


def all_walks(n, m):
    """Every way to walk two polygons of n and m points together without turning back."""
    if n == m == 1:
        yield [(0, 0)]
        return
    for i, j in ((n - 1, m), (n, m - 1), (n - 1, m - 1)):
        if i >= 1 and j >= 1:
            for walk in all_walks(i, j):
                yield [*walk, (n - 1, m - 1)]


def test_the_frechet_distance_is_the_best_of_all_walks():
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (1, 4), (3, 4), (5, 4)):
        p, q = rng.standard_normal((n, 3)), rng.standard_normal((m, 3))
        best = min(max(np.linalg.norm(p[i] - q[j]) for i, j in walk) for walk in all_walks(n, m))
        assert frechet(p, q) == pytest.approx(best, rel=1e-14)
        assert frechet(q, p) == frechet(p, q)
        assert hausdorff(p, q) <= frechet(p, q) + 1e-15


def test_the_hausdorff_distance_is_scipys():
    rng = np.random.default_rng(1)
    p, q = rng.standard_normal((20, 3)), rng.standard_normal((31, 3))
    assert hausdorff(p, q) == pytest.approx(max(directed_hausdorff(p, q)[0], directed_hausdorff(q, p)[0]))


def test_alignment_finds_the_motion_and_is_scipys():
    rng = np.random.default_rng(2)
    p = rng.standard_normal((30, 3))
    turn = Rotation.random(random_state=rng)
    moved = turn.apply(p) + np.array([1.0, 2.0, 3.0])
    assert aligned(moved, p) == pytest.approx(centred(p), abs=1e-12)
    q = rng.standard_normal((30, 3))
    best, _ = Rotation.align_vectors(centred(q), centred(p))
    assert aligned(p, q) == pytest.approx(best.apply(centred(p)), abs=1e-10)
    flat = p * [1.0, 1.0, 0.0]  # a reflection would fit, and is not taken
    mirrored = flat * [-1.0, 1.0, 1.0]
    assert np.linalg.det(np.linalg.lstsq(centred(p), aligned(p, q), rcond=None)[0]) == pytest.approx(1.0)
    assert aligned(mirrored, flat) == pytest.approx(centred(flat), abs=1e-10)  # turned over in space
    assert mean_curve(np.array([p, moved])) == pytest.approx(aligned(p, mean_curve(np.array([p, moved]))), abs=1e-12)
    with pytest.raises(ValueError, match="same number of points"):
        aligned(p, q[:-1])
    with pytest.raises(ValueError, match="q has shape"):
        frechet(p, q[:, :2])


def test_baselines_of_a_flat_square_are_its_distances():
    mesh = meshes.rectangle(1.0, 1.0, (20, 20))
    whole = boundary_of(mesh)
    assert sorted(corner_distances(whole)) == pytest.approx([1.0, 1.0, 1.0, 1.0, np.sqrt(2), np.sqrt(2)])
    edges = edge_distances(whole)
    x = corner_segments(whole)
    assert edges[0] == pytest.approx(15.0 / 19.0)  # on the same side
    s = np.linspace(0.0, 1.0, 201)[:, None]
    k = 0
    for i in range(8):
        for j in range(i + 1, 8):
            p, q = x[i, 0] + s * (x[i, 1] - x[i, 0]), x[j, 0] + s * (x[j, 1] - x[j, 0])
            assert edges[k] == pytest.approx(np.linalg.norm(p[:, None] - q, axis=-1).min(), abs=1e-6)
            k += 1
