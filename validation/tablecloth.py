"""An A2 sheet is lowered and half laid on a table (section 7.3 of the collision paper), with friction 0, 1 and 2."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.obstacles import Box
from isocloth.simulation import Simulation
from validation.encounters import Film, Watch
from validation.result import Result, Say, silent
from validation.scenes import hanging, smooth_ramp

TITLE = "an A2 sheet lowered and half laid on a table, mu 0, 1, 2"

WIDTH, HEIGHT = 0.42, 0.594  # m
ABOVE = 0.1  # m, of the lower edge over the table at the start
LOWERED, TILTED, LAID = 1.0, 2.0, 4.0  # s: when the lower edge is down, the sheet oblique, and half of it laid
SETTLED, WATCHED = 3.0, 10.0  # s from then on: until it has come to rest, and how long its creep is watched
#: the part in the air ends at this angle from the table, rad, and hangs through: its ends are this much nearer
STEEP, SLACK = np.pi / 4, 0.03
FABRIC = Fabric(density=0.1804, gravity_density=0.078, damping=0.50)  # what the paper fitted to wool


@dataclass
class Laid:
    """How a sheet came to lie."""

    positions: FloatArray  # (n, 3) m at the end
    lying: IntArray  # nodes on the table while it was watched
    creep: float  # m, largest displacement of these
    friction: float  # N, horizontal force on the table at the end
    weight: float  # N carried by the table at the end
    watch: Watch
    film: Film


def corners(start: FloatArray, t: float) -> FloatArray:
    """(2, 3) m: down until the lower edge touches, then back and down as the sheet is laid from this edge on."""
    down = ABOVE * smooth_ramp(t, LOWERED)
    tilt, share = smooth_ramp(t - LOWERED, TILTED - LOWERED), smooth_ramp(t - LOWERED, LAID - LOWERED)
    lying = 0.5 * HEIGHT * share
    hanging = (1.0 - SLACK * tilt) * (HEIGHT - lying)
    angle = 0.5 * np.pi + tilt * (STEEP - 0.5 * np.pi)
    return start + np.array([0.0, -lying - hanging * np.cos(angle), hanging * np.sin(angle) - HEIGHT - down])


def scene(mu: float, shape: tuple[int, int], **options: Any) -> tuple[Simulation, Box]:
    """A sheet that is lowered on a table with a coefficient of friction, and the table."""
    mesh = hanging(meshes.rectangle(WIDTH, HEIGHT, shape=shape))
    mesh = mesh.with_vertices(mesh.vertices + np.array([0.0, 0.0, HEIGHT + ABOVE]))
    top = -0.5 * FABRIC.thickness  # so that the sheet lies at z = 0
    table = Box([WIDTH / 2, -0.2, top - 0.02], [1.0, 1.4, 0.04], friction=mu, name="table")
    sim = Simulation(mesh, FABRIC, obstacles=[table], **options)
    held = np.array([mesh.nearest([x, 0.0, HEIGHT + ABOVE]) for x in (0.0, WIDTH)])
    start = mesh.vertices[held]
    sim.grasp(held, lambda t: corners(start, t))
    return sim, table


def lay(mu: float, shape: tuple[int, int], settled: float = SETTLED, watched: float = WATCHED, **options: Any) -> Laid:
    """Lay a sheet on a table with a coefficient of friction, let it settle (s) and watch it (s)."""
    sim, table = scene(mu, shape, **options)
    watch, film = Watch(), Film(sim, 0.05)
    watch.run(sim, LAID + settled, film.look)
    before = sim.positions.copy()
    touching = before[:, 2] < 1e-4
    watch.run(sim, watched)
    lying = np.flatnonzero(touching & (sim.positions[:, 2] < 1e-4))
    creep = float(np.linalg.norm(sim.positions[lying] - before[lying], axis=1).max(initial=0.0))
    force = table.force
    return Laid(
        sim.positions.copy(), lying, creep, float(np.linalg.norm(force[:2])), -float(force[2]), watch, film
    )  # fmt: skip


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """How sheets differ by friction, creep of what lies, and computing time."""
    result = Result("tablecloth", TITLE)
    shape, watched = (7, 9), 0.5 if quick else WATCHED
    weight = FABRIC.weight_density * WIDTH * HEIGHT * 9.81
    found = {}
    for mu in (0.0, 1.0) if quick else (0.0, 1.0, 2.0):
        say(f"mu {mu:g}")
        found[mu] = laid = lay(mu, shape, 1.0 if quick else SETTLED, watched)
        result.info(f"mu {mu:g}: share of nodes that lie", len(laid.lying) / len(laid.positions), ".2f")
        result.info(f"mu {mu:g}: lower edge has moved back by, m", -float(laid.positions[:, 1].max()), ".4f")
        result.info(f"mu {mu:g}: horizontal force on the table / weight", laid.friction / weight, ".4f")
        if mu > 0.0:
            result.below(f"mu {mu:g}: creep of what lies in {watched:g} s, mm", 1e3 * laid.creep, 0.1, ".1e")
        laid.watch.tell(result, f"mu {mu:g}")
        laid.film.save(out, f"tablecloth-mu-{mu:g}", f"mu = {mu:g}")
    for a, b in zip(list(found)[:-1], list(found)[1:], strict=True):
        apart = 1e3 * float(np.linalg.norm(found[a].positions - found[b].positions, axis=1).mean())
        what = f"mean distance of nodes between mu {a:g} and {b:g}, mm"
        if a == 0.0:
            result.above(what, apart, 10.0, ".1f")
        else:
            result.info(what, apart, ".1f", paper="hardly sensitive")
    result.notes.append(
        f"{shape[0]} x {shape[1]} nodes, steps of 10 ms; held by the two upper corners, laid within {LAID:g} s"
    )
    return result
