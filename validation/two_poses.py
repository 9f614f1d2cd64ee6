"""Two poses of one garment give its rest shape and its stiffness over its density back; one does not."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isocloth import Mesh, Pose, PosesInversion, equilibrium, invert, meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.models import DiscreteShell
from validation.result import Result, Say, silent
from validation.targets import revolved

TITLE = "two poses of a garment give its rest shape and its stiffness over its density back, one does not"

#: by how much gravity is turned, how wrong the stiffness is at the start, and the noise of positions, m
TURN, WRONG, NOISE = np.radians(60.0), 3.0, 1e-4
#: part by which a ratio, or an edge of the rest shape, may be off
WITHIN = 0.02


class Garment(NamedTuple):
    """A cloth whose rest shape is known."""

    name: str
    rest: Mesh
    held: IntArray
    fabric: Fabric
    model: DiscreteShell


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """A skirt that hangs from its waist, and a curled sheet that is held at an edge."""
    result = Result("two_poses", TITLE)
    for garment in (skirt(8, 14),) if quick else (skirt(18, 30), curled(19, 13)):
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


def poses_of(garment: Garment) -> list[Pose]:
    """Equilibria with gravity straight down, and turned about the x axis."""
    found = []
    for angle in (0.0, TURN):
        gravity = 9.81 * np.array([0.0, np.sin(angle), -np.cos(angle)])
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, c, s], [0.0, -s, c]])  # after which gravity is along -z
        rest = garment.rest.transformed(rotation=turn)
        hung = equilibrium(rest, garment.fabric, model=garment.model, rest=garment.rest, held=garment.held)
        if not (hung.converged and hung.stable):
            raise RuntimeError(f"{garment.name}: {hung.problem or 'its equilibrium is not stable'}")
        found.append(Pose(garment.rest.with_vertices(hung.positions @ turn), gravity, held=garment.held))
    return found


def noisy(poses: list[Pose], noise: float) -> list[Pose]:
    """The same with normal noise (m) in every coordinate."""
    random = np.random.default_rng(7)
    moved = [pose.mesh.vertices + noise * random.normal(size=pose.mesh.vertices.shape) for pose in poses]
    return [replace(pose, mesh=pose.mesh.with_vertices(x)) for pose, x in zip(poses, moved, strict=True)]


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
        says = one.reached and one.undetermined == ("bending",) and "another rest shape" in one.problem
        result.holds(f"{garment.name}, {label} alone: not determined, {WRONG:g} times the stiffness does as well", says)
        result.info(f"{garment.name}, {label} alone: error of an edge at rest, %", 100.0 * rest_errors(garment, one)[0],
                    ".2f")  # fmt: skip
    if quick:
        return
    both = replace(wrong, stretch=WRONG * garment.model.stretch)
    found = invert(poses, garment.fabric, model=both, unknown=("bending", "stretch"))
    for part in ("bending", "stretch"):
        off = abs(getattr(found.model, part) / getattr(garment.model, part) - 1.0)
        result.below(f"{garment.name}, both ratios unknown: {part} off, %", 100.0 * off, 100.0 * WITHIN, ".1e")
    found = invert(noisy(poses, NOISE), garment.fabric, model=wrong, unknown="bending", noise=NOISE)
    edges, away = rest_errors(garment, found)
    what = f"{garment.name}, noise of {1e3 * NOISE:g} mm"
    result.info(f"{what}: bending over density off, %", 100.0 * abs(_bending(found) / true - 1.0), ".2f")
    result.info(f"{what}: its standard error, %", 100.0 * found.ratio_errors["bending"], ".2f")
    result.info(f"{what}: distance of the rest shape, mm (rms)", 1e3 * away, ".2f")
    result.info(f"{what}: distance of the equilibria from the poses, mm", 1e3 * max(found.distances), ".2f")
