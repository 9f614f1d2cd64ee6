"""Kept results: complete, consistent with themselves, and known to be old when the code has changed."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest

import isocloth
from isocloth.base.fingerprint import dependencies
from validation import stored
from validation.checks import CHECKS
from validation.result import TRUTH, Result


@pytest.fixture
def kept() -> stored.Stored:
    result = Result("rigid", "title", seconds=1.25)
    result.below("a", 0.5, 1.0)
    result.info("b", 2.0, ".1f")
    result.notes.append("a note")
    return stored.now(result, stored.code_of("rigid"))


def test_a_result_is_kept_with_its_code_machine_and_day(kept: stored.Stored, tmp_path: Path) -> None:
    data = json.loads(stored.store(kept, tmp_path).read_text(encoding="utf-8"))
    assert data["version"] == isocloth.__version__
    assert data["quick"] is False
    assert datetime.date.fromisoformat(data["date"]) <= datetime.datetime.now(datetime.UTC).date()
    assert data["code"] == stored.code_of("rigid")
    assert {"processor", "cores", "Python", "numpy", "numba"} <= set(data["machine"])
    assert data["lines"][0] == {
        "what": "a", "measured": 0.5, "format": ".3g", "target": "<= 1", "high": 1.0, "reached": True
    }  # fmt: skip
    back = stored.load("rigid", tmp_path)
    assert back == kept
    assert not back.older


def test_a_result_of_other_or_unknown_code_is_older(kept: stored.Stored, monkeypatch: pytest.MonkeyPatch) -> None:
    kept.code = None
    assert kept.older
    kept.code = stored.code_of("rigid")
    assert not kept.older
    monkeypatch.setattr(stored, "code_of", lambda name: "another")
    assert kept.older


def test_the_code_of_a_check_is_what_it_imports() -> None:
    assert stored.code_of("rigid") != stored.code_of("roll")
    names = dependencies("validation.rigid", stored.PACKAGES)
    assert {"validation.rigid", "validation.result", "isocloth.terms.isometry"} <= set(names)
    assert not any(name.startswith(("isocloth.contact", "validation.render")) for name in names)


def test_what_is_not_kept_or_is_a_small_version_is_refused(kept: stored.Stored, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="isocloth reproduce rigid --store"):
        stored.load("rigid", tmp_path)
    path = stored.store(kept, tmp_path)
    path.write_text(path.read_text().replace('"quick": false', '"quick": true'))
    with pytest.raises(ValueError, match="whole result"):
        stored.load("rigid", tmp_path)


@pytest.mark.parametrize("name", CHECKS)
def test_a_kept_result_agrees_with_itself(name: str) -> None:
    kept = stored.load(name)
    assert kept.result.targets > 0
    for line in kept.result.lines:
        if line.format == TRUTH:
            assert line.reached is bool(line.measured)
        elif line.low is not None or line.high is not None:
            within = (line.low is None or line.measured >= line.low) and (
                line.high is None or line.measured <= line.high
            )
            assert line.reached is within, line
        else:
            assert line.reached is None, line


def test_there_is_no_result_of_what_is_no_check() -> None:
    assert {path.stem for path in stored.FOLDER.iterdir()} == set(CHECKS)
