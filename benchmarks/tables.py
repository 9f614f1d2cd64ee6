"""Results as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import dropwhile, takewhile

from benchmarks.accuracy import TOLERANCE, FreeSwing, Kept
from benchmarks.peer import NAME
from benchmarks.phases import Phases, growth
from benchmarks.race import Entry, Race
from benchmarks.startup import Startup

#: s; the range of a shorter swing says nothing yet
SHORTEST_JUDGED = 5.0


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, the first to the left and the others to the right; valid Markdown."""
    widths = [max(len(r[c]) for r in [header, *rows]) for c in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = [cells[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))]
        return "| " + " | ".join(padded) + " |"

    rule = [":" + "-" * (widths[0] - 1), *("-" * (w - 1) + ":" for w in widths[1:])]
    return "\n".join([line(header), line(rule), *(line(r) for r in rows)])


def cells(text: str) -> dict[str, dict[str, str]]:
    """The first table of a text again: first cell of a row -> column -> cell."""
    lines = dropwhile(lambda line: not line.startswith("|"), text.splitlines())
    rows = [line.strip().strip("|").split("|") for line in takewhile(lambda line: line.startswith("|"), lines)]
    header, _, *body = ([cell.strip() for cell in row] for row in rows)
    return {row[0]: dict(zip(header[1:], row[1:], strict=True)) for row in body}


def section(title: str, *parts: str) -> str:
    """A title and what stands below it."""
    return "\n".join([f"\n## {title}\n", *parts])


def machine_text(machine: dict[str, str]) -> str:
    """The machine and the versions."""
    return section("Machine", *(f"{name}: {value}" for name, value in machine.items()))


def speed_text(races: Sequence[Race]) -> str:
    """Times of both simulators."""
    rows = []
    for r in races:
        other = r.peer
        rows.append(
            [
                _cloth(r.nodes), f"{r.seconds:g}",
                _speed(r.isocloth.real_time), _speed(other.real_time if other else None),
                _number(r.ratio, ".2f"), _number(r.undisturbed_ratio, ".2f"),
                _number(r.target, "g"), _verdict(r.reached),
                _runs(r.isocloth), _runs(other) if other else "-",
            ]
        )  # fmt: skip
    header = ["cloth", "seconds", "isocloth x real time", f"{NAME} x real time", "ratio", "undisturbed", "target",
              "target reached", "isocloth, every run", f"{NAME}, every run"]  # fmt: skip
    return section("Speed of the swing at 10 ms, one thread (best of the runs, taken in turn)", table(header, rows))


def steps_text(races: Sequence[Race]) -> str:
    """Single steps."""
    rows = []
    for r in races:
        for name, e in _both(r):
            rows.append(
                [
                    f"{_cloth(r.nodes)} {name}", _number(e.median_step_ms, ".3f"), _number(e.worst_step_ms, ".3f"),
                    _number(e.repeatable_worst_step_ms, ".3f"), _number(e.solves_per_step, ".3f"),
                    _number(e.most_solves, "d"), _number(e.unconverged_steps, "d"), f"{e.threads:.2f}",
                    "yes" if e.same_bits else "NO",
                ]
            )  # fmt: skip
    header = ["cloth", "median step ms", "worst step ms", "worst, repeatable ms", "solves per step", "most solves",
              "unconverged", "threads", "same bits"]  # fmt: skip
    return section("Single steps", table(header, rows))


def quality_text(races: Sequence[Race]) -> str:
    """What the cloth kept."""
    rows = []
    for r in races:
        for name, e in _both(r):
            rows.append(
                [
                    f"{_cloth(r.nodes)} {name}", _number(e.isometry_error, ".2e"), _percent(e.edge_stretch_max),
                    _percent(e.edge_stretch_rms), _percent(e.area_error_max), f"{e.tip_half_range:.4f}",
                    f"{r.seconds / 2:g} - {r.seconds:g}", e.trouble or "-",
                ]
            )  # fmt: skip
    header = ["cloth", "isometry error", "edge stretch max", "edge stretch rms", "total area error", "tip half range m",
              "over s", "trouble"]  # fmt: skip
    return section("What the cloth kept (largest over the run)", table(header, rows))


