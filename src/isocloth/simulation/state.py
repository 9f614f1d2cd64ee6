"""The state of a simulation: plain arrays, so that copying saves and assigning restores."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.simulation.memory import Memory, memory_from_dict

#: of version 0.1 -> in the memory
_MOVED = {
    "multipliers": "multipliers", "touching": "touching", "touch": "history", "room": "coupling",
    "particles": "particles", "particle_velocities": "velocities",
}  # fmt: skip

#: of steps none of which was taken yet, by factorisations; the last place is for those that took as many or more
NO_WORK = np.zeros(64, dtype=np.int64)
NO_WORK.flags.writeable = False


@dataclass(slots=True)
class State:
    """Everything that changes from step to step (which grasps and grippers there are excepted).

    positions, velocities: (n, 3) m, m/s.
    previous_positions, previous_velocities: those of the step before, which a two-step integrator needs.
    held: (n,) which nodes were held during the last step.
    memory: what the stepper remembers; see `simulation/memory.py`.
    reactions: (n, 3) N, with which nodes were held where they are prescribed, averaged over the last step; on free
        nodes the residual.
    moments: (n, 3) N m, of the reactions about the origin where the step was cut into parts; (0, 3) where it was not,
        and the reactions act where the nodes are.
    obstacle_wrenches, gripper_wrenches: (o, 6) and (g, 6) N and N m, of the cloth on every obstacle and gripper,
        averaged over the last step, torques about the origin.
    pinched: (n, 3) m, where in the frame of its gripper a node was pinched; NaN for nodes that no gripper holds.
    poses: (g, 4, 3), rotation and centre (m) of every gripper.
    numbers: (o,), by which the contact history knows the obstacles.
    placed: (o, 4, 3), the same of every obstacle that was moved at run time; NaN for those that follow their motion.
    previous_timestep: length of the step before, s; 0 if there was none.
    time: s.
    work: (64,) how many of the steps so far took so many factorisations: their median bounds what the next may take.
    """

    positions: FloatArray
    velocities: FloatArray
    previous_positions: FloatArray
    previous_velocities: FloatArray
    held: BoolArray
    memory: Memory
    reactions: FloatArray
    moments: FloatArray
    obstacle_wrenches: FloatArray
    gripper_wrenches: FloatArray
    pinched: FloatArray
    poses: FloatArray
    numbers: IntArray
    placed: FloatArray
    previous_timestep: float = 0.0
    time: float = 0.0
    steps: int = 0
    work: IntArray = field(default_factory=lambda: NO_WORK)

    def __getattr__(self, name: str) -> Any:
        """Names of version 0.1 that are now in the memory."""
        where = _MOVED.get(name)
        if where is None:
            raise AttributeError(f"a state has no {name!r}: expected one of {', '.join(f.name for f in fields(State))}")
        warnings.warn(f"State.{name} is now State.memory.{where}", DeprecationWarning, stacklevel=2)
        return getattr(self.memory, where)

    def copy(self) -> State:
        """An independent copy."""
        return State.from_dict({name: np.array(value) for name, value in self.to_dict().items()})

    def to_dict(self) -> dict[str, Any]:
        """Name -> array or number, for a checkpoint."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "memory"}
        return {**plain, **{f"memory_{name}": value for name, value in self.memory.to_dict().items()}}

    @staticmethod
    def from_dict(columns: Mapping[str, Any]) -> State:
        """What `to_dict` was made from."""
        values = {name: value if np.ndim(value) else np.asarray(value).item() for name, value in columns.items()}
        memory = {name[7:]: values.pop(name) for name in list(values) if name.startswith("memory_")}
        return State(memory=memory_from_dict(memory), **values)


def at_rest(positions: FloatArray, memory: Memory, numbers: IntArray) -> State:
    """A state that starts from positions (n, 3) with no velocity, among obstacles with these numbers (o,)."""
    obstacles = len(numbers)
    still = np.zeros_like(positions)
    return State(
        positions=positions.copy(), velocities=still, previous_positions=positions.copy(),
        previous_velocities=still.copy(), held=np.zeros(len(positions), dtype=bool), memory=memory,
        reactions=np.zeros_like(positions), moments=np.zeros((0, 3)), obstacle_wrenches=np.zeros((obstacles, 6)),
        gripper_wrenches=np.zeros((0, 6)), pinched=np.full_like(positions, np.nan), poses=np.zeros((0, 4, 3)),
        numbers=numbers, placed=np.full((obstacles, 4, 3), np.nan),
    )  # fmt: skip
