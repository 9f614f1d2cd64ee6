import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isocloth.reconstruction.remeshing.parametrise import inscribed_polygon

from ..shapes import NAMES, found


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_on_the_disc_is_an_embedding_of_the_cell(name):
    result = found(name)
    for k, cell in enumerate(result.cell_complex.two):
        chart = result.chart(k)
        assert chart.folded == 0
        assert len(chart.triangles) == len(cell.triangles)
        # a disc: points - edges + triangles = 1
        edges = {frozenset((int(t[a]), int(t[a - 1]))) for t in chart.triangles for a in range(3)}
        assert len(chart.uv) - len(edges) + len(chart.triangles) == 1
        np.testing.assert_array_equal(chart.positions, result.points[chart.points])


@pytest.mark.parametrize("name", NAMES)
def test_the_boundary_of_a_chart_is_as_long_as_that_of_the_cell(name):
    chart = found(name).chart(0)
    loop = chart.positions[chart.boundary]
    length = np.linalg.norm(np.roll(loop, -1, axis=0) - loop, axis=1).sum()
    radius = np.linalg.norm(chart.uv[chart.boundary], axis=1)
    np.testing.assert_allclose(radius, length / (2 * np.pi))
    assert sum(len(s) - 1 for s in chart.sides) == len(chart.boundary)


def test_inner_points_are_the_means_of_their_neighbours():
    chart = found("torus").chart(0)
    inner = np.setdiff1d(np.arange(len(chart.uv)), chart.boundary)
    for v in inner[::50]:
        beside = np.setdiff1d(np.unique(chart.triangles[(chart.triangles == v).any(axis=1)]), [v])
        np.testing.assert_allclose(chart.uv[v], chart.uv[beside].mean(axis=0), atol=1e-9)


def test_a_chart_gives_back_its_points_and_resamples_the_cell():
    chart = found("torus").chart(0)
    inner = np.setdiff1d(np.arange(len(chart.uv)), chart.boundary)[::20]
    np.testing.assert_allclose(chart(chart.uv[inner]), chart.positions[inner], atol=1e-8)
    fewer = chart.resampled(300)
    assert 200 < len(fewer) < 400
    ring = np.hypot(fewer[:, 0], fewer[:, 1]) - 1.0
    assert np.abs(np.hypot(ring, fewer[:, 2]) - 0.4).mean() < 0.06


def test_a_polygon_keeps_the_lengths_of_the_sides():
    chart = found("torus").chart(0, "polygon")
    assert len(chart.sides) >= 4
    for side in chart.sides:
        there = np.linalg.norm(np.diff(chart.positions[side], axis=0), axis=1).sum()
        flat = np.linalg.norm(chart.uv[side[-1]] - chart.uv[side[0]])
        assert flat == pytest.approx(there, rel=1e-9)


@settings(deadline=None, max_examples=60)
@given(st.lists(st.floats(0.05, 1.0), min_size=3, max_size=9))
def test_inscribed_polygons_have_their_sides_and_a_circle(lengths):
    longest = max(lengths)
    if longest >= 0.999 * (sum(lengths) - longest):
        return
    places = inscribed_polygon(lengths)
    sides = np.linalg.norm(np.roll(places, -1, axis=0) - places, axis=1)
    np.testing.assert_allclose(sides, lengths, rtol=1e-7)
    radius = np.linalg.norm(places, axis=1)
    np.testing.assert_allclose(radius, radius[0])


def test_the_area_of_an_inscribed_quadrilateral_is_that_of_brahmagupta():
    a, b, c, d = 1.0, 1.4, 0.7, 1.1
    x, y = inscribed_polygon([a, b, c, d]).T
    area = 0.5 * abs(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))
    s = (a + b + c + d) / 2
    assert area == pytest.approx(np.sqrt((s - a) * (s - b) * (s - c) * (s - d)))


def test_sides_that_make_no_polygon_are_refused():
    with pytest.raises(ValueError, match="make no polygon"):
        inscribed_polygon([1.0, 2.0, 4.0])


def test_a_cell_that_does_not_exist_is_refused():
    with pytest.raises(ValueError, match="2-cell 7"):
        found("torus").chart(7)
    with pytest.raises(ValueError, match="domain"):
        found("torus").chart(0, "square")
