"""A scene of a benchmark in a process of its own, with the package of this checkout or of another."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

#: of this checkout
SOURCE = Path(__file__).resolve().parents[1] / "src"


def run_scene(script: str, source: Path, scene: str) -> dict[str, Any]:
    """What `script --work scene` prints as its last line, with `source` in front of the path."""
    environment = {**os.environ, "PYTHONPATH": str(source)}
    command = [sys.executable, str(Path(script).resolve()), "--work", scene]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{scene!r} failed with {source}:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found
