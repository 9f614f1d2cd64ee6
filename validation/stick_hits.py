"""A sheet held at two corners is hit four times by a stick (section 7.4 of the collision paper): nothing tunnels."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.obstacles import Stick
from isocloth.simulation import Simulation
from validation.encounters import Film, Watch
from validation.result import Result, Say, silent
from validation.scenes import hanging, upper_corners

TITLE = "a hanging sheet hit four times by a stick, up to 5 m/s: no tunnelling, computing time"

WIDTH, HEIGHT = 0.42, 0.594  # m
LENGTH, RADIUS = 0.75, 0.0075  # m, of the stick
REACH = 0.35  # m: how far from the sheet a hit begins, and how far behind it it ends
LIFT = 0.8  # m: how far it is lifted between hits
PERIOD = 3.0  # s between hits
NEAR = 0.05  # m: further from its axis nothing passes the stick
#: what the paper fitted: density, gravity_density, damping
FABRICS = {
    "polyester": (0.1042, 0.025, 0.28),
    "wool": (0.1804, 0.078, 0.50),
    "denim": (0.3046, 0.127, 0.67),
    "stiff cotton": (0.3046, 0.165, 0.89),
}
#: of each hit: height (m) below the upper edge of the sheet, angle in the plane of the sheet (rad), speed (m/s), side
HITS = ((0.30, 0.0, 2.0, 1.0), (0.45, 0.2, 3.0, -1.0), (0.20, -0.3, 4.0, 1.0), (0.40, 0.1, 5.0, -1.0))


def swings() -> tuple[FloatArray, FloatArray]:
    """Times (T,) and ends (T, 2, 3) of the stick: from one side through where the sheet hangs, back above it."""
    times, ends = [0.0], [_place(HITS[0], -HITS[0][3] * REACH, 0.0)]
    for k, hit in enumerate(HITS):
        begin = 0.5 + PERIOD * k
        side = hit[3]
        length = 2.0 * REACH / hit[2]
        if begin > times[-1]:
            times.append(begin)
            ends.append(_place(hit, -side * REACH, 0.0))
        for share in np.linspace(0.0, 1.0, 201)[1:]:
            # even acceleration to the full speed at the sheet, and the same to rest behind it
            way = 2.0 * share**2 if share < 0.5 else 1.0 - 2.0 * (1.0 - share) ** 2
            times.append(begin + 2.0 * length * share)
            ends.append(_place(hit, side * REACH * (2.0 * way - 1.0), 0.0))
        if k + 1 < len(HITS):
            # out of the way: up, over the upper edge if it has to begin on this side again, and down
            after = HITS[k + 1]
            for wait, place in (
                (0.6, _place(hit, side * REACH, LIFT)),
                (1.2, _place(after, -after[3] * REACH, LIFT)),
                (1.8, _place(after, -after[3] * REACH, 0.0)),
            ):
                times.append(begin + 2.0 * length + wait)
                ends.append(place)
    return np.array(times), np.array(ends)


def _place(hit: tuple[float, float, float, float], y: float, lift: float) -> FloatArray:
    """Ends (2, 3) m of the stick of a hit at a distance y from the plane of the sheet."""
    centre = np.array([WIDTH / 2, y, -hit[0] + lift])
    along = 0.5 * LENGTH * np.array([np.cos(hit[1]), 0.0, np.sin(hit[1])])
    return np.stack([centre - along, centre + along])


class Sides:
    """Follows on which side of the stick the cloth is, edge by edge, and counts the passages through it.

    An edge of the cloth passes the axis of the stick if the volume of the tetrahedron of both changes its sign while
    each segment lies across the other: the sign test of two segments that cross, at instants between two steps.
    """

    def __init__(self, sim: Simulation, stick: Stick) -> None:
        self.edges, self.stick = sim.mesh.edges, stick
        self.before, self.time = sim.positions.copy(), sim.time
        self.last: FloatArray | None = None
        self.passed = 0

    def look(self, sim: Simulation) -> None:
        """After a step."""
        x0, x1 = self.before, sim.positions
        e0, e1 = self.stick.ends(self.time), self.stick.ends(sim.time)
        if _apart(np.concatenate([x0, x1]), np.concatenate([e0, e1])):
            self.before, self.time, self.last = x1.copy(), sim.time, None
            return

        def at(share: float, edges: IntArray) -> tuple[FloatArray, BoolArray]:
            x, e = x0 + share * (x1 - x0), e0 + share * (e1 - e0)
            return _pass(x[edges[:, 0]], x[edges[:, 1]], e[0], e[1])

        last = self.last if self.last is not None else at(0.0, self.edges)[0]
        shares = np.linspace(0.0, 1.0, 65)
        for low, high in pairwise(shares):
            volume, _ = at(high, self.edges)
            for k in np.flatnonzero(volume * last < 0.0):
                # an edge almost parallel to the stick goes around its end within a sample: look at the very moment
                edge, begin, end = self.edges[k : k + 1], low, high
                for _ in range(40):
                    middle = 0.5 * (begin + end)
                    if at(middle, edge)[0][0] * last[k] > 0.0:
                        begin = middle
                    else:
                        end = middle
                self.passed += int(at(end, edge)[1][0])
            last = np.where(volume == 0.0, last, volume)
        self.before, self.time, self.last = sim.positions.copy(), sim.time, last


def _apart(a: FloatArray, b: FloatArray) -> bool:
    """Whether the boxes around points (m, 3) and (k, 3) are further apart than anything that passes."""
    return bool(((a.min(axis=0) > b.max(axis=0) + NEAR) | (b.min(axis=0) > a.max(axis=0) + NEAR)).any())


def _pass(a: FloatArray, b: FloatArray, p: FloatArray, q: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Signed volume of edges (m, 3) with a segment, and whether they overlap as seen along their common normal.

    Edges along the segment have no such normal, and those far from it do not pass it: they do not overlap.
    """
    u, v, w = b - a, q - p, p - a
    normal = np.cross(u, v)
    volume = np.einsum("md,md->m", normal, w)
    square = np.maximum(np.einsum("md,md->m", normal, normal), 1e-30)
    near = (square > 1e-12 * (v @ v) * np.einsum("md,md->m", u, u)) & (np.abs(volume) < NEAR * np.sqrt(square))
    s = np.einsum("md,md->m", np.cross(w, v), normal) / square
    t = np.einsum("md,md->m", np.cross(w, u), normal) / square
    return volume, near & (s > 0.0) & (s < 1.0) & (t > 0.0) & (t < 1.0)


