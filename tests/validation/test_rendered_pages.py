"""The committed pages are what the kept results and notes say."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from validation import render, stored
from validation.checks import CHECKS

WHAT_TO_DO = "run `make render` (isocloth reproduce --render) and commit what it writes"


@pytest.fixture
def copy(tmp_path: Path) -> tuple[Path, Path]:
    """A root with the committed pages, and a folder of results, to be changed."""
    (tmp_path / "docs").mkdir()
    shutil.copytree(render.ROOT / "docs" / "validation", tmp_path / "docs" / "validation")
    shutil.copy(render.ROOT / "docs" / "validation.md", tmp_path / "docs")
    shutil.copy(render.ROOT / "README.md", tmp_path)
    shutil.copytree(stored.FOLDER, tmp_path / "results")
    return tmp_path, tmp_path / "results"


def changed(root: Path, results: Path) -> list[str]:
    return [path.relative_to(root).as_posix() for path in render.render(root, results)]


def test_the_committed_pages_are_those_of_the_results(copy: tuple[Path, Path]) -> None:
    assert changed(*copy) == [], f"pages differ from validation/results and validation/notes: {WHAT_TO_DO}"


def test_a_result_edited_by_hand_is_seen(copy: tuple[Path, Path]) -> None:
    root, results = copy
    path = results / "order.json"
    data = json.loads(path.read_text())
    line = next(x for x in data["lines"] if x["what"] == "bdf2: order from 2.5 to 1.25 ms")
    line["measured"] = 2.11
    path.write_text(json.dumps(data))
    assert changed(root, results) == ["docs/validation/order.md", "README.md"]
    assert changed(root, results) == []


@pytest.mark.parametrize("page", ["docs/validation.md", "docs/validation/napkin.md", "README.md"])
def test_a_page_edited_by_hand_is_seen_and_mended(page: str, copy: tuple[Path, Path]) -> None:
    root, results = copy
    path = root / page
    before = path.read_text(encoding="utf-8")
    number = re.search(r"\| (\d[\d.e+-]*) \| [<>]= ", before)
    edited = before.replace(number[0], "| 9.9 | <= ", 1) if number else before.replace(" of ", " off ", 1)
    path.write_text(edited, encoding="utf-8")
    assert changed(root, results) == [page]
    assert path.read_text(encoding="utf-8") == before


def test_a_page_of_a_check_that_is_no_more_is_taken_away(copy: tuple[Path, Path]) -> None:
    root, results = copy
    (root / "docs" / "validation" / "former.md").write_text("old\n")
    assert changed(root, results) == ["docs/validation/former.md"]


def test_what_is_older_than_the_code_is_marked_on_its_pages(
    copy: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    root, results = copy
    kept = stored.load("rigid", results)
    kept.code = stored.code_of("rigid")
    stored.store(kept, results)
    changed(root, results)
    detail = root / "docs" / "validation" / "rigid.md"

    def row() -> str:
        lines = (root / "docs" / "validation.md").read_text(encoding="utf-8").splitlines()
        return next(line for line in lines if line.startswith("| [rigid]"))

    assert render.OLDER not in detail.read_text(encoding="utf-8") + row()
    assert kept.code in row()
    monkeypatch.setattr(stored, "code_of", lambda name: "changed")
    changed(root, results)
    assert render.OLDER in detail.read_text(encoding="utf-8")
    assert render.OLDER in row()
    monkeypatch.setattr(stored, "code_of", lambda name: "changed again")
    assert changed(root, results) == []  # rendered once, not after every commit


def test_the_overview_is_short_and_every_check_has_its_page_and_its_notes() -> None:
    assert (render.ROOT / "docs" / "validation.md").stat().st_size < 60_000
    assert {path.stem for path in (render.ROOT / "docs" / "validation").iterdir()} == set(CHECKS)
    assert {path.stem for path in render.NOTES.iterdir()} == set(CHECKS)


def test_the_table_of_the_readme_is_short() -> None:
    readme = (render.ROOT / "README.md").read_text(encoding="utf-8")
    part = readme.split("<!-- rendered: validation -->")[1].split("<!-- end -->")[0]
    rows = [line for line in part.splitlines() if line.startswith("|")][2:]
    assert 8 <= len(rows) <= 14
    assert max(len(cell) for row in rows for cell in row.split("|")) < 120


def test_a_document_without_marks_is_named() -> None:
    with pytest.raises(ValueError, match=r"README\.md has 0 parts"):
        render.fill("no marks", "validation", "table", "README.md")
