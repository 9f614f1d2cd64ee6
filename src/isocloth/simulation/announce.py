"""Say so when the first step takes long because kernels are being compiled for this machine."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_done = False


@contextmanager
def announce_compilation(patience: float = 1.5) -> Iterator[None]:
    """The first use in a process prints a line to standard error if it has not finished after `patience` seconds."""
    global _done
    if _done:
        yield
        return
    timer = threading.Timer(patience, _say)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        _done = True


def _say() -> None:
    print(
        "isocloth: compiling its kernels for this machine (once; the result is cached) ...",
        file=sys.stderr,
        flush=True,
    )
