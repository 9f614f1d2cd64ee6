"""A start that contact would throw out of obstacles, made one that it leaves alone: pushed out without speed.

A cloth that is inside a body is projected onto what is outside: a step without weight and from rest moves it no further
than contact asks for, with all lengths kept. Where that does not help, because the cloth is on both sides of the middle
of a body, or cut by the walls of a mesh, which know no inside, all of it is shifted along the shortest way out. Layers
that cross are untangled first (`contact/untangle.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from isocloth.base.errors import InputError
from isocloth.base.typing import FloatArray
from isocloth.contact.detector import ContactDetector
from isocloth.contact.starts import start_faults
from isocloth.contact.untangle import untangling
from isocloth.contact.world import CollisionWorld
from isocloth.simulation.diagnosis import errors, overstretched
from isocloth.simulation.state import State, at_rest
from isocloth.simulation.steppers import FreeStepper, Targets

if TYPE_CHECKING:
    from isocloth.simulation.simulation import Simulation

#: steps from rest in which a cloth is pushed out
ROUNDS = 12

#: rounds in which crossed layers are untangled
UNTANGLED = 300

#: how far out a cloth is looked for a place, in diagonals of its box
FARTHEST = 2.0


def resolved_start(sim: Simulation, world: CollisionWorld) -> State:
    """The state of a simulation that has not begun, out of obstacles and apart from itself, or an error."""
    x = first = sim.state.positions
    faults = start_faults(world, x, 0.0)
    if any(fault.body < 0 for fault in faults):
        x = _untangled(sim, world, x)
        faults = start_faults(world, x, 0.0)
    if not faults and _least_gap(world, x) >= -_allowed(world):
        return _still(sim, x)
    pushed = _pushed(sim, world, x)
    if _faulty(sim, world, pushed):
        shifted = _shifted(world, x)
        if shifted is not None:
            pushed = _pushed(sim, world, shifted)
    faults = start_faults(world, pushed, 0.0)
    if faults:
        raise InputError(f"resolve_start=True did not find a start: {start_faults(world, first, 0.0)[0].message}")
    return _still(sim, pushed)


def _still(sim: Simulation, positions: FloatArray) -> State:
    """At rest at positions (n, 3)."""
    memory = sim.stepper.remember(positions, np.zeros_like(positions))
    return at_rest(np.ascontiguousarray(positions), memory, sim.state.numbers)


def _allowed(world: CollisionWorld) -> float:
    """m: by how much a start may be nearer than it keeps."""
    return world.options.penetration * world.fabric.thickness


def _least_gap(world: CollisionWorld, positions: FloatArray) -> float:
    nobody = np.zeros(len(positions), dtype=bool)
    return ContactDetector(world, positions, nobody, 0.0, 0.0).smallest_gap(positions)


def _faulty(sim: Simulation, world: CollisionWorld, positions: FloatArray) -> bool:
    """Whether something is wrong with a start, its lengths included."""
    error, _ = errors(sim.cloth, positions, np.zeros(len(sim.cloth.rows)))
    return overstretched(sim.cloth, error) or bool(start_faults(world, positions, 0.0))


def _from_rest(sim: Simulation, positions: FloatArray, to: FloatArray) -> tuple[State, Targets]:
    """A step without weight, from rest at positions (n, 3), first guess `to`."""
    state = _still(sim, positions)
    weight = sim.cloth.weight

    def lift(y: FloatArray) -> FloatArray:
        return -weight

    nobody = np.zeros(len(positions), dtype=bool)
    return state, Targets(to.copy(), nobody, (), state.poses, state.placed, lift, state, 2, True)


def _pushed(sim: Simulation, world: CollisionWorld, positions: FloatArray) -> FloatArray:
    """Positions (n, 3) after a few steps from rest with contact, until nothing is nearer than it may."""
    for _ in range(ROUNDS):
        part = sim.stepper.advance(*_from_rest(sim, positions, positions), sim.timestep)
        assert part.state is not None  # the last there is
        moved = float(np.abs(part.state.positions - positions).max())
        positions = part.state.positions
        if moved < 1e-3 * world.fabric.thickness or _least_gap(world, positions) >= -_allowed(world):
            break
    return positions


def _shifted(world: CollisionWorld, positions: FloatArray) -> FloatArray | None:
    """All of the cloth along the shortest way out of all bodies, of some directions; None if there is none."""
    farthest = FARTHEST * float(np.linalg.norm(np.ptp(positions, axis=0)))
    best, found = farthest, None
    for way in _ways(world, positions):

        def free(t: float, way: FloatArray = way) -> bool:
            return not any(fault.body >= 0 for fault in start_faults(world, positions + t * way, 0.0))

        length = _first_free(free, world.half, best)
        if length is not None and length < best:
            best, found = length, positions + length * way
    return found


def _ways(world: CollisionWorld, positions: FloatArray) -> list[FloatArray]:
    """Unit vectors: out of bodies where the cloth is deepest, and the axes, upwards first."""
    ways = []
    for _, solid in world.solids:
        gap, normal = solid.gaps(positions, 0.0)
        if gap.min() < world.half:
            ways.append(normal[gap.argmin()])
    return ways + [sign * np.eye(3)[axis] for axis in (2, 0, 1) for sign in (1.0, -1.0)]


def _first_free(free: Callable[[float], bool], step: float, most: float) -> float | None:
    """About the least length up to `most` m at which there is nothing in the way, to within `step`."""
    low, high = 0.0, step
    while not free(high):
        low, high = high, 1.5 * high
        if high >= most:
            return None
    while high - low > step:
        middle = 0.5 * (low + high)
        low, high = (low, middle) if free(middle) else (middle, high)
    return high


def _untangled(sim: Simulation, world: CollisionWorld, positions: FloatArray) -> FloatArray:
    """Positions (n, 3) at which layers do not cross, if some are found; lengths are restored in every round."""
    stepper = sim.stepper
    if not isinstance(stepper, FreeStepper):
        return positions
    faces = world.surface.faces[world.surface.body[world.surface.faces[:, 0]] == 0]
    edges = world.surface.edges[: world.cloth_edges]
    x = positions
    for _ in range(UNTANGLED):
        moved = untangling(x, edges, faces, 0.1 * world.spacing)
        if moved is None:
            return x
        x = x + moved
        outcome = stepper.solve_free(*_from_rest(sim, x, x), sim.timestep).outcome
        if not np.isfinite(outcome.positions).all():
            return positions
        x = outcome.positions
    return positions
