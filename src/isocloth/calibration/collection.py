"""Many recordings, each calibrated for itself, and the papers' tables of them (thesis, table 4.5)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isocloth.base.errors import InputError, RecordingError
from isocloth.base.files import atomic_path
from isocloth.calibration.calibrate import calibrate
from isocloth.calibration.result import Calibration
from isocloth.recordings import Recording

#: what recordings are grouped by, as their names say
GROUPS = ("fabric", "sheet", "motion", "speed", "holder")


@dataclass(frozen=True)
class Entry:
    """One recording of a collection: what its name says, and the numbers of its calibration."""

    name: str
    said: dict[str, str]
    numbers: dict[str, Any]

    @property
    def mean(self) -> float:
        """Mean error in the test window, m."""
        return float(self.numbers["recordings"][0]["model"]["mean"])

    @property
    def deviation(self) -> float:
        """Mean standard deviation over the markers, m."""
        return float(self.numbers["recordings"][0]["model"]["deviation"])

    @property
    def pendulum(self) -> float:
        """Mean error of the fitted damped pendulum, m."""
        rivals = self.numbers["recordings"][0]["baselines_mean_m"]
        return float(next(v for k, v in rivals.items() if k.startswith("pendulum")))


def calibrate_each(
    paths: Iterable[Path],
    folder: Path,
    *,
    load: dict[str, Any] | None = None,
    say: Callable[[str], None] = lambda _: None,
    **options: Any,
) -> tuple[list[Entry], list[str]]:
    """Calibrate every file and keep its numbers in the folder; what is there already is not computed again.

    Returns the entries, and for each file that could not be used what was wrong with it.
    """
    folder.mkdir(parents=True, exist_ok=True)
    entries, refused = [], []
    for path in sorted(paths):
        kept = folder / f"{path.stem}.json"
        if kept.exists():
            try:
                stored = json.loads(kept.read_text(encoding="utf-8"))
                entries.append(Entry(path.stem, stored["said"], stored["numbers"]))
                continue
            except (ValueError, KeyError) as error:
                raise InputError(f"{str(kept)!r} is damaged ({error}); delete it") from None
        say(path.stem)
        try:
            recording = Recording.load(path, **(load or {}))
            found: Calibration = calibrate(recording, **options)
        except RecordingError as error:
            refused.append(f"{path.name}: {error}")
            continue
        said = {k: str(v) for k, v in recording.metadata.items() if k in GROUPS}
        entry = Entry(path.stem, said, found.to_dict())
        with atomic_path(kept) as temporary:
            temporary.write_text(json.dumps({"said": entry.said, "numbers": entry.numbers}, indent=1), encoding="utf-8")
        entries.append(entry)
    return entries, refused


def papers_table(entries: Sequence[Entry]) -> str:
    """Mean errors and standard deviations of every recording and of every group, cm."""
    if not entries:
        return "no recordings"
    width = max(12, *(len(e.name) for e in entries)) + 2
    names = list(entries[0].numbers["values"])
    lines = [
        f"{'':{width}s}" + "".join(f"{n:>17s}" for n in names) + f"{'mean e, cm':>12s}{'mean s':>9s}{'pendulum':>10s}"
    ]
    for e in entries:
        fitted = "".join(f"{e.numbers['values'].get(n, np.nan):17.4f}" for n in names)
        lines.append(f"{e.name:{width}s}{fitted}{1e2 * e.mean:12.3f}{1e2 * e.deviation:9.3f}{1e2 * e.pendulum:10.3f}")
    lines.append("")
    gap = " " * (17 * len(names))
    for key in GROUPS:
        values = sorted({e.said[key] for e in entries if key in e.said})
        lines += [_row(v, width, gap, [e for e in entries if e.said.get(key) == v]) for v in values]
    lines.append(_row("all", width, gap, entries))
    return "\n".join(lines)


def _row(name: str, width: int, gap: str, group: Sequence[Entry]) -> str:
    mean, deviation, pendulum = (
        float(np.mean([getattr(e, what) for e in group])) for what in ("mean", "deviation", "pendulum")
    )
    return f"{name:{width}s}{gap}{1e2 * mean:12.3f}{1e2 * deviation:9.3f}{1e2 * pendulum:10.3f}  ({len(group)})"
