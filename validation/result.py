"""What a check returns: a table of measured numbers beside their targets, with notes and series for plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.typing import FloatArray

Say = Callable[[str], None]


def silent(_: str) -> None:
    """Progress for those who do not want any."""


#: format of a line that is a statement
TRUTH = "yes or no"


@dataclass(frozen=True)
class Line:
    """One measured number.

    what: what was measured, with its unit.
    measured: the number, as measured.
    format: how it is shown: a format of Python, or TRUTH.
    target: what it has to be, as text; empty if it is printed for comparison only.
    low, high: the target as numbers, between which it has to lie; None where there is no bound.
    paper: the papers' value, as text.
    reached: whether the target is met; None if there is none.
    """

    what: str
    measured: float
    format: str = ".3g"
    target: str = ""
    low: float | None = None
    high: float | None = None
    paper: str = ""
    reached: bool | None = None

    @property
    def shown(self) -> str:
        """The number as text."""
        if self.format == TRUTH:
            return "yes" if self.measured else "no"
        return format(self.measured, self.format)

    @property
    def used(self) -> float:
        """The share of what the target allows that is used up: above 1 is missed, 0 is exactly what is wanted."""
        if self.reached is None:
            return 0.0
        if not np.isfinite(self.measured):
            return 0.0 if self.reached else np.inf
        if self.low is not None and self.high is not None:
            middle, half = 0.5 * (self.low + self.high), 0.5 * (self.high - self.low)
            return _share(abs(self.measured - middle), half)
        if self.high is not None:
            return _share(self.measured, self.high)
        if self.low is None:
            return 0.0 if self.reached else np.inf
        if self.low < 0.0:  # so far below zero is allowed
            return max(0.0, self.measured / self.low)
        return _share(self.low, self.measured)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, from which `from_dict` makes the line again; a number that is not finite is text."""
        known = asdict(self)
        known["measured"] = self.measured if np.isfinite(self.measured) else str(self.measured)
        return {key: value for key, value in known.items() if value not in ("", None)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Line:
        """A line from plain data."""
        return cls(**{**data, "measured": float(data["measured"])})


def _share(value: float, of: float) -> float:
    """value / of; a whole number that is met exactly, such as 0 failures or 100 %, uses up nothing."""
    if value == of and float(of).is_integer():
        return 0.0
    return value / of if of > 0.0 else (np.inf if value > of else 0.0)


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
    pictures: list[str] = field(default_factory=list)  # names of files in the folder of the run

    @property
    def reached(self) -> bool:
        """Whether every line that has a target meets it."""
        return all(line.reached is not False for line in self.lines)

    @property
    def worst(self) -> Line | None:
        """The line that uses up most of what its target allows; None if there is no target."""
        judged = [line for line in self.lines if line.reached is not None]
        return max(judged, key=lambda line: line.used, default=None)

    @property
    def missed(self) -> list[Line]:
        """Lines that do not meet their targets."""
        return [line for line in self.lines if line.reached is False]

    @property
    def targets(self) -> int:
        """How many lines have a target."""
        return sum(line.reached is not None for line in self.lines)

    def info(self, what: str, value: float, fmt: str = ".3g", *, paper: str = "") -> float:
        """A number without a target."""
        self.lines.append(Line(what, float(value), fmt, paper=paper))
        return float(value)

    def below(self, what: str, value: float, limit: float, fmt: str = ".3g", *, paper: str = "") -> float:
        """A number that must not exceed a limit."""
        return self._target(what, value, fmt, f"<= {limit:g}", None, limit, paper)

    def above(self, what: str, value: float, limit: float, fmt: str = ".3g", *, paper: str = "") -> float:
        """A number that must reach a limit."""
        return self._target(what, value, fmt, f">= {limit:g}", limit, None, paper)

    def between(self, what: str, value: float, low: float, high: float, fmt: str = ".3g", *, paper: str = "") -> float:
        """A number that must lie in an interval."""
        return self._target(what, value, fmt, f"{low:g} .. {high:g}", low, high, paper)

    def near(
        self, what: str, value: float, goal: float, relative: float, fmt: str = ".4g", *, paper: str = ""
    ) -> float:
        """A number that must agree with another one, to a relative error."""
        target, away = f"{goal:{fmt}} +- {100 * relative:g} %", relative * abs(goal)
        return self._target(what, value, fmt, target, goal - away, goal + away, paper)

    def holds(self, what: str, truth: bool, target: str = "yes", *, paper: str = "") -> bool:
        """A statement that must be true."""
        line = Line(what, float(truth), TRUTH, target, paper=paper, reached=bool(truth))
        self.lines.append(line)
        return bool(truth)

    def _target(
        self, what: str, value: float, fmt: str, target: str, low: float | None, high: float | None, paper: str
    ) -> float:
        # NaN reaches no target: every comparison with it is false
        reached = bool((low is None or value >= low) and (high is None or value <= high))
        least, most = (None if bound is None else float(bound) for bound in (low, high))
        self.lines.append(Line(what, float(value), fmt, target, least, most, paper, reached))
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
        """Plain data for JSON, without the series."""
        return {
            "name": self.name,
            "title": self.title,
            "reached": self.reached,
            "seconds": round(self.seconds, 3),
            "lines": [line.to_dict() for line in self.lines],
            "notes": list(self.notes),
        }


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


def summary(result: Result) -> str:
    """The result in one line: its verdict, the number nearest to its target or farthest beyond, and the time."""
    verdict = f"{result.targets - len(result.missed)} of {result.targets}"
    return f"{result.name:18s} {verdict:>10s}  {worst_text(result)}  ({result.seconds:.0f} s)"


def worst_text(result: Result) -> str:
    """The worst line: what, its number and its target."""
    worst = result.worst
    return "no target" if worst is None else f"{worst.what}: {worst.shown} ({worst.target})"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    used = [c for c in range(len(rows[0])) if c < 2 or any(row[c] for row in rows[1:])]
    width = {c: max(len(row[c]) for row in rows) for c in used}
    return [
        ("  " + "  ".join(row[c].ljust(width[c]) if c == 0 else row[c].rjust(width[c]) for c in used)).rstrip()
        for row in rows
    ]
