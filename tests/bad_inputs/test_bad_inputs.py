"""Every bad input ends in one clear error: none is silent, obscure, hangs or crashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from . import api
from .clear import Case, outcome

ALL = [*api.CASES]


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
def test_a_bad_input_ends_in_a_clear_error(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert outcome(case, tmp_path) == ""
