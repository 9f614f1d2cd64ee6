"""The code of the page on statics runs from top to bottom."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "statics.md"


def test_the_examples_of_the_page_run(capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    for block in re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, "docs/statics.md", "exec"), names)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("True")
    assert lines[0].endswith("True")
    sim = names["sim"]
    before = sim.positions.copy()  # type: ignore[attr-defined]
    sim.run(0.1)  # type: ignore[attr-defined]
    assert abs(sim.positions - before).max() < 1e-6  # type: ignore[attr-defined]
    assert lines[-1] == "0.250000 kg/m^2"  # that of the cloth that was seen
