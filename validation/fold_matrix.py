"""All folds of napkins: `python -m validation.fold_matrix -o matrix.json`, an hour or two; it may be stopped.

Every fold is kept as soon as it is there, with the code that made it. A run that was stopped goes on where it was;
folds of other code are made again.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from isocloth.base.files import atomic_path
from validation.fold_height import AT_REST, Case, Fold, folded, matrix, off, wanted
from validation.result import Say
from validation.stored import code_of


def run(cases: Sequence[Case], path: Path, say: Say = print) -> dict[str, Fold]:
    """Folds by the names of their cases; those that `path` has of the same code are not made again."""
    code = code_of("fold_height")
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    done = {name: Fold(*values) for name, values in kept.get("folds", {}).items()} if kept.get("code") == code else {}
    for number, case in enumerate(cases, 1):
        if case.name not in done:
            done[case.name] = folded(case)
            with atomic_path(path) as place:
                place.write_text(json.dumps({"code": code, "folds": done}, indent=1) + "\n", encoding="utf-8")
        say(f"{number:3d} of {len(cases)}  {line(case, done[case.name])}")
    return {case.name: done[case.name] for case in cases}


def reached(case: Case, fold: Fold) -> bool:
    """Whether a fold is as high as it should be, at rest, converged, and has its area."""
    high = abs(fold.height - wanted(case.bending)) <= off(case)
    return high and fold.speed <= AT_REST and fold.unconverged == 0 and abs(fold.area) <= 0.01


def line(case: Case, fold: Fold) -> str:
    """A fold in a line."""
    return (
        f"{case.name:70} {100 * fold.height:5.2f} cm ({100 * wanted(case.bending):.2f} +- {100 * off(case):.2f})  "
        f"{1e3 * fold.speed:6.2f} mm/s  {fold.unconverged:3d} unconverged  area {100 * fold.area:+.2f} %  "
        f"{'yes' if reached(case, fold) else 'NO'}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; 1 if a fold misses a target."""
    parser = argparse.ArgumentParser(prog="python -m validation.fold_matrix", description=__doc__)
    parser.add_argument("-o", "--out", type=Path, default=Path("fold_matrix.json"), help="where folds are kept")
    parser.add_argument("--nodes", type=int, nargs="+", default=[21, 41], help="nodes a side; 21 41 by default")
    given = parser.parse_args(arguments)
    cases = matrix(given.nodes)
    found = run(cases, given.out)
    count = sum(reached(case, found[case.name]) for case in cases)
    print(f"{count} of {len(cases)} folds are as they should be")
    return int(count < len(cases))


if __name__ == "__main__":
    raise SystemExit(main())
