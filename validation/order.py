"""Observed order of the integrators: a swing that starts smoothly, at halved time steps, solved to rounding.

An order shows only where the exact motion is smooth. A flat sheet held at its full width is not such a case: its upper
edge is straight, resists a sideways load by a cubic force, and moves like the cube root of it. So the corners are held
closer together, the sheet is settled first, it has some bending stiffness against ever shorter waves, and its corners
follow a ramp with three continuous derivatives. And the mesh resolves it: 9 x 9 nodes are too few for this bending
stiffness, short fast waves start at the held corners; the order there is printed beside.
"""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from isocloth.solvers import TIGHT
from validation.result import Result, Say, silent
from validation.scenes import advance, hanging, observed_orders, smooth_ramp, upper_corners

TITLE = "order of the integrators on a smooth swing"

DURATION = 1.0  # s
SHIFT = 0.1  # m
CLOSER = 0.9  # distance of the corners over the width of the sheet
DENSITY, BENDING = 0.1, 1e-4  # kg/m^2, N m
STEPS = (0.010, 0.005, 0.0025, 0.00125)  # s


def settled(side: int) -> tuple[Mesh, FloatArray]:
    """A sheet of side x side nodes and its equilibrium (n, 3) with the corners closer together."""
    mesh = hanging(meshes.rectangle(0.42, 0.594, shape=(side, side)))
    x, _, z = mesh.vertices.T
    half = float(brentq(lambda h: np.sin(h) / h - CLOSER, 1e-3, np.pi))
    radius = 0.42 / (2.0 * half)
    angle = (x - 0.21) / radius
    sim = Simulation(
        mesh, Fabric(density=DENSITY, bending=BENDING, damping=10.0 * DENSITY), timestep=0.05, integrator="euler",
        solver_options=TIGHT,
    )  # fmt: skip
    # rolled about the vertical: an isometric start with the corners where they will be held
    sim.positions = np.stack([0.21 + radius * np.sin(angle), radius * (np.cos(angle) - np.cos(half)), z], axis=1)
    sim.grasp(upper_corners(mesh))
    advance(sim, 200)
    return mesh, sim.positions.copy()


def positions_at_end(mesh: Mesh, start: FloatArray, timestep: float, integrator: str) -> tuple[FloatArray, int]:
    """Positions at t = 1 s and the number of steps that did not converge."""
    sim = Simulation(
        mesh, Fabric(density=DENSITY, bending=BENDING), timestep=timestep, integrator=integrator, solver_options=TIGHT
    )
    sim.positions = start
    held = upper_corners(mesh)
    sim.grasp(held, lambda t: start[held] + np.array([0.0, SHIFT * smooth_ramp(t, DURATION), 0.0]))
    log = advance(sim, round(DURATION / timestep))
    return sim.positions.copy(), log.unconverged


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Errors against a much smaller step, and their rates."""
    result = Result("order", TITLE)
    side = 5 if quick else 17
    steps = STEPS[:3] if quick else STEPS
    smallest = steps[-1] / 4.0
    say("settling")
    mesh, start = settled(side)
    # second order: the reference's own error is a sixteenth of the smallest one measured
    say(f"reference, bdf2 at {1e3 * smallest:g} ms")
    reference, failed = positions_at_end(mesh, start, smallest, "bdf2")
    errors: dict[str, list[float]] = {}
    differences: dict[str, list[float]] = {}
    for integrator in ("bdf2", "euler"):
        runs = []
        for step in steps:
            say(f"{integrator}, {1e3 * step:g} ms")
            x, bad = positions_at_end(mesh, start, step, integrator)
            runs.append(x)
            failed += bad
        errors[integrator] = [_rms(x - reference) for x in runs]
        differences[integrator] = [_rms(a - b) for a, b in itertools.pairwise(runs)]
        for step, error in zip(steps, errors[integrator], strict=True):
            result.info(f"{integrator}, {1e3 * step:g} ms: rms error of positions, mm", 1e3 * error, ".4f")
    orders = {name: observed_orders(steps, e) for name, e in errors.items()}
    for name, found in orders.items():
        for k, order in enumerate(found):
            what = f"{name}: order from {1e3 * steps[k]:g} to {1e3 * steps[k + 1]:g} ms"
            if name == "bdf2" and k > 0:
                result.above(what, order, 1.8, ".2f")
            elif name == "euler" and k > 0:
                result.between(what, order, 0.8, 1.3, ".2f")
            else:
                result.info(what, order, ".2f")
    for name, apart in differences.items():
        found = observed_orders(steps[:-1], apart)
        result.info(f"{name}: order from differences of neighbours, no reference", found[-1], ".2f")
    result.below("steps that did not converge", failed, 0, ".0f")
    if not quick:
        say("9 x 9 nodes")
        mesh, start = settled(9)
        reference, _ = positions_at_end(mesh, start, smallest, "bdf2")
        coarse = [_rms(positions_at_end(mesh, start, step, "bdf2")[0] - reference) for step in steps]
        for k, order in enumerate(observed_orders(steps, coarse)):
            result.info(f"9 x 9 nodes, bdf2: order from {1e3 * steps[k]:g} to {1e3 * steps[k + 1]:g} ms", order, ".2f")
    result.plot("error", "timestep, s", "rms error, m", steps, dict(errors), log=True)
    result.notes.append(
        f"{side} x {side} nodes, corners {CLOSER:g} of the width apart, settled, kappa {BENDING:g} N m; corners "
        f"move by {SHIFT:g} m along a smooth ramp of {DURATION:g} s; reference: bdf2 at {1e3 * smallest:g} ms; tight"
    )
    return result


def _rms(difference: FloatArray) -> float:
    return float(np.sqrt(np.mean(np.sum(difference**2, axis=1))))
