"""The checks of contact: their scenes are what they claim to be, and their counters count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isocloth import meshes
from isocloth.fabric import Fabric
from isocloth.obstacles import Floor, Plane, Stick
from isocloth.reproduce import capstan, cylinder, encounters, needles, stick_hits, tablecloth, tilted_plane
from isocloth.reproduce import turning_sphere as sphere
from isocloth.reproduce.result import Result
from isocloth.simulation import Simulation


def cloth(height: float = 0.0, **options: Any) -> Simulation:
    mesh = encounters.centred(meshes.rectangle(0.4, 0.4, shape=(5, 5)), [0.0, 0.0, height])
    return Simulation(mesh, Fabric(density=0.2), **options)


def test_a_sheet_on_a_slope_touches_it_everywhere() -> None:
    mesh = next(iter(tilted_plane.sheets(True).values()))
    sim, down = tilted_plane.on_slope(mesh, 0.3, 0.5)
    plane = sim.obstacles[0]
    assert isinstance(plane, Plane)
    gap, normal = plane.gaps(sim.positions, 0.0)
    assert gap == pytest.approx(0.5 * tilted_plane.FABRIC.thickness, abs=1e-12)
    assert down @ normal[0] == pytest.approx(0.0, abs=1e-12)
    assert down[2] == pytest.approx(-np.sin(0.3))


def test_the_wound_strip_keeps_its_length_and_touches_the_cylinder() -> None:
    s = np.linspace(-0.2, 0.2, 4001)
    x = capstan.wound(s, np.zeros_like(s), np.pi / 2)
    assert np.linalg.norm(np.diff(x, axis=0), axis=1).sum() == pytest.approx(0.4, rel=1e-6)
    radius = np.hypot(x[:, 0], x[:, 2])
    assert radius.min() == pytest.approx(capstan.RADIUS + 0.5 * capstan.FABRIC.thickness)
    turned = np.degrees(np.arccos((x[1] - x[0]) @ (x[-1] - x[-2]) / (s[1] - s[0]) ** 2))
    assert turned == pytest.approx(90.0, abs=1e-4)


def test_the_tips_are_the_peaks_of_the_needles() -> None:
    tips = needles.tips(0.4)
    assert needles.height(tips) == pytest.approx(0.0, abs=1e-9)
    assert needles.gradient(tips)[:, :2] == pytest.approx(0.0, abs=1e-9)
    higher = tips + np.array([0.01, 0.0, 0.0])
    assert (needles.height(higher) > 0.0).all()  # the surface falls off to every side
    probe = np.random.default_rng(0).uniform(-0.3, 0.3, (20, 3))
    for d in range(3):
        step = 1e-6 * np.eye(3)[d]
        slope = (needles.height(probe + step) - needles.height(probe - step)) / 2e-6
        assert needles.gradient(probe)[:, d] == pytest.approx(slope, abs=1e-6)


def test_a_sheet_that_falls_through_tips_is_counted() -> None:
    sim = cloth(0.02)
    tips = np.array([[0.03, 0.02, 0.0], [-0.11, 0.07, 0.0], [0.5, 0.0, 0.0]])
    passages = encounters.Passages(sim, tips)
    while sim.positions[:, 2].min() > -0.02:
        sim.step()
        passages.look(sim)
    assert passages.count == 2  # the third tip lies beside the sheet


def test_a_stick_that_sweeps_through_a_sheet_is_counted() -> None:
    sim = cloth(gravity=0.0)
    sweep = Stick([-0.5, 0.01, 0.2], [0.5, 0.01, 0.2], 0.005, velocity=[0.0, 0.0, -5.0])
    beside = Stick([-0.5, 0.31, 0.2], [0.5, 0.31, 0.2], 0.005, velocity=[0.0, 0.0, -5.0])
    found = [stick_hits.Sides(sim, sweep), stick_hits.Sides(sim, beside)]
    for _ in range(8):
        sim.step()
        for sides in found:
            sides.look(sim)
    assert found[0].passed == 5  # the sides of elements that lie across the stick
    assert found[1].passed == 0


def test_the_stick_reaches_five_metres_per_second_and_starts_every_hit_on_its_side() -> None:
    times, ends = stick_hits.swings()
    assert (np.diff(times) > 0.0).all()
    length = np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1)
    assert length == pytest.approx(stick_hits.LENGTH)
    speed = np.linalg.norm(np.diff(ends.mean(axis=1), axis=0), axis=1) / np.diff(times)
    assert speed.max() == pytest.approx(5.0, rel=0.01)
    for k, (_, _, _, side) in enumerate(stick_hits.HITS):
        at = np.searchsorted(times, 0.5 + stick_hits.PERIOD * k - 1e-9)
        assert ends[at, :, 1] == pytest.approx(-side * stick_hits.REACH)


def test_the_hands_that_lay_a_tablecloth_do_not_pull_it_apart() -> None:
    start = np.array([[0.0, 0.0, tablecloth.HEIGHT + tablecloth.ABOVE]])
    end = tablecloth.corners(start, tablecloth.LAID)[0]
    assert 0.0 < end[2] < 0.5 * tablecloth.HEIGHT
    for t in np.linspace(tablecloth.LOWERED, tablecloth.LAID, 50):
        y, z = tablecloth.corners(start, t)[0, 1:]
        assert np.hypot(y, z) <= tablecloth.HEIGHT + 1e-9  # from where the lower edge came down


def test_a_turn_is_followed_beyond_half_a_circle() -> None:
    sim = cloth()
    turn = sphere.Turn(sim, np.arange(25))
    start = sim.positions.copy()
    for angle in np.linspace(0.0, 4.0, 9)[1:]:
        c, s = np.cos(angle), np.sin(angle)
        sim.positions = start @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T
        turn.look(sim)
    assert turn.angle == pytest.approx(4.0)
    assert sphere.rotation(sphere.BEGIN + sphere.TURNING) == pytest.approx(np.diag([-1.0, -1.0, 1.0]), abs=1e-12)


def test_the_sheet_starts_off_the_centre_of_the_cylinder() -> None:
    fall = cylinder.fall(0.4, 5, 0.02)
    first = fall.film.frames[0]
    assert first.mean(axis=0)[:2] == pytest.approx([cylinder.OFFSET, 0.0], abs=1e-9)
    sides = np.unique(np.round(np.degrees(np.arctan2(*(first[1] - first[0])[1::-1])) % 90.0, 6))
    assert sides == pytest.approx([20.0])


def test_a_watch_counts_steps_and_adds() -> None:
    first, second = encounters.Watch(), encounters.Watch()
    first.run(cloth(0.001, obstacles=[Floor()]), 0.05)
    second.run(cloth(), 0.03)
    first.add(second)
    assert first.steps == 8
    assert first.simulated == pytest.approx(0.06)  # the first step of each run is not timed
    assert first.min_gap < 1e-6
    result = Result("name", "title")
    first.tell(result, "run", q=1e9)
    assert result.reached
