"""Processes end with the one that started them, and do not run its script again."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from isocloth.base.processes import without_main

CHILD = (
    "import sys, time; from isocloth.base.processes import end_with; end_with(int(sys.argv[1]), 0.05); time.sleep(60)"
)
PARENT = (
    "import os, subprocess, sys; "
    f"print(subprocess.Popen([sys.executable, '-c', {CHILD!r}, str(os.getpid())], stdout=subprocess.DEVNULL).pid)"
)


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:  # ended, but nobody has asked how
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def test_a_process_ends_soon_after_its_parent() -> None:
    child = int(subprocess.run([sys.executable, "-c", PARENT], stdout=subprocess.PIPE, check=True).stdout)
    end = time.monotonic() + 20.0
    while alive(child) and time.monotonic() < end:
        time.sleep(0.1)
    assert not alive(child)


def test_the_main_module_is_hidden_and_shown_again() -> None:
    main = sys.modules["__main__"]
    before = {name: main.__dict__.get(name, "absent") for name in ("__file__", "__spec__")}
    with without_main():
        assert "__file__" not in main.__dict__
        assert main.__dict__["__spec__"] is None
    assert {name: main.__dict__.get(name, "absent") for name in ("__file__", "__spec__")} == before
