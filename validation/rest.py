"""A damped cloth comes to rest; an undamped one keeps its energy."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from validation.result import Result, Say, silent
from validation.scenes import advance, corner_nodes, fastest, hanging, upper_corners, with_noise

TITLE = "damped cloth comes to rest within 10 s; energy of an undamped swing"

DENSITY = 0.1  # kg/m^2
RATE = 2.0  # 1/s, damping / density


def scenes(quick: bool) -> dict[str, tuple[Mesh, IntArray, float]]:
    """Name -> (mesh, held nodes, bending stiffness): hanging, folded and draped cloth."""
    # not fewer: a square of 7 x 7 that starts flat balances on its line of symmetry and leaves it only after 10 s
    n = 9 if quick else 17
    square = meshes.rectangle(1.0, 1.0, shape=(n, n))
    flat = meshes.rectangle(0.42, 0.594, shape=(n, n))
    hung = hanging(flat)
    ring = with_noise(meshes.ring(0.09, 0.15, shape=(4, 24) if quick else (8, 48)), 5e-4)
    inner = np.flatnonzero(np.hypot(ring.vertices[:, 0], ring.vertices[:, 1]) < 0.0901)
    lying = meshes.irregular_rectangle(1.0, 1.0, nodes=n * n)
    three = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    return {
        "hung by two corners, quads": (hung, upper_corners(hung), 0.0),
        "dropped, held at three corners, quads": (square, corner_nodes(square, *three), 0.0),
        "dropped, held at three corners, irregular": (lying, corner_nodes(lying, *three), 0.0),
        "ring draped over a disc": (ring, inner, 1e-4 * DENSITY),
    }


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Fastest node after 10 s, and the energy of ten seconds of free swing."""
    result = Result("rest", TITLE)
    duration = 10.0
    curves = {}
    for name, (mesh, held, bending) in scenes(quick).items():
        say(name)
        sim = Simulation(mesh, Fabric(density=DENSITY, damping=RATE * DENSITY, bending=bending))
        if "hung" in name:
            # give it a push across, so that there is something to come to rest from
            height = mesh.vertices[:, 2]
            push = np.zeros_like(mesh.vertices)
            push[:, 1] = 1.5 * height / height.min()
            sim.velocities = push
        sim.grasp(held)
        log, speeds, still = None, [], np.inf
        for _ in range(round(duration / 0.1)):
            log = advance(sim, 10, log)
            speeds.append(fastest(sim))
            still = min(still, sim.time) if speeds[-1] < 1e-3 else np.inf
        assert log is not None
        curves[name] = np.array(speeds)
        result.below(f"{name}: fastest node after 10 s, mm/s", 1e3 * log.speed, 1.0, ".3f")
        result.info(f"{name}: below 1 mm/s from, s", still, ".1f")
        result.below(f"{name}: steps not converged", log.unconverged, 0, ".0f")
        result.info(f"{name}: steps cut", log.cut, ".0f")
    result.plot("speed", "time, s", "fastest node, m/s", 0.1 * np.arange(1, 1 + round(duration / 0.1)), curves)
    for integrator in ("bdf2", "euler"):
        for step in (0.01,) if quick else (0.01, 0.005, 0.0025):
            say(f"free swing, {integrator}, {1e3 * step:g} ms")
            lost, unconverged = free_swing(integrator, step, side=5 if quick else 9)
            result.info(f"energy lost over 10 s of free swing, {integrator}, {1e3 * step:g} ms, %", 100 * lost, ".2f")
            result.below(f"free swing, {integrator}, {1e3 * step:g} ms: steps not converged", unconverged, 0, ".0f")
            if integrator == "bdf2":
                result.holds(f"free swing, {integrator}, {1e3 * step:g} ms: gains no energy", lost > -1e-3)
    result.notes.append(
        f"damping / density = {RATE:g} 1/s; energies are relative to that of the start above the hanging equilibrium"
    )
    return result


def free_swing(integrator: str, timestep: float, *, side: int) -> tuple[float, int]:
    """Energy lost in 10 s by a sheet let go at 30 degrees, over that of the start; steps that did not converge."""
    mesh = hanging(meshes.rectangle(0.42, 0.594, shape=(side, side)))
    angle = np.deg2rad(30.0)
    x, _, z = mesh.vertices.T
    sim = Simulation(mesh, Fabric(density=DENSITY), timestep=timestep, integrator=integrator)
    lowest = sim.energy["potential"]
    sim.positions = np.stack([x, -z * np.sin(angle), z * np.cos(angle)], axis=1)
    sim.grasp(np.flatnonzero(z > -1e-9))
    start = sim.energy["potential"] - lowest
    log = advance(sim, round(10.0 / timestep))
    energy = sim.energy
    return 1.0 - (energy["kinetic"] + energy["potential"] - lowest) / start, log.unconverged
