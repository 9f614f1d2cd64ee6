"""How fast a run is, without the compilation before its first frame."""

from __future__ import annotations

import time


class Stopwatch:
    """Started by the first lap; knows simulated and elapsed seconds since."""

    def __init__(self) -> None:
        self._born = time.perf_counter()
        self._first: tuple[float, float] | None = None
        self._last = (0.0, self._born)

    def lap(self, simulated: float) -> None:
        """Note that the run has reached a simulated time (s)."""
        self._last = (simulated, time.perf_counter())
        if self._first is None:
            self._first = self._last

    @property
    def speed(self) -> float | None:
        """Simulated seconds per second; None if there were less than two laps."""
        if self._first is None or self._last[0] <= self._first[0]:
            return None
        return (self._last[0] - self._first[0]) / max(self._last[1] - self._first[1], 1e-9)

    @property
    def elapsed(self) -> float:
        """Seconds since it was made, compilation included."""
        return time.perf_counter() - self._born
