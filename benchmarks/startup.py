"""How long a fresh process needs until its first step is done, with the kernels compiled before."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from dataclasses import dataclass

#: s from the start of a process to the end of its first step
TARGET = 2.0

_PROGRAM = """
import json, time
t0 = time.perf_counter()
import isocloth as ic
t1 = time.perf_counter()
sim = ic.Simulation(ic.meshes.rectangle(0.42, 0.594, (9, 9)))
sim.grasp([8, 80])
t2 = time.perf_counter()
sim.step()
t3 = time.perf_counter()
print(json.dumps([t1 - t0, t2 - t1, t3 - t2]))
"""


@dataclass
class Startup:
    """Seconds of the fastest fresh process; `total` includes the start of the interpreter and its end."""

    total: float
    importing: float
    setup: float
    first_step: float
    all_total: list[float]
    target: float
    reached: bool


def startup(repeat: int) -> Startup:
    """Start processes one after the other. The caller has stepped before, so the cache of kernels is warm."""
    runs = []
    for _ in range(repeat):
        begin = time.perf_counter()
        done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True)
        runs.append((time.perf_counter() - begin, *json.loads(done.stdout)))
    best = min(runs)
    total, importing, setup, first_step = best
    return Startup(total, importing, setup, first_step, [r[0] for r in runs], TARGET, total < TARGET)
