"""A sheet followed through clouds of points: simulated ones, where the truth is known, and recorded ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import measure
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.pictures import render
from isocloth.reconstruction.distance import distances
from isocloth.recordings import Recording, from_clouds
from isocloth.recordings.grid import sheet
from isocloth.simulation import Simulation
from isocloth.trajectory import Trajectory
from validation.reconstruction import recorded_clouds
from validation.result import Result, Say, silent
from validation.scenes import shaken, upper_corners

TITLE = "a grid of nodes followed through the clouds of a depth camera"

SIZE = (0.30, 0.40)  # m, of the simulated sheet
FINE, COARSE = (25, 19), (9, 7)  # nodes along the height and the width: of the simulation, and of the grid
RATE, NOISE, HOLE, STRAYS = 33.0, 2e-3, 0.04, 40  # frames/s; m; m, radius; points a frame
#: m, of the recorded sheets: between the sides of the first frames, 0.42 - 0.44 by 0.44 - 0.46 m
RECORDED = (0.43, 0.445)
#: by which the makers of some recordings enlarged them
ENLARGED = {"r2s_lift_brown_3500": 1.87, "r2s_lift_pink_3500": 1.87}


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Distances from the truth, and from recorded points."""
    result = Result("followed_clouds", TITLE)
    _simulated(result, frames=12 if quick else 100, points=800 if quick else 2500, say=say)
    if not quick:
        _recorded(result, out, say)
    result.notes.append(
        f"simulated: {NOISE * 1e3:g} mm of noise in every coordinate, a hole of {200 * HOLE:g} cm and {STRAYS} strays "
        f"in every frame, {RATE:g} frames a second"
    )
    return result


def _simulated(result: Result, frames: int, points: int, say: Say) -> None:
    say("a simulated swing")
    upright = _hanging(FINE)
    sim = Simulation(upright, Fabric(density=0.15, gravity_density=0.12, damping=0.3))
    sim.grasp(upper_corners(upright), shaken(upright, lambda t: 0.08 * (1.0 - np.cos(2.0 * np.pi * 0.8 * t))))
    nodes = upright.nearest(_hanging(COARSE).vertices)
    random = np.random.default_rng(0)
    times: list[float] = []
    clouds: list[FloatArray] = []
    truth: list[FloatArray] = []
    while len(clouds) < frames:
        while sim.time + 1e-9 < len(clouds) / RATE:
            sim.step()
        times.append(sim.time)
        truth.append(sim.positions[nodes])
        clouds.append(_cloud(upright.with_vertices(sim.positions), points, random))
    made = from_clouds(times, clouds, size=SIZE, shape=(COARSE[1], COARSE[0]))
    away = 1e3 * np.linalg.norm(made.positions - np.array(truth), axis=2)
    still = 1e3 * np.linalg.norm(np.array(truth)[:1] - np.array(truth), axis=2)
    result.below("simulated: nodes from the truth, mean, mm", float(away.mean()), 5.0, ".2f")
    result.info("simulated: the same, 95 %, mm", float(np.quantile(away, 0.95)), ".2f")
    result.info("simulated: the same, largest, mm", float(away.max()), ".2f")
    result.info("simulated: the same of a sheet that stays as it was first, mm", float(still.mean()), ".2f")
    _tell(result, "simulated", made, clouds)


def _hanging(shape: tuple[int, int]) -> Mesh:
    """The sheet upright, its upper edge at z = 0; nodes in the order of `from_clouds`."""
    flat = sheet(shape, SIZE)
    x, y, z = flat.vertices.T
    return flat.with_vertices(np.stack([x, z, y - y.max()], axis=1))


def _cloud(mesh: Mesh, count: int, random: np.random.Generator) -> FloatArray:
    """Points on a surface, uniform by faces, with noise, a hole and strays."""
    corners = mesh.vertices[mesh.triangles[random.integers(0, len(mesh.triangles), count)]]
    shares = random.dirichlet(np.ones(3), count)
    found = np.einsum("nk,nkd->nd", shares, corners) + NOISE * random.standard_normal((count, 3))
    hole = mesh.vertices[random.integers(0, mesh.n_vertices)]
    found = found[np.linalg.norm(found - hole, axis=1) > HOLE]
    return np.vstack([found, hole + random.uniform(-0.6, 0.6, (STRAYS, 3))])


def _recorded(result: Result, out: Path | None, say: Say) -> None:
    """Sheets seen by cameras, if the folder is there. Where their nodes truly were, nobody knows."""
    for name, scenario, given in recorded_clouds("r2s_*", result, say):  # of the others the size is not known
        clouds = [cloud / ENLARGED.get(name, 1.0) for cloud in given]
        made = from_clouds(np.arange(len(clouds), dtype=float), clouds, size=RECORDED)
        _tell(result, f"{name} ({scenario}), {len(clouds)} frames", made, clouds)
        if out is not None and made.mesh is not None:
            shown = Trajectory(
                times=made.times, positions=made.positions, faces=made.mesh.faces, rest=made.mesh.vertices
            )
            render(shown, out / f"followed-{name}.png", width=1200, height=760, title=name)


def _tell(result: Result, label: str, made: Recording, clouds: list[FloatArray]) -> None:
    """How near the sheet is to the points that count, how many count, and how much it is stretched."""
    mesh = made.mesh
    assert mesh is not None
    off, used = np.array(made.metadata["distance"]), np.array(made.metadata["used"])
    stays = np.mean([np.median(distances(c, made.positions[0], mesh.triangles)) for c in clouds])
    stretch = [float(measure.edge_stretch(mesh, p).rms) for p in made.positions]
    limit = 1.5 * 1e3 * NOISE if label == "simulated" else 5.0
    result.below(f"{label}: points from the sheet, mean, mm", 1e3 * float(off.mean()), limit, ".2f")
    result.info(f"{label}: the same in the worst frame, mm", 1e3 * float(off.max()), ".2f")
    result.info(f"{label}: median from a sheet that stays as it was first, mm", 1e3 * float(stays), ".2f")
    result.above(f"{label}: points that count, least of a frame, %", 100.0 * float(used.min()), 85.0, ".1f")
    bare = 100.0 * float(max(made.metadata["bare"]))
    result.below(f"{label}: parts of the sheet without points, worst frame, %", bare, 15.0, ".1f")
    result.below(f"{label}: edges longer or shorter by, rms, worst frame, %", 100.0 * max(stretch), 5.0, ".2f")
