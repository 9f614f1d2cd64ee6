"""Prescriptions that no cloth can follow are reported, and rank-deficient states just work."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.errors import ConvergenceError
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Report, Simulation
from validation.encounters import STRETCH, edge_stretch
from validation.result import Result, Say, silent
from validation.scenes import advance, hanging, upper_corners

TITLE = "corners pulled apart by 5 % are reported; flat sheets just work"

#: no step may take longer than this, s: it must never hang
PATIENCE = 20.0


def pulled(mesh: Mesh, stretch: float, seconds: float) -> tuple[list[Report], float, str]:
    """Pull the upper corners apart by `stretch` within a second and hold: (reports, slowest step in s, error)."""
    sim = Simulation(mesh, Fabric(density=0.1))
    held = upper_corners(mesh)
    start = mesh.vertices[held]
    apart = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0]]) * stretch * np.ptp(start[:, 0])
    sim.grasp(held, lambda t: start + min(t, 1.0) * apart)
    reports, slowest = [], 0.0
    for _ in range(round(seconds / sim.timestep)):
        begin = time.monotonic()
        try:
            reports.append(sim.step())
        except ConvergenceError as error:
            return reports, max(slowest, time.monotonic() - begin), str(error)
        slowest = max(slowest, time.monotonic() - begin)
    return reports, slowest, ""


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Feasible and infeasible prescriptions on every kind of element."""
    result = Result("infeasible", TITLE)
    n = 5 if quick else 13
    cloths = {
        "quads": meshes.rectangle(0.42, 0.594, shape=(n, n)),
        "triangles": meshes.rectangle(0.42, 0.594, shape=(n, n), element="triangle"),
        "irregular": meshes.irregular_rectangle(0.42, 0.594, nodes=n * n),
    }
    for name, flat in cloths.items():
        mesh = hanging(flat)
        say(f"{name}: pulled apart by 5 %")
        reports, slowest, error = pulled(mesh, 0.05, 1.2)
        said = error or next((r.problem for r in reports if not r.converged), "")
        result.holds(f"{name}, 5 % apart: reported or raised", bool(said))
        result.holds(
            f"{name}, 5 % apart: the last step is not called converged", bool(error) or not reports[-1].converged
        )
        result.below(f"{name}, 5 % apart: slowest step, s", slowest, PATIENCE, ".2f")
        first = next((r.time for r in reports if not r.converged), np.nan)
        result.info(f"{name}, 5 % apart: first reported at, s (1 s is 5 %)", first, ".2f")
        result.notes.append(f"{name}: {said}")
        say(f"{name}: flat sheet, two held corners")
        sim = Simulation(mesh, Fabric(density=0.1))
        sim.grasp(upper_corners(mesh))
        log = advance(sim, 100 if quick else 300)
        result.below(f"{name}, flat and hanging: steps not converged", log.unconverged, 0, ".0f")
        result.below(f"{name}, flat and hanging: steps cut", log.cut, 0, ".0f")
        result.info(f"{name}, flat and hanging: isometry error as reported", log.isometry_error, ".1e")
        what = f"{name}, flat and hanging: lengths of edges at the end, rms change, %"
        result.below(what, 100 * edge_stretch(sim), 100 * STRETCH)
        say(f"{name}: flat and horizontal, two held corners")
        sim = Simulation(flat, Fabric(density=0.1))
        sim.grasp(upper_corners(flat))
        log = advance(sim, 100 if quick else 300)
        result.below(f"{name}, flat and dropped: steps not converged", log.unconverged, 0, ".0f")
        result.info(f"{name}, flat and dropped: steps cut", log.cut, ".0f")
        result.info(f"{name}, flat and dropped: isometry error as reported", log.isometry_error, ".1e")
        what = f"{name}, flat and dropped: lengths of edges at the end, rms change, %"
        result.below(what, 100 * edge_stretch(sim), 100 * STRETCH)
    return result
