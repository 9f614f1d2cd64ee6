"""The table at the end of a run."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth.base.errors import MeshError
from isocloth.cli.columns import columns
from isocloth.cli.stopwatch import Stopwatch
from isocloth.measure import area_errors
from isocloth.meshes import Mesh
from isocloth.scenes import Scene
from isocloth.trajectory import Trajectory


def summary(trajectory: Trajectory, clock: Stopwatch, scene: Scene, *outputs: Path) -> str:
    """What was computed, how well and how fast, on one screen."""
    rows = [("cloth", f"{len(trajectory.rest)} nodes, {len(trajectory.faces)} elements")]
    rows += certificate(trajectory)
    speed = clock.speed
    if speed is not None:
        rows.append(("speed", f"{speed:.3g} x real time"))
    rows.append(("elapsed", f"{clock.elapsed:.1f} s, compilation included"))
    rows += [("output" if i == 0 else " ", str(path)) for i, path in enumerate(outputs)]
    return columns(rows, scene.title or (scene.source.stem if scene.source else "scene"))


def _area_error(trajectory: Trajectory) -> float | None:
    """Largest error of the total area over at most 200 frames; None for a rest shape that is no mesh."""
    try:
        mesh = Mesh(trajectory.rest, trajectory.faces, orient=True)
    except MeshError:
        return None
    every = max(1, len(trajectory) // 200)
    return float(np.max(area_errors(mesh, trajectory.positions[::every]).total))


def certificate(trajectory: Trajectory) -> list[tuple[str, str]]:
    """Rows about the frames and the solver, from the file alone."""
    rows = [("frames", f"{len(trajectory)}, from {trajectory.times[0]:g} to {trajectory.times[-1]:.6g} s")]
    reports, timestep = trajectory.reports, trajectory.metadata.get("timestep")
    steps = round(trajectory.duration / timestep) if isinstance(timestep, float) and timestep > 0 else 0
    if steps:
        rows.append(("steps", f"{steps} of {timestep:g} s"))
    if steps and "iterations" in reports:
        rows.append(("solves per step", f"{np.nansum(reports['iterations']) / steps:.2f}"))
    if "isometry_error" in reports:
        worst = int(np.nanargmax(reports["isometry_error"]))
        error = float(reports["isometry_error"][worst])
        rows.append(("worst isometry error", f"{error:.2e} at t = {trajectory.times[worst]:.4g} s"))
    area = _area_error(trajectory)
    if area is not None:
        rows.append(("worst total area error", f"{100 * area:.2g} %"))
    if "converged" in reports:
        failed = int(np.sum(~np.asarray(reports["converged"], dtype=bool)))
        # a frame keeps only the worst of its steps
        name = "unconverged steps" if steps == len(trajectory) - 1 else "frames with unconverged steps"
        rows.append((name, str(failed)))
    return rows
