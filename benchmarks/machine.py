"""What a time depends on besides the code: the machine, the versions, and how busy it was."""

from __future__ import annotations

import os

from benchmarks import peer
from validation.machine import machine as described


def machine() -> dict[str, str]:
    """Name -> value of everything worth printing above a table of times."""
    found = described() | {peer.NAME: peer.version() or "not installed"}
    if hasattr(os, "getloadavg"):
        found["load before the run"] = f"{os.getloadavg()[0]:.2f}"
    return found
