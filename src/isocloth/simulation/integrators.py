"""Time integrators: from the past to the end of the step, v = (y - x_bar)/h and a = (v - v_bar)/h.

Implicit Euler is the papers'; it loses a quarter of a swing at 10 ms. BDF2, the default, is second order and as
stable; with steps of different length its coefficients depend on their ratio, and its first step is one of Euler's.
"""

from __future__ import annotations

from typing import NamedTuple

from isocloth.simulation.state import State
from isocloth.typing import FloatArray

INTEGRATORS = ("bdf2", "euler")


class Past(NamedTuple):
    """What the past contributes to a step: h (s), x_bar and v_bar (n, 3)."""

    h: float
    positions: FloatArray
    velocities: FloatArray


def euler(state: State, timestep: float) -> Past:
    """Implicit Euler: y = x + dt v, first order."""
    return Past(timestep, state.positions, state.velocities)


def bdf2(state: State, timestep: float) -> Past:
    """Second-order backward differences: v = (3y - 4x + x_prev)/(2 dt) for equal steps."""
    if state.previous_timestep <= 0.0:
        return euler(state, timestep)
    ratio = timestep / state.previous_timestep
    total = 1.0 + 2.0 * ratio
    near, far = (1.0 + ratio) ** 2 / total, -(ratio**2) / total
    return Past(
        timestep * (1.0 + ratio) / total,
        near * state.positions + far * state.previous_positions,
        near * state.velocities + far * state.previous_velocities,
    )


BY_NAME = {"bdf2": bdf2, "euler": euler}
