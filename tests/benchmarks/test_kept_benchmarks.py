"""Kept benchmarks, and the documents whose tables are rendered from them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from benchmarks import command, peer, stored
from benchmarks.render import pages
from benchmarks.tables import cells, section, table
from validation.pages import ROOT, write

WHAT_TO_DO = "run `make render` (isocloth bench --render) and commit what it writes"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with the committed documents, and results to be changed."""
    (tmp_path / "docs").mkdir()
    shutil.copy(ROOT / "docs" / "speed.md", tmp_path / "docs")
    shutil.copy(ROOT / "README.md", tmp_path)
    shutil.copytree(stored.FOLDER, tmp_path / "results")
    return tmp_path


def changed(root: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in write(pages(root / "results", root), root)]


def test_the_committed_tables_are_those_of_the_results(root: Path) -> None:
    assert changed(root) == [], f"tables differ from benchmarks/results: {WHAT_TO_DO}"


def test_a_result_edited_by_hand_is_seen(root: Path) -> None:
    path = root / "results" / "swing.json"
    path.write_text(path.read_text(encoding="utf-8").replace("71.9", "99.9"), encoding="utf-8")
    assert changed(root) == ["docs/speed.md", "README.md"]


@pytest.mark.parametrize("document", ["docs/speed.md", "README.md"])
def test_a_table_edited_by_hand_is_seen_and_mended(document: str, root: Path) -> None:
    before = (root / document).read_text(encoding="utf-8")
    (root / document).write_text(before.replace(" 71.9 ", " 99.9 ", 1), encoding="utf-8")
    assert changed(root) == [document]
    assert (root / document).read_text(encoding="utf-8") == before


def test_what_is_older_than_the_code_is_marked(root: Path) -> None:
    assert stored.load("swing").older
    now = stored.now("swing", stored.code_of_benchmarks(), {"processor": "a"}, stored.load("swing").printed, {"x": 1})
    stored.store(now, root / "results")
    back = stored.load("swing", root / "results")
    assert back == now
    assert not back.older
    changed(root)
    text = (root / "docs" / "speed.md").read_text(encoding="utf-8")
    assert f"code: {now.code}." in text


def test_a_table_is_read_again() -> None:
    text = section("Title", table(["cloth", "q", "n"], [["a b", "1", "2"], ["c", "3", "-"]]), "", "| other | x |")
    assert cells(text) == {"a b": {"q": "1", "n": "2"}, "c": {"q": "3", "n": "-"}}


def test_whole_benchmarks_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "FOLDER", tmp_path)
    monkeypatch.setattr(peer, "version", lambda: "1.0")
    monkeypatch.setitem(command.PARTS, "swing", lambda args, with_peer, tell: tell("a table") or {"peer": with_peer})
    assert command.main(["--only", "swing", "--store"]) == 0
    data = json.loads((tmp_path / "swing.json").read_text())
    assert data["printed"] == ["a table"]
    assert data["numbers"] == {"peer": True}
    assert data["code"] == stored.code_of_benchmarks()
    assert {path.name for path in tmp_path.iterdir()} == {"swing.json"}


@pytest.mark.parametrize(
    "option", [["--quick"], ["--no-peer"], ["--sizes", "9"], ["--repeat", "1"], ["--seconds", "1"]]
)
def test_a_part_of_a_benchmark_is_not_kept(option: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--store", *option])
    assert "whole benchmarks only" in capsys.readouterr().err


def test_nothing_is_kept_without_the_rival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peer, "version", lambda: None)
    with pytest.raises(ImportError, match="not installed"):
        command.main(["--store"])
