"""Two poses of one garment give its rest shape and its stiffness over its density back; one does not."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isocloth import Mesh, Pose, PosesInversion, Sphere, equilibrium, invert, meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.models import DiscreteShell
from validation.result import Result, Say, silent
from validation.targets import revolved

TITLE = "two poses of a garment give its rest shape and its stiffness over its density back, one does not"

#: by how much gravity is turned, with hands and on a body, and how wrong the stiffness is at the start
TURN, TURN_ON_BODY, WRONG = np.radians(60.0), np.radians(25.0), 3.0
#: part by which a ratio, or an edge of the rest shape, may be off
WITHIN = 0.02


class Garment(NamedTuple):
    """A cloth whose rest shape is known. held: nodes; ball: about the origin, that carries it."""

    name: str
    rest: Mesh
    held: IntArray | None
    fabric: Fabric
    model: DiscreteShell
    ball: Sphere | None = None


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """A skirt that hangs from its waist, a curled sheet that is held at an edge, and a skirt that lies on a ball."""
    result = Result("two_poses", TITLE)
    for garment in (skirt(8, 14), seated(8, 14)) if quick else (skirt(18, 30), curled(19, 13), seated(12, 24)):
        say(garment.name)
        _check(result, garment, quick)
    result.notes.append(
        "same mesh and same model as the truth; the start is the mean of the poses, laid on each other, and "
        f"{WRONG:g} times the stiffness"
    )
    return result


def skirt(rings: int, around: int) -> Garment:
    """Rings that become wider and wavy downwards; the upper one is held."""
    part = np.linspace(0.0, 1.0, rings)
    profile = [(0.1 + 0.12 * p, -0.3 * p) for p in part]

    def wave(i: int, a: float) -> tuple[float, float]:
        return part[i] * (0.015 * np.cos(4.0 * a) + 0.006 * np.cos(a + 0.3)), 0.0

    mesh = revolved(profile, around, wave)
    shell = DiscreteShell(stretch=5.0, bending=4e-4)
    return Garment("skirt", mesh, np.arange(around), Fabric(density=0.2), shell)


def curled(along: int, across: int) -> Garment:
    """A sheet that is rolled up by three quarters of a radian at rest, and held at one edge."""
    flat = meshes.rectangle(0.3, 0.2, (along, across), element="triangle")
    x, y = flat.vertices[:, 0], flat.vertices[:, 1]
    radius = 0.4 - 0.5 * y
    rolled = np.stack([radius * np.sin(x / radius), y, radius * (1.0 - np.cos(x / radius))], axis=1)
    shell = DiscreteShell(stretch=20.0, bending=1e-3)
    return Garment("curled sheet", flat.with_vertices(rolled), np.flatnonzero(x < 1e-9), Fabric(density=0.2), shell)


def seated(rings: int, around: int) -> Garment:
    """A skirt whose waist lies on a ball, with friction: no node is held."""
    thickness, ball = 1e-3, Sphere([0.0, 0.0, 0.0], 0.12, friction=0.8)
    part = np.linspace(0.0, 1.0, rings)
    top = np.sqrt((ball.radius + 0.5 * thickness) ** 2 - 0.1**2)
    profile = [(0.1 + 0.26 * p - 0.12 * p**2, top - 0.3 * p) for p in part]

    def wave(i: int, a: float) -> tuple[float, float]:
        return part[i] * (0.015 * np.cos(4.0 * a) + 0.006 * np.cos(a + 0.3)), 0.0

    fabric, shell = Fabric(density=0.2, thickness=thickness), DiscreteShell(stretch=5.0, bending=4e-4)
    return Garment("skirt on a ball", revolved(profile, around, wave), None, fabric, shell, ball)


def poses_of(garment: Garment) -> list[Pose]:
    """Equilibria with gravity straight down, and turned about the x axis."""
    found, bodies = [], () if garment.ball is None else (garment.ball,)  # a ball about the origin turns into itself
    for angle in (0.0, TURN if garment.ball is None else TURN_ON_BODY):
        gravity = 9.81 * np.array([0.0, np.sin(angle), -np.cos(angle)])
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])  # after which gravity is along -z
        rest, held = garment.rest.transformed(rotation=turn), garment.held
        hung = equilibrium(rest, garment.fabric, model=garment.model, rest=garment.rest, held=held, obstacles=bodies)
        if not (hung.converged and hung.stable):
            raise RuntimeError(f"{garment.name}: {hung.problem or 'its equilibrium is not stable'}")
        found.append(Pose(garment.rest.with_vertices(hung.positions @ turn), gravity, bodies, held))
    return found


def rest_errors(garment: Garment, found: PosesInversion) -> tuple[float, float]:
    """Of the rest shape: the largest error of an edge, of its length, and the mean distance of nodes, m (rms)."""
    edges = float(np.abs(found.rest.edge_lengths / garment.rest.edge_lengths - 1.0).max())
    moved = _laid_on(found.rest.vertices, garment.rest.vertices) - garment.rest.vertices
    return edges, float(np.sqrt(np.mean(np.sum(moved**2, axis=1))))


def _laid_on(points: FloatArray, to: FloatArray) -> FloatArray:
    """Points (n, 3) moved rigidly onto others."""
    u, _, v = np.linalg.svd((points - points.mean(axis=0)).T @ (to - to.mean(axis=0)))
    u[:, 2] *= np.sign(np.linalg.det(u @ v))
    return np.asarray((points - points.mean(axis=0)) @ (u @ v) + to.mean(axis=0))


def _bending(found: PosesInversion) -> float:
    assert isinstance(found.model, DiscreteShell)
    return float(found.model.bending)


def _check(result: Result, garment: Garment, quick: bool) -> None:
    name, poses = f"{garment.name} ({garment.rest.n_vertices} vertices)", poses_of(garment)
    true = float(garment.model.bending)
    wrong = replace(garment.model, bending=WRONG * true)
    begin = time.process_time()
    found = invert(poses, garment.fabric, model=wrong, unknown="bending")
    seconds = time.process_time() - begin
    edges, away = rest_errors(garment, found)
    off = abs(_bending(found) / true - 1.0)
    result.below(f"{name}: bending over density off, %", 100.0 * off, 100.0 * WITHIN, ".1e")
    result.below(f"{name}: longest error of an edge at rest, %", 100.0 * edges, 100.0 * WITHIN, ".1e")
    result.info(f"{garment.name}: distance of the rest shape, mm (rms)", 1e3 * away, ".1e")
    result.below(f"{garment.name}: J, m^2", found.target_error, 1e-18, ".1e")
    result.below(f"{garment.name}: G, N^2", found.friction_error, 1e-18, ".1e")
    result.holds(f"{garment.name}: both poses reached, no negative pivot", found.reached and all(found.stable))
    result.info(f"{garment.name}: linear systems", found.iterations, ".0f")
    result.info(f"{garment.name}: processor time, s", seconds, ".2f")
    for k, label in enumerate(("straight", "turned")):
        one = invert(poses[k : k + 1], garment.fabric, model=wrong, unknown="bending")
        says = one.reached and one.undetermined == ("bending",) and f"with {WRONG:g} times of it" in one.problem
        result.holds(f"{garment.name}, {label} alone: not determined, {WRONG:g} times the stiffness does as well", says)
        result.info(f"{garment.name}, {label} alone: error of an edge at rest, %", 100.0 * rest_errors(garment, one)[0],
                    ".2f")  # fmt: skip
    if garment.ball is not None:
        result.info(f"{garment.name}: nodes that touch, straight", len(found.contact_nodes[0]), ".0f")
        result.info(f"{garment.name}: nodes that touch, turned", len(found.contact_nodes[1]), ".0f")
    if quick:
        return
    both = replace(wrong, stretch=WRONG * garment.model.stretch)
    found = invert(poses, garment.fabric, model=both, unknown=("bending", "stretch"))
    for part in ("bending", "stretch"):
        off = abs(getattr(found.model, part) / getattr(garment.model, part) - 1.0)
        result.below(f"{garment.name}, both ratios unknown: {part} off, %", 100.0 * off, 100.0 * WITHIN, ".1e")
