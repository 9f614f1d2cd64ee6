"""Nonconforming triangles moved by impulses: no locking, distances within a micrometre, and where the time goes.

The table cloth has as many triangles as the paper's, the sheet on a sphere is its 100 x 100 mesh; sizes and fabrics are
not given there. Times are processor times of one core, the paper's those of two processors with six cores each.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from isocloth import measure, meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Box, Floor, Obstacle, Sphere
from isocloth.simulation import Simulation
from isocloth.simulation.memory import ParticleMemory
from isocloth.solvers.impulses import Impulses
from validation.intersections import Intersections
from validation.locking import DAMPING, DENSITY, NOISE, crease, least_depth
from validation.result import Result, Say, silent
from validation.scenes import advance, corner_nodes, with_noise

TITLE = "nonconforming triangles with impulses: locking, a table cloth, a sheet on a sphere"

STEP = 1e-3  # s
TOLERANCE = 1e-6  # m
FABRIC = Fabric(density=0.2, bending=5e-5, bending_damping=5e-6, damping=0.1)


@dataclass
class Log:
    """What the steps of a scene reported."""

    free: list[int] = field(default_factory=list)  # solves before contact, of parts of a step each
    all: list[int] = field(default_factory=list)
    error: float = 0.0  # m, largest of all distances at the end of a step
    cut: int = 0
    unconverged: int = 0
    gap: float = np.inf  # m
    seconds: float = 0.0  # of processor time, of all steps


def wavy(mesh: Mesh, size: float, seed: int = 0) -> Mesh:
    """The mesh with smooth waves of standard deviation `size` (m) in z, some decimetres long.

    An exactly flat sheet that touches a ball at one point has no way to bend: every distance would change.
    """
    random = np.random.default_rng(seed)
    z = np.zeros(mesh.n_vertices)
    for _ in range(12):
        angle, length, phase = random.uniform(0, 2 * np.pi), random.uniform(0.15, 0.5), random.uniform(0, 2 * np.pi)
        along = mesh.vertices[:, 0] * np.cos(angle) + mesh.vertices[:, 1] * np.sin(angle)
        z += np.cos(2 * np.pi * along / length + phase) / np.sqrt(6.0)
    return mesh.with_vertices(mesh.vertices + size * z[:, None] * np.array([0.0, 0.0, 1.0]))


def largest_error(sim: Simulation) -> float:
    """Largest error of a distance between particles, m."""
    assert isinstance(sim.solver, Impulses)
    assert isinstance(sim.state.memory, ParticleMemory)
    mid, x = sim.solver.midpoints, sim.state.memory.particles
    length = np.linalg.norm(x[mid.pairs[:, 0]] - x[mid.pairs[:, 1]], axis=1)
    return float(np.abs(length - mid.lengths).max())


def drop(sim: Simulation, duration: float) -> Log:
    """Take steps and note what they report; the first is not timed, it may compile."""
    assert isinstance(sim.solver, Impulses)
    log = Log()
    sim.step()
    for phase in sim.solver.seconds:
        sim.solver.seconds[phase] = 0.0
    for _ in range(round(duration / sim.timestep)):
        sim.solver.free_solves.clear()
        begin = time.thread_time()
        report = sim.step()
        log.seconds += time.thread_time() - begin
        log.free += sim.solver.free_solves
        log.all.append(report.iterations)
        log.cut += report.substeps > 1
        log.unconverged += not report.converged
        log.gap = min(log.gap, report.min_gap)
        log.error = max(log.error, largest_error(sim))
    return log


def _scene(
    result: Result, name: str, mesh: Mesh, obstacle: Obstacle, duration: float, paper: dict[str, str], say: Say
) -> None:
    say(f"{name}, {mesh.n_faces} triangles, {duration:g} s")
    sim = Simulation(mesh, FABRIC, model="nonconforming", timestep=STEP, obstacles=[obstacle])
    assert isinstance(sim.solver, Impulses)
    mid, seconds = sim.solver.midpoints, sim.solver.seconds
    log = drop(sim, duration)
    steps = len(log.all)
    result.info(f"{name}: triangles", mesh.n_faces, ".0f", paper=paper["triangles"])
    result.info(f"{name}: constraints", len(mid.pairs), ".0f", paper=paper["constraints"])
    result.info(f"{name}: of these at the border", mid.border, ".0f", paper=paper["border"])
    result.below(f"{name}: largest error of a distance, m", log.error, TOLERANCE, ".1e", paper="1e-06")
    free = np.array(log.free)
    result.info(f"{name}: solves for positions before contact, mean", float(free.mean()), ".2f", paper="1 - 2")
    result.below(f"{name}: steps with more than two of these, %", 100 * float((free > 2).mean()), 0.0, ".1f", paper="0")
    result.info(f"{name}: solves for positions, contact included, mean", float(np.mean(log.all)), ".2f")
    result.info(f"{name}: the same, largest", float(np.max(log.all)), ".0f")
    result.info(f"{name}: steps cut", log.cut, ".0f")
    result.below(f"{name}: steps not converged", log.unconverged, 0, ".0f")
    result.info(f"{name}: deepest penetration, mm", -1e3 * min(log.gap, 0.0), ".2f")
    edge = measure.edge_stretch(mesh, sim.positions)
    result.info(f"{name}: edges of the coupled mesh, rms, %", 100 * float(edge.rms), ".1f")
    for phase in ("factorisation", "positions", "velocities"):
        result.info(f"{name}: {phase}, ms a step", 1e3 * seconds[phase] / steps, ".1f", paper=paper[phase])
    result.info(f"{name}: preview (bending), ms a step", 1e3 * seconds["preview"] / steps, ".1f")
    result.info(f"{name}: total, ms a step", 1e3 * log.seconds / steps, ".1f", paper=paper["total"])


def _fold(result: Result, name: str, mesh: Mesh, noise: float, duration: float, say: Say) -> None:
    """The locking test."""
    say(f"{name}, {duration:g} s")
    start = with_noise(mesh, noise) if noise else mesh
    fabric = Fabric(density=DENSITY, damping=DAMPING, bending=1e-5)
    sim = Simulation(start, fabric, model="nonconforming", timestep=STEP)
    held = corner_nodes(mesh, (0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    sim.grasp(held)
    log = advance(sim, round(duration / STEP))
    x = sim.positions
    free = int(corner_nodes(mesh, (1.0, 1.0))[0])
    least = round(least_depth(mesh.n_vertices), 3)
    result.above(f"{name}: depth, m", float(x[held, 2].mean() - x[free, 2]), least, ".4f")
    result.above(f"{name}: diagonal above its flanks, m", crease(mesh, x), 0.02, ".3f")
    result.below(f"{name}: steps not converged", log.unconverged, 0, ".0f")
    result.below(f"{name}: largest error of a distance at the end, m", largest_error(sim), TOLERANCE, ".1e")
    result.info(f"{name}: solves a step", log.iterations / log.steps, ".2f")
    result.info(f"{name}: edges of the coupled mesh, rms, %", 100 * float(measure.edge_stretch(start, x).rms), ".1f")


def _layers(result: Result, name: str, nodes: int, duration: float, say: Say) -> None:
    """Two corners of a sheet on the floor are carried over and put down on the rest of it."""
    say(f"{name}, {duration:g} s")
    mesh = meshes.irregular_rectangle(0.3, 0.3, nodes=nodes)
    mesh = wavy(mesh.with_vertices(mesh.vertices + np.array([0.0, 0.0, 5e-3])), 1e-3)
    floor = Floor(friction=0.5)
    fabric = Fabric(density=0.2, bending=2e-5, bending_damping=2e-6, damping=0.5)
    sim = Simulation(mesh, fabric, model="nonconforming", timestep=STEP, obstacles=[floor], self_collision=True)
    corners = corner_nodes(mesh, (0.0, 0.0), (0.3, 0.0))
    begin, inwards = mesh.vertices[corners].copy(), np.array([[3e-3, 0.0, 0.0], [-3e-3, 0.0, 0.0]])

    def over(time: float) -> FloatArray:
        gently = min(1.0, time / 0.6)
        turn = np.pi * gently**2 * (3.0 - 2.0 * gently)
        done, near = (1.0 - np.cos(turn)) / 2, min(1.0, time / 0.1)
        # hands that come a little nearer: between nodes as far apart as the cloth is long it has no room to hang
        return np.asarray(begin + near * inwards + np.array([0.0, 0.27 * done, 0.12 * np.sin(turn)]))

    grasp = sim.grasp(corners, over)
    looked = Intersections(sim, 10 * STEP)
    gap, unmet, unconverged, weight = np.inf, 0.0, 0, []
    for k in range(round(duration / STEP)):
        if k == 650:
            grasp.release()
        report = sim.step()
        looked.look(sim)
        gap, unmet = min(gap, report.min_gap), max(unmet, report.friction_residual)
        unconverged += not report.converged
        weight.append(-float(floor.force[2]))
    looked.tell(result, name, apart=0.5)
    result.info(f"{name}: smallest gap as reported, mm", 1e3 * gap, ".3f")
    result.below(f"{name}: steps not converged", unconverged, 0, ".0f")
    result.below(f"{name}: largest error of a distance at the end, m", largest_error(sim), TOLERANCE, ".1e")
    share = np.mean(weight[-200:]) / (fabric.density * 0.09 * 9.81)
    result.near(f"{name}: force on the floor at the end / weight", float(share), 1.0, 0.03, ".3f")
    result.info(f"{name}: largest friction residual", unmet, ".2f")
    result.info(f"{name}: fastest node at the end, mm/s", 1e3 * float(np.abs(sim.velocities).max()), ".1f")


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Folds of a square on irregular triangles, layers that meet, then the two scenes of the paper with their times."""
    result = Result("nonconforming", TITLE)
    sizes = (150,) if quick else (472, 941)
    for nodes in sizes:
        mesh = meshes.irregular_rectangle(1.0, 1.0, nodes=nodes)
        _fold(result, f"fold, irregular {nodes}, noisy", mesh, NOISE, 1.5 if quick else 2.0, say)
    if not quick:
        _fold(result, "fold, irregular 472, flat", meshes.irregular_rectangle(1.0, 1.0, nodes=472), 0.0, 2.0, say)
    _layers(result, "folded sheet", 120 if quick else 400, 0.8 if quick else 1.2, say)
    cloth = meshes.irregular_rectangle(1.2, 1.2, nodes=200 if quick else 2452)
    cloth = wavy(cloth.with_vertices(cloth.vertices + np.array([-0.6, -0.6, 0.01])), 2e-3)
    table = Box([0.0, 0.0, -0.05], [0.7, 0.7, 0.1], friction=0.4)
    _scene(
        result, "table cloth", cloth, table, 0.1 if quick else 0.3,
        {"triangles": "4722", "constraints": "14406", "border": "240", "factorisation": "73.6", "positions": "7.2",
         "velocities": "6.6", "total": "109.5"}, say,
    )  # fmt: skip
    side = 15 if quick else 100
    sheet = meshes.rectangle(1.0, 1.0, shape=(side, side), element="triangle")
    sheet = wavy(sheet.with_vertices(sheet.vertices + np.array([-0.5, -0.5, 0.31])), 2e-3)
    _scene(
        result, "sphere", sheet, Sphere([0.0, 0.0, 0.0], 0.3, friction=0.3), 0.1 if quick else 0.12,
        {"triangles": "19602", "constraints": "59396", "border": "", "factorisation": "335.6", "positions": "31.1",
         "velocities": "26.1", "total": "572.4"}, say,
    )  # fmt: skip
    result.notes.append(
        "steps of 1 ms, processor time of one core; the paper's times are of two Intel X5650 with twelve cores; "
        "contact counts in the total only"
    )
    result.notes.append(
        "solves before contact count those for positions, with gradients of the middle of the step; after each of two "
        "turns of pushing out what touches, distances are restored, which takes further solves"
    )
    return result
