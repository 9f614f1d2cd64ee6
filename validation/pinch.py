"""A sheet that hangs from a gripper: held when 2 mu N exceeds its weight, and slipping when not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.meshes.merge import merge_vertices
from isocloth.simulation import Gripper, Simulation
from validation.encounters import STRETCH, Film, Watch
from validation.result import Result, Say, silent

TITLE = "a sheet hanging from a friction gripper: held when 2 mu N > weight, slips when not"

GRAVITY = 9.81
FABRIC = Fabric(density=0.2)
WIDTH, HEIGHT = 0.3, 0.4  # m
WEIGHT = FABRIC.density * WIDTH * HEIGHT * GRAVITY
MU = 0.5
REACH = 0.1  # m, how deep the jaws hold the sheet, about
UP = np.array([0.0, 0.0, 1.0])

Path3 = Callable[[float], FloatArray]


def sheets(quick: bool) -> dict[str, Mesh]:
    """Flat sheets, alike on the left and on the right: held off its centre, a sheet needs friction for a moment too."""
    n = 7 if quick else 15
    half = meshes.irregular_rectangle(WIDTH / 2, HEIGHT, nodes=n * n // 2)
    left, right = half.vertices, half.vertices * np.array([-1.0, 1.0, 1.0])
    corners, faces = merge_vertices(
        np.concatenate([left, right]) + np.array([WIDTH / 2, 0.0, 0.0]),
        np.concatenate([half.faces, half.faces[:, ::-1] + len(left)]).astype(np.int64),
    )
    return {
        "quads": meshes.rectangle(WIDTH, HEIGHT, shape=(n, n)),
        "triangles": meshes.rectangle(WIDTH, HEIGHT, shape=(n, n), element="triangle"),
        "irregular triangles": Mesh(corners, faces),
    }


def hanging(mesh: Mesh, gravity: float = GRAVITY) -> Simulation:
    """A sheet that hangs straight down from z = 0."""
    x, y, _ = mesh.vertices.T
    start = np.stack([x, np.zeros_like(x), y - HEIGHT], axis=1)
    return Simulation(mesh.with_vertices(start), FABRIC, gravity=gravity, rest=mesh)


def jaws(sim: Simulation) -> tuple[FloatArray, FloatArray]:
    """Centre and size of jaws at the upper border; their lower edge leaves room for nodes to slip."""
    height = np.unique(sim.positions[:, 2].round(9))
    near = height[(height > -1.5 * REACH) & (height < -0.5 * REACH)]
    edge = float(near[np.argmax(np.diff(near))]) + 1e-3
    return np.array([WIDTH / 2, 0.0, 0.5 * edge]), np.array([0.14, 0.01, -edge + 1e-6])


def pinch(
    sim: Simulation, share: float, *, shift: tuple[float, float, float] = (0.0, 0.0, 0.0), path: Path3 | None = None
) -> Gripper:
    """Close a gripper whose friction bears `share` times the weight of the sheet; `path` is a shift over time."""
    centre, size = jaws(sim)
    centre = centre + np.array(shift)
    return sim.pinch(
        centre, size, normal=[0, 1, 0], force=share * WEIGHT / (2 * MU), friction=MU,
        path=None if path is None else lambda t: centre + path(t),
    )  # fmt: skip


def lift(time: float) -> FloatArray:
    """How far a gripper has come that accelerates upwards by g/2, reached evenly within 0.2 s."""
    a, ramp = 0.5 * GRAVITY, 0.2
    early, late = min(time, ramp), max(time - ramp, 0.0)
    return (a * early**3 / (6 * ramp) + a * ramp * late / 2 + a * late**2 / 2) * UP


def hold(mesh: Mesh, share: float, duration: float) -> tuple[float, float, float, Watch, Film]:
    """Farthest way of a pinched node and its way in the second half (m), and |force / weight - 1| in the worst step."""
    sim = hanging(mesh)
    gripper, film = pinch(sim, share), Film(sim, duration / 10)
    start, worst = sim.positions[gripper.chosen].copy(), 0.0
    watch = Watch().run(sim, duration / 2, film.look)
    middle = sim.positions[gripper.chosen].copy()
    for _ in range(round(duration / 2 / sim.timestep)):
        watch.step(sim)
        film.look(sim)
        worst = max(worst, float(np.linalg.norm(gripper.force / WEIGHT + UP)))
    way, creep = (float(np.linalg.norm(sim.positions[gripper.chosen] - x, axis=1).max()) for x in (start, middle))
    return way, creep, worst, watch, film


def slide(mesh: Mesh, share: float) -> tuple[float, Watch]:
    """Acceleration downwards (m/s^2) of a sheet whose nodes are all between the jaws still."""
    sim, watch = hanging(mesh), Watch()
    gripper = pinch(sim, share)
    area = sim.cloth.area / sim.cloth.area.sum()
    speed: list[float] = []
    while gripper.lost == 0 and len(speed) < 40:
        watch.step(sim)
        speed.append(-float(area @ sim.velocities[:, 2]))
    speed = speed[2:-1]  # the first steps start the integrator, in the last one the jaws may hold fewer
    return (speed[-1] - speed[0]) / ((len(speed) - 1) * sim.timestep), watch


def accelerate(mesh: Mesh, share: float) -> tuple[float, float, float, Watch]:
    """Mean force over weight, largest slip (m) and its acceleration (m/s^2), up to 0.36 s after a gripper began to
    `lift`."""
    sim = hanging(mesh)
    gripper = pinch(sim, share, path=lift)
    watch, slip, force = Watch().run(sim, 0.24), [], []
    for _ in range(3):
        for _ in range(4):
            watch.run(sim, 0.01)
            force.append(-float(gripper.force[2]))  # of single steps it is as good as the tolerance of the solver
        slip.append(float(gripper.slip.max()))
    return float(np.mean(force)) / WEIGHT, slip[-1], float(np.diff(slip, 2)[0]) / 0.04**2, watch


def two(mesh: Mesh, result: Result) -> Watch:
    """Two grippers, each too weak alone; then one opens, and then the other."""
    sim = hanging(mesh)
    left, right = (pinch(sim, 0.6, shift=(x, 0.0, 0.0)) for x in (-0.12, 0.12))
    watch = Watch().run(sim, 1.0)
    error = float(np.linalg.norm((left.force + right.force) / WEIGHT + UP))
    result.below("two grippers: |sum of forces / weight - 1|, %", 100 * error, 0.1, ".1e")
    result.below("two grippers: largest slip, mm", 1e3 * max(left.slip.max(), right.slip.max()), 0.1, ".1e")
    left.release()
    watch.run(sim, 0.6)
    result.holds("two grippers: one of them alone loses the sheet", not right.holding)
    return watch


def pull_through(mesh: Mesh) -> tuple[float, Watch]:
    """Worst |force / (2 mu N) - 1| of a gripper that moves off over a sheet that another one holds, no gravity."""
    sim = hanging(mesh, gravity=0.0)
    pinch(sim, 50.0, shift=(0.0, 0.0, -0.3))
    weak = pinch(sim, 0.5, path=lambda t: 0.2 * t * UP)
    watch, worst = Watch().run(sim, 0.05), 0.0
    while weak.lost == 0:
        watch.step(sim)
        worst = max(worst, abs(float(np.linalg.norm(weak.force)) / (0.5 * WEIGHT) - 1.0))
    return worst, watch


def release(mesh: Mesh) -> tuple[float, Watch]:
    """Mean acceleration over g of a sheet that was held and let go."""
    sim = hanging(mesh)
    gripper, watch = pinch(sim, 2.0), Watch().run(sim, 0.5)
    gripper.release()
    watch.run(sim, 0.2)
    return -float((sim.cloth.area @ sim.velocities[:, 2]) / sim.cloth.area.sum()) / 0.2 / GRAVITY, watch


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Held, slipping, lifted, pulled through and let go."""
    result = Result("pinch", TITLE)
    long = 2.0 if quick else 10.0
    whole = Watch()
    for name, mesh in sheets(quick).items():
        say(name)
        for share in (1.01, 1.05, 2.0):
            moved, creep, worst, watch, film = hold(mesh, share, long)
            case = f"{name}, 2 mu N = {share:g} weight"
            result.below(f"{case}: slip of a pinched node in {long:g} s, mm", 1e3 * moved, 0.1, ".1e")
            result.below(f"{case}: of this in the second half, mm", 1e3 * creep, 1e-3, ".1e")
            result.below(f"{case}: |force on the gripper / weight - 1|, %", 100 * worst, 0.1, ".1e")
            whole.add(watch)
        film.save(out, f"pinch-{name.split()[0]}", name)
        for share in (0.99, 0.95, 0.5):
            found, watch = slide(mesh, share)
            exact = GRAVITY * (1.0 - share)
            result.near(f"{name}, 2 mu N = {share:g} weight: acceleration, m/s^2", found, exact, 0.01)
            whole.add(watch)
        force, slip, _, watch = accelerate(mesh, 1.55)
        result.near(f"{name}, lifted with g/2, 2 mu N = 1.55 weight: force / weight", force, 1.5, 0.001)
        result.below(f"{name}, lifted with g/2, 2 mu N = 1.55 weight: slip, mm", 1e3 * slip, 0.1, ".1e")
        whole.add(watch)
        _, _, behind, watch = accelerate(mesh, 1.45)
        exact = 0.05 * GRAVITY
        result.near(f"{name}, lifted with g/2, 2 mu N = 1.45 weight: falls behind with, m/s^2", behind, exact, 0.01)
        whole.add(watch)
    mesh = sheets(quick)["quads"]
    whole.add(two(mesh, result))
    worst, watch = pull_through(mesh)
    result.below("a gripper moves off over the sheet: |force / (2 mu N) - 1|, %", 100 * worst, 0.1, ".1e")
    whole.add(watch)
    fall, watch = release(mesh)
    result.near("let go: mean acceleration / g", fall, 1.0, 0.001)
    whole.add(watch)
    result.below("steps not converged", whole.unconverged, 0, ".0f")
    what = "distance from the law of the jaws as reported / largest force"
    result.info(what, whole.friction_residual, ".1e")
    result.below("lengths of edges, largest rms change, %", 100 * whole.stretch, 100 * STRETCH)
    result.info(f"steps cut, of {whole.steps}", whole.cut, ".0f")
    result.info("solves per step", whole.iterations / whole.steps, ".2f")
    result.info("q = computing / simulated time", whole.q, ".3f")
    return result
