"""What a check returns: a table of measured numbers beside their targets, with notes and series for plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.typing import FloatArray

Say = Callable[[str], None]


def silent(_: str) -> None:
    """Progress for those who do not want any."""


@dataclass(frozen=True)
class Line:
    """One measured number.

    what: what was measured, with its unit.
    measured: the number, as measured.
    shown: the number as text.
    target: what it has to be, as text; empty if it is printed for comparison only.
    paper: the papers' value, as text.
    reached: whether the target is met; None if there is none.
    """

    what: str
    measured: float
    shown: str
    target: str = ""
    paper: str = ""
    reached: bool | None = None


@dataclass(frozen=True)
class Series:
    """Columns over an abscissa, for a CSV file and a plot."""

    name: str
    x_label: str
    y_label: str
    x: FloatArray
    columns: dict[str, FloatArray]
    log: bool = False  # both axes logarithmic


@dataclass
class Result:
    """A finished check."""

    name: str
    title: str
    lines: list[Line] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    series: list[Series] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def reached(self) -> bool:
        """Whether every line that has a target meets it."""
        return all(line.reached is not False for line in self.lines)

    def info(self, what: str, value: float, fmt: str = ".3g", *, paper: str = "") -> float:
        """A number without a target."""
        self.lines.append(Line(what, float(value), format(float(value), fmt), paper=paper))
        return float(value)

    def below(self, what: str, value: float, limit: float, fmt: str = ".3g", *, paper: str = "") -> float:
        """A number that must not exceed a limit."""
        return self._target(what, value, fmt, f"<= {limit:g}", paper, value <= limit)

    def above(self, what: str, value: float, limit: float, fmt: str = ".3g", *, paper: str = "") -> float:
        """A number that must reach a limit."""
        return self._target(what, value, fmt, f">= {limit:g}", paper, value >= limit)

    def between(self, what: str, value: float, low: float, high: float, fmt: str = ".3g", *, paper: str = "") -> float:
        """A number that must lie in an interval."""
        return self._target(what, value, fmt, f"{low:g} .. {high:g}", paper, low <= value <= high)

    def near(
        self, what: str, value: float, goal: float, relative: float, fmt: str = ".4g", *, paper: str = ""
    ) -> float:
        """A number that must agree with another one, to a relative error."""
        target = f"{goal:{fmt}} +- {100 * relative:g} %"
        return self._target(what, value, fmt, target, paper, abs(value - goal) <= relative * abs(goal))

    def holds(self, what: str, truth: bool, target: str = "yes", *, paper: str = "") -> bool:
        """A statement that must be true."""
        self.lines.append(Line(what, float(truth), "yes" if truth else "no", target, paper, bool(truth)))
        return bool(truth)

    def _target(self, what: str, value: float, fmt: str, target: str, paper: str, reached: bool) -> float:
        # a number that is not finite never reaches its target: every comparison with NaN is false
        self.lines.append(Line(what, float(value), format(float(value), fmt), target, paper, bool(reached)))
        return float(value)

    def plot(
        self, name: str, x_label: str, y_label: str, x: ArrayLike, columns: dict[str, Any], *, log: bool = False
    ) -> None:
        """Keep columns over x for the output folder."""
        arrays = {key: np.asarray(value, dtype=np.float64) for key, value in columns.items()}
        self.series.append(Series(name, x_label, y_label, np.asarray(x, dtype=np.float64), arrays, log))

    def value(self, what: str) -> float:
        """The measured number of the line called `what`."""
        for line in self.lines:
            if line.what == what:
                return line.measured
        raise KeyError(f"no line {what!r} in {self.name}; there are {[line.what for line in self.lines]}")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; numbers that are not finite become None."""

        def number(value: float) -> float | None:
            return float(value) if np.isfinite(value) else None

        return {
            "name": self.name,
            "title": self.title,
            "reached": self.reached,
            "seconds": round(self.seconds, 3),
            "lines": [
                {
                    "what": line.what, "measured": number(line.measured), "shown": line.shown,
                    "target": line.target, "paper": line.paper, "reached": line.reached,
                }
                for line in self.lines
            ],
            "notes": list(self.notes),
        }  # fmt: skip


class Check(Protocol):
    """A check: its small version is quick, its full one makes the table of the documentation."""

    def __call__(self, quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
        """Run it; `out` is a folder for plots and the cache of finished runs, `say` takes progress messages."""
        ...


def table(result: Result) -> str:
    """The result as aligned text."""
    head = ("", "measured", "target", "paper", "reached")
    verdict = {None: "", True: "yes", False: "NO"}
    rows = [(x.what, x.shown, x.target, x.paper, verdict[x.reached]) for x in result.lines]
    text = [f"{result.name}: {result.title} ({result.seconds:.0f} s)", *_aligned([head, *rows])]
    return "\n".join([*text, *(f"  note: {note}" for note in result.notes)])


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    used = [c for c in range(len(rows[0])) if c < 2 or any(row[c] for row in rows[1:])]
    width = {c: max(len(row[c]) for row in rows) for c in used}
    return [
        ("  " + "  ".join(row[c].ljust(width[c]) if c == 0 else row[c].rjust(width[c]) for c in used)).rstrip()
        for row in rows
    ]
