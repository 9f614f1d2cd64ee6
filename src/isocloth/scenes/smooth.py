"""Transitions in time that start and end at rest."""

from __future__ import annotations


def step(s: float) -> float:
    """Quintic from 0 to 1 over 0 <= s <= 1 whose first and second derivatives vanish at both ends.

    Constant outside, so a path made with it has a continuous acceleration (C2) everywhere.
    """
    s = min(max(s, 0.0), 1.0)
    return s * s * s * (10.0 + s * (6.0 * s - 15.0))


def envelope(t: float, start: float, stop: float, ramp: float) -> float:
    """0 before `start`, 1 between, 0 after `stop`, with quintic ramps of `ramp` s just inside of both."""
    if ramp <= 0.0:
        return 1.0 if start <= t <= stop else 0.0
    return step((t - start) / ramp) * step((stop - t) / ramp)
