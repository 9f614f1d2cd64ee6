"""The axes of a chart: what they span, and their ticks."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from isocloth.base.typing import FloatArray


def span(arrays: Iterable[FloatArray]) -> tuple[float, float]:
    """From the least to the largest finite number of all, with a margin."""
    together = np.concatenate([np.ravel(a) for a in arrays])
    together = together[np.isfinite(together)]
    if len(together) == 0:
        return 0.0, 1.0
    low, high = float(together.min()), float(together.max())
    margin = 0.04 * (high - low) or 0.5 * abs(high) or 1.0
    return low - margin, high + margin


def ticks(low: float, high: float, log: bool, *, plain: int = -1) -> list[tuple[float, str]]:
    """Places and labels; log: low and high are powers of ten, written out up to 10^plain and as 1e5 beyond."""
    if log:
        whole = np.arange(np.ceil(low), np.floor(high) + 1)
        if len(whole) >= 2:
            return [(float(v), f"1e{int(v)}" if abs(v) > plain else f"{10.0**v:g}") for v in whole]
    step = 10.0 ** np.floor(np.log10((high - low) / 4))
    step *= next(k for k in (1, 2, 5, 10) if (high - low) / (k * step) <= 6)
    values = np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step + 0.0  # no "-0"
    return [(float(v), f"{10**v:.3g}" if log else f"{v:.6g}") for v in values]
