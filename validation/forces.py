"""Forces of the cloth on bodies: the impulse of a step, cut or not, is the change of momentum."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import rectangle
from isocloth.obstacles import Floor, Sphere
from isocloth.simulation import Simulation
from isocloth.solvers import NewtonOptions
from validation.result import Result, Say, silent

TITLE = "forces by body: impulses of cut steps, states, the weight at rest"

FABRIC = Fabric(density=0.2, bending=1e-5, thickness=1e-3, friction=0.4)
SIDE, SPEED = 0.5, 5.0  # m, m/s
#: factorisations after which a step is cut
IMPATIENT = 6


def thrown(nodes: int, integrator: str, seed: int) -> Simulation:
    """A sheet just before it hits a floor and a ball, with a little noise in its velocities."""
    mesh = rectangle(SIDE, SIDE, (nodes, nodes))
    start = mesh.transformed(translation=[0.0, 0.0, 0.03])
    sim = Simulation(
        start, FABRIC, rest=mesh, self_collision=True, integrator=integrator,
        obstacles=[Floor(friction=0.4), Sphere([SIDE / 2, SIDE / 2, -0.05], 0.07, friction=0.4)],
        solver_options=NewtonOptions(max_iterations=IMPATIENT),
    )  # fmt: skip
    noise = np.random.default_rng(seed).standard_normal((nodes**2, 3))
    sim.velocities = np.array([0.3, 0.0, -SPEED]) + 0.1 * noise
    return sim


def momentum(sim: Simulation) -> FloatArray:
    """(3,) kg m/s."""
    return np.asarray(FABRIC.density * (sim.cloth.area[:, None] * sim.velocities).sum(axis=0))


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Impulses against momenta, forces restored with a state, and a sheet at rest."""
    result = Result("forces", TITLE)
    scale = FABRIC.density * SIDE**2 * SPEED
    for integrator in ("bdf2", "euler"):
        cut, whole, off = [], [], 0
        for seed in range(2 if quick else 8):
            say(f"{integrator}, throw {seed + 1}")
            sim = thrown(12 if quick else 16, integrator, seed)
            for _ in range(30):
                before = momentum(sim)
                report = sim.step()
                off += not report.converged
                pressed = np.sum([report.forces[o].force for o in sim.obstacles], axis=0)
                lost = momentum(sim) - before - sim.timestep * (sim.cloth.weight.sum(axis=0) - pressed)
                (cut if report.substeps > 1 else whole).append(float(np.linalg.norm(lost)) / scale)
        result.below(
            f"{integrator}: momentum that is missing in a cut step, part of m v", max(cut, default=np.inf), 0.01
        )
        result.info(f"{integrator}: the same in a step that was not cut", max(whole), ".1e")
        result.info(f"{integrator}: steps that were cut", len(cut), ".0f")
        result.below(f"{integrator}: steps that did not converge", off, 0, ".0f")
    sim = thrown(12, "bdf2", 0)
    for _ in range(5):
        sim.step()
    state, known = sim.state.copy(), [sim.forces[o].force for o in sim.obstacles]
    for _ in range(5):
        sim.step()
    sim.state = state
    apart = max(float(np.abs(sim.forces[o].force - f).max()) for o, f in zip(sim.obstacles, known, strict=True))
    result.below("forces after restoring a state, difference in N", apart, 0.0)
    mesh = rectangle(0.2, 0.2, (6, 6)).transformed(translation=[0.3, 0.1, 5e-4])
    floor = Floor()
    sim = Simulation(mesh, FABRIC, obstacles=[floor])
    for _ in range(60):
        report = sim.step()
    force, torque = report.forces[floor]
    weight = FABRIC.density * 0.04 * 9.81
    result.near("force on the floor at rest, N", -float(force[2]), weight, 0.001)
    result.near("torque on the floor about the origin, N m", float(torque[1]), 0.4 * weight, 0.001)
    return result
