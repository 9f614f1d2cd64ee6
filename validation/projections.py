"""The papers' run of cotton, fast, on 9x9 nodes, with their discretisation, solver and integrator."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import measure, meshes
from isocloth.fabric import Fabric
from isocloth.simulation import Simulation
from isocloth.solvers import ProjectionOptions
from validation.result import Result, Say, silent
from validation.scenes import hanging, shaken, upper_corners

TITLE = "projections per step of the papers' solver on 9x9 cotton, fast"

AMPLITUDE, FREQUENCY = 0.075, 0.6  # m, Hz
STILL, MOVING, AFTER = 1.0, 10.0, 3.0  # s


def corner_shift(t: float) -> float:
    """Still, then a sine, then still."""
    s = min(max(t - STILL, 0.0), MOVING)
    return AMPLITUDE * float(np.sin(2.0 * np.pi * FREQUENCY * s))


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Mean number of projections at 0.1 %, and the area errors beside."""
    result = Result("projections", TITLE)
    duration = 4.0 if quick else STILL + MOVING + AFTER
    mesh = hanging(meshes.rectangle(0.297, 0.42, shape=(9, 9)))
    fabric = Fabric(density=1.0, gravity_density=0.52, damping=2.69)
    sim = Simulation(
        mesh, fabric, integrator="euler", solver="projection", discretisation="nodal",
        solver_options=ProjectionOptions(tolerance=1e-3),
    )  # fmt: skip
    sim.grasp(upper_corners(mesh), shaken(mesh, corner_shift))
    say(f"{duration:g} s at 10 ms")
    counts, total, mean, edge, unconverged = [], 0.0, 0.0, 0.0, 0
    for _ in range(round(duration / sim.timestep)):
        report = sim.step()
        counts.append(report.iterations)
        unconverged += not report.converged
        errors = measure.area_errors(mesh, sim.positions)
        total, mean = max(total, float(errors.total)), max(mean, float(errors.mean))
        edge = max(edge, float(measure.edge_stretch(mesh, sim.positions).max))
    moving = np.array(counts)[round(STILL / sim.timestep) : round((STILL + MOVING) / sim.timestep)]
    low, high = (1.0, 2.5) if quick else (1.5, 2.1)
    result.between("projections per step, whole run", float(np.mean(counts)), low, high, ".2f", paper="1.60")
    result.info("projections per step, while moving", float(moving.mean()), ".2f")
    result.info("projections per step, largest", float(np.max(counts)), ".0f")
    result.below("steps not converged", unconverged, 0, ".0f")
    result.info("largest total area error, %", 100 * total, ".3f", paper="almost 0")
    result.info("largest mean element area error, %", 100 * mean, ".2f")
    result.info("largest edge stretch (checkerboard), %", 100 * edge, ".2f")
    result.plot(
        "projections", "time, s", "projections", sim.timestep * np.arange(1, 1 + len(counts)), {"per step": counts}
    )
    result.notes.append(
        "0.297 x 0.42 m, rho 1, delta 0.52, alpha 2.69, A 0.075 m, f 0.6 Hz, nodal metric, implicit Euler, 0.1 %; "
        "1 s still, 10 s of motion, 3 s still (the papers do not say where their average starts)"
    )
    return result
