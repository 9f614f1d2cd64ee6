"""`isocloth bench`: options, and the order in which things are measured."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import peer, tables
from benchmarks.machine import machine
from benchmarks.parts import SIZES, measure_contact, measure_swing
from benchmarks.render import pages
from benchmarks.stored import code_of_benchmarks, now, store
from benchmarks.swing import TIMESTEP
from isocloth.base.errors import MissingLibraryError
from isocloth.base.files import atomic_path
from validation.pages import ROOT, write

#: what --only names -> what measures it
PARTS = {"swing": measure_swing, "contact": measure_contact}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; print its tables on standard output, its progress on standard error."""
    args = _arguments(argv)
    if args.render:
        for path in write(pages()):
            print(f"rendered {path.relative_to(ROOT)}")
        return 0
    with_peer = not args.no_peer
    if with_peer and peer.version() is None:
        if args.store:
            raise MissingLibraryError(
                f"--store keeps numbers beside {peer.NAME}'s, which is not installed: {peer.INSTALL}"
            )
        print(f"{peer.NAME} is not installed: only isocloth is measured. To compare: {peer.INSTALL}")
        with_peer = False
    about, code = machine(), code_of_benchmarks() if args.store else ""
    options = {k: v for k, v in vars(args).items() if k not in ("json", "store", "render")}
    results: dict[str, Any] = {"machine": about, "options": options}
    print(tables.machine_text(about), flush=True)
    for part, measure in PARTS.items():
        if args.only in (None, part):
            printed: list[str] = []

            def tell(text: str, printed: list[str] = printed) -> None:
                print(text, flush=True)
                printed.append(text)

            found = measure(args, with_peer, tell)
            results |= found
            if args.store:
                store(now(part, code, about, printed, found))
    if args.json:
        with atomic_path(Path(args.json)) as temporary:
            Path(temporary).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="isocloth bench",
        description=f"Time isocloth on a shaken cloth and on a folded napkin, beside {peer.NAME} in the same run, and "
        "check what it keeps.",
    )
    parser.add_argument("--sizes", type=_sizes, help="nodes per side, e.g. 9,17,33 (default 9,17,33,65,100)")
    parser.add_argument("--seconds", type=_positive, help="simulated seconds of the swing (default 14; large cloths 2)")
    parser.add_argument("--repeat", type=int, help="runs of each simulator, of which the best counts (default 3)")
    parser.add_argument("--quick", action="store_true", help="a smoke test: 9x9, 1 s, one run; its times mean little")
    parser.add_argument("--only", choices=tuple(PARTS), help="one part of the benchmark (default: both)")
    parser.add_argument("--no-peer", action="store_true", help=f"leave {peer.NAME} out")
    parser.add_argument("--json", metavar="FILE", help="write every number to a file, too")
    parser.add_argument("--store", action="store_true", help="keep the results in benchmarks/results (whole ones only)")
    parser.add_argument("--render", action="store_true", help="write the documentation's tables from what is kept")
    args = parser.parse_args(argv)
    if args.store and (args.quick or args.no_peer or args.sizes or args.seconds or args.repeat is not None):
        parser.error("--store keeps whole benchmarks only: leave out every option but --only and --json")
    args.sizes = args.sizes or ((9,) if args.quick else SIZES)
    args.seconds = args.seconds or (1.0 if args.quick else 14.0)
    args.repeat = (1 if args.quick else 3) if args.repeat is None else args.repeat
    if args.repeat < 1:
        parser.error(f"--repeat {args.repeat}: expected at least 1")
    if args.seconds < 2 * TIMESTEP:
        parser.error(f"--seconds {args.seconds:g}: expected at least two time steps, {2 * TIMESTEP:g}")
    return args


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}: expected whole numbers, e.g. 9,17,33") from None
    if min(sizes) < 3 or len(set(sizes)) < len(sizes):
        raise argparse.ArgumentTypeError(f"{text!r}: expected different sizes of at least 3 nodes per side")
    return sizes


def _positive(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r}: expected a positive number of seconds")
    return value
