"""Checks that hold the simulator against known answers and the papers' tables: `isocloth reproduce <name>`.

Every check is a module with `TITLE` and `run(quick)`; quick is a small version that takes seconds. Nothing is tuned to
pass: a target that is missed is printed as such and makes the command return 1.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from isocloth.base.files import atomic_path
from validation.plot import write_csv, write_svg
from validation.result import Result, Say, silent
from validation.result import table as as_text  # `table` is a check

#: in the order in which `all` runs them
CHECKS = (
    "rigid", "roll", "catenary", "cantilever", "terms", "infeasible", "order", "swing", "projections",
    "remeshing", "rest", "locking", "folds", "tank_top", "cusick",
    "tilted_plane", "capstan", "table", "pinch", "cylinder", "turning_sphere", "needles", "tablecloth", "stick_hits",
    "napkin", "shorts", "pushes", "lagged_friction", "contact_problems", "models", "nonconforming", "states",
    "developables", "reconstruction", "gluing", "followed_clouds", "identifiability", "cross_model", "robot_runs",
    "calibration_speed",
)  # fmt: skip

__all__ = ["CHECKS", "Result", "check", "main"]


def check(name: str, *, quick: bool = False, out: Path | None = None, say: Say = silent) -> Result:
    """Run one check by name and write its series to the folder `out`."""
    key = name.replace("-", "_")
    if key not in CHECKS:
        raise KeyError(f"check {name!r} is unknown; choose one of {', '.join(CHECKS)}")
    module = importlib.import_module(f"validation.{key}")
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
    begin = time.monotonic()
    result: Result = module.run(quick, out=out, say=say)
    result.seconds = time.monotonic() - begin
    if out is not None:
        for series in result.series:
            stem = f"{key}-{series.name}".replace(" ", "-")
            write_csv(series, out / f"{stem}.csv")
            write_svg(series, out / f"{stem}.svg")
    return result


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns 0 if every target was reached, 1 if one was missed."""
    parser = argparse.ArgumentParser(
        prog="isocloth reproduce", description="Hold the simulator against known answers and the papers' tables."
    )
    parser.add_argument("names", nargs="*", metavar="name", help=f"all, or any of: {', '.join(CHECKS)}")
    parser.add_argument("--list", action="store_true", help="say what each check does and stop")
    parser.add_argument("--quick", action="store_true", help="small versions, seconds instead of minutes")
    parser.add_argument("--json", type=Path, metavar="file", help="write all numbers to this file")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="folder", help="write plots, CSV files and finished runs here"
    )
    given = parser.parse_args(argv)
    names = [name.replace("-", "_") for name in given.names]
    unknown = [name for name in names if name not in (*CHECKS, "all")]
    if unknown:
        parser.error(f"check {unknown[0]!r} is unknown; choose all or any of {', '.join(CHECKS)}")
    if given.list or not given.names:
        for name in CHECKS:
            print(f"{name:12s} {importlib.import_module(f'validation.{name}').TITLE}")
        return 0
    names = list(CHECKS) if "all" in names else names
    results = []
    for name in names:
        result = check(name, quick=given.quick, out=given.out, say=_progress)
        results.append(result)
        print(as_text(result), flush=True)
        print(flush=True)
        if given.json is not None:  # after every check: a long run that is stopped keeps what it has
            with atomic_path(given.json) as temporary:
                Path(temporary).write_text(
                    json.dumps([r.to_dict() for r in results], indent=1) + "\n", encoding="utf-8"
                )
    missed = [f"{r.name}: {x.what}" for r in results for x in r.lines if x.reached is False]
    wanted = sum(x.reached is not None for r in results for x in r.lines)
    print(f"{wanted - len(missed)} of {wanted} targets reached in {len(results)} checks")
    for line in missed:
        print(f"  missed: {line}")
    return 1 if missed else 0


def _progress(message: str) -> None:
    print(f"  ... {message}", file=sys.stderr, flush=True)
