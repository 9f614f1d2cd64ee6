"""Strips over sharp edges, pulled and sliding off; cloth through a ring; bodies faster than a step."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.contact.tangled import piercings
from isocloth.fabric import Fabric
from isocloth.obstacles import Box, Cylinder, Obstacle, TriangleMesh, shapes
from isocloth.simulation import Simulation
from validation.chain import Chain
from validation.encounters import Watch
from validation.result import Result, Say, silent
from validation.scenes import smooth_ramp

TITLE = "sharp edges: tension of a strip pulled over one, sliding off, and what moves through within a step"

LENGTH, WIDTH = 1.0, 0.04  # m
LIMP, STIFF = Fabric(density=0.2), Fabric(density=0.2, bending=1e-5)
HALF = 0.5 * LIMP.thickness
G = 9.81
#: N/m, weight per length of a strip
WEIGHT = LIMP.density * WIDTH * G
#: m/s at which an end is pulled, m by which it is, and s before that in which the strip comes to rest
SPEED, WAY, REST = 0.05, 0.2, 0.2
#: share of the strip that hangs at the begin of a pull: up, down
HANGING = {1: 0.75, -1: 0.6}
#: share of the strip that hangs when it is let go, and starts within one element
SLIDING, STARTS = 0.3, 4
#: s: of slow motion, and of a strip that slides off
SLOW, FAST = 0.01, 0.0005


def _box(friction: float) -> Obstacle:
    return Box([-1.0 - HALF, 0.0, -0.5 - HALF], [2.0, 0.4, 1.0], friction=friction)


def _mesh(friction: float) -> Obstacle:
    vertices, faces = shapes.box(np.array([2.0, 0.4, 1.0]))
    return TriangleMesh(vertices, faces, centre=[-1.0 - HALF, 0.0, -0.5 - HALF], friction=friction)


def _cylinder(friction: float) -> Obstacle:
    return Cylinder([-1.0 - HALF, 0.0, -HALF], [-1.0 - HALF, 0.0, -1.0 - HALF], 1.0, friction=friction)


#: a table with a sharp edge at x = 0, z = 0, less half a thickness, in three ways
TABLES: dict[str, Callable[[float], Obstacle]] = {"box": _box, "mesh": _mesh, "rim of a cylinder": _cylinder}


def strip(table: Obstacle, nodes: int, hanging: float, fabric: Fabric, **options: Any) -> tuple[Simulation, IntArray]:
    """A strip that lies on a table and hangs over its edge by a share of its elements; the number of each node along.

    One node stands above the edge, so that the curve through the middle of its neighbours touches it.
    """
    mesh = meshes.rectangle(LENGTH, WIDTH, shape=(nodes, 3))
    element = LENGTH / (nodes - 1)
    along = np.rint(mesh.vertices[:, 0] / element).astype(np.int64)
    above = element / np.sqrt(26.0)
    bend = nodes - 1 - round(hanging * (nodes - 1))
    beside = 4.0 * above + (np.abs(along - bend) - 1) * element
    x = np.where(along < bend, -beside, np.where(along == bend, above, 0.0))
    z = np.where(along > bend, -beside, np.where(along == bend, above, 0.0))
    start = np.stack([x, mesh.vertices[:, 1] - 0.5 * WIDTH, z], axis=1)
    options.setdefault("integrator", "euler")
    return Simulation(mesh.with_vertices(start), fabric, rest=mesh, obstacles=[table], **options), along


def pulled(make: Callable[[float], Obstacle], nodes: int, mu: float, up: int) -> tuple[FloatArray, FloatArray, Watch]:
    """Tensions (T,) at the upper end while whole elements pass the edge, those of the theory, N, and the steps' log.

    What the hand carries of the weight does not press on the table.
    """
    sim, along = strip(make(mu), nodes, HANGING[up], LIMP, timestep=SLOW)
    first, last = np.flatnonzero(along == 0), np.flatnonzero(along == nodes - 1)
    start = sim.positions[first].copy()
    hand = sim.grasp(first, lambda t: start - np.array([up * SPEED * max(t - REST, 0.0), 0.0, 0.0]))
    watch, tension, theory = Watch(), [], []
    for _ in range(round((REST + WAY / SPEED) / SLOW)):
        watch.step(sim)
        force, hangs = hand.force.sum(axis=0), -float(sim.positions[last, 2].mean())
        lying = WEIGHT * (LENGTH - hangs) - force[2]
        tension.append(-force[0])
        theory.append(WEIGHT * hangs * np.exp(up * mu * np.pi / 2) + up * mu * lying)
    elements = int(WAY * (nodes - 1) / LENGTH + 1e-9) - 1  # without the first
    steady = slice(-round(elements * LENGTH / (nodes - 1) / SPEED / SLOW), None)
    return np.array(tension)[steady], np.array(theory)[steady], watch


def _linked(rest: FloatArray, along: IntArray) -> float:
    """The same of a chain of as many rigid links that starts there, integrated exactly in time (`chain.py`)."""
    nodes = int(along.max()) + 1
    x = np.array([rest[along == i][:, [0, 2]].mean(axis=0) for i in range(nodes)])
    element = LENGTH / (nodes - 1)
    mass = np.full(nodes, STIFF.density * WIDTH * element)
    mass[[0, -1]] *= 0.5
    hangs, begin, worst = -float(x[-1, 1]), float(x[0, 0]), 0.0
    leaves = (LENGTH + np.sqrt(LENGTH**2 + 8.0 * hangs**2)) / 4.0

    def watch(time: float, now: FloatArray) -> bool:
        nonlocal worst
        expected = hangs * np.cosh(time * np.sqrt(G / LENGTH))
        off = float((hangs + now[0, 0] - begin) / expected - 1.0)
        worst = off if abs(off) > abs(worst) and expected <= leaves else worst
        return bool(expected <= leaves)

    chain = Chain(mass, element, STIFF.bending * WIDTH, np.array([-HALF, -HALF]), HALF)
    chain.slide(x, FAST, watch)
    return worst


def slid(
    make: Callable[[float], Obstacle], nodes: int, shift: float, linked: bool = False
) -> tuple[float, float, Watch]:  # fmt: skip
    """By which part a strip let go is short of x0 cosh(t sqrt(g/L)), or beyond it, until it leaves the edge; if asked
    for, the same of a chain of rigid links; and the steps' log.

    shift: how far it is drawn back before that, in elements.
    """
    sim, along = strip(make(0.0), nodes, SLIDING, STIFF, timestep=SLOW)
    first, last = np.flatnonzero(along == 0), np.flatnonzero(along == nodes - 1)
    start, element = sim.positions[first].copy(), LENGTH / (nodes - 1)
    sim.grasp(first, lambda t: start - np.array([shift * element * smooth_ramp(t, 0.5), 0.0, 0.0]))
    sim.run(2.0)
    rest, hangs = sim.positions.copy(), -float(sim.positions[last, 2].mean())
    chain = _linked(rest, along) if linked else np.nan
    sim, _ = strip(make(0.0), nodes, SLIDING, STIFF, timestep=FAST)
    sim.positions = rest
    leaves = (LENGTH + np.sqrt(LENGTH**2 + 8.0 * hangs**2)) / 4.0
    watch, worst = Watch(), 0.0
    while True:
        watch.step(sim)
        expected = hangs * np.cosh(sim.time * np.sqrt(G / LENGTH))
        if expected > leaves:
            return worst, chain, watch
        off = float((hangs + (sim.positions[first, 0] - rest[first, 0]).mean()) / expected - 1.0)
        worst = off if abs(off) > abs(worst) else worst


def thrown(speed: float, thickness: float, nodes: int = 11) -> tuple[float, int]:
    """Lowest node over the top of a thin plate that a sheet is thrown at, m, and steps that did not converge."""
    mesh = meshes.rectangle(0.4, 0.4, shape=(nodes, nodes))
    start = mesh.transformed(translation=[-0.2, -0.2, 0.05])
    plate = Box([0.0, 0.0, -0.5 * thickness], [1.0, 1.0, thickness])
    sim = Simulation(start, STIFF, rest=mesh, obstacles=[plate], integrator="euler")
    sim.velocities = np.tile([0.0, 0.0, -speed], (nodes * nodes, 1))
    lowest, failed = np.inf, 0
    for _ in range(20):
        failed += not sim.step().converged
        lowest = min(lowest, float(sim.positions[:, 2].min()))
    return lowest, failed


def lifted(speed: float, thickness: float, nodes: int = 11) -> tuple[float, int]:
    """Lowest of the nodes in the middle over a plate that moves up through a sheet, m, and steps not converged."""
    mesh = meshes.rectangle(0.4, 0.4, shape=(nodes, nodes))
    start = mesh.transformed(translation=[-0.2, -0.2, 0.0])
    plate = Box([0.0, 0.0, -0.1], [0.2, 0.2, thickness], velocity=[0.0, 0.0, speed])
    sim = Simulation(start, STIFF, gravity=0.0, rest=mesh, obstacles=[plate], integrator="euler")
    middle = np.linalg.norm(start.vertices[:, :2], axis=1) < 0.09
    lowest, failed = np.inf, 0
    for _ in range(round(0.3 / speed / sim.timestep) + 6):
        failed += not sim.step().converged
        top = plate.centre(sim.time)[2] + 0.5 * thickness
        lowest = min(lowest, float((sim.positions[middle, 2] - top).min()))
    return lowest, failed


def on_board(speed: float, thickness: float, nodes: int = 6) -> tuple[float, float, int]:
    """How a coarse sheet thrown down on the upper edge of a thin board lies after 0.4 s: its highest node over that
    edge, the smallest distance of a point of its edges from the board, m, and steps that did not converge."""
    mesh = meshes.rectangle(0.4, 0.4, shape=(nodes, nodes))
    start = mesh.transformed(translation=[-0.17, -0.2, 0.02])
    board = Box([0.0, 0.0, -0.2], [thickness, 0.6, 0.4], friction=0.5)
    sim = Simulation(start, STIFF, rest=mesh, obstacles=[board], integrator="euler")
    sim.velocities = np.tile([0.0, 0.0, -speed], (nodes * nodes, 1))
    nearest, failed, share = np.inf, 0, np.linspace(0.0, 1.0, 41)[:, None, None]
    for _ in range(40):
        failed += not sim.step().converged
        a, b = sim.positions[sim.mesh.edges[:, 0]], sim.positions[sim.mesh.edges[:, 1]]
        gap, _ = board.gaps(((1.0 - share) * a + share * b).reshape(-1, 3), sim.time)
        nearest = min(nearest, float(gap.min()))
    return float(sim.positions[:, 2].max()), nearest, failed


def _turned(axis: list[float]) -> FloatArray:
    """(3, 3) rotation that brings a direction of a body up."""
    return shapes.frame(np.array(axis) / np.linalg.norm(axis)).T


def spike(around: int = 24, radius: float = 0.02, height: float = 0.04) -> tuple[FloatArray, IntArray]:
    """Vertices and faces of a cone whose tip is the origin."""
    angle, foot = 2 * np.pi * np.arange(around) / around, np.arange(around)
    rim = np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(around, -height)], axis=1)
    tip, beside = np.full(around, around), np.roll(foot, -1)
    faces = [np.stack([foot, beside, tip], axis=1), np.stack([beside, foot, tip + 1], axis=1)]
    return np.concatenate([rim, [[0.0, 0.0, 0.0], [0.0, 0.0, -height]]]), np.concatenate(faces)


#: bodies of some 30 mm with their highest point at the origin, far smaller than an element
SIDE = 0.03
SMALL: dict[str, Callable[..., Obstacle]] = {
    "cube": lambda **o: Box([0.0, 0.0, -0.5 * SIDE], [SIDE] * 3, **o),
    "cube, corner up": lambda **o: Box(
        [0.0, 0.0, -0.5 * np.sqrt(3) * SIDE], [SIDE] * 3, rotation=_turned([1.0, 1.0, 1.0]), **o
    ),
    "cube as mesh": lambda **o: TriangleMesh(*shapes.box(np.full(3, SIDE)), centre=[0.0, 0.0, -0.5 * SIDE], **o),
    "short cylinder": lambda **o: Cylinder([0.0, 0.0, -SIDE], [0.0, 0.0, 0.0], 0.5 * SIDE, **o),
    "fine ball as mesh": lambda **o: TriangleMesh(*shapes.ball(0.5 * SIDE), centre=[0.0, 0.0, -0.5 * SIDE], **o),
    "tip of a cone": lambda **o: TriangleMesh(*spike(), centre=[0.0, 0.0, 0.0], **o),
}
#: those whose edges are not held off diagonals of faces, and round ones: some of their steps cut faces by a mm or two
ROUGH = ("cube, corner up", "short cylinder")
#: m: where the middle of a sheet is beside such a body, in a face, away from lines and centres
BESIDE = ([0.0, 0.0], [0.02, 0.013])


def coarse(beside: list[float], height: float, body: Obstacle, **options: Any) -> Simulation:
    """A sheet of 6 x 6 nodes, 0.4 m wide, whose elements are of 80 mm."""
    mesh = meshes.rectangle(0.4, 0.4, shape=(6, 6))
    start = mesh.transformed(translation=[beside[0] - 0.2, beside[1] - 0.2, height])
    return Simulation(start, STIFF, rest=mesh, obstacles=[body], integrator="euler", **options)


def dropped(name: str, beside: list[float], speed: float, seconds: float) -> tuple[float, float, int, int, Watch]:
    """A coarse sheet thrown down on a body: force / weight in the last fifth of the time, impulse less that of the
    weight / momentum or weight times 1 s, the places at which one passes through the other, in any step at most and at
    the end, and the steps' log."""
    body = SMALL[name](friction=0.5)
    sim, watch, most = coarse(beside, 0.02, body), Watch(), 0
    sim.velocities = np.tile([0.0, 0.0, -speed], (36, 1))
    mass, force = STIFF.density * 0.16, []
    share = sim.cloth.area / sim.cloth.area.sum()
    steps = round(seconds / sim.timestep)
    every = 1 if name != "fine ball as mesh" else steps // 4  # all edges and faces are looked at, which takes seconds
    for k in range(1, steps + 1):
        watch.step(sim)
        force.append(-float(body.force[2]))
        if k % every == 0:
            most = max(most, pierced(sim, body))
    gained = mass * (float(share @ sim.velocities[:, 2]) + speed)
    missing = sum(force) * sim.timestep - mass * G * seconds - gained
    last = float(np.mean(force[-len(force) // 5 :]))
    return last / (mass * G), missing / (mass * max(speed, G)), most, pierced(sim, body), watch


def poked(name: str, speed: float) -> tuple[float, int, int, int]:
    """A body that rises by 80 mm under a sheet held by its corners, 3 % nearer than flat: how high the sheet is at the
    end, m, the most places where one passes through the other, steps refused, and all steps."""
    body = SMALL[name](friction=0.5).replace(centre=SMALL[name]().centre() - [0.0, 0.0, 0.02], velocity=[0, 0, speed])
    sim, most, failed = coarse(BESIDE[1], 0.0, body, gravity=0.0), 0, 0
    held = np.array([0, 5, 30, 35])
    at = sim.positions[held].copy()
    middle = at.mean(axis=0)
    sim.grasp(held, lambda t: middle + (at - middle) * (1.0 - 0.03 * min(5.0 * t, 1.0)))
    steps = max(round(0.08 / speed / sim.timestep), 4)
    for _ in range(steps):
        failed += not sim.step().converged
        most = max(most, pierced(sim, body))
    return float(sim.positions[:, 2].max()), most, failed, steps


def torus(around: int, across: int, large: float = 0.1, small: float = 0.03) -> TriangleMesh:
    """A ring about the z axis."""
    u, v = np.meshgrid(np.arange(around), np.arange(across), indexing="ij")
    a, b = 2 * np.pi * u / around, 2 * np.pi * v / across
    out = large + small * np.cos(b)
    vertices = np.stack([out * np.cos(a), out * np.sin(a), small * np.sin(b)], axis=-1).reshape(-1, 3)
    index = np.arange(around * across).reshape(around, across)
    right, up = np.roll(index, -1, axis=0), np.roll(index, -1, axis=1)
    over = np.roll(right, -1, axis=1)
    faces = np.concatenate([np.stack([index, right, over], -1), np.stack([index, over, up], -1)]).reshape(-1, 3)
    return TriangleMesh(vertices, faces, friction=0.2)


def through_ring(nodes: int, around: int, across: int, depth: float) -> tuple[int, Watch]:
    """Edges of a sheet that pass through a ring it is pulled through by its middle, and the steps' log."""
    mesh = meshes.rectangle(0.3, 0.3, shape=(nodes, nodes))
    start = mesh.transformed(translation=[-0.15, -0.15, 0.035])
    ring = torus(around, across)
    sim = Simulation(start, STIFF, rest=mesh, obstacles=[ring], self_collision=True, integrator="euler")
    middle = np.flatnonzero(np.linalg.norm(start.vertices[:, :2], axis=1) < 1e-6)
    at = sim.positions[middle].copy()
    sim.grasp(middle, lambda t: at - np.array([0.0, 0.0, 0.2 * t]))
    watch = Watch().run(sim, depth / 0.2)
    return pierced(sim, ring), watch


def pierced(sim: Simulation, body: Obstacle) -> int:
    """Pairs of an edge and a face, one of the cloth and one of a body, that pass through each other."""
    surface = body.surface(sim.time)
    assert surface is not None
    vertices = np.concatenate([sim.positions, surface[0]])
    count, own = len(sim.positions), sim.mesh.triangulated()
    sides = np.sort(surface[1][:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges = np.concatenate([own.edges, np.unique(sides, axis=0) + count])
    faces = np.concatenate([own.faces, surface[1] + count])
    pairs = piercings(vertices, edges, faces)
    mixed = (edges[pairs[:, 0], 0] < count) != (faces[pairs[:, 1], 0] < count)
    return int(mixed.sum())


def _farthest(a: list[float], b: list[float]) -> float:
    return float(np.abs(np.subtract(a, b)).max())


def _corners(result: Result, quick: bool, say: Say) -> None:
    """Small bodies under a coarse sheet: dropped on them, thrown at them, and poked by them."""
    whole = Watch()
    for name in ("cube",) if quick else SMALL:
        for beside in BESIDE[1:] if quick else BESIDE:
            for speed in (5.0,) if quick else (0.0, 5.0):
                say(f"{name}, {speed:g} m/s")
                force, missing, most, end, watch = dropped(name, beside, speed, 0.5 if quick else 4.0)
                what = f"{name} under elements of 80 mm, {1e3 * beside[0]:g} mm aside, {speed:g} m/s"
                if name not in ROUGH:
                    result.below(f"{what}: edges through faces at the end", end, 0, ".0f")
                    if quick:  # in single steps of a fall edges of a box may cut a face: see the whole check
                        result.info(f"{what}: edges through faces", most, ".0f")
                    else:
                        result.below(f"{what}: edges through faces", most, 0, ".0f")
                    result.below(f"{what}: momentum missing, %", 100 * abs(missing), 1.0)
                    whole.add(watch)
                else:
                    result.info(f"{what}: edges through faces", most, ".0f")
                    result.info(f"{what}: momentum missing, %", 100 * abs(missing))
                    result.info(f"{what}: steps refused", watch.unconverged, ".0f")
                result.info(f"{what}: force at the end / weight", force)
    whole.tell(result, "all on small bodies", edges=False)
    for name in ("cube, corner up",) if quick else ("cube", "cube, corner up", "tip of a cone"):
        for speed in (0.2,) if quick else (0.2, 5.0):
            say(f"{name} rises, {speed:g} m/s")
            highest, most, failed, steps = poked(name, speed)
            what = f"{name} rises through a held sheet at {speed:g} m/s"
            result.below(f"{what}: edges through faces", most, 0, ".0f")
            result.above(f"{what}: highest node, mm", 1e3 * highest, 50.0)
            result.info(f"{what}: steps refused, of {steps}", failed, ".0f")


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """All tables."""
    result = Result("edges", TITLE)
    counts = (21,) if quick else (21, 41, 61, 121)
    whole = Watch()
    for name, make in TABLES.items():
        for nodes in counts:
            for mu in (0.0, 0.3):
                for up, way in ((1, "up"), (-1, "down")):
                    if quick and (name != "box" or mu == 0.0):
                        continue
                    what = f"{name}, {nodes} nodes, mu {mu:g}, {way}"
                    say(what)
                    tension, theory, watch = pulled(make, nodes, mu, up)
                    result.near(f"{what}: mean tension / theory", float(tension.mean() / theory.mean()), 1.0, 0.05)
                    ratio = tension / theory
                    result.info(f"{what}: largest tension / theory", float(ratio.max()))
                    whole.add(watch)
    whole.tell(result, "all pulls", edges=False)
    fast = Watch()
    for name, make in TABLES.items():
        if quick and name != "box":
            continue
        for nodes in (61,) if quick else counts:
            say(f"{name}, {nodes} nodes, sliding off")
            off, links = [], []
            for shift in np.arange(1 if quick else STARTS) / STARTS:
                worst, chain, watch = slid(make, nodes, float(shift), name == "box" and nodes == 21)
                off.append(worst)
                links.append(chain)
                fast.add(watch)
            what = f"{name}, {nodes} nodes, sliding off"
            result.below(f"{what}: off x0 cosh, worst of {len(off)} starts, %", 100 * float(np.abs(off).max()), 3.0)
            result.info(f"{what}: mean of them, %", 100 * float(np.mean(off)))
            if np.isfinite(links).all():
                what = f"a chain of {nodes - 1} rigid links, integrated exactly: off x0 cosh"
                result.info(f"{what}, worst of {len(off)} starts, %", 100 * float(np.abs(links).max()))
                result.info(f"the strip less the chain, of {len(off)} starts the most, %", 100 * _farthest(off, links))
    fast.tell(result, "all sliding off", edges=False)
    for speed in (5.0,) if quick else (1.0, 5.0, 20.0):
        say(f"{speed:g} m/s")
        lowest, failed = thrown(speed, 0.002)
        result.above(f"thrown at {speed:g} m/s on a plate of 2 mm: lowest node over it, mm", 1e3 * lowest, 0.0)
        result.info(f"thrown at {speed:g} m/s: steps refused", failed, ".0f")
        lowest, failed = lifted(speed, 0.005)
        result.above(f"a plate of 5 mm at {speed:g} m/s: lowest node over it, mm", 1e3 * lowest, 0.0)
        result.info(f"a plate at {speed:g} m/s: steps refused", failed, ".0f")
        highest, nearest, failed = on_board(speed, 0.004)
        what = f"a sheet of 6 x 6 nodes at {speed:g} m/s on a board of 4 mm"
        result.above(f"{what}: highest node over it, mm", 1e3 * highest, 0.0)
        result.above(f"{what}: nearest point of an edge, mm", 1e3 * nearest, 0.0)
        result.info(f"{what}: steps refused", failed, ".0f")
    _corners(result, quick, say)
    if not quick:
        for nodes, around, across in ((9, 48, 24), (15, 24, 12)):
            say(f"ring of {around} x {across}, {nodes} nodes")
            count, watch = through_ring(nodes, around, across, 0.25)
            what = f"ring of {around} x {across}, sheet of {nodes} x {nodes} nodes"
            result.below(f"{what}: edges through faces", count, 0, ".0f")
            result.below(f"{what}: q", watch.q, 5.0)
            result.below(f"{what}: steps not converged", watch.unconverged, 0, ".0f")
            result.info(f"{what}: slowest step, s", watch.slowest)
    result.notes.append(
        f"strips of {LENGTH:g} x {WIDTH:g} m, 3 nodes across, implicit Euler; pulled at {SPEED:g} m/s in steps of "
        f"{1e3 * SLOW:g} ms and averaged over whole elements that pass the edge; sliding off in steps of "
        f"{1e3 * FAST:g} ms, with a bending stiffness of {STIFF.bending:g} N m, from {STARTS} starts within an element"
    )
    return result
