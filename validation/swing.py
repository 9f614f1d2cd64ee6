"""A sheet swinging from two corners that move to and fro: what the time step and the mesh do to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from isocloth import measure, meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from validation.result import Result, Say, silent
from validation.scenes import Settling, advance, hanging, lower_edge, shaken, upper_corners

TITLE = "tip of a swinging sheet at 10 ms against small steps; edge stretch"

AMPLITUDE, FREQUENCY = 0.075, 0.6  # m, Hz
DENSITY = 0.1  # kg/m^2


@dataclass
class Swing:
    """What a run of the swing showed."""

    half_range: float  # of the middle of the lower edge along y after the first second, m
    log: Settling
    edge_max: float  # largest |l/l0 - 1|
    edge_rms: float  # largest rms over time
    area_total: float
    ringing: float  # share of the tip's motion above 10 Hz (rms over rms)
    times: FloatArray
    tip: FloatArray


def swing(mesh: Mesh, duration: float, *, timestep: float = 0.01, integrator: str = "bdf2") -> Swing:
    """Corners move as 0.075 cos(2 pi 0.6 t) along y."""
    sim = Simulation(mesh, Fabric(density=DENSITY), timestep=timestep, integrator=integrator)
    # start where the cosine starts
    sim.positions = mesh.vertices + np.array([0.0, AMPLITUDE, 0.0])
    sim.grasp(upper_corners(mesh), shaken(mesh, lambda t: AMPLITUDE * np.cos(2.0 * np.pi * FREQUENCY * t)))
    edge = lower_edge(mesh)
    log = Settling()
    tip, times = [], []
    edge_max = edge_rms = area = 0.0
    stride = max(1, round(0.01 / timestep))
    for k in range(round(duration / timestep)):
        advance(sim, 1, log)
        if (k + 1) % stride == 0:
            times.append(sim.time)
            tip.append(float(sim.positions[edge, 1].mean()))
            if (k + 1) % (5 * stride) == 0:
                stretch = measure.edge_stretch(mesh, sim.positions)
                edge_max, edge_rms = max(edge_max, float(stretch.max)), max(edge_rms, float(stretch.rms))
                area = max(area, float(measure.area_errors(mesh, sim.positions).total))
    y, t = np.array(tip), np.array(times)
    late = y[t > 1.0] if duration > 1.5 else y
    # a pendulum of this length moves at 0.6 Hz: what is above 10 Hz was made by the integrator
    spectrum = np.abs(np.fft.rfft((late - late.mean()) * np.hanning(len(late)))) ** 2
    high = np.fft.rfftfreq(len(late), 0.01) > 10.0
    ringing = float(np.sqrt(spectrum[high].sum() / spectrum.sum()))
    return Swing(float(np.ptp(late)) / 2, log, edge_max, edge_rms, area, ringing, t, y)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Half range of the tip, isometry and edges."""
    result = Result("swing", TITLE)
    side = 5 if quick else 9
    duration = 3.0 if quick else 14.0
    quads = hanging(meshes.rectangle(0.42, 0.594, shape=(side, side)))
    smallest = 0.0025 if quick else 0.00125
    say(f"quads {side}x{side}, bdf2, {1e3 * smallest:g} ms")
    limit = swing(quads, duration, timestep=smallest)
    say(f"quads {side}x{side}, bdf2, 10 ms")
    ours = swing(quads, duration)
    result.info(f"bdf2, {1e3 * smallest:g} ms: tip half range, m", limit.half_range, ".4f")
    result.near("bdf2, 10 ms: tip half range, m", ours.half_range, limit.half_range, 0.03, ".4f")
    result.info("bdf2, 10 ms: isometry error as reported", ours.log.isometry_error, ".1e")
    result.below("bdf2, 10 ms: largest edge stretch, %", 100 * ours.edge_max, 0.1)
    result.below("bdf2, 10 ms: largest total area error, %", 100 * ours.area_total, 0.1)
    result.below("bdf2, 10 ms: steps not converged", ours.log.unconverged, 0, ".0f")
    result.below("bdf2, 10 ms: share of the tip's motion above 10 Hz (ringing), %", 100 * ours.ringing, 1.0)
    result.info("bdf2, 10 ms: solves per step", ours.log.iterations / ours.log.steps, ".2f")
    columns = {"bdf2 10 ms": ours.tip, f"bdf2 {1e3 * smallest:g} ms": limit.tip}
    for timestep in (0.01,) if quick else (0.01, 0.0025):
        say(f"quads {side}x{side}, euler, {1e3 * timestep:g} ms")
        euler = swing(quads, duration, timestep=timestep, integrator="euler")
        result.info(f"euler, {1e3 * timestep:g} ms: tip half range, m", euler.half_range, ".4f")
        columns[f"euler {1e3 * timestep:g} ms"] = euler.tip
    result.plot("tip", "time, s", "tip, m", ours.times, columns)
    sides = (5, 9) if quick else (9, 17, 33)
    for name in ("regular", "irregular"):
        rms = []
        for n in sides:
            say(f"{name} triangles, {n * n} nodes")
            if name == "regular":
                flat = meshes.rectangle(0.42, 0.594, shape=(n, n), element="triangle")
            else:
                flat = meshes.irregular_rectangle(0.42, 0.594, nodes=n * n)
            found = swing(hanging(flat), 2.0 if quick else (14.0 if n < 20 else 4.0))
            rms.append(100 * found.edge_rms)
            result.below(f"{name} triangles, {n * n} nodes: edge stretch rms, %", rms[-1], 0.3)
            result.info(f"{name} triangles, {n * n} nodes: edge stretch max, %", 100 * found.edge_max)
            result.info(f"{name} triangles, {n * n} nodes: isometry error as reported", found.log.isometry_error, ".1e")
            result.below(f"{name} triangles, {n * n} nodes: steps not converged", found.log.unconverged, 0, ".0f")
        result.holds(
            f"{name} triangles: edge stretch falls with h", rms[-1] < rms[0], " > ".join(f"{r:.3f} %" for r in rms)
        )
    result.notes.append(
        f"0.42 x 0.594 m, {DENSITY:g} kg/m^2, no damping, upper corners at 0.075 cos(2 pi 0.6 t) m, {duration:g} s; "
        "half range of the middle of the lower edge after the first second"
    )
    return result
