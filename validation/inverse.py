"""Inverse design: targets of garments, and whether a cloth with the rest shape that was found stays in them."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from isocloth import Mesh, Simulation, equilibrium, invert
from isocloth.fabric import Fabric
from isocloth.inverse import Inversion
from isocloth.models import DiscreteShell
from validation.result import Result, Say, silent
from validation.targets import Target, targets

TITLE = "inverse design: the rest shape that makes a cloth hang as its target, under contact and friction"

EXACT = 1e-18
#: s of dynamics, from the target; and of one that falls because the target is its rest shape
STAYS, NAIVE = 1.0, 0.2


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """The bitriangle, then the garments."""
    result = Result("inverse", TITLE)
    _bitriangle(result)
    reached = spent = 0
    seconds = []
    for target in targets(quick):
        say(target.name)
        begin = time.process_time()
        found = invert(target.mesh, target.fabric, model=target.model, obstacles=target.obstacles)
        seconds.append(time.process_time() - begin)
        spent += found.iterations
        exact = found.reached and found.target_error <= EXACT and found.friction_error <= EXACT
        reached += exact
        _print(result, target, found, seconds[-1])
        if found.reached:
            _dynamics(result, target, found, 0.2 if quick else STAYS)
    if not quick:
        result.above("garments that reach J and G of 1e-18, of eight", reached, 6, ".0f", paper="9 of 9")
        result.below("processor time, median, s", float(np.median(seconds)), 3.0, ".2f")
        result.below("processor time, longest, s", max(seconds), 30.0, ".1f")
    else:
        result.above("garments that reach J and G of 1e-18, of two", reached, 2, ".0f")
    result.notes.append(f"{spent} linear systems in all; forces aimed at 0.8 of the friction")
    return result


def _bitriangle(result: Result) -> None:
    """Two triangles that hang from three corners of a square: the rest shape must be the square again."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float64)
    flat = Mesh(corners, [[0, 1, 2], [0, 2, 3]])
    fabric, shell = Fabric(density=0.5), DiscreteShell(stretch=50.0, bending=5e-2)
    hung = equilibrium(flat, fabric, model=shell, held=[0, 1, 2])
    found = invert(hung.mesh, fabric, model=shell, held=[0, 1, 2])

    def distances(mesh: Mesh) -> np.ndarray:
        return np.linalg.norm(mesh.vertices[:, None] - mesh.vertices[None], axis=2)

    off = float(np.abs(distances(found.rest) - distances(flat)).max())
    result.below("bitriangle: distances of the rest shape from the square, m", off, 1e-12, ".1e")


def _print(result: Result, target: Target, found: Inversion, seconds: float) -> None:
    name, mesh = target.name, found.target
    sizes = f"{mesh.n_vertices} vertices, {len(found.contact_nodes)} touch"
    if target.too_soft:
        result.info(f"{name} ({sizes}): load reached", found.load_reached, ".3f")
        result.notes.append(f"{name}: {found.problem or 'reached'}")
    else:
        result.above(f"{name} ({sizes}): load reached", found.load_reached, 1.0, ".3f")
        result.below(f"{name}: J, m^2", found.target_error, EXACT, ".1e")
        result.below(f"{name}: G, N^2", found.friction_error, EXACT, ".1e")
        result.holds(f"{name}: no negative pivot", found.stable)
    result.info(f"{name}: linear systems", found.iterations, ".0f")
    result.info(f"{name}: processor time, s", seconds, ".2f", paper=f"{target.minutes:g} min")
    result.info(f"{name}: stretch of the rest shape, smallest, %", 100.0 * float(found.stretch.min()), ".2f")


def _dynamics(result: Result, target: Target, found: Inversion, seconds: float) -> None:
    """How far the cloth moves from its target, and how far one whose rest shape is the target itself."""
    moved = []
    for rest, duration in ((found.rest, seconds), (found.target, NAIVE)):
        sim = Simulation(
            found.target, target.fabric, model=target.model, rest=rest, obstacles=target.obstacles
        )  # fmt: skip
        far = 0.0
        for _ in range(round(duration / sim.timestep)):
            sim.step()
            far = max(far, float(np.abs(sim.positions - found.target.vertices).max()))
        moved.append(far)
    result.info(f"{target.name}: moves in {seconds:g} s, m", moved[0], ".1e")
    result.info(f"{target.name}: moves in {NAIVE:g} s if the target is its rest shape, m", moved[1], ".1e")
