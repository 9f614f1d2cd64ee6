"""Strain and its colours."""

from __future__ import annotations

import numpy as np
import pytest
from cloths import grid

from isocloth.pictures.colour import strain_colours, strain_limit, strain_unit, to_linear, to_srgb
from isocloth.pictures.edges import BORDER, HIDDEN, INNER, side_kinds, unique_edges, vertex_strain


def luminance(colours: np.ndarray) -> np.ndarray:
    return colours @ np.array([0.2126, 0.7152, 0.0722])


def test_uniform_stretch_is_its_strain_everywhere() -> None:
    rest, faces = grid(5)
    np.testing.assert_allclose(vertex_strain(1.1 * rest, rest, faces), 0.1)
    frames = np.stack([rest, 0.9 * rest, 1.2 * rest])
    expected = np.repeat([[0.0], [-0.1], [0.2]], len(rest), axis=1)
    np.testing.assert_allclose(vertex_strain(frames, rest, faces), expected, atol=1e-15)


def test_strain_is_the_mean_over_the_edges_of_a_vertex() -> None:
    rest, faces = grid(4)
    moved = rest + 0.1 * np.random.default_rng(1).normal(size=rest.shape)
    edges, _ = unique_edges(faces)
    strain = vertex_strain(moved, rest, faces)
    for i in range(len(rest)):
        changes = [
            np.linalg.norm(moved[a] - moved[b]) / np.linalg.norm(rest[a] - rest[b]) - 1 for a, b in edges if i in (a, b)
        ]
        assert strain[i] == pytest.approx(np.mean(changes))


def test_sides_of_split_quadrilaterals() -> None:
    kinds = side_kinds(np.array([[0, 1, 2, 3], [1, 4, 5, 2]]))
    # Triangles 0-1-2, 0-2-3, 1-4-5, 1-5-2; sides opposite to each corner.
    np.testing.assert_array_equal(
        kinds,
        [
            [INNER, HIDDEN, BORDER],
            [BORDER, BORDER, HIDDEN],
            [BORDER, HIDDEN, BORDER],
            [BORDER, INNER, HIDDEN],
        ],
    )
    np.testing.assert_array_equal(side_kinds(np.array([[0, 1, 2]])), [[BORDER] * 3])


def test_the_map_is_ordered_and_its_ends_differ_in_hue() -> None:
    level = luminance(strain_colours(np.linspace(-1, 1, 101), 1.0))
    assert (np.diff(level[:51]) > 0).all()
    assert (np.diff(level[50:]) < 0).all()
    low, middle, high = strain_colours(np.array([-5.0, 0.0, 5.0]), 1.0)
    assert low[2] > 2 * low[0]  # blue
    assert high[0] > 2 * high[2]  # red
    assert np.ptp(middle) < 0.08  # nearly grey


@pytest.mark.parametrize(("largest", "limit"), [(0.07, 0.1), (0.2, 0.2), (0.011, 0.02), (3e-7, 5e-7), (0.0, 1e-12)])
def test_the_end_of_the_map_is_a_round_number(largest: float, limit: float) -> None:
    assert strain_limit(np.array([-largest] * 5)) == pytest.approx(limit)


def test_units_keep_numbers_readable() -> None:
    assert strain_unit(0.05) == (1e2, "%")
    assert strain_unit(2e-5) == (1e6, "ppm")
    assert strain_unit(1e-8) == (1e9, "ppb")


def test_srgb_round_trip() -> None:
    values = np.linspace(0, 1, 256)
    np.testing.assert_allclose(to_srgb(to_linear(values)), values, atol=1e-6)
