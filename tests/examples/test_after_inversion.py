"""The films of garments of inverse design: two of them, coarse and short, measured here once more."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from PIL import Image

from isocloth import Trajectory, meshes

EXAMPLE = Path(__file__).parents[2] / "examples" / "after_inversion.py"


@pytest.fixture(scope="module")
def example() -> ModuleType:
    spec = importlib.util.spec_from_file_location("example_after_inversion", EXAMPLE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # where it looks for the names in its annotations
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def quick(example: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """The films by name, and their picture."""
    picture = tmp_path_factory.mktemp("films") / "after.png"
    films = example.main(["--quick", "-o", str(picture)])
    return {film.name: film for film in films}, picture


def test_all_steps_converge_and_keep_their_distance(quick: tuple[dict[str, Any], Path]) -> None:
    films, _ = quick
    assert list(films) == ["page", "hat"]
    for film in films.values():
        reports = film.trajectory.reports
        assert len(film.trajectory) == 26  # every step is a frame
        assert reports["converged"].all()
        assert reports["min_gap"].min() > -1e-4  # a tenth of the thickness
        assert film.wrong == []


def test_wind_turns_the_page_up_about_its_spine(quick: tuple[dict[str, Any], Path]) -> None:
    places = quick[0]["page"].trajectory.positions
    spine, free = (np.flatnonzero(np.abs(places[0, :, 0] - x) < 1e-3) for x in (0.0, 0.2))
    assert len(spine) == len(free) == 7
    np.testing.assert_array_equal(places[:, spine], np.broadcast_to(places[0, spine], places[:, spine].shape))
    assert places[0, free, 2].max() < 0.05
    assert places[-1, free, 2].min() > 0.08  # as far above the spine as the page cannot be pushed flat
    assert places[-1, free, 0].max() < 0.13  # and against x, as the wind blows
    np.testing.assert_allclose(places[..., 1].mean(axis=1), places[0, :, 1].mean(), atol=2e-4)


def test_wind_takes_the_hat_at_its_windward_brim(quick: tuple[dict[str, Any], Path]) -> None:
    places = quick[0]["hat"].trajectory.positions
    windward, lee = np.argmin(places[0, :, 0]), np.argmax(places[0, :, 0])
    assert places[-1, windward, 2] - places[0, windward, 2] > 0.08
    assert places[-1, lee, 2] < places[0, lee, 2]
    centre = places.mean(axis=1)
    assert centre[-1, 0] - centre[0, 0] > 0.02
    assert np.abs(centre[:, 1]).max() < 1e-6  # hat, head and wind are symmetric about y = 0
    assert np.linalg.norm(places, axis=2).min() > 0.1 - 1e-4  # never in the head


def test_the_picture_has_a_row_of_each(quick: tuple[dict[str, Any], Path]) -> None:
    picture = np.array(Image.open(quick[1]).convert("RGB")).astype(int)
    assert picture.shape == (2 * 190, 1080, 3)
    for row in (picture[:190], picture[190:]):
        blue = (row[..., 2] - row[..., 0] > 60).any(axis=0)  # the front of cloth
        assert all(blue[k * 180 : (k + 1) * 180].any() for k in range(6))


def test_air_flows_around_the_ball(example: ModuleType) -> None:
    gust = example.Gust(meshes.rectangle(1, 1, (2, 2), element="triangle"), (6.0, 0.0, 1.5), 0.2, 0.1)
    wind = np.array([6.0, 0.0, 1.5])
    points = np.random.default_rng(0).normal(size=(20, 3))
    on = 0.1 * points / np.linalg.norm(points, axis=1, keepdims=True)
    np.testing.assert_allclose(np.einsum("nd,nd->n", gust.air(1.0, on), on), 0.0, atol=1e-12)  # none goes in
    np.testing.assert_allclose(gust.air(1.0, 1e4 * on), np.tile(wind, (20, 1)), atol=1e-6)
    np.testing.assert_allclose(gust.air(0.1, 1e4 * on), np.tile(0.5 * wind, (20, 1)), atol=1e-6)  # half of the rise
    h, shifts = 1e-5, 1e-5 * np.eye(3)
    gradient = np.array([gust.air(1.0, 2 * on + d) - gust.air(1.0, 2 * on - d) for d in shifts]) / (2 * h)
    np.testing.assert_allclose(np.einsum("dnd->n", gradient), 0.0, atol=1e-5)  # it keeps its volume
    np.testing.assert_allclose(gradient, gradient.transpose(2, 1, 0), atol=1e-5)  # and does not turn


def test_what_is_wrong_ends_the_program(example: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    still = Trajectory(times=[0.0], positions=np.zeros((1, 3, 3)), faces=[[0, 1, 2]], rest=np.eye(3))
    monkeypatch.setitem(example.FILMS, "cape", lambda: example.Film("cape", still, {"swing": 0.0}, ["it hangs still"]))
    with pytest.raises(SystemExit, match="cape: it hangs still"):
        example.main(["--films", "cape"])
    with pytest.raises(SystemExit):
        example.main(["--quick", "--films", "cape"])
