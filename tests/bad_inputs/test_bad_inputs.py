"""Every bad input ends in one clear error: none is silent, obscure, hangs or crashes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from isocloth.base.errors import InputError

from . import api, commands, files, geometry, inverse, patterns, scenes, shells
from .clear import Case, Hang, outcome, time_limit, warm_up

ALL = [
    *api.CASES,
    *geometry.CASES,
    *scenes.CASES,
    *shells.CASES,
    *files.CASES,
    *commands.CASES,
    *inverse.CASES,
    *patterns.CASES,
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bad_inputs")
    warm_up()
    files.prepare(made)
    commands.prepare(made)
    inverse.prepare(made)
    patterns.prepare(made)
    return made


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
@pytest.mark.filterwarnings("ignore")
def test_a_bad_input_ends_in_a_clear_error(case: Case, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert outcome(case, folder) == ""


def test_there_are_enough_bad_inputs_and_none_twice() -> None:
    names = [case.name for case in ALL]
    assert len(names) >= 2000
    assert len(set(names)) == len(names)


@pytest.mark.slow
@pytest.mark.parametrize("line", commands.ALONE)
def test_a_bad_command_ends_its_process_with_code_2(line: str, folder: Path) -> None:
    words = [sys.executable, "-m", "isocloth", *line.split()]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=120, check=False, env=os.environ)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "error: " in done.stderr


# ----------------------------------------------------------------- what looks


def _raise(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize(
    ("run", "wrong"),
    [
        (lambda _: 3, "silent"),
        (lambda _: _raise(ValueError("x = 3: expected 4")), "obscure: ValueError"),
        (lambda _: _raise(InputError("bad input")), "obscure: none of 'x'"),
        (lambda _: _raise(InputError("x = 3")), "obscure: no remedy"),
        (lambda _: _raise(Hang("late")), "hangs"),
        (lambda _: _raise(InputError("x = 3: expected 4")), ""),
    ],
)
def test_what_is_not_clear_is_found(run: object, wrong: str, tmp_path: Path) -> None:
    found = outcome(Case("a case", run, (("x",),)), tmp_path)  # type: ignore[arg-type]
    assert found.startswith(wrong)
    assert bool(found) == bool(wrong)


def test_what_hangs_is_ended() -> None:
    with pytest.raises(Hang), time_limit(0.05):
        sum(1 for _ in iter(int, 1))
