"""A napkin folded in half, then in quarters, then lifted and dropped: layers stay apart and come to rest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Floor
from isocloth.simulation import Simulation
from validation.encounters import Film, Watch
from validation.intersections import Intersections
from validation.result import Result, Say, silent

TITLE = "a napkin of 1 x 1 m folded in half, in quarters, lifted and dropped: no layer passes another"

SIZE = 1.0  # m
FABRIC = Fabric(density=0.2, damping=0.4, bending=1e-5, friction=0.3)
FLOOR = 0.5  # coefficient of friction
FOLD, PAUSE, LIFT, SETTLE = 2.0, 0.5, 1.0, 4.0  # s
DOWN, LOW = 0.75, 0.02  # share of the way after which the carried edge is down to so many m
HEIGHT = 0.3  # m, of the drop


def smooth(t: float) -> float:
    """From 0 to 1 while t does, with no speed at both ends."""
    t = min(max(t, 0.0), 1.0)
    return t * t * (3.0 - 2.0 * t)


def over(begin: FloatArray, axis: int, sign: float, start: float, landing: float) -> Callable[[float], FloatArray]:
    """Path of nodes that are at begin (k, 3), m: over what they are folded on, along an axis, by the napkin's width.

    They come down before they arrive, and are drawn outwards over the last stretch, low above the cloth: what hangs
    from them then trails behind. Lowered from above, it would be pushed together. They arrive a hundredth short of the
    edge on which they are folded, at the height `landing`, m, so that nothing is pulled.
    """
    width = 0.99 * SIZE

    def path(t: float) -> FloatArray:
        share = smooth((t - start) / FOLD)
        at = begin.copy()
        at[:, axis] += sign * 0.5 * width * (1.0 - np.cos(np.pi * share))
        at[:, 2] += 0.5 * width * np.sin(np.pi * min(share / DOWN, 1.0))
        at[:, 2] += landing * share + LOW * min(share / DOWN, (1.0 - share) / (1.0 - DOWN))
        return at

    return path


class Stage:
    """Moves that fold a napkin, one after the other."""

    def __init__(self, sim: Simulation, mesh: Mesh, watch: Watch, film: Film, crossed: Intersections) -> None:
        self.sim, self.mesh, self.watch, self.film, self.crossed = sim, mesh, watch, film, crossed

    def wait(self, duration: float) -> None:
        """Let time pass, looking at frames."""

        def look(sim: Simulation) -> None:
            self.film.look(sim)
            self.crossed.look(sim)

        self.watch.run(self.sim, duration, look)

    def nodes(self, *places: tuple[float, float]) -> IntArray:
        """Nodes nearest to places of the flat napkin."""
        return np.array([self.mesh.nearest([x, y, 0.0]) for x, y in places])

    def fold(self, nodes: IntArray, axis: int, sign: float, landing: float) -> None:
        """Carry nodes over, lay them down and let go."""
        begin = self.sim.positions[nodes].copy()
        grasp = self.sim.grasp(nodes, over(begin, axis, sign, self.sim.time, landing))
        self.wait(FOLD)
        grasp.release()
        self.wait(PAUSE)

    def drop(self, nodes: IntArray) -> None:
        """Lift by nodes, let go, and wait until it should be at rest."""
        begin, start = self.sim.positions[nodes].copy(), self.sim.time

        def path(t: float) -> FloatArray:
            return begin + smooth((t - start) / LIFT) * np.array([0.0, 0.0, HEIGHT])

        grasp = self.sim.grasp(nodes, path)
        self.wait(LIFT)
        grasp.release()
        self.wait(SETTLE)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Intersections in frames by an independent library, distances between layers, isometry, rest, q."""
    result = Result("napkin", TITLE)
    for n in (10,) if quick else (20, 40):
        name = f"{n} x {n}"
        say(name)
        flat = meshes.rectangle(SIZE, SIZE, shape=(n, n))
        t = FABRIC.thickness
        start = flat.with_vertices(flat.vertices + np.array([0.0, 0.0, t / 2]))
        sim = Simulation(start, FABRIC, rest=flat, obstacles=[Floor(friction=FLOOR)], self_collision=True)
        watch, film, crossed = Watch(), Film(sim, 0.25), Intersections(sim, 0.05)
        stage = Stage(sim, flat, watch, film, crossed)
        stage.fold(stage.nodes((SIZE, 0.0), (SIZE, SIZE)), 0, -1.0, 2 * t)
        say(f"{name}: in half")
        stage.fold(stage.nodes((0.0, SIZE), (0.5 * SIZE, SIZE), (SIZE, SIZE)), 1, -1.0, 4 * t)
        say(f"{name}: in quarters")
        half = (0.0, 0.5 * SIZE, SIZE)  # all layers of the corners of the folded napkin
        stage.drop(stage.nodes(*[(x, y) for x in half for y in half]))
        crossed.tell(result, name)
        speed = float(np.linalg.norm(sim.velocities, axis=1).max())
        result.below(f"{name}: fastest node at the end, mm/s", 1e3 * speed, 1.0, ".1e")
        extent = np.ptp(sim.positions, axis=0)
        result.info(f"{name}: extent at the end, x, m", float(extent[0]), ".3f")
        result.info(f"{name}: extent at the end, y, m", float(extent[1]), ".3f")
        watch.tell(result, name)
        film.save(out, f"napkin-{n}", f"napkin, {name}")
    return result
