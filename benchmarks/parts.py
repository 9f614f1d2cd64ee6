"""What the benchmark measures, in two parts: a cloth that touches nothing, and contact."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from benchmarks import tables
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
from benchmarks.phases import growth, phases
from benchmarks.race import Race, race
from benchmarks.startup import startup
from benchmarks.swing import TIMESTEP, simulation

#: takes a table as soon as it is measured
Tell = Callable[[str], None]

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


def measure_swing(args: argparse.Namespace, with_peer: bool, tell: Tell) -> dict[str, Any]:
    """The shaken cloth, which touches nothing."""
    quick = args.quick
    simulation(5).step()  # compiles, or loads what is compiled, before any clock runs
    races = [_race(nodes, args, with_peer) for nodes in args.sizes]
    tell(tables.speed_text(races))
    tell(tables.steps_text(races))
    tell(tables.quality_text(races))
    _say("phases")
    parts = [phases(nodes, steps=_phase_steps(nodes, quick)) for nodes in args.sizes]
    tell(tables.phases_text(parts))
    _say("start of a fresh process")
    start = startup(1 if quick else 3)
    tell(tables.startup_text(start, races))
    small = min(args.sizes)
    _say("swing kept")
    kept = swing_kept(small, args.seconds, limit_timestep=TIMESTEP / (2 if quick else 8))
    tell(tables.kept_text(kept))
    _say("energy of a free swing")
    free = free_swing(small, 1.0 if quick else 10.0, small_timestep=TIMESTEP / (2 if quick else 8))
    tell(tables.free_text(free, small))
    results: dict[str, Any] = {"races": [asdict(r) for r in races], "phases": [asdict(p) for p in parts]}
    if len(parts) > 1:
        results["growth"] = {
            name: growth(args.sizes, [getattr(p, name) for p in parts])
            for name in ("step", "assembly", "factorisation", "triangular", "flops", "memory")
        }
    results["startup"], results["swing_kept"] = asdict(start), asdict(kept)
    results["free_swing"] = [asdict(f) for f in free]
    return results


def measure_contact(args: argparse.Namespace, with_peer: bool, tell: Tell) -> dict[str, Any]:
    """The napkin on a table and on a ball, and the sheet on a slope."""
    sizes = QUICK_CONTACT_SIZES if args.quick else CONTACT_SIZES
    found = []
    for nodes in sizes:
        _say(f"{nodes}x{nodes}: contact by phase, fold")
        found += contact_phases(FOLD_NAME, nodes, stage_simulation(fold(nodes)), FOLD_SECONDS, FOLD_PARTS)
        _say(f"{nodes}x{nodes}: contact by phase, drape")
        found += contact_phases(DRAPE_NAME, nodes, drape(nodes), DRAPE_SECONDS)
    tell(contact_phases_text(found))
    folded = [f for nodes in sizes for f in race_folding(nodes, args.repeat, with_peer=with_peer, say=_say)]
    starts = fold_from(2 if args.quick else STARTS, sizes[-1], say=_say)
    tell(folding_text(folded, starts))
    slid = race_sliding(
        6 if args.quick else 11, with_peer=with_peer, say=_say, seconds=1.0 if args.quick else SLOPE_SECONDS
    )
    tell(sliding_text(slid))
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


def _phase_steps(nodes: int, quick: bool) -> int:
    return 30 if quick else max(20, min(600, 600 * LARGEST_FULL**2 // (4 * nodes**2)))


def _say(text: str) -> None:
    print(f"bench: {text}", file=sys.stderr, flush=True)
