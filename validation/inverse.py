"""Inverse design: targets of garments, and whether a cloth with the rest shape that was found stays in them."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from isocloth import Floor, Mesh, Simulation, equilibrium, invert
from isocloth.base.typing import BoolArray
from isocloth.fabric import Fabric
from isocloth.inverse import Inversion
from isocloth.inverse.rest_forces import RestForces
from isocloth.models import DiscreteShell
from isocloth.obstacles import Solid
from isocloth.sparse.inertia import negative_pivots, symmetric_factor
from validation.dressed import scanned_shirt, top
from validation.inverse_controls import MOST, second_step
from validation.motions import GRAVITY, PUSHES, farthest, pushed
from validation.result import Result, Say, silent
from validation.shell_forces import forces_on
from validation.targets import THICKNESS, Target, gored_skirt, skirt, targets

TITLE = "inverse design: the rest shape that makes a cloth hang as its target, under contact and friction"

EXACT = 1e-18
#: part of the friction that forces may use; m, what counts as standing still, and as moving little
USABLE, STILL, LITTLE = 0.975 + 1e-6, 1e-6, 5e-3
#: m: a cloth that has its target as rest shape sags at least so far
SAGS = 1e-3
#: part of the density that is said to hang like a target, at which it is tried
LIGHTER = 0.95
#: s of dynamics, from the target; and of one that falls because the target is its rest shape
STAYS, NAIVE = 1.0, 0.2
#: s of processor time for the nearest shape of a target that is not reached
PATIENCE = 30.0
#: m, less noise of the shirt, for which it is said as well which load is reached
NOISES = (0.0, 5e-4)


class Moved(NamedTuple):
    """m, largest displacements of all scenes: under pushed gravity, and of naive cloth."""

    pushed: list[float]
    naive: list[float]


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """The bitriangle, then the garments."""
    result = Result("inverse", TITLE)
    _bitriangle(result)
    _inverted(targets(True)[0])  # kernels are compiled before any time is taken
    reached = spent = 0
    seconds: list[float] = []
    moved = Moved([], [])
    left: list[tuple[Target, Inversion, float]] = []
    scenes = targets(quick) if quick else [skirt(), *targets(quick), top(), scanned_shirt()]
    for target in scenes:
        say(target.name)
        begin = time.process_time()
        found = _inverted(target)
        seconds.append(time.process_time() - begin)
        spent += found.iterations
        reached += _print(result, target, found, seconds[-1])
        if found.reached:
            _stays(result, target, found, moved, 0.2 if quick else STAYS)
            _pushed(result, target, found, moved, 0.1 if quick else STAYS)
        else:
            left.append((target, found, seconds[-1]))
            _lighter(result, target, found)
    many = len(scenes)
    if quick:
        result.above(f"garments that reach J and G of 1e-18, of {many}", reached, many, ".0f")
    else:
        result.above(f"garments that reach J and G of 1e-18, of {many}", reached, 8, ".0f", paper="9 of 9")
        result.below("processor time, median, s", float(np.median(seconds)), 3.0, ".2f", paper="142 min")
        result.below("processor time, longest, s", max(seconds), 30.0, ".1f", paper="950 min")
    result.below("moves under gravity that is 1 % more or tilted, worst, m", max(moved.pushed), LITTLE, ".1e")
    result.above("moves if the target is the rest shape, least, m", min(moved.naive), SAGS, ".1e")
    if not quick:
        _growth(result, say)
        _controls(result, say)
        _noise(result, say)
        for target, found, took in left:
            say(f"{target.name}: nearest shape")
            _nearest(result, target, found, took)
    result.notes.append(f"{spent} linear systems in all; forces aimed at 0.8 of the friction")
    return result


def _inverted(target: Target, *, nearest: bool = False) -> Inversion:
    """nearest: whether the nearest shape is sought too where the target is not reached."""
    return invert(
        target.mesh, target.fabric, model=target.model, obstacles=target.obstacles, contacts=target.contacts,
        nearest=nearest,
    )  # fmt: skip


def _bitriangle(result: Result) -> None:
    """Two triangles that hang from three corners of a square: the rest shape must be the square again."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float64)
    flat = Mesh(corners, [[0, 1, 2], [0, 2, 3]])
    fabric, shell = Fabric(density=0.5), DiscreteShell(stretch=50.0, bending=5e-2)
    hung = equilibrium(flat, fabric, model=shell, held=[0, 1, 2])
    found = invert(hung.mesh, fabric, model=shell, held=[0, 1, 2])

    def distances(mesh: Mesh) -> np.ndarray:
        return np.linalg.norm(mesh.vertices[:, None] - mesh.vertices[None], axis=2)

    off = float(np.abs(distances(found.rest) - distances(flat)).max())
    result.below("bitriangle: distances of the rest shape from the square, m", off, 1e-12, ".1e")


