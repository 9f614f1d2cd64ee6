"""The code of docs/models.md runs."""

import re
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[2] / "docs" / "models.md"


def test_the_python_of_the_document_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, DOCUMENT.name, "exec"), {"__name__": "document"})
    assert "mass_spring" in capsys.readouterr().out
