"""Errors are short, on standard error, and end with exit code 2."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import isocloth
from isocloth.base.errors import SceneError
from isocloth.base.locks import locked
from isocloth.cli import main
from isocloth.cli.repository_commands import FOLDERS
from isocloth.cli.wording import in_options

SCENE = """
[cloth]
width = 0.3
height = 0.3
nodes = [4, 4]

[simulation]
duration = 0.05
"""


@pytest.fixture(autouse=True)
def _in_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.toml").write_text(SCENE)
    (tmp_path / "bad.toml").write_text(SCENE.replace("width = 0.3", "widht = 0.3"))
    (tmp_path / "empty.h5").write_text("")
    (tmp_path / "folder.h5").mkdir()


CASES = [
    (["run", "none.toml"], ["none.toml", "does not exist"]),
    (["run", "swin"], ["did you mean 'swing'?"]),
    (["run", "bad.toml"], ["bad.toml: 2 problems", "cloth.width: is missing", "cloth.widht = 0.3"]),
    (["run", "good.toml", "-o", "out.txt"], ["ends in .npz, .h5 or .hdf5", "'out.txt'"]),
    (["run", "good.toml", "-o", "none/out.h5"], ["folder of 'none/out.h5' does not exist"]),
    (["run", "good.toml", "-o", "folder.h5"], ["'folder.h5' exists and is not a file"]),
    (["run", "good.toml", "--duration", "-1"], ["'-1' is no positive number of seconds"]),
    (["run", "good.toml", "--duration", "x"], ["'x' is no positive number of seconds"]),
    (["run", "good.toml", "--duration", "0.001"], ["0.001 s is shorter than the timestep"]),
    (["run", "good.toml", "--resume", "--restart"], ["not allowed with"]),
    (["render", "none.h5", "-o", "out.png"], ["no trajectory at 'none.h5'"]),
    (["render", "empty.h5", "-o", "out.png"], ["'empty.h5' is empty"]),
    (["render", "empty.h5"], ["required: -o"]),
    (["info", "none.obj"], ["none.obj", "does not exist"]),
    (["info", "what.docx"], ["'what.docx' is no scene, mesh, trajectory or recording file"]),
    (["fly"], ["invalid choice: 'fly'"]),
    ([], ["required: COMMAND"]),
]


@pytest.mark.parametrize(("words", "parts"), CASES, ids=lambda value: " ".join(value))
def test_errors_are_short(words: list[str], parts: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "Traceback" not in err
    for part in parts:
        assert part in err


def test_an_error_leaves_nothing_behind(tmp_path: Path) -> None:
    before = sorted(tmp_path.iterdir())
    assert main(["run", "good.toml", "--duration", "0.001"]) == 2
    assert sorted(tmp_path.iterdir()) == before


def test_a_traceback_can_be_had() -> None:
    with pytest.raises(SceneError):
        main(["run", "bad.toml", "--traceback"])


def test_a_defect_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("isocloth.cli.run.simulate", broken)
    with pytest.raises(ZeroDivisionError):
        main(["run", "good.toml"])


def test_a_key_error_is_not_shown_in_quotes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("fabric 'x' is unknown")

    monkeypatch.setattr("isocloth.cli.run.load_scene", broken)
    assert main(["run", "good.toml"]) == 2
    assert capsys.readouterr().err == "isocloth: error: fabric 'x' is unknown\n"


def test_warnings_are_a_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # two corners torn apart: 0.3 m of cloth to 0.4 m
    tear = '\n[[grasp]]\nwhere = "corner 0"\n\n[[grasp]]\nwhere = "corner 2"\nmotion = "line"\n'
    (tmp_path / "tear.toml").write_text(SCENE + tear + "by = [0.1, 0, 0]\nstop = 0.04\n")
    assert main(["run", "tear.toml"]) == 0
    out, err = capsys.readouterr()
    assert "isocloth: warning: t = " in err
    assert "simulation.py" not in err
    failed = next(line for line in out.splitlines() if line.startswith("unconverged steps"))
    assert int(failed.split()[-1]) > 0


@pytest.mark.parametrize(("name", "folder"), FOLDERS.items())
def test_commands_of_the_repository_read_their_own_options(
    name: str, folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    module = type(sys)(folder)
    module.main = lambda argv: seen.append(argv) or 7  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, folder, module)
    assert main([name, "swing", "--quick"]) == 7
    assert seen == [["swing", "--quick"]]


@pytest.mark.parametrize(("name", "folder"), FOLDERS.items())
def test_a_package_without_its_repository_says_where_the_command_is(
    name: str, folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("isocloth.cli.repository_commands.REPOSITORY", tmp_path)
    assert main([name, "--list"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"isocloth: error: isocloth {name} runs what is in the folder {folder!r}")
    assert "pip install -e ." in err
    assert err.count("\n") == 1


def test_the_module_is_the_command() -> None:
    done = subprocess.run([sys.executable, "-m", "isocloth", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"isocloth {isocloth.__version__}\n"


def test_help_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    for name in ("run", "render", "info", "demo", "bench", "reproduce"):
        assert f"\n    {name}" in text


def test_info_says_what_there_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info"]) == 0
    text = capsys.readouterr().out
    for part in (isocloth.__version__, "numba", "cores", "denim", "swing"):
        assert part in text
    assert main(["info", "good.toml"]) == 0
    assert "9 quads" in capsys.readouterr().out
    isocloth.meshes.rectangle(0.2, 0.5, (3, 3)).save("mesh.obj")
    assert main(["info", "mesh.obj"]) == 0
    assert "0.1 m^2" in capsys.readouterr().out


def test_quiet_is_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "good.toml", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_live_run_is_not_called_interrupted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "good.h5.checkpoint.npz").write_text("")  # what a live run has saved so far
    with locked(tmp_path / "good.h5", "writing 'good.h5'"):
        for words in (["run", "good.toml"], ["run", "good.toml", "--restart"], ["run", "good.toml", "--resume"]):
            assert main(words) == 2
            err = capsys.readouterr().err
            assert f"process {os.getpid()} is writing 'good.h5' now" in err
            assert "interrupted" not in err
    assert main(["run", "good.toml"]) == 2
    assert "is left from an interrupted run" in capsys.readouterr().err


def test_messages_are_in_the_words_of_the_command_line() -> None:
    given = {"units": None, "fabric": "0.2", "largest_gap": 0.5}
    assert in_options("say which they are, e.g. units='mm'", given) == "say which they are, e.g. --units mm"
    assert in_options("largest_gap is 0.5 spacings", given) == "--largest-gap is 0.5 spacings"
    assert in_options("give size=(width, height)", {"size": None}) == "give --size width height"
    assert in_options("give size=(width, height)", {}) == "give --size width height of calibrate"
    assert in_options("give fabric=ic.Fabric(density=...)", {}) == "give --fabric DENSITY"
    assert in_options("cloth.units = 3: expected", given) == "cloth.units = 3: expected"
    assert in_options("load it with scale=0.1; if it is in m, say so with units='m'", {"scale": 1.0}) == (
        "load it with --scale 0.1"
    )
