"""Tables of docs/speed.md and of the README from kept benchmarks: `isocloth bench --render`.

They stand between marks, `<!-- rendered: swing -->` and `<!-- end -->`, and the prose around them is written by hand.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks.stored import PARTS, Stored, load
from benchmarks.tables import cells, table
from isocloth.base.errors import InputError
from validation.pages import OLDER, ROOT, Page, fill

#: column of the README -> (beginning of a section's title, column there)
SWING = {
    "isocloth, x real time": ("Speed", "isocloth x real time"),
    "MuJoCo, x real time": ("Speed", "MuJoCo x real time"),
    "ratio": ("Speed", "ratio"),
    "target": ("Speed", "target"),
    "median step, ms": ("Single steps", "median step ms"),
    "worst step, ms": ("Single steps", "worst step ms"),
    "solves per step": ("Single steps", "solves per step"),
    "largest edge stretch": ("What the cloth kept", "edge stretch max"),
    "total area error": ("What the cloth kept", "total area error"),
}
CONTACT = ("friction", "q", "worst step ms", "frames with intersections", "layers apart mm")
#: cloths of this size are shown of the folded napkin
SHOWN = "20x20"


def pages(folder: Path | None = None, root: Path = ROOT) -> list[Page]:
    """Documents with their tables as they have to be."""
    kept = {part: load(part, folder) for part in PARTS}
    speed = (root / "docs" / "speed.md").read_text(encoding="utf-8")
    for part, stored in kept.items():
        speed = fill(speed, part, _whole(stored), "docs/speed.md")
    readme = (root / "README.md").read_text(encoding="utf-8")
    readme = fill(readme, "swing", _swing(kept["swing"]), "README.md")
    readme = fill(readme, "contact", _contact(kept["contact"]), "README.md")
    return [Page("docs/speed.md", speed), Page("README.md", readme)]


def _whole(stored: Stored) -> str:
    """All tables of a part, a level lower than they are printed."""
    code = stored.code or "unknown, from before fingerprints were kept"
    head = f"Measured on {stored.date} with isocloth {stored.version}; code: {code}{_mark(stored)}."
    about = ", ".join(f"{name} {value}" for name, value in stored.machine.items())
    texts = [text.strip().replace("## ", "### ", 1) for text in stored.printed]
    return "\n\n".join([head, f"Machine: {about}.", *texts])


def _swing(stored: Stored) -> str:
    """A row for every cloth: isocloth's numbers beside the rival's speed."""
    found = {title: cells(_section(stored, title)) for title, _ in SWING.values()}
    rows = []
    for cloth in found["Speed"]:
        names = {title: cloth if title == "Speed" else f"{cloth} isocloth" for title in found}
        rows.append([cloth, *(found[title][names[title]][column] for title, column in SWING.values())])
    return f"{table(['cloth', *SWING], rows)}\n\n{_about(stored)}"


def _contact(stored: Stored) -> str:
    """The folded napkin, by every way."""
    found = cells(_section(stored, "Contact: napkin folded"))
    rows = [[name, *(row[c] for c in CONTACT)] for name, row in found.items() if name.startswith(f"{SHOWN} ")]
    return f"{table(['cloth', *CONTACT], rows)}\n\n{_about(stored)}"


def _about(stored: Stored) -> str:
    return f"Measured on {stored.date} on {stored.machine['processor']}, isocloth {stored.version}{_mark(stored)}."


def _mark(stored: Stored) -> str:
    return f", {OLDER}" if stored.older else ""


def _section(stored: Stored, title: str) -> str:
    for text in stored.printed:
        if text.strip().removeprefix("## ").startswith(title):
            return text
    raise InputError(f"benchmarks/results/{stored.part}.json has no table {title!r}: isocloth bench --store")