def _print(result: Result, target: Target, found: Inversion, seconds: float) -> bool:
    """What was found; whether the target is reached with J, G, forces and stability as they must be."""
    name, mesh, exact = target.name, found.target, False
    sizes = f"{mesh.n_vertices} vertices, {int(_touching(target, mesh).sum())} touch"
    if target.too_soft:
        result.info(f"{name} ({sizes}): load reached", found.load_reached, ".3f")
        result.notes.append(f"{name}: {found.problem or 'reached'}")
    else:
        result.above(f"{name} ({sizes}): load reached", found.load_reached, 1.0, ".3f")
    if found.reached:
        exact = _errors(result, name, found)
        left, used = _cones(target, found)
        result.below(f"{name}: forces a second way, left on free nodes, of the weight of one", left, 1e-7, ".1e")
        if used is not None:
            result.below(
                f"{name}: forces a second way, most friction that is used, of what there is", used, USABLE, ".4f"
            )
        result.info(f"{name}: stretch of the rest shape, smallest, %", 100.0 * float(found.stretch.min()), ".2f")
    result.info(f"{name}: linear systems", found.iterations, ".0f")
    result.info(f"{name}: processor time, s", seconds, ".2f", paper=f"{target.minutes:g} min")
    return exact


def _errors(result: Result, name: str, found: Inversion) -> bool:
    """J, G and stability of a target that was reached."""
    result.below(f"{name}: J, m^2", found.target_error, EXACT, ".1e")
    result.below(f"{name}: G, N^2", found.friction_error, EXACT, ".1e")
    result.holds(f"{name}: no negative pivot", found.stable)
    return found.target_error <= EXACT and found.friction_error <= EXACT and found.stable


def _lighter(result: Result, target: Target, found: Inversion) -> None:
    """Whether the cloth stays that is as light as a target that was not reached allows; nothing if no load was."""
    if found.load_reached == 0.0:
        return
    light = replace(target.fabric, density=LIGHTER * found.load_reached * target.fabric.density)
    again = _inverted(target._replace(fabric=light))
    what = f"{target.name}, {light.density:.3g} kg/m^2"
    result.above(f"{what}: load reached", again.load_reached, 1.0, ".3f")
    if again.reached:
        _errors(result, what, again)
        far = farthest(again.simulation(), STAYS)
        result.below(f"{what}: moves in {STAYS:g} s, contacts as springs, m", far, STILL, ".1e")


def _stays(result: Result, target: Target, found: Inversion, moved: Moved, seconds: float) -> None:
    """How far the cloth moves by either law of contact, and how far one whose rest shape is the target itself."""
    name, sim = target.name, found.simulation()
    off = float(np.abs(sim.positions - found.target.vertices).max())
    far = farthest(sim, seconds)
    result.below(f"{name}: moves in {seconds:g} s, contacts as springs, m", far, STILL, ".1e")
    result.info(f"{name}: begins off the target, by what springs give, m", off, ".1e")
    far = farthest(found.simulation(contact="gauss_seidel"), seconds)
    result.below(f"{name}: moves in {seconds:g} s, hard contacts, from the target, m", far, STILL, ".1e")
    moved.naive.append(farthest(found.naive(), NAIVE))
    result.info(f"{name}: moves in {NAIVE:g} s if the target is its rest shape, m", moved.naive[-1], ".1e")


