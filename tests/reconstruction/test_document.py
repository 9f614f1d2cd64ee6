"""The guide runs, and says what happens."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "reconstruction.md"
ROOM = Path(__file__).parents[2] / "src" / "isocloth" / "reconstruction"


def test_the_python_of_the_guide_runs(capsys: pytest.CaptureFixture[str]) -> None:
    for block in re.findall(r"```python\n(.*?)```", GUIDE.read_text(encoding="utf-8"), flags=re.DOTALL):
        exec(compile(block, "docs/reconstruction.md", "exec"), {"__name__": "guide"})
    out = capsys.readouterr().out
    assert out.startswith("sphere with 4 holes\n-2 4 True 1\nH0 = Z, H1 = Z^3, H2 = 0\n")


def test_the_guide_names_every_file_of_the_room() -> None:
    named = set(re.findall(r"`(\w+)`", GUIDE.read_text(encoding="utf-8")))
    others = {"__init__", "reconstruct", "triangulate", "geodesics", "files", "draw", "report"}
    files = {path.stem for path in ROOM.rglob("*.py")} - others
    assert files <= named, f"not in the guide: {sorted(files - named)}"
