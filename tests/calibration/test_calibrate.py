"""Fits, searches, parallel work, resuming, maps, forecast, report and commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import isocloth as ic
from calibration.made import FABRIC, TRUE, recording
from isocloth.calibration import SearchOptions, prepare
from isocloth.calibration.evaluations import Evaluations
from isocloth.calibration.experiment import Experiment
from isocloth.calibration.parameters import Parameter, as_parameters
from isocloth.calibration.pool import ProcessPool, SerialPool, ThreadPool, make_pool
from isocloth.calibration.search import METHODS, paraboloid_minimum, paraboloid_spread
from isocloth.calibration.task import Setting, Task, evaluate
from isocloth.cli import main

SRC = str(Path(ic.__file__).parents[1])
RANGES = {"gravity_density": (0.02, 0.2), "damping": (0.0, 0.8)}
SMALL = SearchOptions(points=6, starts=1)


@pytest.fixture(scope="module")
def experiment():
    return prepare(recording())


@pytest.fixture(scope="module")
def fitted(experiment):
    return ic.calibrate(experiment, RANGES, workers=1, search=SMALL)


# ---------------------------------------------------------------------- fits


def test_known_parameters_are_found_again(fitted) -> None:
    assert fitted.values["gravity_density"] == pytest.approx(TRUE["gravity_density"], rel=0.05)
    # a second and a half of motion does not tell damping better
    assert fitted.values["damping"] == pytest.approx(TRUE["damping"], rel=0.12)
    assert fitted.unconverged == 0
    assert not fitted.at_bounds
    assert 0.0 < fitted.uncertainty["damping"] < 0.2
    assert abs(fitted.values["damping"] - TRUE["damping"]) < 2 * fitted.uncertainty["damping"]
    fit = fitted.fits[0]
    assert fit.train[1] == fit.test[0] == pytest.approx(1.5, abs=0.02)
    row = fit.row()
    assert row["mean"] < 4e-3
    assert row["mean"] < 0.5 * min(e.within(*fit.test).mean for e in fit.baselines.values())
    assert fitted.fabric.density == 0.2
    text = fitted.summary()
    assert "gravity_density" in text
    assert "rigid translation" in text


class Bowl(Evaluations):
    """A loss that needs no simulation: the distance from a point, made rough."""

    def __init__(self, centre, roughness: float = 0.0) -> None:
        parameters = tuple(Parameter(n, 0.0, 1.0) for n in ("damping", "friction", "bending")[: len(centre)])
        setting = Setting((None,), parameters, ((0.0, 1.0),))  # type: ignore[arg-type]
        super().__init__(setting, self, loss="rms", file=None, resume=False, progress=False)  # type: ignore[arg-type]
        self.centre, self.roughness = np.array(centre), roughness

    def run(self, tasks, done) -> None:
        for task in tasks:
            r = self._r(np.array(task.point))
            out = {"square": float(r @ r), "mean": float(np.sqrt(r @ r)), "unconverged": 0}
            if task.linear:
                h = 0.02
                J = np.stack([(self._r(np.array(task.point) + h * e) - r) / h for e in np.eye(len(r) - 1)], axis=1)
                out |= {"gradient": (J.T @ r).tolist(), "normal": (J.T @ J).tolist(), "scores": (J.T @ J).tolist()}
            done(task, out)

    def _r(self, u):
        wave = self.roughness * np.sin(97.0 * u.sum())
        return np.append(u - self.centre + wave, 0.05)


@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_search_finds_the_bottom_of_a_bowl(method: str) -> None:
    for centre in ((0.3, 0.8), (0.62, 0.11, 0.4)):
        options = SearchOptions(points=7, rounds=3) if method == "sweep" else SearchOptions()
        seen = Bowl(centre)
        assert METHODS[method](seen, options) == pytest.approx(centre, abs=0.02)


def test_the_default_search_is_not_caught_by_roughness() -> None:
    found = METHODS["multistart"](Bowl((0.3, 0.8), roughness=0.02), SearchOptions())
    assert found == pytest.approx([0.3, 0.8], abs=0.03)


def test_a_search_does_not_follow_points_that_only_a_file_knows() -> None:
    for centre in ((0.3, 0.8), (0.62, 0.31), (0.45, 0.5)):
        first = Bowl(centre, roughness=0.03)
        found = METHODS["multistart"](first, SearchOptions())
        resumed = Bowl(centre, roughness=0.03)
        resumed._known, resumed.best = dict(first._known), first.best
        assert np.array_equal(METHODS["multistart"](resumed, SearchOptions()), found)
        assert resumed.computed == 0


def test_the_paraboloid_through_exact_values_is_exact() -> None:
    random = np.random.default_rng(0)
    places = random.random((20, 2))
    values = 1.0 + (places - [0.4, 0.6]) @ np.array([[2.0, 0.5], [0.5, 1.0]]) @ (places - [0.4, 0.6]).T
    squares = np.diag(values)
    assert paraboloid_minimum(places, squares, np.array([0.5, 0.5]), 0.5) == pytest.approx([0.4, 0.6], abs=1e-9)
    assert np.abs(paraboloid_spread(places, squares, np.array([0.5, 0.5]), 0.5)).max() < 1e-15
    assert paraboloid_minimum(places, 2.0 - squares / 10, np.array([0.5, 0.5]), 0.5) is None


def test_several_recordings_are_fitted_together() -> None:
    cloth = ic.Fabric(density=0.2, gravity_density=TRUE["gravity_density"])
    both = [prepare(recording(seed=seed), fabric=cloth) for seed in (0, 5)]
    found = ic.calibrate(
        both, {"damping": (0.15, 0.75)}, method="sweep", workers=1, search=SearchOptions(points=5, rounds=1)
    )
    assert len(found.fits) == 2
    assert found.values["damping"] == pytest.approx(TRUE["damping"])


def test_a_bound_that_is_reached_is_told(experiment) -> None:
    found = ic.calibrate(
        experiment, {"damping": (0.0, 0.2)}, method="sweep", workers=1, search=SearchOptions(points=3, rounds=1)
    )
    assert found.at_bounds == ("damping",)
    assert "at a bound" in found.summary()


def test_a_motion_that_does_not_exist_has_an_infinite_loss(experiment, monkeypatch) -> None:
    parameters = as_parameters(RANGES, FABRIC)
    setting = Setting((experiment,), parameters, ((0.0, 1.0),))
    monkeypatch.setattr(Experiment, "simulate", _failing)
    assert evaluate(setting, Task(0, (0.5, 0.5)))["square"] is None
    assert Evaluations(
        setting, SerialPool(setting), loss="rms", file=None, resume=False, progress=False
    ).losses([np.array([0.5, 0.5])]) == [np.inf]  # fmt: skip
    with pytest.raises(ic.RecordingError, match="no simulation"):
        ic.calibrate(experiment, RANGES, method="sweep", workers=1, search=SearchOptions(points=2, rounds=1))


def _failing(self, fabric, until=None):
    raise ic.ConvergenceError("no")


def test_an_error_that_is_no_missing_motion_gets_through(experiment, monkeypatch) -> None:
    """A mistake would otherwise look like parameters without a motion, and a search would go on for hours."""

    def mistaken(self, fabric, until=None):
        raise ValueError("contact 'sticky' is unknown")

    monkeypatch.setattr(Experiment, "simulate", mistaken)
    with pytest.raises(ValueError, match="sticky"):
        experiment.try_simulate(FABRIC)
    with pytest.raises(ValueError, match="sticky"):
        ic.calibrate(experiment, RANGES, method="sweep", workers=1, search=SearchOptions(points=2, rounds=1))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "magic"}, "method 'magic' is unknown"),
        ({"loss": "max"}, "loss 'max'"),
        ({"parameters": ["colour"]}, "'colour' is unknown"),
        ({"parameters": {"damping": (1.0, 0.5)}}, "0 <= low < high"),
        ({"parameters": ["damping", "damping"]}, "none twice"),
        ({"workers": 0}, "workers = 0"),
        ({"train": (7.0, 9.0)}, "train window from 7 to 9 s holds no marker"),
        ({"search": "x", "recording": []}, "no recording"),
    ],
)
def test_wrong_arguments_are_named(experiment, options, message: str) -> None:
    given = {"recording": experiment, "parameters": RANGES, "workers": 1, **options}
    with pytest.raises(ValueError, match=message):
        ic.calibrate(**given)


# ------------------------------------------------------------- where and when


def sweep(experiment, **options):
    chosen = {"gravity_density": (0.1, 0.14), "damping": (0.35, 0.55)}
    return ic.calibrate(
        experiment, chosen, method="sweep", search=SearchOptions(points=3, rounds=1), train=(0.0, 0.6), **options
    )


def test_processes_give_the_same_as_one_even_if_one_is_killed(experiment) -> None:
    parameters = as_parameters(RANGES, FABRIC)
    setting = Setting((experiment,), parameters, ((0.0, 0.6),))
    tasks = [Task(0, (0.5, u)) for u in np.linspace(0.2, 0.8, 6)]
    alone, together = {}, {}
    SerialPool(setting).run(tasks, alone.__setitem__)
    pool = ProcessPool(setting, 2)

    def take(task, result) -> None:
        together[task] = result
        if len(together) == 1 and pool._pool is not None:  # in the middle of it
            os.kill(next(iter(pool._pool._processes)), signal.SIGKILL)

    try:
        pool.run(tasks, take)
    finally:
        pool.close()
    assert together == alone


@pytest.mark.parametrize(
    ("floor", "kind"),
    [([ic.Floor(path=lambda t: [0.0, 0.0, 0.0])], ThreadPool), ([ic.Floor()], ProcessPool)],
    ids=["cannot be pickled", "can be pickled"],
)
def test_with_obstacles_many_give_the_same_as_one(
    floor: list[ic.Obstacle], kind: type[ThreadPool] | type[ProcessPool]
) -> None:
    hung = recording()
    raised = hung.with_(positions=hung.positions + np.array([0.0, 0.0, 1.0]))
    among = prepare(raised, obstacles=floor)
    setting = Setting((among,), as_parameters(RANGES, FABRIC), ((0.0, 0.3),))
    pool = make_pool(setting, 2, None)
    assert isinstance(pool, kind)
    tasks = [Task(0, (0.5, u)) for u in (0.2, 0.5, 0.8)]
    alone, together = {}, {}
    SerialPool(setting).run(tasks, alone.__setitem__)
    pool.run(tasks, together.__setitem__)
    pool.close()
    assert together == alone


def test_a_script_without_a_guard_may_calibrate(tmp_path: Path) -> None:
    recording().save(tmp_path / "r.npz")
    script = tmp_path / "script.py"
    script.write_text(
        textwrap.dedent("""
        import isocloth as ic
        print("once")
        found = ic.calibrate(ic.Recording.load("r.npz"), {"damping": (0.3, 0.6)}, method="sweep", train=(0.0, 0.4),
                             workers=2, search=ic.calibration.SearchOptions(points=3, rounds=1))
        print(found.simulations)
        """)
    )
    ran = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, env={**os.environ, "PYTHONPATH": SRC}, capture_output=True,
        text=True, timeout=120, check=True,
    )  # fmt: skip
    assert ran.stdout.split() == ["once", "6"]


def test_a_calibration_resumes_to_the_same_numbers(experiment, tmp_path: Path) -> None:
    whole = sweep(experiment, workers=1, save=tmp_path / "whole.json")
    file = tmp_path / "part.json"

    class Stop(Exception):
        pass

    count = 0
    real = SerialPool.run

    def stopping(self, tasks, done) -> None:
        def some(task, result) -> None:
            nonlocal count
            count += 1
            if count > 4:
                raise Stop
            done(task, result)

        real(self, tasks, some)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(SerialPool, "run", stopping)
        with pytest.raises(Stop):
            sweep(experiment, workers=1, save=file)
    kept = json.loads(file.read_text())
    assert len(kept["known"]) == 4
    assert kept["best"]["loss_m"] > 0.0
    resumed = sweep(experiment, workers=1, save=file, resume=True)
    assert resumed.values == whole.values
    assert resumed.uncertainty == whole.uncertainty
    assert resumed.simulations == whole.simulations - 4
    with pytest.raises(ValueError, match="another calibration"):
        sweep(prepare(recording(seed=9)), workers=1, save=file, resume=True)
    file.write_text("{")
    with pytest.raises(ValueError, match="no file of a calibration"):
        sweep(experiment, workers=1, save=file, resume=True)
    with pytest.raises(FileNotFoundError, match="folder"):
        sweep(experiment, workers=1, save=tmp_path / "none" / "x.json")


def test_a_search_that_follows_its_best_point_resumes_to_the_same_numbers(experiment, tmp_path: Path) -> None:
    def fit(file: Path, resume: bool):
        return ic.calibrate(
            experiment, RANGES, workers=1, search=SearchOptions(points=4, starts=1, most=3), train=(0.0, 0.9),
            save=file, resume=resume,
        )  # fmt: skip

    file = tmp_path / "fit.json"
    whole = fit(file, False)
    kept = json.loads(file.read_text())
    # a file that is complete already knows the best point, to which the search has still to come
    again = fit(file, True)
    assert again.simulations == 0
    for share in (0.3, 0.8):
        part = {**kept, "known": kept["known"][: int(share * len(kept["known"]))]}
        file.write_text(json.dumps(part))
        resumed = fit(file, True)
        assert 0 < resumed.simulations < whole.simulations
        assert resumed.values == again.values == whole.values
        assert resumed.uncertainty == again.uncertainty == whole.uncertainty
        assert resumed.asked == again.asked == whole.asked == whole.simulations


def test_a_dask_cluster_gives_the_same_even_if_a_worker_is_killed(experiment) -> None:
    distributed = pytest.importorskip("distributed")
    alone = sweep(experiment, workers=1)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        killed = []

        def kill(seen) -> None:
            if not killed:
                pid = next(iter(client.run(os.getpid).values()))
                killed.append(pid)
                os.kill(pid, signal.SIGKILL)

        real = Evaluations._take

        def taking(self, task, result) -> None:
            real(self, task, result)
            kill(self)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Evaluations, "_take", taking)
            spread = sweep(experiment, dask=client)
    assert killed
    assert spread.values == alone.values
    assert spread.uncertainty == alone.uncertainty
    assert np.array_equal(spread.evaluated[1], alone.evaluated[1])


def test_a_scheduler_that_is_not_there_is_named(experiment) -> None:
    pytest.importorskip("distributed")
    from isocloth.calibration import pool

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("distributed.Client", _unreachable)
        with pytest.raises(OSError, match="no Dask scheduler answers at 'tcp://nowhere:1'"):
            pool._connect("tcp://nowhere:1")


def _unreachable(*args, **kwargs):
    raise OSError("refused")


# ------------------------------------------------- maps, forecast, report, commands


def test_a_map_has_its_least_error_near_the_truth(experiment, tmp_path: Path) -> None:
    found = ic.sensitivity(experiment, {"gravity_density": (0.06, 0.18), "damping": (0.15, 0.75)}, points=3, workers=1)
    assert found.best == pytest.approx({"gravity_density": 0.12, "damping": 0.45})
    found.save(tmp_path / "map.csv")
    found.save(tmp_path / "map.svg")
    rows = (tmp_path / "map.csv").read_text().splitlines()
    assert len(rows) == 10
    assert (tmp_path / "map.svg").read_text().startswith("<svg")
    with pytest.raises(ValueError, match=r"\.csv or \.svg"):
        found.save(tmp_path / "map.txt")
    with pytest.raises(ValueError, match="two parameters"):
        ic.sensitivity(experiment, ["damping"])


def test_the_forecast_is_the_papers() -> None:
    from isocloth.calibration.forecast import HANGER, features

    # table 4.9 of the thesis, hitting scenario: stiff cotton A2 was given 0.203 and 0.90
    delta, alpha = HANGER.parameters((0.42, 0.594), 0.385, 0.3046)
    assert delta == pytest.approx(0.203, abs=2e-3)
    assert alpha == pytest.approx(0.90, abs=0.01)
    assert features((0.42, 0.594), 0.0, 1.0)[1] == pytest.approx(2.0, abs=2e-3)
    assert HANGER.parameters((0.42, 0.594), 0.0, 0.01)[0] >= 0.0
    guess = ic.forecast(recording(), holder="hands")
    assert 0.0 < guess.weight_density <= 0.2
    assert guess.damping > 0.0
    with pytest.raises(ValueError, match="holder = 'glue'"):
        ic.forecast(recording(), holder="glue")


def test_the_speed_measure_is_that_of_the_motion_and_not_of_the_noise() -> None:
    clean = ic.calibration.speed_measure(recording(noise=0.0, missing=0.0))
    noisy = ic.calibration.speed_measure(recording(noise=2e-3, missing=0.05))
    assert noisy == pytest.approx(clean, rel=0.1)
    times = np.arange(400) / 100.0
    points = np.zeros((400, 2, 3)) + np.array([[[0.0, 0, 0]], [[0.0, 0.2, 0.0]]]).transpose(1, 0, 2)
    points[:, :, 0] += 0.3 * times[:, None]
    assert ic.calibration.speed_measure(ic.Recording(times=times, positions=points)) == pytest.approx(0.09)


def test_the_forecast_is_fitted_anew_to_recordings(experiment) -> None:
    from isocloth.calibration import HANDS, refit

    found = refit(
        [experiment, prepare(recording(seed=5))], start=HANDS, fitted=[(0.12, 0.45), (0.12, 0.45)], most=4, workers=1
    )
    assert found.mean_error < 0.7 * found.before
    delta, alpha = found.forecast.parameters((0.297, 0.42), ic.calibration.speed_measure(recording()), 0.2)
    assert delta == pytest.approx(0.12, rel=0.1)
    assert alpha == pytest.approx(0.45, rel=0.1)


def test_the_report_is_one_page_with_everything(fitted, tmp_path: Path) -> None:
    fitted.report(tmp_path / "report.html", title="A <sheet>")
    text = (tmp_path / "report.html").read_text()
    assert text.count("<svg") == 7  # errors, dispersion, three shapes, best so far, what was tried
    assert "A &lt;sheet&gt;" in text
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "rigid translation" in text
    fitted.save(tmp_path / "fit.json")
    data = json.loads((tmp_path / "fit.json").read_text())
    assert data["values"] == dict(fitted.values)
    assert data["recordings"][0]["model"]["mean"] == fitted.fits[0].row()["mean"]


def test_the_commands(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    recording().save("sheet.npz")
    common = ["--workers", "1", "--quiet", "--fabric", "0.2"]
    fit = ["--method", "sweep", "--points", "2", "--train", "0", "0.5"]
    assert main(["calibrate", "sheet.npz", "-p", "damping=0.3:0.6", *fit, *common, "-o", "out"]) == 0
    assert "damping" in capsys.readouterr().out
    assert {p.name for p in Path("out").iterdir()} == {"calibration.json", "evaluations.json", "report.html"}
    assert main(["calibrate", "sheet.npz", "-p", "damping=0.3:0.6", *fit, *common, "-o", "out", "--resume"]) == 0
    map_ = ["-p", "gravity_density=0.1:0.14", "damping=0.3:0.6", "--points", "2", "--window", "0", "0.5"]
    assert main(["sensitivity", "sheet.npz", *map_, *common, "-o", "m.csv", "-o", "m.svg"]) == 0
    assert "least at" in capsys.readouterr().out
    assert main(["forecast", "sheet.npz", "--fabric", "0.2"]) == 0
    assert "mean error" in capsys.readouterr().out
    assert main(["info", "sheet.npz"]) == 0
    assert "12 on the cloth" in capsys.readouterr().out
    assert main(["calibrate", "sheet.npz", "-p", "damping=low", *common]) == 2
    assert "name=low:high" in capsys.readouterr().err
    assert (
        main(["calibrate", "sheet.npz", "-p", "damping=0.3:0.6", *fit, *common, "--apart", "0.29", "-o", "near"]) == 0
    )
    far, near = (json.loads(Path(f, "calibration.json").read_text())["loss_m"] for f in ("out", "near"))
    assert abs(near - far) > 1e-5  # another path of the corners, another error
    assert main(["calibrate", "sheet.npz", "-p", "damping=0.3:0.6", *fit, *common, "--apart", "0.5"]) == 2
    assert "up to 0.297, the length of the cloth" in capsys.readouterr().err
    assert main(["calibrate", "none.csv"]) == 2
    assert "no recording" in capsys.readouterr().err


def test_a_folder_of_recordings_gives_the_papers_tables(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    Path("set").mkdir()
    for name, seed in (("wool_A3_shake_slow_hanger", 0), ("denim_A3_shake_slow_hands", 5)):
        _as_motive(recording(seed=seed), Path("set") / f"{name}.csv")
    (Path("set") / "wool_A3_twist_fast_hands.csv").write_text("Format Version,1.23\n")
    words = ["--each", "--method", "sweep", "--points", "2", "-p", "damping=0.3:0.6", "--workers", "1", "--quiet"]
    assert main(["calibrate", "set", *words, "--train", "0", "0.5", "-o", "out"]) == 0
    printed = capsys.readouterr()
    assert "wool_A3_twist_fast_hands.csv" in printed.err  # not used, and why
    rows = {line.split()[0]: line for line in printed.out.splitlines() if line.strip()}
    assert {"wool", "denim", "A3", "shake", "slow", "hands", "hanger", "all"} <= set(rows)
    assert rows["all"].endswith("(2)")
    assert {p.name for p in Path("out").iterdir()} == {
        "wool_A3_shake_slow_hanger.json", "denim_A3_shake_slow_hands.json",
    }  # fmt: skip
    assert main(["calibrate", "set", *words, "--train", "0", "0.5", "-o", "out"]) == 0
    assert capsys.readouterr().out == printed.out  # nothing is computed twice


def _as_motive(made: ic.Recording, path: Path) -> None:
    """A recording as a file of the published layout."""
    labels = made.labels
    lines = ["Format Version,1.23,Length Units,Meters", "", ",Type" + ",Marker" * 3 * len(labels)]
    lines.append(",Name," + ",".join(label for label in labels for _ in range(3)))
    lines += [",," + ",".join(["Position"] * 3 * len(labels)), "Frame,Time (Seconds)" + ",X,Y,Z" * len(labels)]
    for f, (t, frame) in enumerate(zip(made.times, made.positions, strict=True)):
        lines.append(f"{f},{t:.6f}," + ",".join("" if np.isnan(x) else f"{x:.6f}" for x in frame.ravel()))
    path.write_text("\n".join(lines) + "\n")
