"""Pages that are written by a program: whole ones, and parts of documents between marks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from isocloth.base.errors import InputError
from isocloth.base.files import atomic_path

ROOT = Path(__file__).parents[1]
OLDER = "**older than the code**"


class Page(NamedTuple):
    """A file of the documentation: its path below the root of the repository, and its text."""

    path: str
    text: str


def fill(text: str, name: str, content: str, where: str) -> str:
    """A document with what stands between its marks of a name replaced."""
    begin, end = f"<!-- rendered: {name} -->", "<!-- end -->"
    found = re.findall(rf"{re.escape(begin)}.*?{re.escape(end)}", text, flags=re.DOTALL)
    if len(found) != 1:
        raise InputError(f"{where} has {len(found)} parts between {begin} and {end}: expected one, to write a table to")
    return text.replace(found[0], f"{begin}\n\n{content}\n\n{end}")


def write(pages: Iterable[Page], root: Path = ROOT) -> list[Path]:
    """Write the pages that differ from their files; returns what was changed."""
    changed = []
    for page in pages:
        path = root / page.path
        if not path.is_file() or path.read_text(encoding="utf-8") != page.text:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(path) as temporary:
                Path(temporary).write_text(page.text, encoding="utf-8")
            changed.append(path)
    return changed