def _pushed(result: Result, target: Target, found: Inversion, moved: Moved, seconds: float) -> None:
    """Gravity that grows by 1 %, or turns by 0.01 rad: a force of a hundredth of the weight down, or to the side."""
    masses = found.simulation().cloth.mass
    for what, direction in PUSHES:
        moved.pushed.append(farthest(found.simulation(extra_force=pushed(masses, direction)), seconds))
        result.info(f"{target.name}: moves in {seconds:g} s if gravity is {what}, m", moved.pushed[-1], ".1e")


def _near(solid: Solid, mesh: Mesh) -> tuple[BoolArray, BoolArray]:
    """Nodes (n,) at the distance from a body that is kept, and corners (n,) of faces whose centres are."""
    kept = 0.5 * THICKNESS + 1e-7
    centres = mesh.vertices[mesh.faces].mean(axis=1)
    corner = np.zeros(mesh.n_vertices, dtype=np.bool_)
    corner[mesh.faces[solid.gaps(centres, 0.0)[0] < kept]] = True
    return solid.gaps(mesh.vertices, 0.0)[0] < kept, corner


def _touching(target: Target, mesh: Mesh) -> BoolArray:
    """(n,) nodes that bodies push, themselves or by the centres of their faces."""
    touch = np.zeros(mesh.n_vertices, dtype=np.bool_)
    for solid in target.obstacles:
        assert isinstance(solid, Solid)
        node, corner = _near(solid, mesh)
        touch |= node | corner
    return touch


def _cones(target: Target, found: Inversion) -> tuple[float, float | None]:
    """Forces computed a second way: rms of what is left on free nodes, of the mean weight of a node; and how much of
    its friction the worst node uses that touches as a node, and not by the centres of faces as well; None if all do."""
    points, shell = found.target.vertices, target.model
    numbers = (shell.stretch, shell.bending, target.fabric.density, 9.81)
    force = forces_on(points, found.rest.vertices, found.target.faces, numbers)
    free = ~_touching(target, found.target)
    left = float(np.sqrt(np.mean(force[free] ** 2)) * len(points) / np.abs(force[:, 2].sum()))
    used = []
    for solid in target.obstacles:
        assert isinstance(solid, Solid)
        alone, corner = _near(solid, found.target)
        if not isinstance(solid, Floor):
            alone &= ~corner
        normal = solid.gaps(points, 0.0)[1][alone]
        push = np.einsum("nd,nd->n", force[alone], normal)
        pull = np.linalg.norm(force[alone] - push[:, None] * normal, axis=1)
        used += np.where(push > 0.0, pull / np.maximum(solid.friction * push, 1e-300), np.inf).tolist()
    return left, max(used, default=None)


def _growth(result: Result, say: Say) -> None:
    """Processor time of the gored skirt with 300, 1250 and 5000 vertices, and the power of n that fits."""
    sizes, times = [], []
    for rings, around in ((12, 25), (25, 50), (50, 100)):
        target = gored_skirt(rings=rings, around=around)
        say(f"gored skirt of {target.mesh.n_vertices} vertices")
        begin = time.process_time()
        found = _inverted(target)
        times.append(time.process_time() - begin)
        sizes.append(target.mesh.n_vertices)
        what = f"gored skirt of {sizes[-1]} vertices (load {found.load_reached:.2f})"
        result.info(f"{what}: processor time, s", times[-1], ".2f")
    power = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    result.info("gored skirt: time grows as n to the power of (about 1.5 is expected)", power, ".2f")


def _noise(result: Result, say: Say) -> None:
    """Up to which load a scan of the shirt can be worn, by its noise."""
    for noise in NOISES:
        say(f"shirt with {1e3 * noise:g} mm of noise")
        found = _inverted(scanned_shirt(noise=noise))
        result.info(f"scanned shirt, {1e3 * noise:g} mm of noise: load reached", found.load_reached, ".3f")


