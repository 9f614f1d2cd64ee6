"""Results that are kept: `validation/results/<check>.json`, with the code, the machine and the day they are of.

Only whole checks are kept, never the small versions. A result is older than the code once the fingerprint of what its
check depends on is another one than the fingerprint kept with it, or if none was kept.
"""

from __future__ import annotations

import datetime
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import isocloth
from isocloth.base.errors import InputError, MissingFileError
from isocloth.base.files import atomic_path
from isocloth.base.fingerprint import code_fingerprint
from validation.machine import machine
from validation.result import Line, Result

FOLDER = Path(__file__).parent / "results"
PACKAGES = {"isocloth": Path(isocloth.__file__).parent, "validation": Path(__file__).parent}


@dataclass
class Stored:
    """A result, and what it was computed with.

    date: ISO 8601, as of the day the check ended. code: the fingerprint of what the check depended on; None if it was
    computed before fingerprints were kept. machine: see `machine`; None if it was not kept.
    """

    result: Result
    date: str
    version: str
    code: str | None
    machine: dict[str, str] | None

    @property
    def older(self) -> bool:
        """Whether the code has changed since, or is not known to be the same."""
        return self.code != code_of(self.result.name)

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "date": self.date, "version": self.version, "code": self.code, "machine": self.machine, "quick": False,
            **self.result.to_dict(),
        }  # fmt: skip


@cache
def code_of(name: str) -> str:
    """Fingerprint of the code that a check depends on, as it is now."""
    return code_fingerprint(f"validation.{name}", PACKAGES)


def now(result: Result, code: str) -> Stored:
    """A result that has just been computed, by code whose fingerprint was taken before it ran."""
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    return Stored(result, day, isocloth.__version__, code, machine())


def store(stored: Stored, folder: Path | None = None) -> Path:
    """Write a result to its file, in place of the one before."""
    path = (folder or FOLDER) / f"{stored.result.name}.json"
    with atomic_path(path) as temporary:
        Path(temporary).write_text(_text(stored.to_dict()), encoding="utf-8")
    return path


def _text(data: dict[str, Any]) -> str:
    """JSON with one row for every measured number, so that a difference of versions can be read."""

    def rows(value: Any) -> str:
        if not isinstance(value, list):
            return json.dumps(value, ensure_ascii=False)
        return "[" + ",".join(f"\n  {json.dumps(item, ensure_ascii=False)}" for item in value) + "\n ]"

    return "{" + ",".join(f'\n "{key}": {rows(value)}' for key, value in data.items()) + "\n}\n"


def load(name: str, folder: Path | None = None) -> Stored:
    """The kept result of a check."""
    path = (folder or FOLDER) / f"{name}.json"
    if not path.is_file():
        raise MissingFileError(f"no result of {name!r} is kept at {path}: isocloth reproduce {name} --store")
    data = json.loads(path.read_text(encoding="utf-8"))
    if data["name"] != name or data["quick"]:
        raise InputError(f"{path}: expected a whole result of {name!r}: isocloth reproduce {name} --store")
    result = Result(
        name, data["title"], [Line.from_dict(x) for x in data["lines"]], data["notes"], seconds=data["seconds"]
    )
    return Stored(result, data["date"], data["version"], data["code"], data["machine"])
