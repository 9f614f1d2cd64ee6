"""The benchmark prints what a direct simulation gives. Nothing here asserts a time."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from benchmarks import main, peer

NODES, STEPS = 5, 60


def direct() -> tuple[np.ndarray, list[ic.Report]]:
    """The swing written out by hand, without the benchmark's own scene."""
    flat = ic.meshes.rectangle(0.42, 0.594, (NODES, NODES))
    upright = flat.vertices[:, [2, 0, 1]] + [0.075, 0.0, 0.0]
    sim = ic.Simulation(flat.with_vertices(upright), ic.Fabric(density=0.1), timestep=0.01)
    corners = [sim.mesh.nearest([0.075, 0.0, 0.594]), sim.mesh.nearest([0.075, 0.42, 0.594])]
    times = 0.01 * np.arange(1, STEPS + 1)
    path = np.repeat(upright[corners][None], STEPS, axis=0)
    path[:, :, 0] = 0.075 * np.cos(2 * np.pi * 0.6 * times)[:, None]
    sim.grasp(corners, path)
    frames, reports = [sim.positions], []
    for _ in range(STEPS):
        reports.append(sim.step())
        frames.append(sim.positions)
    return np.array(frames), reports


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict:
    file = tmp_path_factory.mktemp("bench") / "bench.json"
    options = ["--quick", "--only", "swing", "--sizes", str(NODES), "--seconds", str(STEPS / 100), "--repeat", "2"]
    assert main([*options, "--no-peer", "--json", str(file)]) == 0
    return json.loads(file.read_text())


def test_the_numbers_are_those_of_a_direct_simulation(results: dict) -> None:
    positions, reports = direct()
    entry = results["races"][0]["isocloth"]
    mesh = ic.meshes.rectangle(0.42, 0.594, (NODES, NODES))
    tip = positions[STEPS // 2 :, mesh.nearest([0.21, 0.0, 0.0]), 0]
    near = {"rel": 1e-6, "abs": 1e-9}
    assert entry["tip_half_range"] == pytest.approx(np.ptp(tip) / 2, **near)
    assert entry["isometry_error"] == pytest.approx(max(r.isometry_error for r in reports), **near)
    assert entry["solves_per_step"] == pytest.approx(np.mean([r.iterations for r in reports]))
    assert entry["unconverged_steps"] == sum(not r.converged for r in reports)
    stretch = ic.measure.edge_stretch(mesh, positions)
    assert entry["edge_stretch_max"] == pytest.approx(stretch.max.max(), **near)
    assert entry["edge_stretch_rms"] == pytest.approx(stretch.rms.max(), **near)
    assert entry["area_error_max"] == pytest.approx(ic.measure.area_errors(mesh, positions).total.max(), **near)


def test_every_repetition_gives_the_same_bits(results: dict) -> None:
    entry = results["races"][0]["isocloth"]
    assert len(entry["all_real_time"]) == 2
    assert entry["same_bits"]


def test_the_phases_name_the_factor_of_the_simulation(results: dict) -> None:
    factor = ic.Simulation(
        ic.meshes.rectangle(0.42, 0.594, (NODES, NODES)), ic.Fabric(density=0.1)
    ).solver.system.factor
    phases = results["phases"][0]
    assert (phases["flops"], phases["memory"]) == (factor.flops, factor.memory)
    assert phases["solves"] >= 1.0


def test_implicit_euler_loses_more_of_a_free_swing_than_the_default(results: dict) -> None:
    default, euler, small = results["free_swing"]
    assert (default["name"], euler["name"], small["name"]) == ("default", "euler", "small steps, tight")
    assert default["kinetic_start"] == 0.0
    # the centre of a flat cloth turned by 30 degrees has risen by H/2 (1 - cos 30)
    rise = 0.594 / 2 * (1 - np.cos(np.radians(30)))
    assert default["potential_start"] == pytest.approx(0.1 * 0.42 * 0.594 * 9.81 * rise, rel=0.01)
    assert small["timestep"] < default["timestep"] == euler["timestep"]
    assert 0.0 < default["lost"] < euler["lost"] < 1.0


def test_without_the_rival_it_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(peer, "version", lambda: None)
    assert main(["--quick", "--only", "swing", "--sizes", "3", "--seconds", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert peer.INSTALL in printed
    assert "3x3 isocloth" in printed
    assert "3x3 MuJoCo" not in printed


@pytest.mark.parametrize(
    "options", [["--sizes", "nine"], ["--sizes", "2"], ["--repeat", "0"], ["--seconds", "-1"], ["--only", "x"]]
)
def test_bad_options_are_named(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(options)
    assert options[0] in capsys.readouterr().err


def test_a_file_that_cannot_be_written_is_no_half_written_file(tmp_path: Path) -> None:
    with pytest.raises(OSError):
        main(["--quick", "--only", "swing", "--sizes", "3", "--no-peer", "--json", str(tmp_path / "none" / "f.json")])
