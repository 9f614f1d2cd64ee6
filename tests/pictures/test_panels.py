"""Panels: what is embedded is what was given, arrows are closed bodies where they should be, pages are whole."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from isocloth.pictures.camera import axes
from isocloth.pictures.panels import Arrows, Panel, arrow_mesh, bar, level_colours, panels_data, panels_page

SHEET = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0.5]])
FACES = np.array([[0, 1, 2], [0, 2, 3]])


def volume(points: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = points[faces].transpose(1, 0, 2)
    return float(np.einsum("fd,fd->", a, np.cross(b, c)) / 6.0)


def test_an_arrow_points_along_its_vector_and_is_closed() -> None:
    places = np.array([[1.0, 2.0, 3.0], [0, 0, 0], [0, 0, 0]])
    vectors = np.array([[0.0, 0.0, 2.0], [0.3, -0.4, 0.0], [0, 0, 0]])
    points, faces = arrow_mesh(places, vectors)
    assert points.shape == (39, 3)
    assert faces.shape == (54, 3)
    assert np.isfinite(points).all()
    np.testing.assert_allclose(points[12], [1, 2, 5])
    np.testing.assert_allclose(points[25], [0.3, -0.4, 0.0])
    np.testing.assert_allclose(points[:4].mean(axis=0), places[0], atol=1e-12)
    # a shaft of 1.68 x 2 (0.024)^2 and a pyramid of base 2 (0.0896)^2, 0.32 high; the end of the shaft lies in its base
    first = volume(points[:13] - places[0], faces[:18])
    assert first == pytest.approx(2 * 0.024**2 * 1.68 + 2 * 0.0896**2 * 0.32 / 3, rel=1e-6)
    assert np.ptp(points[26:], axis=0).max() < 0.2  # of no force nearly nothing


def test_the_data_are_those_given() -> None:
    moving = np.stack([SHEET, SHEET + np.array([0, 0, 0.1])])
    arrows = Arrows(SHEET[:1], np.array([[0, 0, 1.0]]), np.array([[1.0, 0, 0]]))
    box = (SHEET + np.array([0, 0, -1.0]), np.array([[0, 1, 2, 3]]))
    found = panels_data(
        [
            Panel("still", SHEET[None], FACES, None, arrows),
            Panel("moving", moving, FACES, np.ones((4, 3)), bodies=False),
        ],
        np.array([0.0, 0.5]), [box, (SHEET, FACES)],
    )  # fmt: skip
    still, second = found["panels"]
    assert [still["frames"], second["frames"]] == [1, 2]
    assert base64.b64decode(second["colours"]) == b"\xff" * 12
    assert base64.b64decode(still["arrowColours"]) == b"\xff\x00\x00" * 13
    index = np.frombuffer(base64.b64decode(found["bodyTriangles"]), dtype="<u4").reshape(-1, 3)
    assert index.tolist() == [[0, 1, 2], [0, 2, 3], [4, 5, 6], [4, 6, 7]]
    assert np.frombuffer(base64.b64decode(found["bodyVertices"]), dtype="<f4").reshape(-1, 3).shape == (8, 3)
    assert found["radius"] == pytest.approx(np.sqrt(0.5**2 + 0.5**2 + 0.3**2))  # from the middle to a corner
    right, down, _ = axes(found["azimuth"], found["elevation"])
    for panel, points in ((still, [*SHEET, [0, 0, 1.0]]), (second, moving.reshape(-1, 3))):
        for axis in (right, down):
            along = (np.array(points) - panel["centre"]) @ axis
            assert along.max() == pytest.approx(-along.min())


def test_what_flies_away_does_not_make_the_rest_small() -> None:
    away = np.stack([SHEET, SHEET - np.array([0, 0, 50.0])])
    found = panels_data([Panel("a", SHEET[None], FACES), Panel("b", away, FACES)], np.array([0.0, 1.0]), [])
    assert found["radius"] == pytest.approx(1.5 * 0.75)


def test_a_page_is_whole_whatever_its_title_is() -> None:
    text = panels_page(
        "@DATA@ </script>", "<p>above</p>", "<p>below</p>", [Panel("<b>", SHEET[None], FACES)], np.zeros(1)
    )
    assert text.count("</html>") == 1
    assert "<title>@DATA@ &lt;/script&gt;</title>" in text
    assert "<p>above</p>" in text
    assert "<p>below</p>" in text
    assert '"name": "\\u003cb>"' in text


def test_levels_run_from_green_over_yellow_to_red() -> None:
    none, half, full, more = level_colours(np.array([0.0, 0.5, 1.0, 7.0]))
    assert none[1] > none[0]
    assert half[0] > 0.9
    assert full[0] > 2 * full[1]
    np.testing.assert_array_equal(full, more)
    assert bar(level_colours(np.array([0.0, 1.0])), ["a", "<b>"], "n").count("<span>") == 2
