"""How long a calibration takes: one evaluation, and a map of 100."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.calibration import prepare, sensitivity
from isocloth.fabric import Fabric
from isocloth.recordings import from_trajectory
from isocloth.simulation import Simulation
from validation.result import Result, Say, silent
from validation.scenes import hanging, shaken, upper_corners

TITLE = "time of one evaluation of 14 s, 9 x 9 nodes, and of a 10 x 10 map"

AMPLITUDE, FREQUENCY = 0.075, 0.6  # m, Hz: the fast motion of the papers' robot


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Processor time of an evaluation; elapsed time of a map on two cores."""
    result = Result("calibration_speed", TITLE)
    duration = 14.0
    flat = meshes.rectangle(0.297, 0.42, (9, 9))
    sheet = hanging(flat)
    cloth = Fabric(density=0.1604, gravity_density=0.0834, damping=0.4315)  # light cotton, fitted by the papers to it
    sim = Simulation(sheet, cloth, rest=flat)
    sim.grasp(
        upper_corners(sheet),
        shaken(sheet, lambda t: AMPLITUDE * float(np.sin(2.0 * np.pi * FREQUENCY * max(t - 1.0, 0.0))) * (t < 11.0)),
    )
    recording = from_trajectory(sim.run(duration), markers=(9, 9), noise=1e-3, missing=0.02, longest_loss=0.1)
    recording = recording.with_(fabric=Fabric(density=cloth.density))
    begin = time.perf_counter()
    experiment = prepare(recording)
    result.info("making a recording ready, s", time.perf_counter() - begin, ".2f")
    spent = []
    for _ in range(3 if quick else 7):
        begin = time.process_time()
        simulated = experiment.simulate(cloth)
        experiment.errors(simulated)
        spent.append(time.process_time() - begin)
    result.below("one evaluation of 14 s, 9 x 9 nodes, s of one core", min(spent), 0.5, ".3f", paper="2.10 s")
    result.below("steps not converged", simulated.unconverged, 0, ".0f")
    side, workers = (2, 1) if quick else (10, 2)
    say(f"map of {side} x {side}, {workers} processes")
    begin, used = time.perf_counter(), time.process_time()
    found = sensitivity(experiment, points=side, workers=workers)
    elapsed = time.perf_counter() - begin
    name = f"map of {side} x {side} points, {workers} process{'es' if workers > 1 else ''}, s"
    if quick:
        result.below(name, time.process_time() - used, 60.0, ".1f")
    else:
        result.below(name, elapsed, 60.0, ".1f")
    best = found.best
    result.info("least error on the map, cm", 1e2 * float(np.nanmin(found.errors)), ".3f")
    result.info(f"at delta (true {cloth.weight_density:g})", best["gravity_density"], ".4f")
    result.info(f"at alpha (true {cloth.damping:g})", best["damping"], ".4f")
    if out is not None:
        found.save(out / "calibration_speed-map.svg")
    result.notes.append(f"{os.cpu_count()} cores; other programs on the machine make it slower")
    return result
