"""Ctrl-C that waits for a moment at which the run can be saved."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def deferred_interrupts() -> Iterator[Callable[[], None]]:
    """Yield a function that raises KeyboardInterrupt if Ctrl-C was pressed since.

    In the middle of a step the state is neither the old nor the new one, and a checkpoint of it would resume
    with other bits. A second Ctrl-C ends the process at once; the last checkpoint is then what remains.
    """
    asked = False

    def on_signal(signum: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked:
            raise SystemExit(130)
        asked = True
        print("\nisocloth: stopping after this frame (Ctrl-C again: at once)", file=sys.stderr, flush=True)

    def stop_if_asked() -> None:
        if asked:
            raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield stop_if_asked  # signals belong to the main thread
        return
    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield stop_if_asked
    finally:
        signal.signal(signal.SIGINT, before)
