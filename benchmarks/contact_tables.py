"""Results with contact as text."""

from __future__ import annotations

import math
from collections.abc import Sequence

from benchmarks.contact_phases import DETECTION_TARGET, PHASES, ContactPhases
from benchmarks.contact_race import APART, EVERY, OWN, OWN_WITHOUT, Folded, Slid, Starts
from benchmarks.contact_scenes import FOLD_NAME, SLOPE, STICKS
from benchmarks.peer import NAME
from benchmarks.tables import section, table
from validation.intersections import INSTALL

#: nodes per side of the napkin that has to be folded faster than real time
JUDGED = 20


def contact_phases_text(found: Sequence[ContactPhases]) -> str:
    """Where the time of steps with contact goes, and whether detection takes too much of it."""
    rows, counts = [], []
    for p in found:
        cloth = f"{p.nodes}x{p.nodes} {p.scene}" if not p.part else f"- {p.part}"
        spent = [getattr(p, name) for name in PHASES]
        rows.append(
            [
                cloth, f"{p.simulated:.2f}", f"{p.q:.2f}", f"{1e3 * p.seconds / p.steps:.2f}",
                f"{1e3 * p.worst_step:.1f}", *(f"{1e3 * t / p.steps:.2f} ({100 * t / p.seconds:.0f} %)" for t in spent),
            ]
        )  # fmt: skip
        counts.append(
            [
                cloth, f"{p.linearisations:.2f}", f"{p.solves:.2f}", str(p.most_solves), f"{p.contacts:.0f}",
                str(p.most_contacts), str(p.ordered_anew), str(p.cut), str(p.unconverged),
            ]
        )  # fmt: skip
    header = ["scene", "simulated s", "q", "step ms", "worst step ms", "detection", "ordering", "assembly",
              "factorisation", "triangular", "law of contact", "rest of solve", "Python"]  # fmt: skip
    count_header = ["scene", "linearisations per step", "solves per step", "most solves", "contacts", "most contacts",
                    "factor laid out anew", "steps cut", "unconverged"]  # fmt: skip
    wholes = [p for p in found if not p.part]
    worst = max(wholes, key=lambda p: p.detection_share)
    lines = [
        f"Detection below {100 * DETECTION_TARGET:g} % of the step: "
        f"{_reached(worst.detection_share < DETECTION_TARGET)}, at most {100 * worst.detection_share:.0f} % of a scene"
    ]
    return section(
        "Contact: processor time of a step by phase, milliseconds (q = computing / simulated time)",
        table(header, rows), "", table(count_header, counts), "", *_list(lines),
    )  # fmt: skip


def folding_text(found: Sequence[Folded], starts: Starts) -> str:
    """The napkin folded by both, and by isocloth from several starts."""
    rows = [
        [
            f"{f.nodes}x{f.nodes} {_who(f.simulator)}", _yes(f.friction), f"{f.q:.2f}", f"{1 / f.q:.2f}",
            f"{1e3 * f.worst_step:.0f}", "-" if f.intersecting is None else f"{f.intersecting} of {f.frames}",
            _distance(f), f"{1e3 * f.depth:.3f}", f"{100 * f.edge_stretch:.3f} %", f"{1e3 * f.height:.1f}",
            f"{1e3 * f.speed:.1e}", f.trouble or "-", ", ".join(f"{q:.2f}" for q in f.every),
        ]
        for f in found
    ]  # fmt: skip
    header = ["cloth", "friction", "q", "x real time", "worst step ms", "frames with intersections",
              "layers apart mm", "depth in table mm", "edge stretch max", "height at end mm", "speed at end mm/s",
              "trouble", "q, every run"]  # fmt: skip
    notes = [f"Frames every {1e3 * EVERY:g} ms, judged by ipctk; layers should be 1 mm apart, two of them 2.5 mm high"]
    if any(f.intersecting is None for f in found):
        notes.append(f"ipctk is not installed: intersections were not looked for. To look: {INSTALL}")
    cloth = f"{starts.nodes}x{starts.nodes}"
    q, solves = (", ".join(f"{value:.2f}" for value in values) for values in (starts.q, starts.solves))
    notes.append(
        f"{cloth} from {len(starts.q)} starts that differ by {1e6 * APART:g} um: q {q}; solves per step {solves}; "
        f"{starts.unconverged} steps unconverged"
    )
    if starts.nodes == JUDGED:
        notes.append(
            f"{cloth} {FOLD_NAME} faster than real time: {_reached(starts.mean < 1.0)}, mean q = {starts.mean:.2f}"
        )
    for nodes in sorted({f.nodes for f in found}):
        notes += _best(nodes, [f for f in found if f.nodes == nodes])
    return section(f"Contact: {FOLD_NAME} on a table, 10 ms, one thread", table(header, rows), "", *_list(notes))


def sliding_text(found: Sequence[Slid]) -> str:
    """The sheet on a slope."""
    rows = [
        [
            f"{s.nodes}x{s.nodes} {_who(s.simulator)}", _yes(s.friction), f"{s.seconds:g}", _millimetres(s.moved),
            _millimetres(s.later), f"{s.q:.2f}", s.trouble or "-",
        ]
        for s in found
    ]  # fmt: skip
    header = ["cloth", "friction", "seconds", "moved mm", "in the second half mm", "q", "trouble"]
    title = f"Contact: creep on a slope of {math.degrees(SLOPE):g} degrees, mu = {STICKS:g} tan, 10 ms"
    return section(title, table(header, rows))


def _best(nodes: int, found: Sequence[Folded]) -> list[str]:
    """isocloth's speed over that of the rival's fastest way that lets no layer through, with and without friction."""
    rivals = [f for f in found if f.simulator not in (OWN, OWN_WITHOUT)]
    if not rivals or any(f.intersecting is None for f in found):
        return []
    told = []
    for own in (f for f in found if f.simulator in (OWN, OWN_WITHOUT)):
        case = f"{nodes}x{nodes}, {'with' if own.friction else 'without'} friction"
        sound = [f for f in rivals if f.friction == own.friction and f.intersecting == 0 and not f.trouble]
        if sound:
            best = min(sound, key=lambda f: f.q)
            told.append(f"{case}: isocloth is {best.q / own.q:.2f} times as fast as {NAME}, {best.simulator}")
        else:
            told.append(f"{case}: {NAME} lets layers through in every way it was tried")
    return told


def _who(simulator: str) -> str:
    return simulator if simulator in (OWN, OWN_WITHOUT) else f"{NAME}, {simulator}"


def _distance(f: Folded) -> str:
    if f.distance is None or f.intersecting:
        return "-"
    return f"{1e3 * f.distance:.3f}"


def _millimetres(metres: float) -> str:
    return f"{1e3 * metres:.3f}" if metres > 1e-6 else f"{1e3 * metres:.1e}"


def _list(lines: Sequence[str]) -> list[str]:
    return [f"- {line}" for line in lines]


def _reached(reached: bool) -> str:
    return "reached" if reached else "MISSED"


def _yes(value: bool) -> str:
    return "yes" if value else "no"
