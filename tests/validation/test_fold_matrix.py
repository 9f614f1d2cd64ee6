"""The command that makes all folds goes on where it was stopped, and makes folds of other code again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from validation.fold_height import Case, matrix
from validation.fold_matrix import reached, run

CASE = Case("shear", "quad", 9, 1e-4, 0.0, 0.9)


def test_folds_are_kept_and_those_of_other_code_are_made_again(tmp_path: Path) -> None:
    path, said = tmp_path / "matrix.json", list[str]()
    first = run([CASE], path, said.append)[CASE.name]
    assert reached(CASE, first)
    assert "yes" in said[0]
    kept = json.loads(path.read_text(encoding="utf-8"))
    kept["folds"][CASE.name][0] = 0.5  # m: nobody folds that
    path.write_text(json.dumps(kept), encoding="utf-8")
    assert run([CASE], path, said.append)[CASE.name].height == 0.5
    assert "NO" in said[1]
    kept["code"] = "another"
    path.write_text(json.dumps(kept), encoding="utf-8")
    again = run([CASE], path, said.append)[CASE.name]
    assert again.height == pytest.approx(first.height, abs=1e-12)
    assert json.loads(path.read_text(encoding="utf-8"))["code"] != "another"


def test_the_matrix_has_every_case_once() -> None:
    cases = matrix()
    assert len(cases) == len({case.name for case in cases}) == 2 * 2 * 3 * 2 * 3 * 3
