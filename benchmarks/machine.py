"""What a time depends on besides the code: the machine and the versions."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path

from benchmarks import peer


def machine() -> dict[str, str]:
    """Name -> value of everything worth printing above a table of times."""
    described = {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    }
    described |= {name: metadata.version(name) for name in ("isocloth", "numpy", "scipy", "numba")}
    described[peer.NAME] = peer.version() or "not installed"
    if hasattr(os, "getloadavg"):
        described["load before the run"] = f"{os.getloadavg()[0]:.2f}"
    return described


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # not Linux
        return platform.processor() or platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
