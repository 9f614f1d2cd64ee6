"""The code that a simulated state depends on, in short: states of another version are not taken for present ones."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from isocloth.base.fingerprint import code_fingerprint

#: makes the states, and imports all they depend on
MAKER = "isocloth.folding.make"


@cache
def code_of_states() -> str:
    """Fingerprint of what makes the states."""
    return code_fingerprint(MAKER, {"isocloth": Path(str(files("isocloth")))})
