"""Assigning a state: what has to fit, and what follows it."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from isocloth.base.errors import InputError, InputTypeError
from isocloth.simulation.arguments import nodal
from isocloth.simulation.gripper import as_gripped
from isocloth.simulation.memory import fits
from isocloth.simulation.state import NO_WORK, State

if TYPE_CHECKING:
    from isocloth.simulation.simulation import Simulation


def restored(sim: Simulation, value: Any) -> State:
    """A state as a simulation can go on from it; raises, or warns, if it belongs to another."""
    if not isinstance(value, State):
        raise InputTypeError(f"state is {type(value).__name__}: expected what sim.state.copy() returned")
    n = sim.mesh.n_vertices
    for name in ("positions", "velocities", "previous_positions", "previous_velocities"):
        nodal(name, getattr(value, name), n)
    for name, shape in (("held", (n,)), ("reactions", (n, 3)), ("pinched", (n, 3)), ("work", NO_WORK.shape)):
        if np.shape(getattr(value, name)) != shape:
            raise InputError(f"{name} of the state have shape {np.shape(getattr(value, name))}: expected {shape}")
    if why := fits(value.memory, sim.state.memory):
        raise InputError(why)
    value = value.copy()  # what its owner writes into it afterwards must not reach the simulation
    if len(value.placed) != len(sim.obstacles):
        raise InputError(
            f"the state was saved among {len(value.placed)} obstacles: expected {len(sim.obstacles)}; add or remove "
            "obstacles first"
        )
    if sim.world is not None and not sim.world.renumber(value.numbers):
        raise InputError(
            "the state was saved among other obstacles, some of which have been removed or added since; restore it in "
            "a simulation with the obstacles it was saved among"
        )
    if value.steps > 0 and not np.array_equal(value.held, sim.hands.held):
        warnings.warn(
            "the state was saved with other nodes held than now: a state holds no grasps; grasp or release them to "
            "continue as before",
            stacklevel=3,
        )
    return as_gripped(sim.hands.grippers, value)
