"""Pages of the documentation from kept results and notes: `isocloth reproduce --render`, `python -m validation.render`.

- docs/validation.md: a line for every check, with its worst number, its verdict, and whether it is older than the code.
- docs/validation/<check>.md: the notes of a check and all of its numbers.
- README.md: a few chosen numbers, between the marks `<!-- rendered: validation -->` and `<!-- end -->`.

The mark "older than the code" is part of the pages, so that a reader sees it. It is set by the first change of code
after a result was kept, and later changes leave it: pages are rendered again once, and not after every commit. A test
renders again and compares, and says what to run.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from isocloth.base.errors import InputError, MissingFileError
from validation.checks import CHECKS
from validation.headlines import HEADLINES
from validation.pages import OLDER, ROOT, Page, fill, write
from validation.result import Line
from validation.stored import Stored, load

NOTES = Path(__file__).parent / "notes"
NOTICE = "<!-- rendered by `make render` from validation/results and validation/notes: do not edit -->"
#: missed targets that the overview names of a check
NAMED = 3

INTRODUCTION = """# Validation

Every number here comes from a command. `isocloth reproduce --list` names the checks, `isocloth reproduce <name>` runs
one and prints its table, `isocloth reproduce all` runs all of them and prints a line for each; `--quick` runs small
versions in seconds (these are also in the test suite), `-o folder` leaves plots (SVG) and CSV files, `--json file` all
numbers. The command returns 0 if every target is reached and 1 otherwise; a target that is missed is printed as `NO`,
with the number. The commands need the repository: checks are no part of the installed package.

The papers are Coltraro, Amorós, Alberich-Carramiñana and Torras, *An inextensible model for the robotic manipulation
of textiles*, and Coltraro's thesis; "paper" columns quote them.

Results of whole checks are kept as data (`validation/results`), by `isocloth reproduce <name> --store`, with the
machine, the day and a fingerprint of the code that the check depends on; `make render` makes these pages of them. A
result whose code has changed since, or was not recorded, is marked as {older}. The worst number is the one that
uses up most of what its target allows.

What a converged step cannot miss, because the solver accepts no other, is no target: its own gap, residual of
Coulomb's law and isometry error are printed as information, and lengths of edges and distances measured of positions
stand beside them. In results of version 0.1.0, which were pasted into this page before, such targets were taken off.
"""


def pages(root: Path = ROOT, results: Path | None = None, notes: Path = NOTES) -> list[Page]:
    """All pages, as they have to be."""
    kept = {name: load(name, results) for name in CHECKS}
    details = [Page(f"docs/validation/{name}.md", _detail(kept[name], notes / f"{name}.md")) for name in CHECKS]
    readme = (root / "README.md").read_text(encoding="utf-8")
    front = fill(readme, "validation", headline_table(kept), "README.md")
    return [Page("docs/validation.md", _overview(list(kept.values()))), *details, Page("README.md", front)]


def render(root: Path = ROOT, results: Path | None = None, notes: Path = NOTES) -> list[Path]:
    """Write all pages that differ, and take away those of checks that are no more; returns what was changed."""
    wanted = pages(root, results, notes)
    changed = write(wanted, root)
    for path in sorted((root / "docs" / "validation").glob("*.md")):
        if f"docs/validation/{path.name}" not in {page.path for page in wanted}:
            path.unlink()
            changed.append(path)
    return changed


def headline_table(kept: dict[str, Stored]) -> str:
    """The chosen numbers, and the verdict of all checks."""
    rows = []
    for claim, check, what in HEADLINES:
        stored = kept[check]
        line = next((x for x in stored.result.lines if x.what.startswith(what)), None)
        if line is None:
            raise InputError(f"validation/headlines.py names {what!r}, which {check} has no line of: choose another")
        link = f"[{check}](docs/validation/{check}.md)"
        rows.append([claim, line.shown, line.target, f"{link}, {stored.date}{', older' if stored.older else ''}"])
    table = _table(["", "measured", "target", "check"], rows)
    wanted = sum(s.result.targets for s in kept.values())
    missed = [(name, len(s.result.missed)) for name, s in kept.items() if s.result.missed]
    total = f"{wanted - sum(n for _, n in missed)} of {wanted} targets of {len(kept)} checks are reached"
    names = ", ".join(f"{n} of [{name}](docs/validation/{name}.md)" for name, n in missed)
    older = sum(s.older for s in kept.values())
    age = f" Results of {older} of {len(kept)} checks are older than the code." if older else ""
    return f"{table}\n\n{total}{f'; missed: {names}' if names else ''}.{age}"


def _overview(kept: Sequence[Stored]) -> str:
    rows = []
    for stored in kept:
        result = stored.result
        worst = result.worst
        number = "" if worst is None else f"{worst.what}: {worst.shown} (target {worst.target})"
        link = f"[{result.name}](validation/{result.name}.md)"
        rows.append([link, result.title, number, _verdict(stored), _when(stored)])
    table = _table(["check", "what", "worst number", "targets reached", "computed"], rows)
    return f"{NOTICE}\n\n{INTRODUCTION.format(older=OLDER)}\n{table}\n"


def _verdict(stored: Stored) -> str:
    result = stored.result
    verdict = f"{result.targets - len(result.missed)} of {result.targets}"
    if not result.missed:
        return verdict
    named = [line.what for line in result.missed[:NAMED]]
    more = len(result.missed) - len(named)
    return f"**{verdict}**, missed: {'; '.join(named)}{f'; and {more} more' if more else ''}"


def _when(stored: Stored) -> str:
    code = f", code {stored.code}" if stored.code else ""
    return f"{stored.date}, {stored.version}{code}{f', {OLDER}' if stored.older else ''}"


def _detail(stored: Stored, notes: Path) -> str:
    result = stored.result
    if not notes.is_file():
        raise MissingFileError(f"{notes} does not exist: say there what the check {result.name!r} is and its targets")
    machine = stored.machine or {"machine": "not recorded"}
    about = ", ".join(f"{name} {value}" for name, value in machine.items())
    code = stored.code or "unknown, from before fingerprints were kept"
    rows = [[x.what, x.shown, x.target, x.paper, _reached(x)] for x in result.lines]
    parts = [
        NOTICE,
        f"# {result.name}: {result.title}",
        notes.read_text(encoding="utf-8").strip(),
        "## Results",
        f"Computed on {stored.date} with isocloth {stored.version} in {result.seconds:.0f} s; code: {code}"
        f"{f' ({OLDER})' if stored.older else ''}; {about}. Targets reached: {_verdict(stored)}.",
        _table(["", "measured", "target", "paper", "reached"], rows),
        *(f"Note: {note}" for note in result.notes),
        "[All checks](../validation.md)",
    ]
    return "\n\n".join(parts) + "\n"


def _reached(line: Line) -> str:
    return {None: "", True: "yes", False: "**NO**"}[line.reached]


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def row(cells: Sequence[str]) -> str:
        return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"

    return "\n".join([row(header), f"|{'---|' * len(header)}", *(row(cells) for cells in rows)])


def main() -> int:
    """Render, and say what has changed."""
    for path in render():
        print(f"rendered {path.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
