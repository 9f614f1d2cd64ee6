"""The tutorial of the hat, from top to bottom: what it says is what happens."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import numpy as np
import pytest

from isocloth import Mesh, Trajectory
from isocloth.cli import main

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "tutorial_hat.md").read_text(encoding="utf-8")

#: makes a documented command quick without changing what it does
QUICK = {"invert": [], "run": ["--quiet"], "render": ["--width", "160", "--height", "120", "--quiet"]}


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With everything that the commands of the tutorial make."""
    made = tmp_path_factory.mktemp("hat")
    for text in blocks("toml"):
        (made / text.split()[1]).write_text(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        for line in "".join(blocks("console")).splitlines():
            program, *words = shlex.split(line.removeprefix("$ "))
            if program == "python":
                runpy.run_path(str(ROOT / words[0]), run_name="__main__")
            else:
                assert program == "isocloth"
                assert main([*words, *QUICK[words[0]]]) == 0
    return made


def test_the_commands_leave_what_the_text_says(folder: Path) -> None:
    for name in ("hat.obj", "hat_rest.obj", "hat_worn.obj", "hat.html", "naive.png", "shaken.gif"):
        assert (folder / name).stat().st_size > 1000, name
    assert not list(folder.glob("*checkpoint*"))


def test_the_naive_hat_droops_and_the_designed_one_comes_back(folder: Path) -> None:
    worn, target = (Mesh.load(folder / f"{name}.obj") for name in ("hat_worn", "hat"))
    assert np.abs(worn.vertices - target.vertices).max() < 2e-3
    naive, shaken = (Trajectory.load(folder / f"{name}.h5") for name in ("naive", "shaken"))
    np.testing.assert_array_equal(shaken.positions[0], worn.vertices)
    assert not shaken.reports["converged"].size or shaken.reports["converged"].all()
    off = np.linalg.norm(naive.positions - worn.vertices, axis=2)
    assert off.max() > 10e-3
    assert (naive.positions[-1] - worn.vertices)[:, 2].min() < -4e-3  # the brim hangs
    swing = np.linalg.norm(shaken.positions - worn.vertices, axis=2)
    assert swing.max() > 9e-3  # it follows the head ...
    assert swing[-1].max() < 4e-3  # ... and comes back
    on_the_head = np.linalg.norm(worn.vertices, axis=1) < 0.1005
    assert on_the_head.sum() == 48  # two rings
    assert swing[-1][on_the_head].max() < 0.5e-3


def test_the_python_of_the_tutorial_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(folder)
    by_command = Mesh.load("hat_rest.obj")
    (code,) = blocks("python")
    names: dict[str, object] = {"__name__": "tutorial"}
    exec(compile(code, "docs/tutorial_hat.md", "exec"), names)
    assert names["found"].reached  # type: ignore[attr-defined]
    np.testing.assert_array_equal(Mesh.load("hat_rest.obj").vertices, by_command.vertices)
    assert names["droop"] > 8e-3  # type: ignore[operator]
    assert names["change"] < 0.05e-3  # type: ignore[operator]
    film = names["film"]
    worn = names["found"].target.vertices  # type: ignore[attr-defined]
    moved = np.linalg.norm(film.positions - worn, axis=2)  # type: ignore[attr-defined]
    assert moved.max() > 2e-3
    assert moved[-1].max() < moved.max()
    assert (folder / "blown.gif").stat().st_size > 1000
    assert "reached" in capsys.readouterr().out
