"""The forces of a step by body."""

from __future__ import annotations

import numpy as np

from isocloth.obstacles import Obstacle
from isocloth.simulation.grasp import Grasp
from isocloth.simulation.gripper import Gripper
from isocloth.simulation.state import State
from isocloth.simulation.wrench import Forces, Wrench, about, of_reactions


def forces_in(
    state: State, grasps: tuple[Grasp, ...], grippers: tuple[Gripper, ...], obstacles: tuple[Obstacle, ...]
) -> Forces:
    """The forces of the step that led to a state, of the cloth on all who took part in it."""
    wrenches: list[Wrench] = []
    for grasp in grasps:
        nodes, cut = grasp.nodes, len(state.moments) > 0 and grasp.acted_in(state)
        moments = state.moments[nodes] if cut else state.moments[:0]
        wrenches.append(of_reactions(state.positions[nodes], grasp.reactions_in(state), moments))
    for row, pose in zip(state.gripper_wrenches, state.poses, strict=True):
        wrenches.append(about(row, pose[3]))
    for row, placed, obstacle in zip(state.obstacle_wrenches, state.placed, obstacles, strict=True):
        centre = placed[3] if np.isfinite(placed[3, 0]) else obstacle.pose(state.time)[1]
        wrenches.append(about(row, centre))
    return Forces((*grasps, *grippers, *obstacles), wrenches)
