"""The state of a simulation: plain arrays, so that copying saves and assigning restores."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.simulation.memory import Memory, memory_from_dict


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
    placed: (o, 4, 3), the same of every obstacle that was moved at run time; NaN for those that follow their motion.
    previous_timestep: length of the step before, s; 0 if there was none.
    time: s.
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
    placed: FloatArray
    previous_timestep: float = 0.0
    time: float = 0.0
    steps: int = 0

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


def at_rest(positions: FloatArray, memory: Memory, obstacles: int) -> State:
    """A state that starts from positions (n, 3) with no velocity, among so many obstacles."""
    still = np.zeros_like(positions)
    return State(
        positions=positions.copy(), velocities=still, previous_positions=positions.copy(),
        previous_velocities=still.copy(), held=np.zeros(len(positions), dtype=bool), memory=memory,
        reactions=np.zeros_like(positions), moments=np.zeros((0, 3)), obstacle_wrenches=np.zeros((obstacles, 6)),
        gripper_wrenches=np.zeros((0, 6)), pinched=np.full_like(positions, np.nan), poses=np.zeros((0, 4, 3)),
        placed=np.full((obstacles, 4, 3), np.nan),
    )  # fmt: skip
