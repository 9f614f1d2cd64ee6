"""What is wrong with a scene, gathered so that one message lists everything."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from pathlib import Path

from isocloth.base.errors import SceneError


class Problems:
    """Messages about one scene file."""

    def __init__(self, source: Path | None) -> None:
        self.source = source
        self.messages: list[str] = []

    def add(self, field: str, message: str) -> None:
        """Note what is wrong with a field such as "grasp[1].frequency"."""
        self.messages.append(f"{field}{message}" if message.startswith(" ") else f"{field}: {message}")

    def raise_if_any(self) -> None:
        """SceneError with every message, if there is one."""
        if not self.messages:
            return
        where = str(self.source) if self.source else "scene"
        if len(self.messages) == 1:
            raise SceneError(f"{where}: {self.messages[0]}")
        raise SceneError(f"{where}: {len(self.messages)} problems\n  " + "\n  ".join(self.messages))


def nearest(name: str, known: Iterable[str]) -> str:
    """A question, "did you mean ...?", for a misspelt name, or a list of the known ones."""
    choices = list(known)
    close = difflib.get_close_matches(name.lower(), choices, n=1, cutoff=0.6)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are {', '.join(choices)}"


def as_keys(message: str) -> str:
    """A message of the package with `name='value'` as a scene file has it, `name = "value"`."""
    text = re.sub(r"\b(\w+)=['\"](\w+)['\"]", r'\1 = "\2"', message)
    return re.sub(r"\b(\w+)=(True|False)\b", lambda found: f"{found[1]} = {found[2].lower()}", text)
