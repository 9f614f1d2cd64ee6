"""`isocloth reproduce`: tables of a few, lines of all, what is kept, and the page."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PIL import Image

import validation
from validation import checks, command, render, stored
from validation.page import page
from validation.result import Result


def fake(name: str, value: float) -> ModuleType:
    """A check that takes no time, with a series and, into a folder, a picture."""
    module = ModuleType(f"validation.{name}")

    def run(quick: bool = False, *, out: Path | None = None, say: object = None) -> Result:
        result = Result(name, f"title of <{name}>")
        result.below("a number", value, 1.0)
        result.plot("curve", "t, s", "x, m", np.arange(3), {"x": np.arange(3)})
        if out is not None:
            Image.new("RGB", (4, 4)).save(out / f"{name}-picture.png")
        return result

    module.run, module.TITLE = run, f"title of <{name}>"  # type: ignore[attr-defined]
    return module


@pytest.fixture
def two(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Two checks, of which the second misses its target, and a folder to work in."""
    made = {f"validation.{name}": fake(name, value) for name, value in (("first", 0.5), ("second", 2.0))}
    for module in (checks, command):
        monkeypatch.setattr(module, "CHECKS", ("first", "second"))
    monkeypatch.setattr(checks.importlib, "import_module", made.__getitem__)
    monkeypatch.setattr(stored, "code_of", lambda name: f"code of {name}")
    (tmp_path / "results").mkdir()
    monkeypatch.setattr(stored, "FOLDER", tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_prints_a_line_for_each_and_names_what_is_missed(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validation.main(["all", "--quick"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"first +1 of 1  a number: 0\.5 \(<= 1\)  \(0 s\)", lines[0])
    assert re.fullmatch(r"second +0 of 1  a number: 2 \(<= 1\)  \(0 s\)", lines[1])
    assert lines[2] == "1 of 2 targets reached in 2 checks"
    assert lines[3] == "  missed: second: a number: 2 (<= 1)"
    assert lines[4].endswith("out/reproduce.html")
    assert len(lines) == 5


def test_the_page_of_all_has_every_picture_and_series(two: Path) -> None:
    validation.main(["all", "--quick", "-o", "there"])
    text = (two / "there" / "reproduce.html").read_text(encoding="utf-8")
    for name in re.findall(r'<img src="([^"]*)"', text):
        assert (two / "there" / name).is_file()
    assert text.count("<img") == 2
    assert text.count("<svg") == 2
    assert "title of &lt;first&gt;" in text
    assert text.count('class="missed">missed:') == 1


def test_a_named_check_prints_its_table_and_leaves_no_page(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validation.main(["first"]) == 0
    out = capsys.readouterr().out
    assert "measured" in out
    assert "1 of 1 targets reached" in out
    assert not list(two.rglob("*.html"))
    assert not list((two / "results").iterdir())


def test_whole_results_are_kept_and_small_ones_refused(two: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert validation.main(["first", "second", "--store"]) == 1
    kept = {path.stem: json.loads(path.read_text()) for path in (two / "results").iterdir()}
    assert set(kept) == {"first", "second"}
    assert kept["first"]["code"] == "code of first"
    assert kept["second"]["reached"] is False
    before = (two / "results" / "first.json").read_bytes()
    with pytest.raises(SystemExit):
        validation.main(["first", "--store", "--quick"])
    assert "leave out --quick" in capsys.readouterr().err
    assert (two / "results" / "first.json").read_bytes() == before


def test_code_that_is_edited_while_a_check_runs_is_not_what_is_kept(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def edited(name: str, **options: object) -> Result:
        monkeypatch.setattr(stored, "code_of", lambda name: "edited meanwhile")
        return Result(name, "title")

    monkeypatch.setattr(command, "check", edited)
    validation.main(["first", "--store"])
    assert stored.load("first").code == "code of first"


def test_the_list_says_what_is_old(
    two: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    validation.main(["first", "--store"])
    capsys.readouterr()
    validation.main(["--list"])
    first, second = capsys.readouterr().out.splitlines()
    assert first.endswith("title of <first>")
    assert second.endswith("[no result is kept]")
    monkeypatch.setattr(stored, "code_of", lambda name: "other code")
    validation.main(["--list"])
    assert "is older than the code]" in capsys.readouterr().out.splitlines()[0]


def test_rendering_is_part_of_the_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "render", lambda: [render.ROOT / "docs" / "validation.md"])
    assert validation.main(["--render"]) == 0
    assert capsys.readouterr().out == "rendered docs/validation.md\n"


def test_a_page_without_figures_is_a_page() -> None:
    text = page([Result("name", "title")], quick=True)
    assert '<h2 id="name">' in text
    assert 'class="figures"' not in text