class _Over(Exception):
    """Processor time is used up."""


@contextmanager
def _at_most(seconds: float) -> Iterator[None]:
    """Ends what takes more processor time, by an exception."""

    def over(*_: object) -> None:
        raise _Over

    before = signal.signal(signal.SIGPROF, over)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def _nearest(result: Result, target: Target, found: Inversion, took: float) -> None:
    """The nearest shape of a target that is not reached, beside what a cloth becomes whose rest shape is the target.

    took: s, of the search without it.
    """
    name, begin = target.name, time.process_time()
    try:
        with _at_most(took + PATIENCE):
            sagged = equilibrium(found.target, target.fabric, model=target.model, obstacles=target.obstacles)
            if sagged.converged:
                off = sagged.positions - found.target.vertices
                result.info(f"{name}: J if the target is the rest shape, m^2", 0.5 * float(np.sum(off**2)), ".1e")
            else:
                result.notes.append(f"{name}: a cloth whose rest shape is the target was not brought to rest")
            begin = time.process_time()
            found = _inverted(target, nearest=True)
    except _Over:
        result.notes.append(f"{name}: the nearest shape was not found within {PATIENCE:g} s of processor time")
        return
    seconds, near = time.process_time() - begin - took, found.nearest
    if near is None:
        result.notes.append(f"{name}: no shape was found in which a cloth comes to rest")
        return
    result.info(f"{name}: J of the nearest shape, m^2", found.target_error, ".1e")
    result.info(f"{name}: nearest shape, slope of the distance with its barriers", near.gradient, ".1e")
    result.info(f"{name}: nearest shape, by what part of J the barriers keep it away", near.gap, ".1e")
    result.info(
        f"{name}: nearest shape, smallest eigenvalue, of the least that is allowed",
        near.smallest_eigenvalue / near.least, ".2f",
    )  # fmt: skip
    result.info(f"{name}: nearest shape, processor time beyond that of the search above, s", seconds, ".1f")


def _pivots(stiffness: sp.csc_matrix) -> float:
    """Negative pivots; not a number where the matrix is singular."""
    found = negative_pivots(symmetric_factor(stiffness))
    return np.nan if found is None else float(found)


def _controls(result: Result, say: Say) -> None:
    """The skirt by other ways."""
    target = skirt()
    found = _inverted(target)
    x, ball = found.target.vertices, target.obstacles[0]
    assert isinstance(ball, Solid)
    normal = ball.gaps(x, 0.0)[1]
    touched = np.zeros(len(x), dtype=np.bool_)
    touched[found.contact_nodes] = True
    forces = RestForces(found.target, target.model, target.fabric.density, 9.81)
    friction = np.full(len(x), ball.friction)
    free = np.flatnonzero(np.repeat(~touched, 3))
    for name, pinned in (("the second step alone", False), ("contacts pinned, then the second step", True)):
        say(name)
        control = second_step(forces, touched, normal, friction, pinned=pinned)
        what = f"skirt by {name}" if not pinned else f"skirt, {name}"
        result.info(f"{what}: processor time, s", control.seconds, ".1f", paper="4 min")
        result.info(f"{what}: iterations, {MOST} at most", control.iterations, ".0f")
        result.info(f"{what}: G, N^2", control.value, ".1e")
        stiffness = forces.stiffness(control.points)[free][:, free].tocsc()
        result.info(f"{what}: negative pivots", _pivots(stiffness), ".0f")
        masses = forces.weight(control.points) / GRAVITY
        for label, direction in PUSHES:
            sim = Simulation(
                found.target, target.fabric, model=target.model, rest=found.target.with_vertices(control.points),
                obstacles=target.obstacles, extra_force=pushed(masses, direction),
            )  # fmt: skip
            result.info(f"{what}: moves in {STAYS:g} s if gravity is {label}, m", farthest(sim, STAYS), ".1e")
