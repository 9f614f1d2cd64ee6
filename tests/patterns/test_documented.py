"""docs/patterns.md: its Python runs, and its names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import isocloth as ic

TEXT = (Path(__file__).parents[2] / "docs" / "patterns.md").read_text(encoding="utf-8")


def test_the_code_gives_the_density_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL):
        exec(compile(block, "docs/patterns.md", "exec"), names)
    found = names["found"]
    assert isinstance(found, ic.Pattern)
    assert found.reached
    assert found.density == pytest.approx(0.2, rel=1e-6)
    slow = names["slow"]
    assert slow.density == 0.2  # type: ignore[attr-defined]
    assert slow.clear  # type: ignore[attr-defined]
    assert (tmp_path / "panel.svg").stat().st_size > 1000
    assert (tmp_path / "panel.html").stat().st_size > 10000


def test_what_a_pattern_has_is_there() -> None:
    table = TEXT.split("| of a pattern | |")[1].split("\n\n")[0]
    for line in table.splitlines()[2:]:
        for name in re.findall(r"`(\w+)(?:\(.*?\))?`", line.split("|")[1]):
            assert hasattr(ic.Pattern, name) or name == "flat", name
