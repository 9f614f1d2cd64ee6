"""`calibrate`, `compare` and `sensitivity` take obstacles from scene files and options, and count what was resumed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calibration.made import recording
from isocloth.cli import main

TABLE = '[[obstacle]]\nkind = "floor"\nname = "table"\nheight = -2.0\n'
SHORT = ["--train", "0", "0.2", "--method", "sweep", "--points", "2", "--rounds", "1"]
COMMON = ["r.npz", "--workers", "1", "--quiet", "--fabric", "0.2"]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    recording(duration=0.6).save("r.npz")
    Path("table.toml").write_text(TABLE)
    return tmp_path


def test_calibrate_takes_obstacles_from_a_scene_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["calibrate", *COMMON, *SHORT, "-p", "friction:table=0.1:0.9", "--scene", "table.toml", "-o", "fit"]
    assert main(words) == 0
    first = json.loads((folder / "fit" / "calibration.json").read_text())
    assert set(first["values"]) == {"friction:table"}
    assert main([*words, "--resume"]) == 0
    again = json.loads((folder / "fit" / "calibration.json").read_text())
    assert (again["simulations"], again["simulations_now"]) == (first["simulations"], 0)
    assert "(0 now, the others resumed)" in capsys.readouterr().out


def test_compare_and_sensitivity_take_obstacles_from_a_scene_file(folder: Path) -> None:
    fitted = ["-p", "friction:table=0.1:0.9"]
    models = ["--models", "isometric", "elastic"]
    assert main(["compare", *COMMON, *SHORT, *fitted, *models, "--scene", "table.toml", "-o", "models"]) == 0
    rows = json.loads((folder / "models" / "comparison.json").read_text())["rows"]
    assert [r["name"] for r in rows[:2]] == ["isometric", "elastic"]
    mapped = [*fitted, "damping=0.3:0.6", "--points", "2", "--window", "0", "0.1", "--scene", "table.toml"]
    assert main(["sensitivity", *COMMON, *mapped, "-o", "map.csv"]) == 0
    assert (folder / "map.csv").read_text().startswith("friction:table,damping,")


def test_a_table_is_given_by_its_height(folder: Path) -> None:
    words = ["calibrate", *COMMON, *SHORT, "-p", "friction:table=0.1:0.9", "--table", "-2", "-1", "1", "-1", "1"]
    assert main([*words, "-o", "fit"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-p", "friction:table"], "that of no obstacle"),
        (["--scene", "none.toml"], "none.toml"),
        (["--table", "1", "2"], "expected the height, or height and extent"),
        (["--stick", "21", "22"], "'21' of the stick 'stick' was not recorded"),
        (["-p", "model.stretch"], "the model 'isometric' has none"),
    ],
)
def test_wrong_obstacles_are_named(
    words: list[str], message: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["calibrate", *COMMON, *SHORT, *words, "-o", "fit"]) == 2
    assert message in capsys.readouterr().err
