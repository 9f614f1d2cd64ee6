"""The state of a simulation: plain arrays, so that copying saves and assigning restores."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from isocloth.solver.contact_newton import NO_TOUCH, Touch
from isocloth.typing import BoolArray, FloatArray


@dataclass(slots=True)
class State:
    """Everything that changes from step to step (grasps excepted).

    positions, velocities: (n, 3) m, m/s.
    previous_positions, previous_velocities: those of the step before, which a two-step integrator needs.
    previous_timestep: length of that step, s; 0 if there was none.
    multipliers: (r,) J, tension of every row, the next solve's start.
    held: (n,) which nodes were held during the last step.
    touching: (n,) which nodes were in contact at the end of the last step.
    touch: the contacts that carried force, and what is known of them.
    time: s.
    """

    positions: FloatArray
    velocities: FloatArray
    previous_positions: FloatArray
    previous_velocities: FloatArray
    multipliers: FloatArray
    held: BoolArray
    touching: BoolArray
    touch: Touch
    previous_timestep: float = 0.0
    time: float = 0.0
    steps: int = 0

    def copy(self) -> State:
        """An independent copy."""
        arrays: dict[str, Any] = {k: v.copy() for k, v in self.to_dict().items() if isinstance(v, np.ndarray)}
        return replace(self, **arrays)

    def to_dict(self) -> dict[str, Any]:
        """Name -> array or number, for a checkpoint."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


def at_rest(positions: FloatArray, rows: int) -> State:
    """A state that starts from positions (n, 3) with no velocity."""
    still = np.zeros_like(positions)
    return State(
        positions.copy(), still, positions.copy(), still.copy(), np.zeros(rows), np.zeros(len(positions), dtype=bool),
        np.zeros(len(positions), dtype=bool), NO_TOUCH,
    )  # fmt: skip
