"""The benchmark of construction measures what it says, on its smallest scenes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import construction
from isocloth.base import memo

ROOT = Path(construction.__file__).parents[1]


@pytest.mark.parametrize("scene", ["quads 9x9", "learning loop 9x9"])
def test_a_second_simulation_is_made_in_a_third_of_the_time(scene: str, capsys: pytest.CaptureFixture[str]) -> None:
    memo.clear()  # other tests have made sheets like these
    construction._work(scene)
    found = json.loads(capsys.readouterr().out)
    assert 0.0 < found["second"] < found["first"] / 3


def test_versions_stand_beside_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert construction.main([str(ROOT), "--scenes", "quads 9x9", "--rounds", "1"]) == 0
    head, row = capsys.readouterr().out.splitlines()
    assert head.split()[-1] == "second"
    assert row.startswith("quads 9x9")
    assert len(row.split()) == 7
