"""How far a cloth moves from where it begins, and forces that push it a little."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from isocloth import Simulation
from isocloth.base.typing import FloatArray

GRAVITY = 9.81
#: a hundredth of gravity more, and aside: names, and directions
PUSHES = (("1 % more", (0.0, 0.0, -1.0)), ("tilted by 1 %", (1.0, 0.0, 0.0)))


def farthest(sim: Simulation, seconds: float) -> float:
    """m: how far a coordinate gets from where it began within so many seconds."""
    begin, far = sim.positions.copy(), 0.0
    for _ in range(round(seconds / sim.timestep)):
        sim.step()
        far = max(far, float(np.abs(sim.positions - begin).max()))
    return far


def pushed(masses: FloatArray, direction: tuple[float, float, float]) -> Callable[..., FloatArray]:
    """A hundredth of the weight of nodes (n,) in kg in a direction, as an extra force."""
    push = 0.01 * GRAVITY * masses[:, None] * np.array(direction)
    return lambda time, positions, velocities: push
