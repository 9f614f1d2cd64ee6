"""A sheet at rest on a table: the normal forces add up to its weight, and nothing moves."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Box, Floor, Obstacle
from isocloth.simulation import Simulation
from validation.encounters import Film, Watch, centred, turned
from validation.result import Result, Say, silent

TITLE = "a sheet at rest on a table: normal forces = weight, nothing moves"

GRAVITY = 9.81
FABRIC = Fabric(density=0.2, damping=1.0, bending=1e-5)
TOP = 0.4  # m, height of the table
SETTLING, WATCHED = 5.0, 1.0  # s


def scenes(quick: bool) -> dict[str, tuple[Mesh, Obstacle]]:
    """Name -> (sheet, what it falls on)."""
    n = 7 if quick else 15
    height = TOP + 0.01
    flat = centred(meshes.rectangle(0.4, 0.4, shape=(n, n)), [0.0, 0.0, height])
    irregular = centred(meshes.irregular_rectangle(0.4, 0.4, nodes=n * n), [0.0, 0.0, height])
    tilted = flat.with_vertices(flat.vertices + np.outer(0.1 * (flat.vertices[:, 0] + 0.2), [0.0, 0.0, 1.0]))
    box = Box([0.0, 0.0, TOP / 2], [0.6, 0.6, TOP], friction=0.5, name="table")
    small = Box([0.0, 0.0, TOP / 2], [0.25, 0.25, TOP], friction=0.5, name="table")
    return {
        "flat on a floor, quads": (flat, Floor(TOP, friction=0.5)),
        "flat on a floor, irregular triangles": (irregular, Floor(TOP, friction=0.5)),
        "dropped obliquely on a box": (tilted, box),
        "hanging over the edges of a smaller box": (turned(flat, 0.3), small),
    }


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Force on the table over the weight of the cloth, and how far nodes move within a second at rest."""
    result = Result("table", TITLE)
    for name, (mesh, table) in scenes(quick).items():
        say(name)
        sim = Simulation(mesh, FABRIC, gravity=GRAVITY, obstacles=[table])
        film = Film(sim, 0.1)
        watch = Watch().run(sim, SETTLING, film.look)
        before = sim.positions.copy()
        weight = FABRIC.density * sim.rest.area * GRAVITY
        worst = 0.0
        for _ in range(round(WATCHED / sim.timestep)):
            watch.step(sim)
            worst = max(worst, abs(float(-table.force[2]) / weight - 1.0))
        result.below(f"{name}: |force / weight - 1|, worst step of a second, %", 100 * worst, 0.1, ".1e")
        sideways = float(np.linalg.norm(table.force[:2]))
        result.below(f"{name}: horizontal force / weight, %", 100 * sideways / weight, 0.1, ".1e")
        moved = float(np.linalg.norm(sim.positions - before, axis=1).max())
        result.below(f"{name}: largest displacement in a second, mm", 1e3 * moved, 0.01, ".1e")
        watch.tell(result, name)
        film.save(out, f"table-{list(scenes(quick)).index(name)}", name)
    return result
