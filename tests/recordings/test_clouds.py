"""Clouds of points of a moving sheet become a grid of nodes that follows it."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from isocloth.recordings.clouds import register_flat
from isocloth.recordings.grid import sheet

SIZE = (0.3, 0.4)


def bent(t: float, shape: tuple[int, int] = (9, 7)) -> np.ndarray:
    """(n, 3) m of a sheet whose curvature across its height grows with time and that drifts: an exact isometry."""
    mesh = sheet(shape, SIZE)
    s = SIZE[1] - mesh.vertices[:, 1]
    k = 4.0 * t
    if k < 1e-9:
        y, z = np.zeros_like(s), s
    else:
        y, z = (1.0 - np.cos(k * s)) / k, np.sin(k * s) / k
    return np.stack([mesh.vertices[:, 0], 0.2 * t + y, 1.0 - z], axis=1)


def cloud(t: float, random: np.random.Generator, points: int = 700) -> np.ndarray:
    """Points on the sheet with 2 mm of noise, a hole, and strays."""
    fine = bent(t, (41, 31)).reshape(41, 31, 3)
    i, j = random.random(points) * 39.999, random.random(points) * 29.999
    a, b = i.astype(int), j.astype(int)
    s, u = (i - a)[:, None], (j - b)[:, None]
    found = (1 - s) * (1 - u) * fine[a, b] + s * (1 - u) * fine[a + 1, b] + s * u * fine[a + 1, b + 1]
    found += (1 - s) * u * fine[a, b + 1]
    found += 2e-3 * random.standard_normal(found.shape)
    hole = fine[int(random.integers(10, 30)), int(random.integers(8, 22))]
    found = found[np.linalg.norm(found - hole, axis=1) > 0.03]
    return np.vstack([found, hole + random.uniform(-0.6, 0.6, (15, 3))])


def test_a_sheet_is_followed_through_noise_holes_and_strays() -> None:
    random = np.random.default_rng(0)
    times = np.arange(6) / 10.0
    made = ic.recordings.from_clouds(times, [cloud(t, random) for t in times], size=SIZE, shape=(5, 6))
    truth = np.array([bent(t, (6, 5)) for t in times])
    away = np.linalg.norm(made.positions - truth, axis=2)
    assert away.mean() < 7e-3
    assert away.max() < 0.03
    assert made.mesh is not None
    assert float(ic.measure.edge_stretch(made.mesh, made.positions[-1]).max) < 0.03
    assert np.array(made.metadata["used"]).min() > 0.95
    assert np.array(made.metadata["distance"]).max() < 2.5e-3  # 2 mm of noise in each coordinate: 1.6 mm across
    assert np.array(made.metadata["bare"]).max() < 0.2
    assert set(made.held) == {0, 4}


def test_filters_leave_the_cloth() -> None:
    random = np.random.default_rng(1)
    points = cloud(0.0, random, 1500)
    table = np.column_stack([random.uniform(-1, 1, (500, 2)), np.full(500, 0.55)])
    both = np.vstack([points, table])
    colours = np.vstack([np.tile([0.8, 0.1, 0.1], (len(points), 1)), np.tile([0.4, 0.4, 0.4], (500, 1))])
    by_plane = ic.recordings.cloth_points(both, planes=[((0.0, 0.0, 1.0), 0.58)])
    by_colour = ic.recordings.cloth_points(both, colours=colours, colour=(0.8, 0.1, 0.1))
    near = ic.recordings.cloth_points(both, centre=(0.15, 0.0, 0.8), reach=0.22)
    for kept in (by_plane, by_colour, near):
        assert np.abs(kept[:, 1]).max() < 0.05
        assert len(kept) > 0.6 * len(points)
    with pytest.raises(ic.RecordingError, match="points are left"):
        ic.recordings.cloth_points(both, planes=[((0.0, 0.0, 1.0), 5.0)])
    with pytest.raises(ic.RecordingError, match="colours have shape"):
        ic.recordings.cloth_points(both, colours=colours[:5], colour=(0.8, 0.1, 0.1))
    with pytest.raises(ic.RecordingError, match="expected \\(N, 3\\)"):
        ic.recordings.cloth_points(np.zeros((5, 2)))


def test_a_sheet_that_loses_the_cloth_says_that_it_is_bare() -> None:
    random = np.random.default_rng(3)
    clouds = [cloud(0.0, random), cloud(0.0, random)]
    clouds[1] = clouds[1][clouds[1][:, 0] < 0.15]  # half of it is not seen any more
    made = ic.recordings.from_clouds([0.0, 0.1], clouds, size=SIZE, shape=(5, 6))
    first, second = made.metadata["bare"]
    assert first < 0.2 < 0.3 < second


def test_a_recorded_sheet_is_followed_while_it_is_seen() -> None:
    with np.load(Path(__file__).parents[1] / "data" / "clouds" / "r2s_lift_fleek_metric750.npz") as data:
        clouds = [data["points"][a:b].astype(float) for a, b in pairwise(data["start"].tolist())]
    made = ic.recordings.from_clouds(np.arange(4.0), clouds[:4], size=(0.43, 0.445))
    assert np.array(made.metadata["distance"]).max() < 3e-3
    assert np.array(made.metadata["bare"])[:3].max() < 0.1
    assert made.positions[3, :, 2].max() > 0.1 + made.positions[0, :, 2].max()  # it is lifted


def test_what_cannot_be_followed_is_refused() -> None:
    random = np.random.default_rng(2)
    with pytest.raises(ic.RecordingError, match="no flat sheet"):
        register_flat(sheet((5, 5), (0.9, 1.2)), cloud(0.0, random))
    with pytest.raises(ic.RecordingError, match="2 clouds for 3 times"):
        ic.recordings.from_clouds([0.0, 0.1, 0.2], [cloud(0.0, random)] * 2, size=SIZE)
    with pytest.raises(ic.RecordingError, match="no clouds were given"):
        ic.recordings.from_clouds([], [], size=SIZE)
    with pytest.raises(ic.RecordingError, match="first has shape"):
        ic.recordings.from_clouds([0.0, 0.1], [cloud(0.0, random)] * 2, size=SIZE, first=np.zeros((3, 3)))
