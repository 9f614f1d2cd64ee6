"""Inverse design: targets of garments, and whether a cloth with the rest shape that was found stays in them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from isocloth import Floor, Mesh, Simulation, equilibrium, invert
from isocloth.fabric import Fabric
from isocloth.inverse import Inversion
from isocloth.inverse.rest_forces import RestForces
from isocloth.models import DiscreteShell
from isocloth.obstacles import Solid
from isocloth.sparse.inertia import negative_pivots, symmetric_factor
from validation.dressed import scanned_shirt, top
from validation.inverse_controls import second_step
from validation.result import Result, Say, silent
from validation.shell_forces import forces_on
from validation.targets import THICKNESS, Target, gored_skirt, skirt, targets

TITLE = "inverse design: the rest shape that makes a cloth hang as its target, under contact and friction"

EXACT = 1e-18
#: part of the friction that forces may use; m, what counts as standing still
USABLE, STILL = 0.975 + 1e-6, 1e-6
#: nodes in contact beyond which the law of hard contacts, whose matrix is dense, is left out; above half: 0.1 s
DENSE = 400
#: part of the density that is said to hang like a target, at which it is tried
LIGHTER = 0.9
#: s of dynamics, from the target; and of one that falls because the target is its rest shape
STAYS, NAIVE = 1.0, 0.2


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """The bitriangle, then the garments."""
    result = Result("inverse", TITLE)
    _bitriangle(result)
    reached = spent = 0
    seconds: list[float] = []
    still: list[float] = []
    pushed: list[float] = []
    scenes = targets(quick) if quick else [skirt(), *targets(quick), top(), scanned_shirt()]
    for target in scenes:
        say(target.name)
        begin = time.process_time()
        found = _inverted(target)
        seconds.append(time.process_time() - begin)
        spent += found.iterations
        exact = found.reached and found.target_error <= EXACT and found.friction_error <= EXACT and found.stable
        reached += exact
        _print(result, target, found, seconds[-1])
        if found.reached:
            still += _stays(result, target, found, 0.2 if quick else STAYS)
            pushed += _pushed(result, target, found, 0.1 if quick else STAYS)
        else:
            still += _lighter(result, target, found)
    count = f"of {len(scenes)}"
    if not quick:
        result.above(f"garments that reach J and G of 1e-18, {count}", reached, 8, ".0f", paper="9 of 9")
        result.below("processor time, median, s", float(np.median(seconds)), 3.0, ".2f", paper="142 min")
        result.below("processor time, longest, s", max(seconds), 30.0, ".1f", paper="950 min")
        _growth(result, say)
        _controls(result, say)
    else:
        result.above("garments that reach J and G of 1e-18, of two", reached, 2, ".0f")
    result.below("moves in the dynamics from where it begins, worst of all and both laws, m", max(still), STILL, ".1e")
    result.below("moves under gravity that is 1 % more or tilted, worst, m", max(pushed), 5e-3, ".1e")
    result.notes.append(f"{spent} linear systems in all; forces aimed at 0.8 of the friction")
    return result


def _inverted(target: Target) -> Inversion:
    return invert(
        target.mesh, target.fabric, model=target.model, obstacles=target.obstacles, contacts=target.contacts
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


def _print(result: Result, target: Target, found: Inversion, seconds: float) -> None:
    name, mesh = target.name, found.target
    sizes = f"{mesh.n_vertices} vertices, {len(found.contact_nodes)} touch"
    if target.too_soft:
        result.info(f"{name} ({sizes}): load reached", found.load_reached, ".3f")
        result.notes.append(f"{name}: {found.problem or 'reached'}")
    else:
        result.above(f"{name} ({sizes}): load reached", found.load_reached, 1.0, ".3f")
        result.below(f"{name}: J, m^2", found.target_error, EXACT, ".1e")
        result.below(f"{name}: G, N^2", found.friction_error, EXACT, ".1e")
        result.holds(f"{name}: no negative pivot", found.stable)
        left, used = _cones(target, found)
        result.below(f"{name}: forces a second way, left on free nodes, of the weight of one", left, 1e-7, ".1e")
        result.below(f"{name}: forces a second way, most friction that is used, of what there is", used, USABLE, ".4f")
    result.info(f"{name}: linear systems", found.iterations, ".0f")
    result.info(f"{name}: processor time, s", seconds, ".2f", paper=f"{target.minutes:g} min")
    result.info(f"{name}: stretch of the rest shape, smallest, %", 100.0 * float(found.stretch.min()), ".2f")


def _lighter(result: Result, target: Target, found: Inversion) -> list[float]:
    """Whether the cloth stays that is as light as a target that was not reached allows; nothing if no load was."""
    if found.load_reached == 0.0:
        return []
    light = replace(target.fabric, density=LIGHTER * found.load_reached * target.fabric.density)
    again = _inverted(target._replace(fabric=light))
    what = f"{target.name}, {light.density:.3g} kg/m^2"
    result.info(f"{what}: load reached", again.load_reached, ".3f")
    if not again.reached:
        return []
    far = _farthest(again.simulation(), STAYS)[0]
    result.info(f"{what}: moves in {STAYS:g} s, contacts as springs, m", far, ".1e")
    return [far]


def _farthest(sim: Simulation, seconds: float) -> tuple[float, float]:
    """m: how far a node is from where it began at most within so many seconds, and at their end."""
    begin, far = sim.positions.copy(), 0.0
    for _ in range(round(seconds / sim.timestep)):
        sim.step()
        far = max(far, float(np.abs(sim.positions - begin).max()))
    return far, float(np.abs(sim.positions - begin).max())


def _stays(result: Result, target: Target, found: Inversion, seconds: float) -> list[float]:
    """How far the cloth moves by either law of contact, and how far one whose rest shape is the target itself."""
    sim = found.simulation()
    off = float(np.abs(sim.positions - found.target.vertices).max())
    moved = [_farthest(sim, seconds)[0]]
    result.info(f"{target.name}: moves in {seconds:g} s, contacts as springs, m", moved[0], ".1e")
    result.info(f"{target.name}: begins off the target, by what springs give, m", off, ".1e")
    many = len(found.contact_nodes)
    if many <= DENSE:
        lasting = seconds if many <= DENSE / 2 else 0.1 * seconds
        moved.append(_farthest(found.simulation(contact="gauss_seidel"), lasting)[0])
        result.info(f"{target.name}: moves in {lasting:g} s, hard contacts, from the target, m", moved[1], ".1e")
    naive = Simulation(found.target, target.fabric, model=target.model, obstacles=target.obstacles)
    fell, _ = _farthest(naive, NAIVE)
    result.info(f"{target.name}: moves in {NAIVE:g} s if the target is its rest shape, m", fell, ".1e")
    return moved


def _more_weight(found: Inversion, direction: tuple[float, float, float]) -> Callable[..., np.ndarray]:
    """A hundredth of the weight in a direction."""
    weight = 9.81 * found.simulation().cloth.mass
    push = 0.01 * weight[:, None] * np.array(direction)
    return lambda time, positions, velocities: push


def _pushed(result: Result, target: Target, found: Inversion, seconds: float) -> list[float]:
    """Gravity that grows by 1 %, or turns by 0.01 rad: a force of a hundredth of the weight down, or to the side."""
    moved = []
    for what, direction in (("1 % more", (0.0, 0.0, -1.0)), ("tilted by 1 %", (1.0, 0.0, 0.0))):
        moved.append(_farthest(found.simulation(extra_force=_more_weight(found, direction)), seconds)[0])
        result.info(f"{target.name}: moves if gravity is {what}, m", moved[-1], ".1e")
    return moved


def _cones(target: Target, found: Inversion) -> tuple[float, float]:
    """Forces computed a second way: rms of what is left on free nodes, of the mean weight of a node; and how much of
    its friction the worst node uses that touches as a node, and not by the centres of faces as well."""
    points, shell = found.target.vertices, target.model
    numbers = (shell.stretch, shell.bending, target.fabric.density, 9.81)
    force = forces_on(points, found.rest.vertices, found.target.faces, numbers)
    free = np.ones(len(points), dtype=np.bool_)
    free[found.contact_nodes] = False
    left = float(np.sqrt(np.mean(force[free] ** 2)) * len(points) / np.abs(force[:, 2].sum()))
    used, centres = 0.0, points[found.target.faces].mean(axis=1)
    for solid in target.obstacles:
        assert isinstance(solid, Solid)
        gap, normal = solid.gaps(points, 0.0)
        near = solid.gaps(centres, 0.0)[0] < 0.5 * THICKNESS + 1e-7
        alone = (np.abs(gap - 0.5 * THICKNESS) < 1e-7) & ~np.isin(np.arange(len(points)), found.target.faces[near])
        if isinstance(solid, Floor):
            alone = np.abs(gap - 0.5 * THICKNESS) < 1e-7
        push = np.einsum("nd,nd->n", force, normal)[alone]
        pull = np.linalg.norm(force[alone] - push[:, None] * normal[alone], axis=1)
        share = np.where(push > 0.0, pull / np.maximum(solid.friction * push, 1e-300), np.inf)
        used = max(used, float(share.max(initial=0.0)))
    return left, used


def _growth(result: Result, say: Say) -> None:
    """Processor time of the gored skirt with 300, 1250 and 5000 vertices."""
    sizes, times = [], []
    for rings, around in ((12, 25), (25, 50), (50, 100)):
        target = gored_skirt(rings=rings, around=around)
        say(f"gored skirt of {target.mesh.n_vertices} vertices")
        begin = time.process_time()
        found = _inverted(target)
        times.append(time.process_time() - begin)
        sizes.append(target.mesh.n_vertices)
        result.info(
            f"gored skirt of {sizes[-1]} vertices: processor time, s (load {found.load_reached:.2f})", times[-1]
        )
    power = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    result.info("gored skirt: time grows as n to the power of", power, ".2f", paper="")


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
        result.info(f"{what}: G, N^2", control.value, ".1e")
        stiffness = forces.stiffness(control.points)[free][:, free].tocsc()
        result.info(f"{what}: negative pivots", _pivots(stiffness), ".0f")
        mass = np.zeros(len(x))
        mass[:] = forces.weight(control.points) / 9.81
        for label, direction in (("1 % more", (0.0, 0.0, -1.0)), ("tilted by 1 %", (1.0, 0.0, 0.0))):
            push = 0.01 * 9.81 * mass[:, None] * np.array(direction)
            sim = Simulation(
                found.target, target.fabric, model=target.model, rest=found.target.with_vertices(control.points),
                obstacles=target.obstacles, extra_force=lambda t, p, v, push=push: push,  # type: ignore[misc]
            )  # fmt: skip
            result.info(f"{what}: moves if gravity is {label}, m", _farthest(sim, STAYS)[0], ".1e")
