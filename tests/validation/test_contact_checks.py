"""The checks of contact: their scenes are what they claim to be, and their counters count."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from isocloth import meshes
from isocloth.fabric import Fabric
from isocloth.obstacles import Floor, Plane, Sphere, Stick
from isocloth.simulation import Simulation
from validation import (
    capstan,
    cylinder,
    encounters,
    needles,
    pushers,
    pushes,
    shorts,
    stick_hits,
    tablecloth,
    tilted_plane,
)
from validation import turning_sphere as sphere
from validation.intersections import Intersections
from validation.result import Result


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


def test_the_hands_sweep_lower_and_fold_the_shorts_without_a_jump() -> None:
    mesh = shorts.garment(True)
    sim, table, corners = shorts.scene(mesh)
    start = mesh.vertices[corners]
    assert start[:, 0] == pytest.approx([-0.5 * shorts.WAIST, 0.5 * shorts.WAIST])
    assert mesh.vertices[:, 2].max() == pytest.approx(start[0, 2])
    gap, _ = table.gaps(mesh.vertices, 0.0)
    assert gap.min() == pytest.approx(shorts.ABOVE + 0.5 * shorts.FABRIC.thickness)
    times = np.arange(0.0, shorts.RELEASED, sim.timestep)
    path = np.array([shorts.hands(start, t) for t in times])
    assert path[0] == pytest.approx(start)
    speed = np.linalg.norm(np.diff(path, axis=0), axis=2) / sim.timestep
    assert 1.5 < speed.max() < 2.5
    assert path[-1, :, 1] == pytest.approx(path[:, :, 1].max() - shorts.BACK, abs=1e-6)
    assert path[-1, :, 2] == pytest.approx(shorts.DROP, abs=1e-6)
    assert (path[:, :, 2] > shorts.FABRIC.thickness).all()


@pytest.mark.parametrize("make", [pushers.ball, pushers.stick])
def test_a_pusher_comes_from_outside_and_stops_where_it_must(make: Any) -> None:
    sim = cloth()
    aside = np.array([0.0, 0.0, 5.0])
    _, pusher = make(aside)
    along, axis = np.array([0.6, 0.0, -0.8]), np.array([0.0, 1.0, 0.0])
    push = pushers.Thrust(np.array([0.1, 0.05, 0.0]), along, 0.1, 2.0)
    there, back = pusher.thrust(sim, push, axis, lambda point: point[2] > -0.02)
    places = np.array([pusher.at(k * sim.timestep)[0] for k in range(there + back + 1)])
    assert places[0] == pytest.approx(aside)
    assert places[-1] == pytest.approx(aside)
    assert places[1] - places[2] == pytest.approx(5.0 * (axis if make is pushers.stick else -along))
    assert places[-3:-1] == pytest.approx(places[[2, 1]])
    assert ((sim.positions - places[2]) @ along).min() == pytest.approx(pusher.radius + pushers.CLEAR)
    assert places[there, 2] - 0.8 * pusher.radius == pytest.approx(-0.02, abs=0.005)
    line = places[there] - push.aim
    assert np.linalg.norm(np.cross(line, along)) < 1e-12
    speed = np.linalg.norm(np.diff(places[2 : there + 1], axis=0), axis=1) / sim.timestep
    assert speed == pytest.approx(speed[0])
    assert speed[0] <= 2.0
    ends = pusher.ends(there * sim.timestep)
    assert ends[1] - ends[0] == pytest.approx(2 * pushers.HALF * axis)
    # the next one starts from where it waits, and what it did is remembered for pictures
    pusher.thrust(sim, push._replace(along=np.array([1.0, 0.0, 0.0])), -axis, lambda _: True)
    assert pusher.at(0.0)[0] == pytest.approx(aside)
    assert np.linalg.norm(pusher.ends(0.03)[1] - pusher.ends(0.03)[0]) == pytest.approx(2 * pushers.HALF)


def test_lengths_of_edges_are_measured_of_positions() -> None:
    sim = cloth()
    assert encounters.edge_stretch(sim) == pytest.approx(0.0, abs=1e-12)
    sim.positions = sim.positions * np.array([1.02, 1.0, 1.0])
    along = np.ptp(sim.mesh.vertices[sim.mesh.edges][:, :, 0], axis=1) > 0.0
    assert encounters.edge_stretch(sim) == pytest.approx(0.02 * np.sqrt(along.mean()))


def test_distances_from_obstacles_are_measured_at_nodes_and_between() -> None:
    sim = cloth(0.3, obstacles=[Floor(0.1), Sphere([0.05, 0.05, 0.1], 0.15)])
    nodes, between = encounters.clearances(sim)
    # the nearest node is 5 cm aside in x and y, the centre of a face right above the sphere is not quite
    assert nodes == pytest.approx(np.sqrt(0.2**2 + 2 * 0.05**2) - 0.15)
    assert 0.05 < between < nodes
    assert encounters.clearances(cloth(obstacles=[Stick([0, 0, 1], [1, 0, 1], 0.01)])) == (np.inf, np.inf)


def test_a_watch_misses_a_node_inside_an_obstacle_and_edges_that_stretch() -> None:
    sim = cloth(0.3, obstacles=[Floor(0.2)])
    watch = encounters.Watch()
    watch.step(sim)
    sim.positions = sim.positions * np.array([1.01, 1.01, 0.5])
    watch.measure(sim)
    result = Result("name", "title")
    watch.tell(result, "run")
    missed = [line.what for line in result.missed]
    assert missed == [
        "run: lengths of edges, largest rms change, %",
        "run: smallest distance of a node from an obstacle, mm",
    ]
    shearing = Result("name", "title")
    watch.tell(shearing, "run", edges=False)
    assert [line.what for line in shearing.missed] == missed[1:]


def test_frames_in_which_layers_intersect_are_counted() -> None:
    pytest.importorskip("ipctk")
    sim = cloth()
    crossed = Intersections(sim, sim.timestep)
    x, y, _ = sim.mesh.vertices.T
    for low in (0.25, 0.15):
        # one half is folded over the other, and its edge comes to lie above or below it
        sim.positions = np.where((x > 0.01)[:, None], np.stack([-0.9 * x, y, 0.3 * (low - x)], axis=1), sim.positions)
        crossed.last = -1.0
        crossed.look(sim)
    assert (crossed.frames, crossed.bad) == (2, 1)


def test_layers_that_come_too_near_are_told() -> None:
    pytest.importorskip("ipctk")
    sim = cloth()
    thick = sim.fabric.thickness
    crossed = Intersections(sim, sim.timestep)
    x, y, _ = sim.mesh.vertices.T
    for height, reached in ((2.0, True), (0.8, False)):
        # one half is laid over the other, level, so many thicknesses above it
        sim.positions = np.stack([np.where(x > 0.01, 0.01 - x, x), y, np.where(x > 0.01, height * thick, 0.0)], axis=1)
        crossed.last = -1.0
        crossed.look(sim)
        result = Result("name", "title")
        crossed.tell(result, "fold")
        assert result.lines[-1].reached is reached
        assert 0.4 * height < result.lines[-1].measured <= min(height, 1.0)  # nearer at the crease than further out


def test_a_record_of_pushes_counts_what_is_not_finite_and_what_failed() -> None:
    sim = cloth(0.3)
    stick, _ = pushers.stick(np.array([0.0, 0.0, 5.0]))
    record = pushes.Record(sim, stick_hits.Sides(sim, stick))
    for _ in range(3):
        record.step(sim)
    assert (record.broken, record.silent, record.uncut, record.failures) == (0, 0, 0, [])
    assert record.sound.steps == record.watch.steps == 3
    result = Result("name", "title")
    pushes.tell(result, "cloth", record)
    assert result.reached
