"""Every model through a calibration, and all of them side by side."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from calibration.made import FABRIC, TRUE, recording
from isocloth.calibration import SearchOptions, compare_models, prepare
from isocloth.calibration.compare import _slug
from isocloth.calibration.particle_start import particles_at
from isocloth.cli import main
from isocloth.terms.midpoints import midpoints

SRC = str(Path(ic.__file__).parents[1])
NEAR = {"gravity_density": (0.08, 0.16), "damping": (0.25, 0.65)}
SMALL = {"method": "sweep", "search": SearchOptions(points=3, rounds=1), "workers": 1}


@pytest.fixture(scope="module")
def compared():
    return compare_models(recording(), NEAR, **SMALL)


@pytest.mark.parametrize("model", ic.models.MODELS)
def test_every_model_is_simulated_from_the_same_start(model: str) -> None:
    plain, made = prepare(recording()), prepare(recording(), model=model)
    assert made.model.name == model
    assert np.array_equal(made.start, plain.start)
    assert np.array_equal(made.held, plain.held)
    assert made.mesh.element == ("triangle" if model == "nonconforming" else "quad")
    found = made.simulate(FABRIC, 0.5)
    assert found.unconverged == 0
    # the corners are where they were seen, whatever the model
    path = made.at_times(made.path)[: len(found.positions)]
    known = np.isfinite(found.positions[:, 0, 0]) & (made.recording.times <= 0.5)
    assert found.positions[known][:, made.recording.held] == pytest.approx(path[known], abs=1e-6)


def test_particles_start_near_the_recorded_shape_with_exact_distances() -> None:
    made = prepare(recording(), model="nonconforming")
    mid = midpoints(made.mesh)

    def off(x: np.ndarray) -> float:
        a, b = mid.pairs.T
        return float(np.abs(np.linalg.norm(x[a] - x[b], axis=1) - mid.lengths).max())

    middles = mid.to_particles @ made.start
    assert off(middles) > 1e-6  # as recorded and unstretched: more than the model accepts
    assert off(made.particles) < 1e-7
    assert mid.to_nodes[made.held] @ made.particles == pytest.approx(made.path[0], abs=1e-7)
    assert np.linalg.norm(made.particles - middles, axis=1).max() < 2e-3
    assert prepare(recording()).particles is None
    # a flat sheet whose corners are too far apart has no such place: what is found is finite, and near
    flat = ic.meshes.rectangle(0.3, 0.4, (3, 4), element="triangle")
    held = flat.corners[:2]
    apart = flat.vertices[held] * 1.02
    found = particles_at(flat, flat.vertices, held, apart)
    assert np.linalg.norm(found - midpoints(flat).points, axis=1).max() < 0.02


def test_a_model_with_parameters_is_fitted_with_them() -> None:
    soft = ic.models.Elastic(stretch=20.0)
    found = ic.calibrate(
        recording(), {"damping": (0.3, 0.6)}, model=soft, workers=1, method="sweep",
        search=SearchOptions(points=3, rounds=1), train=(0.0, 0.6),
    )  # fmt: skip
    assert found.fits[0].experiment.model == soft
    frames = found.fits[0].simulated.frames
    assert max(float(ic.measure.edge_stretch(prepare(recording()).mesh, x).max) for x in frames[::20]) > 0.01


def test_the_isometric_model_meets_its_own_recording_best(compared) -> None:
    assert list(compared.fitted) == list(ic.models.MODELS)
    rows = {r.name: r for r in compared.rows()}
    for name, row in rows.items():
        assert row.unconverged == compared.fitted[name].unconverged == 0
        assert row.simulations == 9 + 5  # the same budget for all: a grid, and differences about the best
        assert row.seconds > 0.0
        assert row.mean >= rows["isometric"].mean
        assert compared.fitted[name].fits[0].train == compared.fitted["isometric"].fits[0].train
    assert rows["isometric"].values == pytest.approx(TRUE)
    assert [r.name.partition(",")[0] for r in compared.baselines()] == ["frozen", "rigid translation", "pendulum"]
    assert rows["isometric"].mean < 0.5 * min(r.mean for r in compared.baselines())
    # a fit alone gives the same as one among others
    alone = ic.calibrate(recording(), NEAR, model="mass_spring", **SMALL)
    assert alone.values == rows["mass_spring"].values
    assert alone.mean_error == rows["mass_spring"].mean


def test_the_table_has_a_line_for_every_model_and_baseline(compared) -> None:
    head, *lines = compared.summary().splitlines()
    for word in ("mean e", "max d", "3 s take, s", "solves/step", "delta", "alpha"):
        assert word in head
    assert [line.split()[0].rstrip(",") for line in lines[:8]] == [*ic.models.MODELS, "frozen", "rigid", "pendulum"]
    assert f"{1e2 * compared.rows()[0].mean:.3f}" in lines[0]
    bound = [n for n, c in compared.fitted.items() if "damping" in c.at_bounds]
    told = [x for x in lines[8:] if x.startswith("damping ended at a bound of its range: ")]
    assert told == [f"damping ended at a bound of its range: {', '.join(bound)}"] * bool(bound)


def test_the_page_and_the_numbers_hold_everything(compared, tmp_path: Path) -> None:
    compared.report(tmp_path / "report.html", title="A <sheet>")
    text = (tmp_path / "report.html").read_text()
    assert text.count("<svg") == 3 + 3 * 5  # errors, dispersion, with baselines; three shapes of every model
    assert "A &lt;sheet&gt;" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    for name in (*ic.models.MODELS, "rigid translation", "cut into two triangles"):
        assert name in text
    compared.save(tmp_path / "c.json")
    data = json.loads((tmp_path / "c.json").read_text())
    assert data["complete"]
    assert [r["name"] for r in data["rows"][:5]] == list(ic.models.MODELS)
    assert data["fitted"]["elastic"]["values"] == dict(compared.fitted["elastic"].values)


def test_several_recordings_are_fitted_together() -> None:
    both = [recording(), recording(seed=5)]
    found = compare_models(both, {"damping": (0.3, 0.6)}, models=["isometric"], train=(0.0, 0.6), **SMALL)
    fits = found.fitted["isometric"].fits
    assert found.recorded == pytest.approx(6.0, abs=0.05)
    assert found.rows()[0].mean == pytest.approx(np.mean([f.row()["mean"] for f in fits]))
    assert found.rows()[0].largest_dispersion == max(f.row()["largest_dispersion"] for f in fits)
    assert [r.name for r in found.baselines()] == ["frozen", "rigid translation", "pendulum"]


# ------------------------------------------------------------- meshes


def by_triangles(mesh: ic.Mesh) -> ic.Recording:
    """What a recording of a hanging triangle mesh with a marker at every node would be, for half a second."""
    upright = mesh.with_vertices(mesh.vertices[:, [0, 2, 1]])
    sim = ic.Simulation(upright, FABRIC, rest=mesh)
    sim.grasp(upright.nearest([[0.0, 0.0, 0.42], [0.297, 0.0, 0.42]]))
    return ic.recordings.from_trajectory(sim.run(0.5))


def test_triangles_in_a_rectangle_become_quads_where_a_model_needs_them() -> None:
    seen = by_triangles(ic.meshes.irregular_rectangle(0.297, 0.42, nodes=60, seed=1))
    made = prepare(seen, model="quasi_inextensible")
    assert made.mesh.element == "quad"
    assert made.mesh.n_vertices == pytest.approx(60, rel=0.25)
    assert any("in quads" in note for note in made.notes)
    assert 1e3 * made.errors(made.simulate(FABRIC)).mean < 3.0  # mm: it hangs still
    assert prepare(seen).mesh.element == "triangle"


def test_a_model_without_a_mesh_is_left_out_and_named() -> None:
    whole = ic.meshes.irregular_rectangle(0.297, 0.42, nodes=60, seed=1)
    middle = whole.vertices[whole.faces].mean(axis=1)
    cut = whole.faces[~((middle[:, 0] > 0.2) & (middle[:, 1] < 0.1))]
    used = np.unique(cut)
    seen = by_triangles(ic.Mesh(whole.vertices[used], np.searchsorted(used, cut)))
    if len(seen.held) != 2:
        seen = seen.with_(held=seen.mesh.nearest([[0.0, 0.42, 0.0], [0.297, 0.42, 0.0]]))
    options = {**SMALL, "search": SearchOptions(points=2, rounds=1)}
    found = compare_models(seen, {"damping": (0.3, 0.6)}, models=["isometric", "quasi_inextensible"], **options)
    assert list(found.fitted) == ["isometric"]
    assert "needs quads" in found.left_out["quasi_inextensible"]
    assert "quasi_inextensible: left out" in found.summary()
    with pytest.raises(ic.RecordingError, match="needs quads"):
        compare_models(seen, models=["quasi_inextensible"], **options)


# ------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"models": ["rubber"]}, "model 'rubber' is unknown"),
        ({"models": []}, "at least one of isometric"),
        ({"models": ["elastic", "elastic"]}, "'elastic' is named twice"),
        ({"fabric": None, "recording": "bare"}, "what the cloth is made of"),
        ({"integrator": "magic"}, "integrator 'magic' is unknown"),
        ({"parameters": ["colour"]}, "'colour' is unknown"),
        ({"train": (7.0, 9.0)}, "train window from 7 to 9 s holds no marker"),
    ],
)
def test_wrong_arguments_are_named(options, message: str) -> None:
    given = {"recording": recording(), "models": ["isometric", "elastic"], **SMALL, **options}
    if given["recording"] == "bare":
        given["recording"] = recording().with_(fabric=None)
    with pytest.raises(ValueError, match=message):
        compare_models(**given)


def test_what_is_prepared_or_a_single_model_is_refused() -> None:
    with pytest.raises(TypeError, match=r"expected an isocloth\.Recording"):
        compare_models(prepare(recording()))
    with pytest.raises(TypeError, match=r"models=\[\.\.\.\]"):
        compare_models(recording(), model="elastic")


def test_what_one_model_cannot_do_leaves_the_others() -> None:
    found = compare_models(
        recording(), {"damping": (0.3, 0.6)}, models=["isometric", "nonconforming"], solver="newton",
        train=(0.0, 0.3), test=(0.3, 0.6), **{**SMALL, "search": SearchOptions(points=2, rounds=1)},
    )  # fmt: skip
    assert list(found.fitted) == ["isometric"]
    assert "its own impulses" in found.left_out["nonconforming"]


# ------------------------------------------------------------- commands


def words(folder: str) -> list[str]:
    return [
        "compare", "sheet.npz", "-p", "gravity_density=0.08:0.16", "damping=0.25:0.65", "--fabric", "0.2", "--workers",
        "1", "--method", "sweep", "--points", "3", "--rounds", "1", "--train", "0", "1", "--models", "isometric",
        "mass_spring", "elastic:stretch=2000", "-o", folder,
    ]  # fmt: skip


def test_a_killed_command_goes_on_to_the_same_numbers(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    recording().save("sheet.npz")
    assert main([*words("whole"), "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert "elastic, stretch 2000" in printed
    command = [sys.executable, "-m", "isocloth", *words("part")]
    with subprocess.Popen(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": SRC}, stderr=subprocess.PIPE) as run:
        until = time.monotonic() + 120.0
        while not Path("part/evaluations-mass_spring.json").exists():
            assert time.monotonic() < until
            assert run.poll() is None, run.stderr.read()
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
    kept = json.loads(Path("part/comparison.json").read_text())  # what was done is there, and whole
    assert list(kept["fitted"]) == ["isometric"]
    assert not kept["complete"]
    best = json.loads(Path("part/evaluations-mass_spring.json").read_text())["best"]
    assert best["loss_m"] > 0.0
    assert main([*words("part"), "--quiet", "--resume"]) == 0
    whole, part = (json.loads(Path(f, "comparison.json").read_text()) for f in ("whole", "part"))
    for a, b in zip(whole["rows"], part["rows"], strict=True):
        assert {k: v for k, v in a.items() if k != "seconds"} == {k: v for k, v in b.items() if k != "seconds"}
    assert {p.name for p in Path("part").iterdir()} == {
        "comparison.json", "report.html", "evaluations-isometric.json", "evaluations-mass_spring.json",
        "evaluations-elastic-stretch-2000.json",
    }  # fmt: skip


def test_wrong_models_of_the_command_are_named(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    recording().save("sheet.npz")
    for given, message in (
        ("rubber", "model 'rubber' is unknown"),
        ("elastic:stretch=much", "name:parameter=number"),
        ("elastic:colour=3", "parameter 'colour' is unknown; known are stretch, weft, shear"),
    ):
        assert main(["compare", "sheet.npz", "--models", given, "-o", "out"]) == 2
        assert message in capsys.readouterr().err
    assert not Path("out").exists()
    fit = ["-p", "damping=0.3:0.6", "--method", "sweep", "--points", "2", "--rounds", "1", "--train", "0", "0.5"]
    assert main(["calibrate", "sheet.npz", *fit, "--model", "mass_spring", "--workers", "1", "--quiet"]) == 0
    assert "damping" in capsys.readouterr().out


def test_files_of_models_that_differ_in_a_sign_of_an_exponent_differ() -> None:
    assert _slug("elastic, young 1e+06") != _slug("elastic, young 1e-06")
    assert _slug("elastic, young 1e+06") == "elastic-young-1e+06"
    assert _slug("mass spring / 2") == "mass-spring-2"
