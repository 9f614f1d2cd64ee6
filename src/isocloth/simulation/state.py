"""The state of a simulation: plain arrays, so that copying saves and assigning restores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.contact.history import NO_HISTORY, ContactHistory, ContactState
from isocloth.solvers.contact_newton import NO_COUPLING, CouplingPattern


@dataclass(slots=True)
class State:
    """Everything that changes from step to step (grasps and grippers excepted).

    positions, velocities: (n, 3) m, m/s.
    previous_positions, previous_velocities: those of the step before, which a two-step integrator needs.
    previous_timestep: length of that step, s; 0 if there was none.
    multipliers: (r,) J, tension of every row, the next solve's start.
    held: (n,) which nodes were held during the last step.
    touching: (n,) which nodes were in contact at the end of the last step.
    touch: the contacts that carried force, and what is known of them.
    room: the contacts for which the factor has room, and the order of its variables: rounding depends on it.
    pinched: (n, 3) m, where in the frame of its gripper a node was pinched; NaN for nodes that no gripper holds.
    poses: (g, 4, 3), rotation and centre (m) of every gripper.
    particles, particle_velocities: (m, 3) m, m/s, of the nonconforming model; none in the others.
    time: s.
    """

    positions: FloatArray
    velocities: FloatArray
    previous_positions: FloatArray
    previous_velocities: FloatArray
    multipliers: FloatArray
    held: BoolArray
    touching: BoolArray
    touch: ContactHistory
    room: CouplingPattern
    pinched: FloatArray
    poses: FloatArray
    previous_timestep: float = 0.0
    time: float = 0.0
    steps: int = 0
    particles: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))
    particle_velocities: FloatArray = field(default_factory=lambda: np.zeros((0, 3)))

    def copy(self) -> State:
        """An independent copy."""
        return State.from_dict({name: np.array(value) for name, value in self.to_dict().items()})

    def to_dict(self) -> dict[str, Any]:
        """Name -> array or number, for a checkpoint."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("touch", "room")}
        law = {f"contact_{name}": value for name, value in self.touch.law._asdict().items()}
        room = {f"room_{name}": value for name, value in self.room._asdict().items()}
        return {**plain, "contact_key": self.touch.key, **law, **room}

    @staticmethod
    def from_dict(columns: Mapping[str, Any]) -> State:
        """What `to_dict` was made from."""
        values = {name: value if np.ndim(value) else np.asarray(value).item() for name, value in columns.items()}
        law = ContactState(*[values.pop(f"contact_{name}") for name in ContactState._fields])
        room = CouplingPattern(*[values.pop(f"room_{name}") for name in CouplingPattern._fields])
        return State(touch=ContactHistory(values.pop("contact_key"), law), room=room, **values)


def at_rest(positions: FloatArray, rows: int) -> State:
    """A state that starts from positions (n, 3) with no velocity."""
    still = np.zeros_like(positions)
    return State(
        positions.copy(), still, positions.copy(), still.copy(), np.zeros(rows), np.zeros(len(positions), dtype=bool),
        np.zeros(len(positions), dtype=bool), NO_HISTORY, NO_COUPLING,
        np.full_like(positions, np.nan), np.zeros((0, 4, 3)),
    )  # fmt: skip
