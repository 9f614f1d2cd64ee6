"""Every command of docs/scenes.md runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from isocloth import Trajectory
from isocloth.cli import main
from isocloth.trajectory import SUFFIXES
from scenes.scene_texts import documented_commands, write_documented_files

#: makes a documented command quick without changing what it does
QUICK = {
    "run": ["--duration", "0.04"],
    "render": ["--width", "240", "--height", "180"],
    "demo": ["--duration", "0.04"],
    "info": [],
}


def test_every_documented_command_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_documented_files(tmp_path)
    for words in documented_commands():
        assert main([*words, *QUICK[words[0]]]) == 0, capsys.readouterr().err
        if "-o" in words:
            output = Path(words[words.index("-o") + 1])
            assert output.exists()
            if output.suffix in SUFFIXES:
                assert len(Trajectory.load(output)) == 5
    assert {path.name for path in Path("out").iterdir()} == {
        "demo.h5",
        "demo.png",
        "demo.html",
        "demo.gif",
        "demo.mp4",
        "summary.txt",
    }
    assert "worst isometry error" in Path("out/summary.txt").read_text()
    assert not list(tmp_path.glob("*checkpoint*"))


def test_the_tests_know_every_documented_command() -> None:
    assert {words[0] for words in documented_commands()} == set(QUICK)
