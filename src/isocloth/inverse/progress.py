"""What a search says while it goes on, on standard error; a terminal sees it, a log file does not."""

from __future__ import annotations

import sys
import time


class Meter:
    """A line on a terminal that the next one replaces."""

    def __init__(self, progress: bool, what: str = "invert") -> None:
        self._what = what
        self._shown = progress and sys.stderr.isatty()
        self._begin, self._width = time.monotonic(), 0

    def say(self, what: str) -> None:
        """Show what happens, and the seconds since the begin."""
        if self._shown:
            line = f"{self._what}: {what}, {time.monotonic() - self._begin:.0f} s"
            print(f"\r{line:<{self._width}}", end="", file=sys.stderr, flush=True)
            self._width = len(line)

    def close(self) -> None:
        """End the line."""
        if self._width:
            print(file=sys.stderr, flush=True)
            self._width = 0
