"""A tank top of triangles, closed topology, shaken on a hanger: area errors over time (section 8.3 of the paper)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import measure, meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from validation.result import Result, Say, silent
from validation.scenes import Settling, advance, smooth_ramp

TITLE = "a tank top shaken on its shoulders for 4.5 s: area errors"

DURATION = 4.5  # s
AMPLITUDE, FREQUENCY = 0.08, 1.0  # m, Hz
HANGER = 0.02  # m below the top of the shoulders that the hanger touches


def shoulders(mesh: Mesh) -> IntArray:
    """Nodes at the top of both straps."""
    z = mesh.vertices[:, 2]
    return np.flatnonzero(z > z.max() - HANGER)


def hanger(start: FloatArray, t: float) -> FloatArray:
    """Shaken to and fro (y) and a little sideways (x), from rest."""
    grow = smooth_ramp(t, 0.5)
    phase = 2.0 * np.pi * FREQUENCY * t
    return start + grow * AMPLITUDE * np.array([0.5 * np.sin(0.7 * phase), np.sin(phase), 0.0])


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Total, mean and dispersion of the area errors, the largest over time."""
    result = Result("tank_top", TITLE)
    mesh = meshes.tank_top(triangles=400 if quick else 1676)
    duration = 1.0 if quick else DURATION
    fabric = Fabric(density=0.15, damping=0.15, bending=1e-6)
    sim = Simulation(mesh, fabric)
    held = shoulders(mesh)
    start = mesh.vertices[held]
    sim.grasp(held, lambda t: hanger(start, t))
    log = Settling()
    hem = np.flatnonzero(mesh.vertices[:, 2] < 1e-6)
    times, total, mean, dispersion, stretch, swung = [], [], [], [], [], []
    for k in range(round(duration / sim.timestep)):
        advance(sim, 1, log)
        if k % 5 == 4:
            errors, edges = measure.area_errors(mesh, sim.positions), measure.edge_stretch(mesh, sim.positions)
            times.append(sim.time)
            total.append(float(errors.total))
            mean.append(float(errors.mean))
            dispersion.append(float(errors.dispersion))
            stretch.append(float(edges.rms))
            swung.append(float(sim.positions[hem, 1].mean() - sim.positions[held, 1].mean()))
        if k % 50 == 49:
            say(f"t = {sim.time:.1f} s of {duration:g} s")
    left = int((mesh.vertices[held, 0] < 0).sum())
    result.info("triangles", mesh.n_faces, ".0f", paper="1676")
    result.info("nodes held (left and right)", len(held), ".0f")
    result.holds("both straps are held", 0 < left < len(held), f"{left} + {len(held) - left}")
    result.below("largest total area error, %", 100 * max(total), 0.1, ".3f", paper="almost 0")
    result.below("largest mean element area error, %", 100 * max(mean), 1.5, ".2f", paper="about 1")
    result.below("largest dispersion (mean + 2 sd), %", 100 * max(dispersion), 7.0, ".2f", paper="below 7")
    result.info("largest edge stretch rms, %", 100 * max(stretch), ".3f")
    result.info("largest isometry error", log.isometry_error, ".1e")
    result.info("hem swings relative to the hanger by, m", float(np.ptp(swung)), ".3f")
    result.info("largest change of a distance between two nodes, m", _deformation(mesh, sim.positions), ".3f")
    result.below("steps not converged", log.unconverged, 0, ".0f")
    result.info("steps cut", log.cut, ".0f")
    result.info("solves per step", log.iterations / log.steps, ".2f")
    result.plot(
        "area errors",
        "time, s",
        "area error, %",
        times,
        {
            "mean element": 100 * np.array(mean),
            "mean + 2 sd": 100 * np.array(dispersion),
            "total": 100 * np.array(total),
        },
    )
    result.notes.append(
        f"shaken along y by {AMPLITUDE:g} m at {FREQUENCY:g} Hz and sideways by half of it, {duration:g} s"
    )
    return result


def _deformation(mesh: Mesh, positions: FloatArray) -> float:
    """Largest change of the distance (m) of a node to one at the hem or the top: zero if it moved rigidly."""
    marks = [int(np.argmin(mesh.vertices[:, 2])), int(np.argmax(mesh.vertices[:, 2]))]
    before = np.linalg.norm(mesh.vertices[:, None] - mesh.vertices[marks], axis=2)
    after = np.linalg.norm(positions[:, None] - positions[marks], axis=2)
    return float(np.abs(after - before).max())
