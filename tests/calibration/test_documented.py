"""The Python and the commands of docs/calibration.md run."""

from __future__ import annotations

import argparse
import importlib
import re
import shlex
from pathlib import Path

import pytest

from calibration.made import recording
from isocloth.calibration import SearchOptions
from isocloth.cli import main

TEXT = (Path(__file__).parents[2] / "docs" / "calibration.md").read_text(encoding="utf-8")


def test_python_in_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    # what it does is not changed, only how thoroughly
    module = importlib.import_module("isocloth.calibration.calibrate")
    monkeypatch.setattr(module, "SearchOptions", lambda: SearchOptions(points=4, starts=1, most=3))
    recording().save("sheet.npz")
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL):
        exec(compile(block, "docs/calibration.md", "exec"), names)
    assert names["found"].values["gravity_density"] == pytest.approx(0.12, rel=0.05)  # type: ignore[attr-defined]
    assert {p.name for p in tmp_path.iterdir()} == {"sheet.npz", "calibration.json", "report.html", "models.html"}


class _Parsed(Exception):
    pass


@pytest.mark.parametrize(
    "line", [x for b in re.findall(r"```console\n(.*?)```", TEXT, re.DOTALL) for x in b.splitlines()]
)
def test_commands_are_understood(line: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parse = argparse.ArgumentParser.parse_args

    def only_parse(self: argparse.ArgumentParser, *args: object, **kwargs: object) -> None:
        parse(self, *args, **kwargs)  # type: ignore[arg-type]
        raise _Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", only_parse)
    words = shlex.split(line.removeprefix("$ "))
    assert words[0] == "isocloth"
    with pytest.raises(_Parsed):
        main(words[1:])
