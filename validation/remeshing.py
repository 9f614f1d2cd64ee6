"""The same cloth with the same parameters on finer meshes moves alike: 9x9 against 9x17, 17x9 and 17x17."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.simulation import Simulation
from isocloth.solvers import ProjectionOptions
from validation.result import Result, Say, silent
from validation.scenes import Settling, advance, hanging, shaken, upper_corners

TITLE = "positions at common nodes of 9x9, 9x17, 17x9 and 17x17 meshes"

AMPLITUDE, FREQUENCY = 0.075, 0.6  # m, Hz
DENSITY, RATE = 0.1, 2.0  # kg/m^2, 1/s
WAYS: dict[str, dict[str, Any]] = {
    "default": {},
    "papers' discretisation": {"discretisation": "nodal"},
    "papers' discretisation, projection, euler": {
        "discretisation": "nodal", "solver": "projection", "integrator": "euler",
        "solver_options": ProjectionOptions(tolerance=1e-3),
    },
}  # fmt: skip


def recorded(
    shape: tuple[int, int], coarse: tuple[int, int], duration: float, way: dict[str, Any]
) -> tuple[FloatArray, Settling]:
    """Positions (T, nx, ny, 3) of the nodes of the coarse mesh every 50 ms, and what the steps reported."""
    mesh = hanging(meshes.rectangle(0.297, 0.42, shape=shape))
    sim = Simulation(mesh, Fabric(density=DENSITY, damping=RATE * DENSITY), **way)
    # one second of a ramp takes the corners from rest to the oscillation
    sim.grasp(
        upper_corners(mesh), shaken(mesh, lambda t: AMPLITUDE * np.sin(2.0 * np.pi * FREQUENCY * t) * min(t, 1.0))
    )
    every = tuple((f - 1) // (c - 1) for f, c in zip(shape, coarse, strict=True))
    log, frames = Settling(), []
    for _ in range(round(duration / 0.05)):
        advance(sim, 5, log)
        frames.append(sim.positions.reshape(*shape, 3)[:: every[0], :: every[1]].copy())
    return np.array(frames), log


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Mean and largest distances of common nodes over the whole motion."""
    result = Result("remeshing", TITLE)
    n = 5 if quick else 9
    fine = 2 * n - 1
    duration = 3.0 if quick else 14.0
    ways = dict(list(WAYS.items())[:1]) if quick else WAYS
    for name, way in ways.items():
        say(f"{name}, {n}x{n}")
        base, first = recorded((n, n), (n, n), duration, way)
        unconverged, curves = first.unconverged, {}
        for shape in ((n, fine), (fine, n), (fine, fine)):
            say(f"{name}, {shape[0]}x{shape[1]}")
            other, log = recorded(shape, (n, n), duration, way)
            unconverged += log.unconverged
            distance = np.linalg.norm(other - base, axis=-1)
            curves[f"{shape[0]}x{shape[1]}"] = 1e3 * distance.mean(axis=(1, 2))
            what = f"{name}, {n}x{n} -> {shape[0]}x{shape[1]}"
            limit = 2.0 if not quick else 8.0
            aimed = "error moves < 1 mm" if way else ""
            if len(way) > 1:  # the papers' own way is printed for comparison: nobody claims a target for it
                result.info(f"{what}: mean distance, mm", 1e3 * distance.mean(), ".2f", paper=aimed)
            else:
                result.below(f"{what}: mean distance, mm", 1e3 * distance.mean(), limit, ".2f", paper=aimed)
            result.info(f"{what}: largest distance, mm", 1e3 * distance.max(), ".1f")
        result.below(f"{name}: steps not converged", unconverged, 0, ".0f")
        result.plot(
            f"{name} distance".replace("'", ""),
            "time, s",
            "mean distance, mm",
            0.05 * np.arange(1, 1 + len(base)),
            curves,
        )
    result.notes.append(
        f"0.297 x 0.42 m, {duration:g} s, A 0.075 m, f 0.6 Hz, damping / density {RATE:g} 1/s; 1 mm is aimed at; "
        "mean over common nodes and 20 frames a second"
    )
    return result
