"""Equilibria of hung, draped, buckled and folded cloth against damped dynamics."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Isometric, KoiterShell, Model
from isocloth.obstacles import Box, Cylinder, Floor, Obstacle, Sphere
from isocloth.simulation import Simulation
from isocloth.statics import Equilibrium, equilibrium
from validation.body import body
from validation.result import Result, Say, silent
from validation.scenes import corner_nodes

TITLE = "equilibria of hung, draped, buckled and folded cloth against damped dynamics"

#: kg/m^2 and 1/s, as in the check `rest`
DENSITY, RATE = 0.2, 2.0
FABRIC = Fabric(density=DENSITY, damping=RATE * DENSITY, bending=1e-4)
STIFF = replace(FABRIC, bending=1e-3)

ISOMETRIC = Isometric()

#: s of damped dynamics that an equilibrium takes the place of, and of those after it, in which it must not move
DURATION, AFTER = 20.0, 1.0


@dataclass(frozen=True)
class Scene:
    """A cloth that comes to rest.

    flat: its rest shape, start: where it begins (n, 3), held: nodes that stay there.
    unique: whether there is no friction, so that dynamics and statics have to agree.
    mirrored: whether it may come to rest on either side of the plane y = 0.
    model: how it resists.
    """

    flat: Mesh
    start: FloatArray
    held: IntArray
    fabric: Fabric = FABRIC
    obstacles: tuple[Obstacle, ...] = ()
    self_collision: bool = False
    unique: bool = True
    mirrored: bool = False
    model: Model = ISOMETRIC

    @property
    def arguments(self) -> dict[str, Any]:
        """Of a simulation and of an equilibrium."""
        around = {"obstacles": self.obstacles, "self_collision": self.self_collision}
        return {"rest": self.flat, "model": self.model, **around}


def _arc(s: FloatArray, length: float, share: float) -> tuple[FloatArray, FloatArray]:
    """Along and across (n,) m of an arc of a circle, s (n,) m along it, whose chord is a share of its length."""
    angle = np.linspace(1e-6, np.pi, 200001)
    half = float(np.interp(share, (np.sin(angle) / angle)[::-1], angle[::-1]))
    radius = 0.5 * length / half
    turn = (s - 0.5 * length) / radius
    return radius * np.sin(turn), radius * (1.0 - np.cos(turn)) - radius * (1.0 - np.cos(half))


def _square(n: int) -> Mesh:
    """A square of 0.5 m about the origin."""
    mesh = meshes.rectangle(0.5, 0.5, shape=(n, n))
    return mesh.with_vertices(mesh.vertices - [0.25, 0.25, 0.0])


def _lifted(mesh: Mesh, height: float) -> FloatArray:
    return np.asarray(mesh.vertices + np.array([0.0, 0.0, height]))


def one_corner(n: int) -> Scene:
    """Hung by one corner, from a cylinder about its diagonal."""
    flat = _square(n)
    down, across = (
        (flat.vertices[:, 0] + flat.vertices[:, 1]) / 2**0.5,
        (flat.vertices[:, 0] - flat.vertices[:, 1]) / 2**0.5,
    )
    radius = 0.2
    start = np.stack([radius * np.sin(across / radius), radius * (1.0 - np.cos(across / radius)), -down], axis=1)
    return Scene(flat, start, corner_nodes(flat, (-0.25, -0.25)), STIFF, mirrored=True)


def two_corners(n: int) -> Scene:
    """Hung by two corners that are nearer to each other than the cloth is wide, from an arc."""
    flat = _square(n)
    along, sag = _arc(flat.vertices[:, 0] + 0.25, 0.5, 0.8)
    start = np.stack([along, flat.vertices[:, 1], sag], axis=1)
    return Scene(flat, start, corner_nodes(flat, (-0.25, -0.25), (0.25, -0.25)), STIFF)


def four_corners(n: int) -> Scene:
    """A hammock: the same by four corners."""
    scene, flat = two_corners(n), _square(n)
    return replace(scene, held=corner_nodes(flat, *((x, y) for x in (-0.25, 0.25) for y in (-0.25, 0.25))))


def _ends(mesh: Mesh, length: float) -> IntArray:
    """Two lines of nodes at each end of a strip along x."""
    x = mesh.vertices[:, 0]
    step = np.unique(np.round(x, 9))[1] * 1.01
    return np.flatnonzero((x < step) | (x > length - step))


def between_clamps(n: int) -> Scene:
    """A strip between two level clamps that hangs through."""
    flat = meshes.rectangle(0.5, 0.1, shape=(2 * n - 1, 5))
    s = flat.vertices[:, 0]
    sag = -0.06 * (1.0 - np.cos(2.0 * np.pi * np.clip((s - 0.02) / 0.46, 0.0, 1.0)))
    # a curve of the same length: heights as they are, and what is left of the length along
    along = np.sqrt(np.maximum(np.diff(s[::5]) ** 2 - np.diff(sag[::5]) ** 2, 0.0))
    x = np.concatenate([[0.0], np.cumsum(along)])
    start = np.stack([np.repeat(x, 5), flat.vertices[:, 1], sag], axis=1)
    return Scene(flat, start, _ends(flat, 0.5))


def on_a_ball(n: int) -> Scene:
    """Draped over a ball, with friction."""
    flat = _square(n)
    ball = Sphere([0.0, 0.0, 0.0], 0.12, friction=0.4)
    return Scene(flat, _lifted(flat, 0.121), np.zeros(0, dtype=np.int64), obstacles=(ball,), unique=False)


def over_a_bar(n: int) -> Scene:
    """Held along an edge and hung over a bar without friction."""
    flat = _square(n)
    bar = Cylinder([-0.12, -0.5, -0.07], [-0.12, 0.5, -0.07], 0.06, friction=0.0)
    return Scene(flat, flat.vertices, np.flatnonzero(flat.vertices[:, 0] < -0.2499), obstacles=(bar,))


def on_a_table(n: int) -> Scene:
    """A tablecloth, with friction."""
    flat = _square(n)
    table = Box([0.0, 0.0, -0.1], [0.3, 0.3, 0.2], friction=0.4)
    return Scene(flat, _lifted(flat, 0.0006), np.zeros(0, dtype=np.int64), obstacles=(table,), unique=False)


def buckled(n: int) -> Scene:
    """A strip on edge between two clamps that are nearer than it is long."""
    flat = meshes.rectangle(0.4, 0.05, shape=(2 * n - 1, 4))
    s, height, _ = flat.vertices.T
    side = 0.03 * (1.0 - np.cos(2.0 * np.pi * np.clip((s - 0.02) / 0.36, 0.0, 1.0)))
    along = np.sqrt(np.maximum(np.diff(s[::4]) ** 2 - np.diff(side[::4]) ** 2, 0.0))
    x = np.concatenate([[0.0], np.cumsum(along)])
    start = np.stack([np.repeat(x, 4), side, height], axis=1)
    return Scene(flat, start, _ends(flat, 0.4), STIFF, mirrored=True)


def _folded(n: int) -> tuple[Mesh, FloatArray, FloatArray]:
    """A strip along x, folded in the middle: the mesh, x and z (n,) m of its nodes."""
    flat = meshes.rectangle(0.4, 0.08, shape=(2 * n - 1, 5))
    s, radius = flat.vertices[:, 0], 0.012
    half = 0.2 - np.pi * radius / 2
    turn = np.clip((s - half) / radius, 0.0, np.pi)
    x = np.minimum(s, half) + radius * np.sin(turn) - np.maximum(s - half - np.pi * radius, 0.0)
    return flat, x, radius * (1.0 - np.cos(turn))


def folded_on_the_floor(n: int) -> Scene:
    """A folded strip on the floor, with friction."""
    flat, x, z = _folded(n)
    start = np.stack([x, flat.vertices[:, 1], z + 6e-4], axis=1)
    nobody = np.zeros(0, dtype=np.int64)
    return Scene(flat, start, nobody, obstacles=(Floor(friction=0.4),), self_collision=True, unique=False)


def folded_and_hung(n: int) -> Scene:
    """A strip that is held along its middle, so that its halves hang down and lie on each other, with friction."""
    flat, x, z = _folded(n)
    start = np.stack([z, flat.vertices[:, 1], x], axis=1)
    middle = np.flatnonzero(np.abs(flat.vertices[:, 0] - 0.2) < 1e-9)
    soft = replace(FABRIC, bending=2e-6)
    return Scene(flat, start, middle, soft, self_collision=True, unique=False)


def worn(n: int) -> Scene:
    """A dress that remembers its shape, an elastic shell, on a body of capsules, with friction."""
    rest = meshes.dress(triangles=60 * n)
    shell = KoiterShell(young=1e6, poisson=0.3, thickness=5e-4)
    soft = replace(FABRIC, bending=0.0)
    nobody = np.zeros(0, dtype=np.int64)
    people = tuple(body(0.4, moves=False))
    return Scene(rest, rest.vertices, nobody, soft, obstacles=people, unique=False, model=shell)


SCENES: dict[str, Callable[[int], Scene]] = {
    "hung by one corner": one_corner, "hung by two corners": two_corners, "hammock": four_corners,
    "strip between clamps": between_clamps, "draped over a ball": on_a_ball, "over a smooth bar": over_a_bar,
    "tablecloth": on_a_table, "buckled strip": buckled, "folded on the floor": folded_on_the_floor,
    "folded and hung": folded_and_hung, "dress on a body": worn,
}  # fmt: skip


def simulated(scene: Scene) -> tuple[Simulation, float]:
    """The scene after so long of damped dynamics, and the seconds that this took."""
    sim = Simulation(scene.flat.with_vertices(scene.start), scene.fabric, **scene.arguments)
    if len(scene.held):
        sim.grasp(scene.held)
    begin = time.perf_counter()
    sim.run(DURATION, every=DURATION)
    return sim, time.perf_counter() - begin


def solved(scene: Scene, start: FloatArray | Simulation | None = None) -> tuple[Equilibrium, float]:
    """The scene as an equilibrium, and the seconds that this took."""
    mesh = scene.flat.with_vertices(scene.start)
    begin = time.perf_counter()
    found = equilibrium(mesh, scene.fabric, held=scene.held, start=start, **scene.arguments)
    return found, time.perf_counter() - begin


def furthest(a: FloatArray, b: FloatArray) -> float:
    """mm: between the same nodes (n, 3) at two places."""
    return 1e3 * float(np.linalg.norm(a - b, axis=1).max())


def stays(found: Equilibrium) -> float:
    """mm: by how much an equilibrium moves when it is handed over to dynamics."""
    sim = found.simulation()
    sim.run(AFTER, every=AFTER)
    return furthest(sim.positions, found.positions)


def standing(bending: float) -> Equilibrium:
    """A strip on end, 0.3 m high."""
    flat = meshes.rectangle(0.3, 0.05, shape=(31, 3))
    x, y, z = flat.vertices.T
    mesh = flat.with_vertices(np.stack([z, y, x], axis=1))
    return equilibrium(mesh, Fabric(density=DENSITY, bending=bending), held=np.flatnonzero(x < 0.0101))


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Eleven scenes by statics and by dynamics; a strip that stands, and one that cannot."""
    result = Result("equilibrium", TITLE)
    names = ("hung by two corners", "draped over a ball", "buckled strip") if quick else tuple(SCENES)
    n = 11 if quick else 21
    for name in names:
        scene = SCENES[name](n)
        solved(scene)  # once before: kernels are loaded, and what depends on the mesh alone is known
        say(f"{name}: statics")
        found, seconds = solved(scene)
        say(f"{name}: dynamics")
        sim, slow = simulated(scene)
        result.holds(f"{name}: converged", found.converged)
        result.holds(f"{name}: stable", found.stable)
        result.below(f"{name}: moves when handed over to dynamics, mm", stays(found), 0.1, ".4f")
        if scene.unique:
            apart = furthest(found.positions, sim.positions)
            if scene.mirrored:
                apart = min(apart, furthest(found.positions * [1.0, -1.0, 1.0], sim.positions))
            result.below(f"{name}: from where dynamics leads, mm", apart, 0.1, ".4f")
        else:
            again, _ = solved(scene, np.array(sim.positions))
            result.holds(f"{name}: where dynamics rests is an equilibrium", again.converged)
            result.below(f"{name}: from there, mm", furthest(again.positions, sim.positions), 0.1, ".4f")
            known, _ = solved(scene, sim)
            told = f"{name}: from there, with the contact forces of dynamics, mm"
            result.below(told, furthest(known.positions, sim.positions) if known.converged else np.inf, 0.1, ".4f")
        result.info(f"{name}: residual, of the weight", found.residual, ".1e")
        result.info(f"{name}: seconds", seconds, ".3f")
        faster = f"{name}: times faster than 20 s of dynamics"
        if quick:  # small cloths, in a test suite that shares its machine: a time is no target
            result.info(faster, slow / seconds, ".0f")
        else:
            result.above(faster, slow / seconds, 20.0, ".0f")
    for what, factor in (("can stand", 1.1), ("cannot stand", 0.9)):
        found = standing(factor * DENSITY * 9.81 * 0.295**3 / 7.837)
        result.holds(f"a strip that {what}: recognised", found.converged and found.stable == (what == "can stand"))
        result.info(f"a strip that {what}: smallest eigenvalue, 1/s^2", found.smallest_eigenvalue, ".3g")
    result.notes.append(
        f"{n} x {n} nodes, strips {2 * n - 1} nodes long; damping / density = {RATE:g} 1/s; Greenhill's height: "
        "rho g L^3 / D = 7.837"
    )
    return result
