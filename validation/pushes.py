"""Twisted and crumpled cloth under 1000 random pushes: always finite, nothing tunnels, what fails is reported."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.obstacles import Floor
from isocloth.obstacles.motion import turned_about
from isocloth.simulation import Report, Simulation
from validation import pushers
from validation.encounters import Film, Watch, centre_of_mass, centred
from validation.intersections import Intersections
from validation.result import Result, Say, silent
from validation.scenes import smooth_ramp
from validation.stick_hits import Sides

TITLE = "twisted and crumpled cloth, 1000 random pushes: finite, no tunnelling, 99 % of steps converge"

#: what the papers fitted to wool, and a little shear: where shear is forbidden, a coarse net cannot be twisted
FABRIC = Fabric(density=0.1804, gravity_density=0.078, damping=0.50, friction=0.3, shear=1.0)
WIDTH, LENGTH = 0.3, 0.6  # m, of the strip that is twisted
TURNS, NEAR, TWISTING = 2.0, 0.55, 3.0  # of both ends together; their distance afterwards / length; s
SIDE, HEAP = 0.5, 2.0  # m, of the sheet that is crumpled; s until it lies in a heap
HIGH = 0.03  # m above the floor: lower than this no pusher goes, so that nothing is squeezed
DEPTH = 0.12  # m: how far behind the node that it aims at a push goes at most
REACH = 0.85  # a push ends where a thread between the hands would need this part of the length of the strip
PAUSE = 10  # steps after a throw
FILMED = 4  # pushes, the last ones


class Record:
    """What the steps under pushes report, and what independent tests find in them."""

    def __init__(self, sim: Simulation, sides: Sides) -> None:
        self.watch, self.sound = Watch(), Watch()  # all steps, and the converged ones
        self.crossed, self.sides = Intersections(sim, sim.timestep), sides
        self.film: Film | None = None  # of the last pushes
        self.broken = self.silent = self.uncut = 0  # not finite; not converged without a reason, or in one piece
        self.failures: list[str] = []
        self.push = self.met = 0  # pushes begun, and those that met the cloth
        self._meets = False

    def step(self, sim: Simulation) -> Report:
        """One step, looked at from all sides."""
        report = self.watch.step(sim)
        if report.converged:
            self.sound.count(report)
        else:
            self.silent += not report.problem
            self.uncut += report.substeps == 1
            self.failures.append(f"push {self.push}, t = {report.time:.2f} s: {report.problem}")
        self.broken += not (np.isfinite(sim.positions).all() and np.isfinite(sim.velocities).all())
        self.crossed.look(sim)
        self.sides.look(sim)
        if self.film is not None:
            self.film.look(sim)
        self._meets |= any(o.force.any() for o in sim.obstacles if o.name in ("ball", "stick"))
        return report

    def begin(self) -> None:
        """A push begins."""
        self.push, self._meets = self.push + 1, False

    def end(self, meets: bool = False) -> None:
        """A push ends, which met the cloth whether or not the ball or the stick did."""
        self.met += self._meets or meets


class Scene:
    """A cloth, the ball and the stick, and how they are let loose on it."""

    def __init__(self, sim: Simulation, moved: dict[str, pushers.Pusher], record: Record, seed: int) -> None:
        self.sim, self.moved, self.record = sim, moved, record
        self.random = np.random.default_rng(seed)
        self.kinds = tuple(moved)
        self.wait(self.prepare())

    def prepare(self) -> int:
        """Begin to twist or to crumple; returns how many steps it takes."""
        raise NotImplementedError

    def direction(self) -> FloatArray:
        """Unit vector (3,) of a push."""
        raise NotImplementedError

    def targets(self) -> IntArray:
        """Nodes to aim at."""
        return np.arange(self.sim.mesh.n_vertices)

    def across(self, along: FloatArray) -> FloatArray:
        """Unit vector (3,) in which a stick lies that pushes along another one."""
        raise NotImplementedError

    def allowed(self, point: FloatArray) -> bool:
        """Whether a push may come to a point (3,)."""
        raise NotImplementedError

    def wait(self, steps: int) -> None:
        """Let steps pass."""
        for _ in range(steps):
            self.record.step(self.sim)

    def push(self) -> None:
        """One random push."""
        self.record.begin()
        self.record.end(self.thrust(str(self.random.choice(self.kinds))))

    def thrust(self, kind: str) -> bool:
        """Push with the ball or the stick, through a node chosen at random; it may miss the cloth."""
        sim, random = self.sim, self.random
        along = self.direction()
        speed = float(random.uniform(pushers.SLOWEST, pushers.FASTEST))
        aim = sim.positions[random.choice(self.targets())].copy()
        push = pushers.Thrust(aim, along, float(random.uniform(0.0, DEPTH)), speed)
        there, back = self.moved[kind].thrust(sim, push, self.across(along), self.allowed)
        self.wait(there + back)
        return False


class Twisted(Scene):
    """A strip along x, whose ends are turned against each other and brought nearer, then stay."""

    def prepare(self) -> int:
        """Turn the ends."""
        mesh, sim = self.sim.mesh, self.sim
        for side in (-1.0, 1.0):
            end = np.array([mesh.nearest([side * LENGTH / 2, y, 0.0]) for y in (-WIDTH / 8, 0.0, WIDTH / 8)])
            start, middle = mesh.vertices[end], np.array([side * LENGTH / 2, 0.0, 0.0])

            def path(t: float, start: FloatArray = start, middle: FloatArray = middle) -> FloatArray:
                share = smooth_ramp(t, TWISTING)
                turn = turned_about(np.array([np.sign(middle[0]) * np.pi * TURNS * share, 0.0, 0.0]))
                return (start - middle) @ turn.T + middle * (1.0 - (1.0 - NEAR) * share)

            sim.grasp(end, path)
        return round((TWISTING + 0.5) / sim.timestep)

    def direction(self) -> FloatArray:
        """From anywhere, across the strip."""
        angle = self.random.uniform(0.0, 2.0 * np.pi)
        return np.array([0.0, np.cos(angle), np.sin(angle)])

    def targets(self) -> IntArray:
        """Where it is not held: in the middle half between the hands."""
        return np.flatnonzero(np.abs(self.sim.positions[:, 0]) < 0.25 * NEAR * LENGTH)

    def across(self, along: FloatArray) -> FloatArray:
        """Across the strip as well, but for a few degrees: along it, it would pull at both ends."""
        tilt = self.random.uniform(-0.3, 0.3)
        return np.array([np.sin(tilt), -np.cos(tilt) * along[2], np.cos(tilt) * along[1]])

    def allowed(self, point: FloatArray) -> bool:
        """Where the strip can follow."""
        hand = np.array([0.5 * NEAR * LENGTH, 0.0, 0.0])
        return float(np.linalg.norm(point - hand) + np.linalg.norm(point + hand)) < REACH * LENGTH


class Crumpled(Scene):
    """A sheet that stands on its edge over the floor, falls into a heap, and is pushed and thrown about."""

    def prepare(self) -> int:
        """Let it fall; from now on it can also be thrown."""
        self.kinds = (*self.moved, "throw")
        return round(HEAP / self.sim.timestep)

    def direction(self) -> FloatArray:
        """From all sides and from above."""
        angle, down = self.random.uniform(0.0, 2.0 * np.pi), self.random.uniform(0.0, np.pi / 3)
        return np.array([np.cos(angle) * np.cos(down), np.sin(angle) * np.cos(down), -np.sin(down)])

    def targets(self) -> IntArray:
        """What stands up from the floor, so that it can be met."""
        return np.flatnonzero(self.sim.positions[:, 2] > 1.5 * HIGH)

    def across(self, along: FloatArray) -> FloatArray:
        """Level."""
        level = np.array([-along[1], along[0], 0.0])
        return level / np.linalg.norm(level)

    def allowed(self, point: FloatArray) -> bool:
        """Above the floor."""
        return bool(point[2] > HIGH)

    def thrust(self, kind: str) -> bool:
        """A throw, or a push like any other if there is anything to push."""
        if kind == "throw" or len(self.targets()) == 0:
            self.throw()
            return True
        return super().thrust(kind)

    def throw(self) -> None:
        """Take a node, carry it to above the middle of the heap, and let go."""
        sim, random = self.sim, self.random
        node, start = int(random.integers(sim.mesh.n_vertices)), sim.time
        begin, middle = sim.positions[node].copy(), centre_of_mass(sim)
        end = np.array([*middle[:2] + random.uniform(-0.1, 0.1, 2), random.uniform(0.1, 0.35)])
        # the ramp is 2.2 times as fast as an even motion at its fastest
        length = 2.2 * float(np.linalg.norm(end - begin)) / float(random.uniform(pushers.SLOWEST, pushers.FASTEST))
        steps = max(int(np.ceil(length / sim.timestep)), 1)
        length = steps * sim.timestep
        grasp = sim.grasp(node, lambda t: (begin + smooth_ramp(t - start, length) * (end - begin))[None])
        self.wait(steps)
        grasp.release()
        self.wait(PAUSE)


def twisted(quick: bool, seed: int) -> Scene:
    """A strip, twisted."""
    shape = (11, 9) if quick else (13, 9)
    flat = centred(meshes.rectangle(LENGTH, WIDTH, shape=shape), np.zeros(3))
    aside = np.array([5.0, 0.0, 0.0])
    (ball, first), (stick, second) = pushers.ball(aside), pushers.stick(aside)
    sim = Simulation(flat, FABRIC, obstacles=[ball, stick], self_collision=True)
    return Twisted(sim, {"ball": first, "stick": second}, Record(sim, Sides(sim, stick)), seed)


def crumpled(quick: bool, seed: int) -> Scene:
    """A sheet, crumpled."""
    n = 7 if quick else 9
    flat = centred(meshes.rectangle(SIDE, SIDE, shape=(n, n)), np.zeros(3))
    # upright on a corner, almost
    turn = turned_about(np.array([1.4, 0.0, 0.0])) @ turned_about(np.array([0.0, 0.0, 0.7]))
    start = flat.vertices @ turn.T
    start[:, 2] += 0.01 - start[:, 2].min()
    aside = np.array([0.0, 0.0, 5.0])
    (ball, first), (stick, second) = pushers.ball(aside), pushers.stick(aside)
    sim = Simulation(flat.with_vertices(start), FABRIC, rest=flat, obstacles=[Floor(friction=0.4), ball, stick],
                     self_collision=True)  # fmt: skip
    return Crumpled(sim, {"ball": first, "stick": second}, Record(sim, Sides(sim, stick)), seed)


SCENES = {"twisted": twisted, "crumpled": crumpled}


def fingerprint(scene: Scene) -> str:
    """Of all bits of positions and velocities."""
    state = scene.sim.state
    return hashlib.sha256(state.positions.tobytes() + state.velocities.tobytes()).hexdigest()


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Pushes that leave it finite, uncrossed and solved, and the same bits again."""
    result = Result("pushes", TITLE)
    count, again = (4, 1) if quick else (500, 10)
    for name, make in SCENES.items():
        scene = make(quick, 0)
        say(f"{name}: {scene.record.watch.steps} steps until it is {name}")
        record, early = scene.record, ""
        while record.met < count:
            if record.film is None and record.met >= count - FILMED:
                record.film = Film(scene.sim, 0.02)
            scene.push()
            if record.push == again:
                early = fingerprint(scene)
            if record.push % 50 == 0:
                watch = record.watch
                say(f"{name}: {record.push} pushes, {watch.steps} steps, {watch.unconverged} failed, q {watch.q:.2f}")
        tell(result, name, record)
        assert record.film is not None
        record.film.save(out, f"pushes-{name}", f"{name}, the last {FILMED} of {count} random pushes")
        second = make(quick, 0)
        for _ in range(again):
            second.push()
        result.holds(f"{name}: the first {again} pushes once more end in the same bits", fingerprint(second) == early)
    return result


