"""Cloth models side by side: closed forms of strips, and the papers' run of cotton on every one of them.

What they predict is not judged here, for which recordings are needed; that they do what they say, and how fast, is.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from isocloth import measure, meshes
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Elastic, MassSpring, Model
from isocloth.simulation import Simulation
from isocloth.solvers import TIGHT
from validation.projections import AFTER, MOVING, STILL, corner_shift
from validation.result import Result, Say, silent
from validation.scenes import hanging, shaken, upper_corners

TITLE = "cloth models side by side: strips in closed form, and the papers' run of cotton"

GRAVITY = 9.81  # m/s^2
LENGTH = 0.5  # m
#: of the papers: s of computing for 14 s, and projections per step
PAPER = {
    "isometric": ("2.10", "1.60"), "quasi_inextensible": ("2.20", "4.51"), "elastic": ("1.16", ""),
    "mass_spring": ("1.30", ""), "nonconforming": ("", ""),
}  # fmt: skip


def strip(width: float, shape: tuple[int, int]) -> Mesh:
    """A strip of 0.5 m that hangs along -z."""
    flat = meshes.rectangle(width, LENGTH, shape)
    return flat.with_vertices(flat.vertices[:, [0, 2, 1]] * np.array([1.0, 1.0, -1.0]))


def elongation(model: Model, density: float) -> float:
    """How much longer a strip is that hangs at rest, m."""
    mesh = strip(0.1, (3, 21))
    fabric = Fabric(density=density, damping=20 * density)
    sim = Simulation(mesh, fabric, model=model, solver_options=TIGHT)
    sim.grasp(np.flatnonzero(mesh.vertices[:, 2] == 0.0))
    for _ in range(300):
        sim.step()
    return float(-sim.positions[:, 2].min() - LENGTH)


def period(model: Model, density: float) -> float:
    """Period of a strip held at one end that rings along itself, s."""
    mesh = strip(0.05, (2, 26))
    sim = Simulation(mesh, Fabric(density=density), model=model, gravity=0.0, timestep=1e-3, solver_options=TIGHT)
    sim.grasp(np.flatnonzero(mesh.vertices[:, 2] == 0.0))
    depth = -mesh.vertices[:, 2:]
    # so little that it does not buckle while it is compressed: nothing here resists bending
    sim.positions = mesh.vertices - np.array([0.0, 0.0, 1e-5]) * np.sin(np.pi * depth / (2 * LENGTH))
    tip, signal = int(np.argmax(depth)), []
    for _ in range(700):
        sim.step()
        signal.append(-sim.positions[tip, 2] - LENGTH)
    y = np.array(signal)
    down = np.flatnonzero((y[:-1] > 0) & (y[1:] <= 0))
    return float(np.diff(down + y[down] / (y[down] - y[down + 1])).mean() * sim.timestep)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Strips against closed forms, then every model on the same motion."""
    result = Result("models", TITLE)
    density = 0.3
    for what, model in (
        ("elastic", Elastic(stretch=200.0)),
        ("mass-spring", MassSpring(stretch=200.0, shear=0.0, flexion=0.0)),
    ):
        say(f"{what}: strips")
        wanted = density * GRAVITY * LENGTH**2 / (2 * 200.0)
        result.near(f"{what}: strip under its weight, longer by, m", elongation(model, density), wanted, 1e-3, ".5f")
        wanted = 4 * LENGTH * np.sqrt(density / 200.0)
        result.near(f"{what}: period along itself, s", period(model, density), wanted, 5e-3, ".5f")
    duration = 2.0 if quick else STILL + MOVING + AFTER
    for name, (seconds, projections) in PAPER.items():
        triangles = name == "nonconforming"
        flat = meshes.rectangle(0.297, 0.42, shape=(9, 9), element="triangle" if triangles else "quad")
        mesh = hanging(flat)
        fabric = Fabric(density=1.0, gravity_density=0.52, damping=2.69, bending=1e-5 if triangles else 0.0)
        step = 2e-3 if triangles else 0.01
        say(f"{name}: {duration:g} s at {1e3 * step:g} ms")
        sim = Simulation(mesh, fabric, model=name, timestep=step)
        sim.grasp(upper_corners(mesh), shaken(mesh, corner_shift))
        sim.step()
        solves, unconverged, edge, begin = 0, 0, 0.0, time.thread_time()
        for k in range(round(duration / step) - 1):
            report = sim.step()
            solves += report.iterations
            unconverged += not report.converged
            if k % 10 == 0:
                edge = max(edge, float(measure.edge_stretch(mesh, sim.positions).max))
        spent = time.thread_time() - begin
        result.below(f"{name}: steps not converged", unconverged, 0, ".0f")
        result.info(f"{name}: solves per step", solves / (duration / step), ".2f", paper=projections)
        result.info(f"{name}: {duration:g} s take, s", spent, ".2f", paper="" if quick else seconds)
        if name == "quasi_inextensible":
            result.below(f"{name}: largest edge stretch, %", 100 * edge, 0.06, ".3f")
        else:
            result.info(f"{name}: largest edge stretch, %", 100 * edge, ".3f")
    result.notes.append(
        "0.297 x 0.42 m, 9 x 9 nodes, rho 1, delta 0.52, alpha 2.69, A 0.075 m, f 0.6 Hz; default parameters of every "
        "model, BDF2 at 10 ms; nonconforming at 2 ms and with bending 1e-5 N m. Seconds are processor time. Solves are "
        "factorisations (Newton), projections, or solves for positions"
    )
    return result
