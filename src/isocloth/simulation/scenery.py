"""Obstacles that come and go at run time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from isocloth.base.errors import InputError
from isocloth.contact.history import NO_HISTORY
from isocloth.contact.starts import check_start
from isocloth.obstacles import Obstacle
from isocloth.simulation.memory import NewtonMemory
from isocloth.simulation.state import State

if TYPE_CHECKING:
    from isocloth.simulation.simulation import Simulation


def add_obstacle(sim: Simulation, obstacle: Obstacle) -> State:
    """Put an obstacle into the world of a simulation; returns its state, whose history starts anew."""
    assert sim.world is not None
    sim.world.add(obstacle)
    try:
        check_start(sim.world, sim.state.positions, sim.time, len(sim.obstacles) - 1)
    except BaseException:
        sim.world.remove(len(sim.obstacles) - 1, NO_HISTORY)
        raise
    state, nowhere = sim.state, np.full((1, 4, 3), np.nan)
    sim.hands.obstacles = np.concatenate([sim.hands.obstacles, nowhere])
    wrenches = np.concatenate([state.obstacle_wrenches, np.zeros((1, 6))])
    return _with(sim, state, wrenches, np.concatenate([state.placed, nowhere]))


def remove_obstacle(sim: Simulation, obstacle: Obstacle) -> State:
    """Take an obstacle out of the world; returns the state without contacts on it."""
    index, state, memory = index_of(sim, obstacle), sim.state, sim.state.memory
    assert sim.world is not None
    obstacle._unseen_by(sim)
    # who touches what is found anew in the next step, which is of first order anyway
    if isinstance(memory, NewtonMemory):
        memory = memory._replace(history=sim.world.remove(index, memory.history))
    else:
        sim.world.remove(index, NO_HISTORY)
        memory = memory._replace(touching=np.zeros_like(memory.touching))
    sim.hands.obstacles = np.delete(sim.hands.obstacles, index, axis=0)
    wrenches, placed = np.delete(state.obstacle_wrenches, index, axis=0), np.delete(state.placed, index, axis=0)
    return _with(sim, replace(state, memory=memory), wrenches, placed)


def _with(sim: Simulation, state: State, wrenches: np.ndarray, placed: np.ndarray) -> State:
    assert sim.world is not None
    return replace(
        state, obstacle_wrenches=wrenches, placed=placed, numbers=sim.world.numbers, previous_timestep=0.0
    )  # fmt: skip


def index_of(sim: Simulation, obstacle: Obstacle) -> int:
    """Which of the obstacles it is."""
    for index, known in enumerate(sim.obstacles):
        if known is obstacle:
            return index
    raise InputError(
        f"obstacle {obstacle!r} is not in this simulation: expected one of {list(sim.obstacles)}, or sim.add it first"
    )
