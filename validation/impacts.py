"""Impacts: impulses against changes of momentum, the spin of a strip that hits a bar, the way of a sheet that slides.

Impulses of a floor and of hands are their forces times the time step, summed over all steps so far; with that of the
weight they have to be the change of momentum at any time. Nothing bounces, so a rigid strip of length L that falls at v
onto a bar at a distance d from its middle goes on turning about it with v d / (d^2 + L^2/12), and keeps the part
d^2 / (d^2 + L^2/12) of its energy. A sheet that slides to rest goes v^2 / (2 mu g).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh, rectangle
from isocloth.obstacles import Cylinder, Floor
from isocloth.simulation import Simulation
from validation.result import Result, Say, silent

TITLE = "impacts: impulses and momenta, a strip on a bar, a sheet that slides to rest"

FABRIC = Fabric(density=0.2, bending=1e-5, thickness=1e-3, friction=0.4)
SPEED = 2.0  # m/s, of what falls
ABOVE = 0.013  # m, so that nothing touches at the begin of a step
STEPS = (0.010, 0.005, 0.0025)  # s
#: degrees from the horizontal
TILTS = {"flat": 0.0, "tilted by 10 degrees": 10.0, "tilted by 40 degrees": 40.0}

LENGTH, BAR, STIFF = 0.3, 0.005, 10.0  # m, radius of the bar m, N m: a strip that does not bend
ARMS = (0.45, 0.3)  # from the middle of the strip to the bar, over its length

MU, SLIDING = 0.3, 1.0  # friction, m/s
HANDS = 1.0  # m/s, speed of hands that start or stop


def momentum(sim: Simulation) -> FloatArray:
    """(3,) kg m/s."""
    return np.asarray(sim.fabric.density * (sim.cloth.area[:, None] * sim.velocities).sum(axis=0))


def balance(sim: Simulation, duration: float, force: Callable[[Simulation], FloatArray], speed: float) -> float:
    """Largest difference between impulses and the change of momentum at any time, over m times a speed."""
    first, impulse, worst = momentum(sim), np.zeros(3), 0.0
    for _ in range(round(duration / sim.timestep)):
        report = sim.step()
        assert report.converged, report.problem
        impulse += sim.timestep * (force(sim) + sim.cloth.weight.sum(axis=0))
        worst = max(worst, float(np.linalg.norm(impulse - (momentum(sim) - first))))
    return worst / (sim.fabric.density * float(sim.cloth.area.sum()) * speed)


def crumpled(side: int, seed: int) -> tuple[Mesh, FloatArray]:
    """A sheet that random waves have crumpled in the air, and its positions (n, 3) m."""
    mesh, rng = rectangle(0.5, 0.5, (side, side)), np.random.default_rng(seed)
    sim = Simulation(mesh, FABRIC, self_collision=True, gravity=0.0, integrator="euler")
    x = mesh.vertices - mesh.vertices.mean(axis=0)
    waves = np.sin(x[:, :2] @ rng.normal(scale=8.0, size=(2, 3)) + rng.uniform(0.0, 6.0, 3))
    sim.velocities = waves @ rng.normal(size=(3, 3)) - 4.0 * x
    for _ in range(15):
        sim.step()
    return mesh, sim.positions.copy()


def tilted(side: int, degrees: float) -> tuple[Mesh, FloatArray]:
    """A flat sheet turned about y, and its positions (n, 3) m."""
    mesh, angle = rectangle(0.5, 0.5, (side, side)), np.radians(degrees)
    x, y, _ = mesh.vertices.T
    return mesh, np.stack([x * np.cos(angle), y, x * np.sin(angle)], axis=1)


def fallen(mesh: Mesh, start: FloatArray, timestep: float, integrator: str) -> float:
    """Momentum that is missing when a sheet falls on a floor, over m v."""
    floor = Floor(friction=0.4)
    at = mesh.with_vertices(start - [0.0, 0.0, start[:, 2].min() - ABOVE])
    sim = Simulation(
        at, FABRIC, rest=mesh, self_collision=True, obstacles=[floor], timestep=timestep, integrator=integrator
    )
    sim.velocities = np.tile([0.5, 0.0, -SPEED], (len(start), 1))
    return balance(sim, 0.4, lambda s: -s.forces[floor].force, SPEED)


def held(kind: str, timestep: float, integrator: str) -> float:
    """Momentum that is missing when hands jerk at, stop, shake or catch a hanging sheet, over m v."""
    x, y, _ = rectangle(0.4, 0.4, (9, 9)).vertices.T
    mesh = rectangle(0.4, 0.4, (9, 9)).with_vertices(np.stack([x, 0.0 * x, y], axis=1))
    sim = Simulation(mesh, FABRIC, timestep=timestep, integrator=integrator)
    corners = [mesh.nearest([0.0, 0.0, 0.4]), mesh.nearest([0.4, 0.0, 0.4])]
    if kind == "caught as it falls":
        for _ in range(round(0.2 / timestep)):
            sim.step()
        hand = sim.grasp(corners)
    else:
        hand = sim.grasp(corners, partial(PATHS[kind], mesh.vertices[corners]))
    return balance(sim, 0.5, lambda s: -s.forces[hand].force, HANDS)


def _pulled(at: FloatArray, t: float) -> FloatArray:
    return np.add(at, [0.0, 0.0, HANDS * max(t - 0.1, 0.0)])


def _pulled_aside(at: FloatArray, t: float) -> FloatArray:
    return np.add(at, [0.0, HANDS * max(t - 0.1, 0.0), 0.0])


def _stopped(at: FloatArray, t: float) -> FloatArray:
    return np.add(at, [0.0, 0.0, HANDS * min(t, 0.3)])


def _shaken(at: FloatArray, t: float) -> FloatArray:
    return np.add(at, [0.0, 0.1 * HANDS * np.sin(10.0 * t), 0.0])


PATHS = {"pulled up at once": _pulled, "pulled aside at once": _pulled_aside, "lifted, stopped at once": _stopped,
         "shaken": _shaken}  # fmt: skip


def strip_on_bar(arm: float, timestep: float, integrator: str) -> tuple[float, float, float]:
    """Spin and energy after an impact, over what they have to be, and the energy that any step created, over the first.

    arm: distance of the bar from the middle, over the length of the strip.
    """
    mesh, d = rectangle(LENGTH, 0.03, (21, 3)), arm * LENGTH
    start = mesh.vertices - [LENGTH / 2.0, 0.015, 0.0] + [0.0, 0.0, 0.0085]
    bar = Cylinder([d, -0.2, -BAR], [d, 0.2, -BAR], BAR, friction=0.0)
    fabric = Fabric(density=0.2, bending=STIFF, thickness=1e-3, friction=0.0)
    sim = Simulation(
        mesh.with_vertices(start), fabric, rest=mesh, obstacles=[bar], gravity=0.0, timestep=timestep,
        integrator=integrator,
    )  # fmt: skip
    sim.velocities = np.tile([0.0, 0.0, -1.0], (len(start), 1))
    mass = (fabric.density * sim.cloth.area)[:, None]
    first = before = sum(sim.energy.values())
    created = 0.0
    for k in range(round(0.06 / timestep)):
        sim.step()
        energy = sum(sim.energy.values())
        if k > 0:  # hanging on no history, the first step solves the start to the tolerance
            created = max(created, energy - before)
        before = energy
    x = sim.positions - (mass * sim.positions).sum(axis=0) / mass.sum()
    v = sim.velocities - momentum(sim) / mass.sum()
    spin = float((mass[:, 0] * (x[:, 2] * v[:, 0] - x[:, 0] * v[:, 2])).sum() / (mass * x**2)[:, [0, 2]].sum())
    kept = float(0.5 * (mass * sim.velocities**2).sum() / first)
    inertia = d**2 + LENGTH**2 / 12.0
    return abs(spin) * inertia / d, kept * inertia / d**2, created / first


def slid(timestep: float, integrator: str) -> float:
    """The way of a sheet that slides to rest, over v^2 / (2 mu g)."""
    mesh = rectangle(0.3, 0.3, (7, 7)).transformed(translation=[0.0, 0.0, 5e-4])
    sim = Simulation(mesh, FABRIC, obstacles=[Floor(friction=MU)], timestep=timestep, integrator=integrator)
    sim.velocities = np.tile([SLIDING, 0.0, 0.0], (len(mesh.vertices), 1))
    for _ in range(round(0.5 / timestep)):
        sim.step()
    return float((sim.positions - mesh.vertices)[:, 0].mean()) * 2.0 * MU * 9.81 / SLIDING**2


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Sheets that fall, hands that jerk, a strip on a bar and a sheet that slides, with both integrators."""
    result = Result("impacts", TITLE)
    side, steps, seeds = (8, STEPS[:1], 1) if quick else (12, STEPS, 3)
    for integrator in ("bdf2", "euler"):
        for name, degrees in TILTS.items():
            say(f"{integrator}, {name}")
            worst = max(fallen(*tilted(side, degrees), step, integrator) for step in steps)
            result.below(f"{integrator}, sheet falls {name}: momentum missing, part of m v", worst, 0.01, ".1e")
        say(f"{integrator}, crumpled")
        worst = max(fallen(*crumpled(side, seed), step, integrator) for seed in range(seeds) for step in steps)
        result.below(f"{integrator}, sheet falls crumpled: momentum missing, part of m v", worst, 0.01, ".1e")
        for kind in (*PATHS, "caught as it falls"):
            say(f"{integrator}, {kind}")
            worst = max(held(kind, step, integrator) for step in steps)
            result.below(f"{integrator}, hanging sheet {kind}: momentum missing, part of m v", worst, 0.01, ".1e")
        for arm in ARMS[:1] if quick else ARMS:
            for step in STEPS[1:]:
                spin, kept, created = strip_on_bar(arm, step, integrator)
                where = f"{integrator}, strip on a bar at {arm:g} L, {1e3 * step:g} ms"
                for what, value in (("spin", spin), ("energy", kept)):
                    if step == STEPS[-1]:
                        result.near(f"{where}: {what} over theory", value, 1.0, 0.03)
                    else:
                        result.info(f"{where}: {what} over theory", value, ".4g")
                result.below(f"{where}: energy that a step creates, part of all", created, 1e-3, ".1e")
        for step in STEPS:
            what = f"{integrator}, way of a sheet that slides to rest over v^2/(2 mu g), {1e3 * step:g} ms"
            if integrator == "bdf2":
                result.near(what, slid(step, integrator), 1.0, 0.01, ".4f")
            else:
                result.info(what, slid(step, integrator), ".4f")
    return result
