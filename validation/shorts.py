"""Shorts swung over a table, laid down and folded (section 6.4 of the collision paper, 3.6.4 of the thesis)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Box
from isocloth.simulation import Simulation
from validation.encounters import Film, Watch, centre_of_mass
from validation.intersections import Intersections
from validation.result import Result, Say, silent
from validation.scenes import fastest, smooth_ramp

TITLE = "shorts swung over a table, laid down and folded by two corners: no layer passes another"

WAIST, LENGTH = 0.40, 0.45  # m
ABOVE = 0.05  # m, of the hems over the table at the start
#: what the papers fitted to wool; the thesis lets the shorts shear a little
FABRIC = Fabric(density=0.1804, gravity_density=0.078, damping=0.50, shear=1.0, friction=0.3)
TABLE = 0.4  # coefficient of friction
#: of the hands, in the plane across the waist: begin (s), length (s), way along y and along z (m). The papers show a
#: picture of their path and give no numbers: here the hands sweep forward so fast (2 m/s at most) that the legs trail
#: behind, sink, and draw what has come down flat
SWEEP = ((0.1, 1.2, 0.90, 0.0), (0.5, 0.8, 0.0, -0.46), (1.0, 0.8, 0.30, 0.0))
FOLD, FOLDING, BACK = 2.0, 1.0, 0.40  # s, s, m: from when on, how long and how far they go back, over a half circle
#: m, height at which they let go. Lower than an element is long, an edge between a hand and the table on which it
#: stands by friction is a strut, which cannot buckle as cloth does
DROP = 0.06
RELEASED, SETTLING = 3.1, 3.9  # s: when they let go, and how long it then comes to rest


def hands(start: FloatArray, t: float) -> FloatArray:
    """(2, 3) m: where the two corners of the waist are carried."""
    at = start.copy()
    for begin, length, forward, up in SWEEP:
        at[:, 1:] += smooth_ramp(t - begin, length) * np.array([forward, up])
    share = smooth_ramp(t - FOLD, FOLDING)
    low = start[0, 2] + sum(move[3] for move in SWEEP)  # m, of the hands when the shorts are laid
    at[:, 1] -= 0.5 * BACK * (1.0 - np.cos(np.pi * share))
    at[:, 2] += 0.5 * BACK * np.sin(np.pi * share) + (DROP - low) * share
    return at


def garment(quick: bool) -> Mesh:
    """Shorts that hang over the table, hems down."""
    mesh = meshes.shorts(waist=WAIST, length=LENGTH, triangles=300 if quick else 700)
    return mesh.with_vertices(mesh.vertices + np.array([0.0, 0.0, ABOVE]))


def scene(mesh: Mesh) -> tuple[Simulation, Box, IntArray]:
    """Shorts above the table, the table, and the nodes at the corners of the waist."""
    table = Box([0.0, 0.6, -0.5 * FABRIC.thickness - 0.02], [0.9, 1.8, 0.04], friction=TABLE, name="table")
    sim = Simulation(mesh, FABRIC, obstacles=[table], self_collision=True)
    corners = np.array([mesh.nearest([side * 0.5 * WAIST, 0.0, LENGTH + ABOVE]) for side in (-1.0, 1.0)])
    return sim, table, corners


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Intersections in frames by an independent library, gaps, isometry, rest, height of the centre of mass, q."""
    result = Result("shorts", TITLE)
    mesh = garment(quick)
    sim, table, corners = scene(mesh)
    start = mesh.vertices[corners]
    hems = np.flatnonzero(mesh.vertices[:, 2] < ABOVE + 1e-9)
    grasp = sim.grasp(corners, lambda t: hands(start, t))
    watch, film, crossed = Watch(), Film(sim, 0.02), Intersections(sim, sim.timestep)
    times, height = [0.0], [float(centre_of_mass(sim)[2])]

    def look(sim: Simulation) -> None:
        if sim.time < RELEASED + 0.5:
            film.look(sim)
        crossed.look(sim)
        times.append(sim.time)
        height.append(float(centre_of_mass(sim)[2]))

    say(f"{mesh.n_vertices} nodes")
    watch.run(sim, FOLD, look)
    say("laid")
    laid = float(np.ptp(sim.positions[:, 1]))
    watch.run(sim, RELEASED - FOLD, look)
    say("folded")
    grasp.release()
    watch.run(sim, 1.9 if quick else SETTLING, look)
    crossed.tell(result, "shorts")
    speed = fastest(sim)
    result.below("shorts: fastest node at the end, mm/s", 1e3 * speed, 1.0, ".2g")
    weight = FABRIC.weight_density * sim.rest.area * sim.gravity
    result.near("shorts: force on the table at the end / weight", -float(table.force[2]) / weight, 1.0, 1e-3)
    folded = float(np.ptp(sim.positions[:, 1]))
    result.above("shorts: length once laid / length of the garment", laid / LENGTH, 0.75, ".2f")
    result.below("shorts: length once folded / length of the garment", folded / LENGTH, 0.75, ".2f")
    result.below("shorts: the corners lie this far from the hems, along the legs, m",
                 abs(float(sim.positions[corners, 1].mean() - sim.positions[hems, 1].mean())), 0.1, ".3f")  # fmt: skip
    instants = (("at the start", 0.0), ("laid", FOLD), ("let go", RELEASED), ("at the end", times[-1]))
    for name, instant in instants:
        result.info(f"shorts: height of the centre of mass {name}, m", height[round(instant / sim.timestep)], ".4f")
    watch.tell(result, "shorts", edges=False)
    result.plot("height", "time, s", "centre of mass, m", times, {"shorts": height})
    film.save(out, "shorts", "shorts, swung, laid down and folded")
    result.notes.append(f"{mesh.n_vertices} nodes, {len(mesh.faces)} faces, steps of 10 ms, {times[-1]:.1f} s")
    return result
