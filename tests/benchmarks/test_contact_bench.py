"""The benchmark with contact: each part against a second way. Nothing here asserts a time."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

import isocloth as ic
from benchmarks import contact_race, contact_scenes, main
from benchmarks.contact_peer import CONSTRAINTS, IPC, MuJoCo
from benchmarks.contact_phases import PHASES, TIMED, Stopwatch, contact_phases
from benchmarks.contact_tables import contact_phases_text, folding_text, sliding_text
from benchmarks.swing import Isocloth, record
from validation.intersections import Judge

NODES = 8


def silent(text: str) -> None:
    pass


@pytest.fixture(scope="module")
def profiled() -> tuple[ic.Simulation, list]:
    sim = contact_scenes.simulation(contact_scenes.fold(NODES))
    parts = contact_scenes.FOLD_PARTS
    return sim, contact_phases(contact_scenes.FOLD_NAME, NODES, sim, contact_scenes.FOLD_SECONDS, parts)


@pytest.fixture(scope="module")
def plain() -> contact_scenes.Isocloth:
    own = Isocloth(lambda: contact_scenes.simulation(contact_scenes.fold(NODES)))
    record(own, round(contact_scenes.FOLD_SECONDS / own.sim.timestep))
    return own


# ------------------------------------------------------------------ the profile


def test_the_profile_does_not_disturb_the_simulation(
    profiled: tuple[ic.Simulation, list], plain: contact_scenes.Isocloth
) -> None:
    sim, (whole, *parts) = profiled
    assert np.array_equal(sim.positions, plain.sim.positions)
    reports = plain.reports[1:]  # the first step is not counted
    assert (whole.part, whole.steps) == ("", len(reports))
    assert whole.solves == pytest.approx(np.mean([r.iterations for r in reports]))
    assert 1.0 <= whole.linearisations <= whole.solves
    assert whole.contacts == pytest.approx(np.mean([r.contacts for r in reports]))
    assert whole.most_contacts == max(r.contacts for r in reports)
    assert whole.unconverged == sum(not r.converged for r in reports) == 0
    assert [p.part for p in parts] == list(contact_scenes.FOLD_PARTS)


def test_parts_and_phases_add_up(profiled: tuple[ic.Simulation, list]) -> None:
    _, (whole, *parts) = profiled
    assert sum(p.steps for p in parts) == whole.steps
    assert sum(p.ordered_anew for p in parts) == whole.ordered_anew
    for name in PHASES:
        assert getattr(whole, name) >= 0.0
        assert sum(getattr(p, name) for p in parts) == pytest.approx(getattr(whole, name))
    assert whole.q * whole.simulated == pytest.approx(whole.seconds)
    assert 0.0 < whole.detection_share < 1.0
    assert min(whole.factorisation, whole.assembly, whole.law) > 0.0


def test_the_table_says_whether_the_target_of_detection_is_reached(profiled: tuple[ic.Simulation, list]) -> None:
    _, found = profiled
    whole = found[0]
    told = f"{'reached' if whole.detection_share < 0.5 else 'MISSED'}, at most {100 * whole.detection_share:.0f} %"
    assert told in contact_phases_text(found)


def test_nested_calls_count_once_and_names_are_given_back() -> None:
    plain = {place: getattr(*place) for place in TIMED}
    watch = Stopwatch()
    sim = contact_scenes.drape(4)
    with watch.running():
        sim.step()
    assert {place: getattr(*place) for place in TIMED} == plain
    seconds, descents, solves = watch.take()
    assert 0 < descents <= solves
    assert set(seconds) == set(TIMED.values())
    assert min(seconds.values()) >= 0.0
    assert watch.take() == (dict.fromkeys(seconds, 0.0), 0, 0)


# ------------------------------------------------------------------- the scenes


def test_the_fold_is_that_of_the_napkin() -> None:
    stage = contact_scenes.fold(5)
    corners = stage.start[stage.held]
    assert corners == pytest.approx(np.array([[1.0, 0.0, 5e-4], [1.0, 1.0, 5e-4]]))
    assert stage.path(0.0) == pytest.approx(corners)
    assert stage.path(9.0) == pytest.approx(np.array([[0.01, 0.0, 2.5e-3], [0.01, 1.0, 2.5e-3]]))
    assert stage.gaps(stage.start) == pytest.approx(0.0)


def test_the_sheet_lies_on_the_slope() -> None:
    stage = contact_scenes.slope(4)
    assert stage.gaps(stage.start) == pytest.approx(0.0)
    assert stage.friction == pytest.approx(1.5 * math.tan(math.radians(20.0)))
    assert np.ptp(stage.start[:, 2]) == pytest.approx(0.3 * math.sin(math.radians(20.0)))


# --------------------------------------------------------------------- the race


def test_the_rival_has_the_same_cloth() -> None:
    pytest.importorskip("mujoco")
    stage = contact_scenes.fold(5)
    rival = MuJoCo(stage, CONSTRAINTS[0])
    assert rival.positions() == pytest.approx(stage.start)
    corners = 2 * 0.2 / 64  # two corners are heavy sliders
    assert rival.model.body_mass.sum() == pytest.approx(2e3 + 0.2 - corners)
    assert 2 * rival.model.flex_radius[0] == pytest.approx(stage.fabric.thickness)
    assert rival.model.flex_friction[0, 0] == pytest.approx(stage.fabric.friction)
    assert rival.model.geom_friction[0, 0] == pytest.approx(stage.friction)
    recording = record(rival, 20)
    expected = [stage.path(k * 0.01) for k in range(21)]
    assert recording.positions[:, stage.held] == pytest.approx(np.array(expected), abs=1e-5)


def test_folding_is_judged_by_another_library() -> None:
    pytest.importorskip("mujoco")
    pytest.importorskip("ipctk")
    own, without, constraints, ipc = contact_race.race_folding(
        NODES, 2, with_peer=True, say=silent, settings=(CONSTRAINTS[0], IPC), seconds=2.0
    )
    assert [len(f.every) for f in (own, without, constraints, ipc)] == [2, 2, 2, 2]
    assert own.q == min(own.every)
    for f in (own, without):
        assert (f.intersecting, f.frames, f.trouble) == (0, 40, "")
        assert f.distance is not None
        assert f.distance > 0.9e-3
        assert f.depth < 1e-4
        assert f.edge_stretch < 2e-3
    # what the documents say of the rival: its constraints let layers through, its ipc does not
    assert constraints.intersecting
    assert ipc.intersecting == 0
    starts = contact_race.Starts(NODES, [0.1, 0.3], [2.0, 2.5], 0)
    text = folding_text([own, without, constraints, ipc], starts)
    assert "faster than real time" not in text  # only the napkin of 20 x 20 is judged
    assert "8x8 from 2 starts that differ by 0.1 um: q 0.10, 0.30; solves per step 2.00, 2.50" in text
    judged = folding_text([own], contact_race.Starts(20, [0.9, 1.04], [2.0, 2.5], 0))
    assert "20x20 napkin folded in half faster than real time: reached, mean q = 0.97" in judged
    assert "8x8, with friction: MuJoCo lets layers through in every way it was tried" in text
    assert f"8x8, without friction: isocloth is {ipc.q / without.q:.2f} times as fast as MuJoCo, ipc" in text


def test_starts_that_hardly_differ_are_folded_each_by_itself() -> None:
    found = contact_race.fold_from(2, NODES, say=silent, seconds=1.9)
    assert len(found.q) == 2
    assert found.solves[0] != found.solves[1]  # how it lands is a matter of chance
    assert found.unconverged == 0
    assert min(found.q) < found.mean < max(found.q)


def test_what_sticks_creeps_with_the_rival_only() -> None:
    pytest.importorskip("mujoco")
    own, constraints, ipc = contact_race.race_sliding(
        5, with_peer=True, say=silent, settings=(CONSTRAINTS[0], IPC), seconds=2.0
    )
    assert own.moved < 1e-5
    assert own.later < 1e-9
    assert 1e-4 < constraints.later < 1e-3  # 0.27 mm/s
    # without friction: g sin(theta) t^2 / 2
    assert ipc.seconds == 0.5
    assert ipc.moved == pytest.approx(0.5 * 9.81 * math.sin(math.radians(20.0)) * 0.5**2, rel=0.05)
    assert "MuJoCo, ipc" in sliding_text([own, constraints, ipc])


def test_the_judge_sees_a_crossing_and_a_distance() -> None:
    pytest.importorskip("ipctk")
    mesh = ic.meshes.rectangle(1.0, 1.0, (3, 3))
    folded = mesh.vertices.copy()
    right = folded[:, 0] > 0.6
    folded[right] = folded[right] * [-1.0, 1.0, 1.0] + [1.0, 0.0, 0.003]  # onto the left edge, 3 mm above it
    judge = Judge(mesh, mesh.vertices)
    assert not judge.intersects(folded)
    # diagonals of both halves cross half way to the crease
    assert judge.distance(folded, 0.01) == pytest.approx(0.0015, rel=1e-4)
    assert judge.distance(folded, 0.001) == math.inf
    folded[mesh.nearest([1.0, 0.5, 0.0]), 2] = -0.003
    assert judge.intersects(folded)


# ------------------------------------------------------------------ the command


def test_one_part_can_be_run_alone(tmp_path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "bench.json"
    assert main(["--quick", "--only", "contact", "--no-peer", "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert "Contact: processor time of a step by phase" in printed
    assert "Speed of the swing" not in printed
    results = json.loads(file.read_text())
    assert {p["scene"] for p in results["contact_phases"]} == {contact_scenes.FOLD_NAME, contact_scenes.DRAPE_NAME}
    assert [f["simulator"] for f in results["folding"]] == ["isocloth", "isocloth without friction"]
    assert len(results["starts"]["q"]) == 2
    assert results["sliding"][0]["moved"] < 1e-5
