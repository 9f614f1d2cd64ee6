"""What the time step costs in accuracy: how much of a swing, and of its energy, is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.race import half_range
from benchmarks.swing import DENSITY, GRAVITY, TIMESTEP, sheet, simulation, upper_corners
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.simulation import Simulation
from isocloth.solvers import TIGHT

#: largest relative difference of the swing from its small-step limit
TOLERANCE = 0.03
#: rad; how far the free swing starts from hanging
TILT = np.radians(30.0)
#: rate of the damping that brings a cloth to rest, 1/s
BRAKE = 8.0


@dataclass
class Kept:
    """Tip half range of the shaken swing, m, with different time steps and integrators."""

    nodes: int
    seconds: float
    default: float  # the defaults at 10 ms
    euler: float  # implicit Euler at 10 ms
    limit: float  # small steps, converged to rounding
    limit_timestep: float  # s
    limit_unconverged: int
    default_error: float  # relative to the limit
    euler_error: float
    reached: bool


@dataclass
class FreeSwing:
    """Energy of a cloth that swings freely from two fixed corners without damping, J above the hanging cloth's."""

    name: str
    timestep: float  # s
    seconds: float
    kinetic_start: float
    potential_start: float
    kinetic_end: float
    potential_end: float
    lost: float  # fraction of the energy at the start
    unconverged: int


def swing_kept(nodes: int, seconds: float, limit_timestep: float) -> Kept:
    """Compare the default at 10 ms with its own small-step limit, and implicit Euler beside it."""
    default, _ = _tip_range(nodes, seconds)
    euler, _ = _tip_range(nodes, seconds, integrator="euler")
    limit, bad = _tip_range(nodes, seconds, timestep=limit_timestep, solver_options=TIGHT)
    errors = default / limit - 1.0, euler / limit - 1.0
    return Kept(
        nodes, seconds, default, euler, limit, limit_timestep, bad, errors[0], errors[1], abs(errors[0]) <= TOLERANCE
    )


def free_swing(nodes: int, seconds: float, small_timestep: float) -> list[FreeSwing]:
    """Let a tilted cloth go and see what is left of its energy."""
    hanging = _hanging_energy(nodes)
    runs: list[tuple[str, dict[str, Any]]] = [
        ("default", {}),
        ("euler", {"integrator": "euler"}),
        ("small steps, tight", {"timestep": small_timestep, "solver_options": TIGHT}),
    ]
    return [_free(name, nodes, seconds, hanging, **options) for name, options in runs]


def _tip_range(nodes: int, seconds: float, **options: Any) -> tuple[float, int]:
    """Tip half range, and steps that did not converge."""
    sim = simulation(nodes, **options)
    frames, bad = [sim.positions], 0
    for _ in range(round(seconds / sim.timestep)):
        bad += not sim.step().converged
        frames.append(sim.positions)
    # the same instants whatever the time step is
    every = round(TIMESTEP / sim.timestep)
    return half_range(nodes, np.array(frames)[::every]), bad


def _free(name: str, nodes: int, seconds: float, hanging: float, **options: Any) -> FreeSwing:
    sim = _held(nodes, Fabric(density=DENSITY), TILT, **options)
    start = sim.energy
    bad = sum(not sim.step().converged for _ in range(round(seconds / sim.timestep)))
    end = sim.energy
    total = [e["kinetic"] + e["potential"] - hanging for e in (start, end)]
    return FreeSwing(
        name, sim.timestep, seconds, start["kinetic"], start["potential"] - hanging, end["kinetic"],
        end["potential"] - hanging, 1.0 - total[1] / total[0], bad,
    )  # fmt: skip


def _hanging_energy(nodes: int) -> float:
    """Potential energy of the cloth that hangs still, its little stretch included, J."""
    sim = _held(nodes, Fabric(density=DENSITY, damping=BRAKE * DENSITY), 0.0)
    for _ in range(300):
        sim.step()
    return sim.energy["potential"]


def _held(nodes: int, fabric: Fabric, tilt: float, **options: Any) -> Simulation:
    """The cloth turned about its upper edge by a tilt (rad), its upper corners fixed."""
    mesh = sheet(nodes)
    turned = mesh.with_vertices(_turn(mesh.vertices, tilt))
    sim = Simulation(turned, fabric, **{"timestep": TIMESTEP, "gravity": GRAVITY, **options})
    sim.grasp(upper_corners(nodes))
    return sim


def _turn(points: FloatArray, angle: float) -> FloatArray:
    top = points[:, 2].max()
    below = top - points[:, 2]
    turned = points.copy()
    turned[:, 0] += below * np.sin(angle)
    turned[:, 2] = top - below * np.cos(angle)
    return turned