def phases_text(all_phases: Sequence[Phases]) -> str:
    """Where the time goes, and how it grows."""
    rows = []
    for p in all_phases:
        times = (p.rows, p.assembly, p.factorisation, p.triangular, p.rest_of_solve, p.outside)
        rows.append(
            [
                _cloth(p.nodes), f"{p.step:.0f}", *(f"{t:.0f} ({100 * t / p.step:.0f} %)" for t in times),
                str(p.solves), f"{p.flops / 1e6:.2f}", f"{p.gigaflops:.1f}", f"{p.memory / 2**20:.2f}",
            ]
        )  # fmt: skip
    header = ["cloth", "step us", "rows", "assembly", "factorisation", "triangular", "rest of solve", "Python",
              "solves", "Mflop per factor", "Gflop/s", "factor MiB"]  # fmt: skip
    parts = [table(header, rows)]
    if len(all_phases) > 1:
        sizes = [p.nodes for p in all_phases]
        slopes = {
            "step": [p.step for p in all_phases],
            "factorisation": [p.factorisation for p in all_phases],
            "flops": [float(p.flops) for p in all_phases],
            "memory": [float(p.memory) for p in all_phases],
        }
        fitted = ", ".join(f"{name} {growth(sizes, values):.2f}" for name, values in slopes.items())
        parts.append(f"\nGrowth with the number of nodes, exponent fitted in log-log: {fitted}")
    return section("Time of a typical step by phase, microseconds", *parts)


def startup_text(start: Startup, races: Sequence[Race]) -> str:
    """A fresh process, and set-up."""
    every = ", ".join(f"{t:.2f}" for t in start.all_total)
    first = (
        f"A fresh process with compiled kernels: {start.total:.2f} s to the end of its first step (import "
        f"{start.importing:.2f}, set-up {start.setup:.2f}, step {start.first_step:.2f}; every run: {every}); target "
        f"< {start.target:g} s: {_verdict(start.reached)}"
    )
    rows = [[f"{_cloth(r.nodes)} {name}", f"{e.setup_seconds:.3f}"] for r in races for name, e in _both(r)]
    return section("Start and set-up", first + "\n", table(["cloth", "set-up s"], rows))


def kept_text(kept: Kept) -> str:
    """The swing against its small-step limit."""
    rows = [
        ["default, 10 ms", f"{kept.default:.4f}", f"{100 * kept.default_error:+.2f} %"],
        ["implicit Euler, 10 ms", f"{kept.euler:.4f}", f"{100 * kept.euler_error:+.2f} %"],
        [f"limit, {1e3 * kept.limit_timestep:g} ms, tight", f"{kept.limit:.4f}", "-"],
    ]
    judged = _verdict(kept.reached) if kept.seconds >= SHORTEST_JUDGED else "not judged, the run is too short"
    verdict = f"\nDefault within {100 * TOLERANCE:g} % of the limit: {judged}"
    if kept.limit_unconverged:
        verdict += f"; {kept.limit_unconverged} steps of the limit did not meet the tight tolerance"
    title = f"Swing kept, {_cloth(kept.nodes)}, {kept.seconds / 2:g} - {kept.seconds:g} s"
    return section(title, table(["", "tip half range m", "against the limit"], rows), verdict)


def free_text(runs: Sequence[FreeSwing], nodes: int) -> str:
    """Energy of the free swing."""
    rows = [
        [
            f"{r.name}, {1e3 * r.timestep:g} ms", *(f"{1e3 * e:.3f}" for e in (
                r.kinetic_start, r.potential_start, r.kinetic_end, r.potential_end)),
            f"{100 * r.lost:.2f} %", str(r.unconverged),
        ]
        for r in runs
    ]  # fmt: skip
    header = [
        "",
        "kinetic, start mJ",
        "potential, start mJ",
        "kinetic, end mJ",
        "potential, end mJ",
        "lost",
        "unconverged",
    ]
    title = (
        f"Energy of a free swing without damping, {_cloth(nodes)}, {runs[0].seconds:g} s (above the hanging cloth's)"
    )
    return section(title, table(header, rows))


def _both(r: Race) -> list[tuple[str, Entry]]:
    return [("isocloth", r.isocloth)] + ([(NAME, r.peer)] if r.peer else [])


def _cloth(nodes: int) -> str:
    return f"{nodes}x{nodes}"


def _runs(entry: Entry) -> str:
    return ", ".join(_speed(v) for v in entry.all_real_time)


def _speed(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.1f}" if value >= 10.0 else f"{value:.2f}"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None or not math.isfinite(value) else format(value, form)


def _percent(value: float) -> str:
    return f"{100 * value:.4f} %"


def _verdict(reached: bool | None) -> str:
    return "-" if reached is None else ("yes" if reached else "NO")
