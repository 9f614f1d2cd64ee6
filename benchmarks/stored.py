"""Benchmarks that are kept: `benchmarks/results/<part>.json`, with the code, the machine and the day they are of.

A part is what one `--only` measures. Its tables are kept as they were printed, beside every number.
"""

from __future__ import annotations

import datetime
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import isocloth
from isocloth.base.errors import MissingFileError
from isocloth.base.files import atomic_path
from isocloth.base.fingerprint import code_fingerprint
from validation.stored import PACKAGES

PARTS = ("swing", "contact")
FOLDER = Path(__file__).parent / "results"
ALL = PACKAGES | {"benchmarks": Path(__file__).parent}


class Stored(NamedTuple):
    """A part of the benchmark.

    code: the fingerprint of what it depended on; None if it was measured before fingerprints were kept. printed: its
    tables, one text for each. numbers: everything that was measured; empty if it was not kept.
    """

    part: str
    date: str
    version: str
    code: str | None
    machine: dict[str, str]
    printed: list[str]
    numbers: dict[str, Any]

    @property
    def older(self) -> bool:
        """Whether the code has changed since, or is not known to be the same."""
        return self.code != code_of_benchmarks()


@cache
def code_of_benchmarks() -> str:
    """Fingerprint of the code that the benchmarks depend on, as it is now."""
    return code_fingerprint("benchmarks.parts", ALL)


def now(part: str, code: str, machine: dict[str, str], printed: list[str], numbers: dict[str, Any]) -> Stored:
    """A part that has just been measured, by code whose fingerprint was taken before it ran."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Stored(part, day, isocloth.__version__, code, machine, printed, numbers)


def store(stored: Stored, folder: Path | None = None) -> Path:
    """Write a part to its file, in place of the one before."""
    path = (folder or FOLDER) / f"{stored.part}.json"
    with atomic_path(path) as temporary:
        text = json.dumps(stored._asdict(), indent=1, ensure_ascii=False)
        Path(temporary).write_text(text + "\n", encoding="utf-8")
    return path


def load(part: str, folder: Path | None = None) -> Stored:
    """A kept part."""
    path = (folder or FOLDER) / f"{part}.json"
    if not path.is_file():
        raise MissingFileError(f"no benchmark {part!r} is kept at {path}: isocloth bench --only {part} --store")
    return Stored(**json.loads(path.read_text(encoding="utf-8")))
