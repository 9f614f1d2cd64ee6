"""Time integrators: from the past to the end of the step, v = (y - x_bar)/h and a = (v - v_bar)/h.

x_bar = near x + far x_prev, and the same for v_bar. Implicit Euler is the papers'; it loses a quarter of a swing at
10 ms. BDF2, the default, is second order and as stable; with steps of different length its coefficients depend on their
ratio, and its first step is one of Euler's.
"""

from __future__ import annotations

from isocloth.cloth.step import Scheme


def euler(timestep: float, previous_timestep: float) -> Scheme:
    """Implicit Euler: y = x + dt v, first order."""
    return Scheme(timestep, 1.0, 0.0)


def bdf2(timestep: float, previous_timestep: float) -> Scheme:
    """Second-order backward differences: v = (3y - 4x + x_prev)/(2 dt) for equal steps."""
    # growing steps faster than by 1 + sqrt(2) makes the scheme unstable (after substeps, say)
    if previous_timestep <= 0.0 or timestep > 2.4 * previous_timestep:
        return euler(timestep, previous_timestep)
    ratio = timestep / previous_timestep
    total = 1.0 + 2.0 * ratio
    return Scheme(timestep * (1.0 + ratio) / total, (1.0 + ratio) ** 2 / total, -(ratio**2) / total)


BY_NAME = {"bdf2": bdf2, "euler": euler}
INTEGRATORS = tuple(BY_NAME)