def tell(result: Result, name: str, record: Record) -> None:
    """The lines of a scene."""
    watch, sound = record.watch, record.sound
    result.info(f"{name}: pushes that met the cloth, of {record.push}", record.met, ".0f")
    result.below(f"{name}: steps with a number that is not finite", record.broken, 0, ".0f")
    record.crossed.tell(result, name)
    result.below(f"{name}: edges that passed through the stick", record.sides.passed, 0, ".0f")
    converged = 100.0 * (1.0 - watch.unconverged / watch.steps)
    result.above(f"{name}: steps that converged, % of {watch.steps}", converged, 99.0, ".3f")
    result.info(f"{name}: steps that did not", watch.unconverged, ".0f")
    result.below(f"{name}: of these without a reason in the report", record.silent, 0, ".0f")
    result.below(f"{name}: of these not cut into substeps", record.uncut, 0, ".0f")
    if np.isfinite(watch.clearance):
        result.above(f"{name}: smallest distance of a node from an obstacle, mm", 1e3 * watch.clearance, 0.0, ".4f")
    result.info(f"{name}: lengths of edges, largest rms change, %", 100 * watch.stretch)
    result.info(f"{name}: smallest gap of converged steps as reported, mm", 1e3 * sound.min_gap, ".4f")
    result.info(f"{name}: smallest gap of all steps as reported, mm", 1e3 * watch.min_gap, ".4f")
    what = f"{name}: residual of Coulomb's law as reported, converged steps"
    result.info(what, sound.friction_residual, ".1e")
    result.info(f"{name}: isometry error of converged steps as reported", sound.isometry_error, ".1e")
    result.info(f"{name}: isometry error of all steps as reported", watch.isometry_error, ".1e")
    result.info(f"{name}: steps cut", watch.cut, ".0f")
    result.below(f"{name}: share of steps in which a library helped", watch.helped / watch.steps, 0.01, ".4f")
    result.info(f"{name}: solves per step", watch.iterations / watch.steps, ".2f")
    result.info(f"{name}: slowest step, s", watch.slowest, ".2f")
    result.info(f"{name}: q = computing / simulated time", watch.q, ".3f")
    result.notes += [f"{name}, {failure}" for failure in record.failures[:10]]
    if len(record.failures) > 10:
        result.notes.append(f"{name}: and {len(record.failures) - 10} more")
