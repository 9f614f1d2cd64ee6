"""A sheet falls on needles (section 6.3 of the collision paper): h = c1 c2 z - sin(c1 x) sin(c1 y), and their tips."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.obstacles import Implicit, Points
from isocloth.simulation import Simulation
from validation.encounters import Film, Passages, Watch, centre_of_mass, centred
from validation.result import Result, Say, silent

TITLE = "a sheet falls on needles: no tip passes through a face"

C1, C2 = 20.0, 0.075
SIDE = 0.8  # m
FALL = 0.05  # m
FABRIC = Fabric(density=0.1804, gravity_density=0.078, damping=0.50)  # what the paper fitted to wool


def height(p: FloatArray) -> FloatArray:
    """h of points (m, 3)."""
    return np.asarray(C1 * C2 * p[:, 2] - np.sin(C1 * p[:, 0]) * np.sin(C1 * p[:, 1]))


def gradient(p: FloatArray) -> FloatArray:
    """Its gradient (m, 3)."""
    x, y = C1 * p[:, 0], C1 * p[:, 1]
    return np.stack(
        [-C1 * np.cos(x) * np.sin(y), -C1 * np.sin(x) * np.cos(y), np.full(len(p), C1 * C2)], axis=1
    )  # fmt: skip


def tips(reach: float) -> FloatArray:
    """(k, 3) m: the peaks with |x|, |y| <= reach: sin(c1 x) sin(c1 y) = 1."""
    m = np.arange(-50, 51)
    places = [(a, b) for s in (0.5, -0.5) for a in (2 * m + s) * np.pi / C1 for b in (2 * m + s) * np.pi / C1]
    chosen = [(a, b, 1.0 / (C1 * C2)) for a, b in places if max(abs(a), abs(b)) <= reach]
    return np.array(chosen)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Tips through faces, the height at which the sheet comes to lie, and whether it lies still."""
    result = Result("needles", TITLE)
    nodes, duration = (10, 1.0) if quick else (21, 4.0)
    peak = 1.0 / (C1 * C2)
    points = tips(0.75 * SIDE)
    reach = 0.7 * SIDE
    body = Implicit(
        height, gradient, friction=0.4, extent=[[-reach, reach], [-reach, reach], [-1.1 * peak, 1.1 * peak]]
    )
    needles = Points(points, friction=0.4)
    mesh = centred(meshes.rectangle(SIDE, SIDE, shape=(nodes, nodes)), [0.02, 0.03, peak + FALL])
    sim = Simulation(mesh, FABRIC, obstacles=[body, needles], self_collision=True)
    watch, film, passages = Watch(), Film(sim, 0.05), Passages(sim, points)
    times, heights = [0.0], [float(centre_of_mass(sim)[2])]

    def look(sim: Simulation) -> None:
        film.look(sim)
        passages.look(sim)
        times.append(sim.time)
        heights.append(float(centre_of_mass(sim)[2]))
        if len(times) % 50 == 1:
            say(f"t = {sim.time:.1f} s of {duration:g} s")

    watch.run(sim, duration, look)
    weight = FABRIC.weight_density * mesh.area * sim.gravity
    carried = -float(body.force[2] + needles.force[2])
    result.below("tips that passed through a face", passages.count, 0, ".0f", paper="none")
    result.info("tips under the sheet when it fell", int((np.abs(points[:, :2]).max(axis=1) < SIDE / 2).sum()), ".0f")
    result.info("centre of mass below the tips at the end, m", peak - heights[-1], ".3f")
    result.holds("it hangs on the tips", heights[-1] > 0.5 * peak, paper="lies stably on the peaks")
    result.near("force on needles and surface / weight", carried / weight, 1.0, 0.1 if quick else 0.01, ".3f")
    result.info("fastest node at the end, m/s", float(np.linalg.norm(sim.velocities, axis=1).max()), ".3f")
    watch.tell(result, "steps")
    film.save(out, "needles", f"needles, {nodes} x {nodes} nodes")
    result.plot("height", "time, s", "height, m", times, {"centre of mass": heights, "tips": np.full(len(times), peak)})
    return result