def scene(fabric: str, layers: bool) -> tuple[Simulation, Stick]:
    """A hanging sheet of one of the fabrics, with self-collision or not, and the stick that will hit it."""
    mesh = hanging(meshes.rectangle(WIDTH, HEIGHT, shape=(7, 9)))
    times, ends = swings()
    density, delta, alpha = FABRICS[fabric]
    stick = Stick(ends[0, 0], ends[0, 1], RADIUS, path=(times, ends), friction=0.0)
    cloth = Fabric(density=density, gravity_density=delta, damping=alpha)
    sim = Simulation(mesh, cloth, obstacles=[stick], self_collision=layers)
    sim.grasp(upper_corners(mesh))
    return sim, stick


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Passages through the stick, smallest gap and computing time."""
    result = Result("stick_hits", TITLE)
    scenes = [("denim", False)] if quick else [(name, layers) for layers in (False, True) for name in FABRICS]
    times, ends = swings()
    last = 0.5 + PERIOD * (len(HITS) - 1) + 2.0 * REACH / HITS[-1][2]  # s, when it comes to where the sheet hangs
    speed = float((np.linalg.norm(np.diff(ends, axis=0), axis=2).max(axis=1) / np.diff(times)).max())
    result.info("largest speed of the stick, m/s", speed, ".2f")
    for fabric, layers in scenes:
        name = f"{fabric}, self-collision" if layers else fabric
        say(name)
        sim, stick = scene(fabric, layers)
        watch, sides = Watch(), Sides(sim, stick)
        film: Film | None = None
        struck = np.zeros(len(HITS), dtype=bool)
        hardest = 0.0
        for _ in range(round((times[-1] + (0.5 if quick else 2.0)) / sim.timestep)):
            report = watch.step(sim)
            sides.look(sim)
            hit = min(int((sim.time - 0.5 + 1e-9) / PERIOD), len(HITS) - 1)
            struck[hit] |= report.contacts > 0
            hardest = max(hardest, float(np.linalg.norm(stick.force)))
            if film is None and sim.time > last - 0.025:
                film = Film(sim, 0.01)
            elif film is not None and sim.time < last + 0.23:
                film.look(sim)
        assert film is not None
        result.below(f"{name}: edges that passed through the stick", sides.passed, 0, ".0f")
        result.above(f"{name}: hits that touched, of {len(HITS)}", int(struck.sum()), len(HITS), ".0f")
        result.info(f"{name}: largest force on the stick, N", hardest)
        # no test of the small version should depend on how busy the machine is
        watch.tell(result, name, q=None if layers or quick else 0.1, paper="0.43 - 0.51")
        stem = f"stick-hits-{name}".replace(",", "").replace(" ", "-")
        film.save(out, stem, f"{name}: the fourth hit, {HITS[-1][2]:g} m/s")
    result.notes.append("7 x 9 nodes, A2, steps of 10 ms; q is processor time over simulated time, first step left out")
    return result
