"""`isocloth bench`: options, and the order in which things are measured."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks import peer, tables
from benchmarks.accuracy import free_swing, swing_kept
from benchmarks.contact_phases import contact_phases
from benchmarks.contact_race import fold_from, race_folding, race_sliding
from benchmarks.contact_scenes import (
    DRAPE_NAME,
    DRAPE_SECONDS,
    FOLD_NAME,
    FOLD_PARTS,
    FOLD_SECONDS,
    SLOPE_SECONDS,
    drape,
    fold,
)
from benchmarks.contact_scenes import simulation as stage_simulation
from benchmarks.contact_tables import contact_phases_text, folding_text, sliding_text
from benchmarks.machine import machine
from benchmarks.phases import growth, phases
from benchmarks.race import Race, race
from benchmarks.startup import startup
from benchmarks.swing import TIMESTEP, simulation
from isocloth.base.files import atomic_path

SIZES = (9, 17, 33, 65, 100)
#: larger cloths run without the rival, and no longer and no oftener than this
LARGEST_FULL = 33
LARGE_SECONDS = 2.0
LARGE_REPEAT = 2
#: nodes per side of the napkin
CONTACT_SIZES = (10, 20)
QUICK_CONTACT_SIZES = (8,)
#: from which the largest is folded
STARTS = 6


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; print its tables on standard output, its progress on standard error."""
    args = _arguments(argv)
    with_peer = not args.no_peer
    if with_peer and peer.version() is None:
        print(f"{peer.NAME} is not installed: only isocloth is measured. To compare: {peer.INSTALL}")
        with_peer = False
    results: dict[str, Any] = {"machine": machine(), "options": {k: v for k, v in vars(args).items() if k != "json"}}
    _print(tables.machine_text(results["machine"]))
    if args.only != "contact":
        results |= _swing(args, with_peer)
    if args.only != "swing":
        results |= _contact(args, with_peer)
    if args.json:
        with atomic_path(Path(args.json)) as temporary:
            Path(temporary).write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return 0


def _swing(args: argparse.Namespace, with_peer: bool) -> dict[str, Any]:
    """The shaken cloth, which touches nothing."""
    quick = args.quick
    simulation(5).step()  # compiles, or loads what is compiled, before any clock runs
    races = [_race(nodes, args, with_peer) for nodes in args.sizes]
    _print(tables.speed_text(races), tables.steps_text(races), tables.quality_text(races))
    _say("phases")
    parts = [phases(nodes, steps=_phase_steps(nodes, quick)) for nodes in args.sizes]
    _print(tables.phases_text(parts))
    _say("start of a fresh process")
    start = startup(1 if quick else 3)
    _print(tables.startup_text(start, races))
    small = min(args.sizes)
    _say("swing kept")
    kept = swing_kept(small, args.seconds, limit_timestep=TIMESTEP / (2 if quick else 8))
    _print(tables.kept_text(kept))
    _say("energy of a free swing")
    free = free_swing(small, 1.0 if quick else 10.0, small_timestep=TIMESTEP / (2 if quick else 8))
    _print(tables.free_text(free, small))
    results: dict[str, Any] = {"races": [asdict(r) for r in races], "phases": [asdict(p) for p in parts]}
    if len(parts) > 1:
        results["growth"] = {
            name: growth(args.sizes, [getattr(p, name) for p in parts])
            for name in ("step", "assembly", "factorisation", "triangular", "flops", "memory")
        }
    results["startup"], results["swing_kept"] = asdict(start), asdict(kept)
    results["free_swing"] = [asdict(f) for f in free]
    return results


def _contact(args: argparse.Namespace, with_peer: bool) -> dict[str, Any]:
    """The napkin on a table and on a ball, and the sheet on a slope."""
    sizes = QUICK_CONTACT_SIZES if args.quick else CONTACT_SIZES
    found = []
    for nodes in sizes:
        _say(f"{nodes}x{nodes}: contact by phase, fold")
        found += contact_phases(FOLD_NAME, nodes, stage_simulation(fold(nodes)), FOLD_SECONDS, FOLD_PARTS)
        _say(f"{nodes}x{nodes}: contact by phase, drape")
        found += contact_phases(DRAPE_NAME, nodes, drape(nodes), DRAPE_SECONDS)
    _print(contact_phases_text(found))
    folded = [f for nodes in sizes for f in race_folding(nodes, args.repeat, with_peer=with_peer, say=_say)]
    starts = fold_from(2 if args.quick else STARTS, sizes[-1], say=_say)
    _print(folding_text(folded, starts))
    slid = race_sliding(
        6 if args.quick else 11, with_peer=with_peer, say=_say, seconds=1.0 if args.quick else SLOPE_SECONDS
    )
    _print(sliding_text(slid))
    return {
        "contact_phases": [asdict(p) | {"q": p.q, "detection_share": p.detection_share} for p in found],
        "folding": [asdict(f) for f in folded],
        "starts": asdict(starts),
        "sliding": [asdict(s) for s in slid],
    }


def _race(nodes: int, args: argparse.Namespace, with_peer: bool) -> Race:
    if nodes <= LARGEST_FULL:
        return race(nodes, args.seconds, args.repeat, with_peer=with_peer, say=_say)
    return race(
        nodes, min(args.seconds, LARGE_SECONDS), min(args.repeat, LARGE_REPEAT), with_peer=False, say=_say
    )  # fmt: skip


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
    parser.add_argument("--only", choices=("swing", "contact"), help="one part of the benchmark (default: both)")
    parser.add_argument("--no-peer", action="store_true", help=f"leave {peer.NAME} out")
    parser.add_argument("--json", metavar="FILE", help="write every number to a file, too")
    args = parser.parse_args(argv)
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


def _phase_steps(nodes: int, quick: bool) -> int:
    return 30 if quick else max(20, min(600, 600 * LARGEST_FULL**2 // (4 * nodes**2)))


def _print(*texts: str) -> None:
    for text in texts:
        print(text, flush=True)


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)
