"""`isocloth reproduce`: options, and what is printed and kept."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from isocloth.base.files import atomic_path
from validation import stored
from validation.checks import CHECKS, check, title
from validation.page import write_page
from validation.render import ROOT, render
from validation.result import Result, summary
from validation.result import table as as_text

#: folder of `all` if none is named: its page needs a place
OUT = Path("out")
PAGE = "reproduce.html"


def main(argv: Sequence[str] | None = None) -> int:
    """Command line; returns 0 if every target was reached, 1 if one was missed."""
    parser = _parser()
    given = parser.parse_args(argv)
    names = [name.replace("-", "_") for name in given.names]
    unknown = [name for name in names if name not in (*CHECKS, "all")]
    if unknown:
        parser.error(f"check {unknown[0]!r} is unknown; choose all or any of {', '.join(CHECKS)}")
    if given.store and given.quick:
        parser.error("--store keeps whole checks only: leave out --quick")
    if given.list or not (given.names or given.render):
        _list()
        return 0
    results = _run(given, names)
    if given.render:
        for path in render():
            print(f"rendered {path.relative_to(ROOT)}")
    return 1 if any(result.missed for result in results) else 0


def _run(given: argparse.Namespace, names: list[str]) -> list[Result]:
    """Run checks; of all of them every one has a line and its part of a page, of a few every one has its table."""
    everything = "all" in names
    out = given.out or (OUT if everything else None)
    results: list[Result] = []
    wanted = CHECKS if everything else names
    # before anything runs: code that is edited meanwhile is not what ran
    codes = {name: stored.code_of(name) for name in wanted} if given.store else {}
    for name in wanted:
        result = check(name, quick=given.quick, out=out, say=_progress)
        results.append(result)
        print(summary(result) if everything else f"{as_text(result)}\n", flush=True)
        # after every check: a long run that is stopped keeps what it has
        if given.store:
            stored.store(stored.now(result, codes[name]))
        if given.json is not None:
            with atomic_path(given.json) as temporary:
                Path(temporary).write_text(
                    json.dumps([r.to_dict() for r in results], indent=1) + "\n", encoding="utf-8"
                )
        if everything and out is not None:
            write_page(results, out / PAGE, quick=given.quick)
    if results:
        targets, missed = sum(r.targets for r in results), sum(len(r.missed) for r in results)
        print(f"{targets - missed} of {targets} targets reached in {len(results)} checks")
        for result in results:
            for line in result.missed:
                print(f"  missed: {result.name}: {line.what}: {line.shown} ({line.target})")
        if everything and out is not None:
            print(f"pictures and series of all checks: {out / PAGE}")
    return results


def _list() -> None:
    """What each check does, and what of its kept result is older than the code."""
    for name in CHECKS:
        print(f"{name:18s} {title(name)}{_age(name)}")


def _age(name: str) -> str:
    try:
        kept = stored.load(name)
    except FileNotFoundError:
        return " [no result is kept]"
    return f" [result of {kept.date} is older than the code]" if kept.older else ""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="isocloth reproduce", description="Hold the simulator against known answers and the papers' tables."
    )
    parser.add_argument("names", nargs="*", metavar="name", help=f"all, or any of: {', '.join(CHECKS)}")
    parser.add_argument("--list", action="store_true", help="say what each check does, which results are old, and stop")
    parser.add_argument("--quick", action="store_true", help="small versions, seconds instead of minutes")
    parser.add_argument("--json", type=Path, metavar="file", help="write all numbers to this file")
    parser.add_argument("--store", action="store_true", help="keep the results in validation/results (not of --quick)")
    parser.add_argument("--render", action="store_true", help="write the pages of the documentation from what is kept")
    parser.add_argument(
        "-o", "--out", type=Path, metavar="folder",
        help=f"write plots, CSV files and finished runs here; of all also {PAGE} (default of all: {OUT})",
    )  # fmt: skip
    return parser


def _progress(message: str) -> None:
    print(f"  ... {message}", file=sys.stderr, flush=True)
