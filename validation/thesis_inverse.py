"""The thesis' inversion in two steps beside forces first, in the same run: a skirt on a cone, and two triangles."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from isocloth import Implicit, Mesh, Simulation, equilibrium, invert
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.inverse import Inversion, TwoSteps
from isocloth.inverse.balance import Cones as Borne
from isocloth.inverse.rest_forces import RestForces
from isocloth.inverse.supports import hands_at
from isocloth.inverse.thesis.cone_errors import Cones
from isocloth.inverse.thesis.draping import Draping
from isocloth.inverse.thesis.method import PART
from isocloth.inverse.thesis.two_step import TwoStepSearch
from isocloth.models import DiscreteShell
from validation.motions import GRAVITY, PUSHES, farthest, pushed
from validation.result import Result, Say, silent
from validation.shell_forces import forces_on
from validation.targets import THICKNESS, revolved

TITLE = "inverse design: the thesis' two steps beside forces first, on a skirt that lies on a cone"

EXACT = 1e-18
#: m: what counts as standing still, as moving little, and what a naive cloth sags at least
STILL, LITTLE, SAGS = 1e-6, 5e-3, 1e-3
#: s of dynamics, and of a naive cloth
STAYS, NAIVE = 1.0, 0.2
#: of the weight of a node: forces that are left, computed a second way
LEFT = 1e-7
#: m: how far two triangles may be from the square; and how far they are at least if masses are not computed anew
SQUARE, OFF = 1e-9, 1e-4
#: passes of lambda; iterations of step 1 and of step 2 in a pass, and part of the time in step 1, %, in the thesis
PASSES, PAPERS = 15, (598, 157, 75)
#: the law of contacts that are hard
HARD = "gauss_seidel"
#: kg/m^2 of the triangles; the second is that of the thesis' table 5.1
DENSITIES = (0.05, 0.5, 5.0)
#: of the cone: friction, and sine of the angle between its side and the vertical
FRICTION, SLOPE = 0.6, float(np.sqrt(0.5))
#: m, of the ring that becomes the skirt: inner radius, and width; s, for which it falls
INNER, WIDTH, FALLS = 0.10, 0.45, 3.0


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Two triangles with and without masses of the rest shape; then a skirt, both ways and by the second step alone."""
    result = Result("thesis_inverse", TITLE)
    say("two triangles")
    for density in DENSITIES[1:2] if quick else DENSITIES:
        _bitriangle(result, density)
    say("the target")
    skirt = draped_skirt(3, 10) if quick else draped_skirt(8, 25)
    result.notes.append(f"the skirt has {skirt.mesh.n_vertices} vertices, {len(skirt.touching)} touch the cone")
    _inverted(draped_skirt(4, 10), "force_first")  # kernels are compiled before any time is taken
    seconds = 0.2 if quick else STAYS
    answers = {}
    for name, method in (("forces first", "force_first"), ("thesis", "thesis")):
        say(name)
        answers[name] = _inverted(skirt, method)
        _print(result, name, skirt, answers[name])
        _moves(result, name, answers[name].found, seconds)
    first, thesis = (answers[name].wall for name in ("forces first", "thesis"))
    result.info("wall-clock time, thesis over forces first", thesis / first, ".0f")
    say("step 2 alone")
    _second_alone(result, answers["forces first"].found.target, skirt, seconds)
    naive = farthest(answers["forces first"].found.naive(), NAIVE)
    result.above(f"skirt with the target as its rest shape: moves in {NAIVE:g} s, m", naive, SAGS, ".1e")
    return result


# ------------------------------------------------------------------- two triangles


def _bitriangle(result: Result, density: float) -> None:
    """Two triangles that hang from three corners of a square: the rest shape must be the square again."""
    corners = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], dtype=np.float64)
    flat, held = Mesh(corners, [[0, 1, 2], [0, 2, 3]]), np.array([0, 1, 2])
    shell = DiscreteShell(stretch=50.0, bending=5e-2)
    hung = equilibrium(flat, Fabric(density=density), model=shell, held=held).mesh
    forces = RestForces(hung, shell, density, GRAVITY)
    for label, areas in (
        ("masses of the rest shape", None),
        ("masses of the target", forces.shape(hung.vertices).node_areas),
    ):
        draping = Draping(forces, held, areas=areas)
        found = TwoStepSearch(draping, Cones(hands_at(held), len(corners), PART), TwoSteps()).run(lambda said: None)
        off = float(np.abs(_distances(found.points) - _distances(corners)).max())
        what = f"bitriangle, {density:g} kg/m^2, {label}: distances of the rest shape from the square, m"
        if areas is None:
            result.below(what, off, SQUARE, ".1e")
        elif density >= DENSITIES[1]:
            result.above(what, off, OFF, ".1e")
        else:
            result.info(what, off, ".1e")


def _distances(points: FloatArray) -> FloatArray:
    """(n, n) m."""
    return np.asarray(np.linalg.norm(points[:, None] - points[None], axis=2))


# ------------------------------------------------------------------- a skirt


class Skirt(NamedTuple):
    """How a flat ring lies on a cone. touching: nodes that do."""

    mesh: Mesh
    fabric: Fabric
    model: DiscreteShell
    cone: Implicit
    touching: IntArray


def _cone_side(points: FloatArray) -> FloatArray:
    """(m,) m: the distance from the side of a cone with its tip at the origin, its axis upright."""
    return np.asarray(SLOPE * (np.hypot(points[:, 0], points[:, 1]) + points[:, 2]))


def _cone_normal(points: FloatArray) -> FloatArray:
    """(m, 3): unit normals of this side."""
    out = np.full(points.shape, SLOPE)
    out[:, :2] *= points[:, :2] / np.maximum(np.hypot(points[:, 0], points[:, 1]), 1e-12)[:, None]
    return out


def draped_skirt(rings: int, around: int) -> Skirt:
    """A flat ring falls on a cone until it is at rest, in folds, and its innermost nodes alone touch."""
    above = THICKNESS / SLOPE - INNER
    flat = revolved([(INNER + WIDTH * k / (rings - 1), above) for k in range(rings)], around)
    fabric, model = Fabric(density=0.1, thickness=THICKNESS), DiscreteShell(stretch=3.0, bending=5e-3)
    cone = Implicit(_cone_side, _cone_normal, friction=FRICTION)
    start = flat.vertices + 1e-4 * np.random.default_rng(0).normal(size=flat.vertices.shape)  # folds need a beginning
    falling = Simulation(flat.with_vertices(start), fabric, model=model, rest=flat, obstacles=[cone])
    falling.run(FALLS)
    found = equilibrium(flat, fabric, model=model, obstacles=[cone], start=falling.positions)
    if not (found.converged and found.stable):
        raise RuntimeError(f"the skirt was not brought to rest: {found.problem}")
    touching = np.flatnonzero(_cone_side(found.positions) < THICKNESS)
    return Skirt(found.mesh, fabric, model, cone, touching)


class Answer(NamedTuple):
    """found: the inversion; wall, processor: s."""

    found: Inversion
    wall: float
    processor: float


def _inverted(skirt: Skirt, method: str) -> Answer:
    wall, processor = time.monotonic(), time.process_time()
    found = invert(
        skirt.mesh, skirt.fabric, model=skirt.model, obstacles=[skirt.cone], contacts=skirt.touching, method=method,
        nearest=None if method == "thesis" else False,
    )  # fmt: skip
    return Answer(found, time.monotonic() - wall, time.process_time() - processor)


def _print(result: Result, name: str, skirt: Skirt, answer: Answer) -> None:
    """What was found: J, G, forces a second way, iterations and times."""
    found = answer.found
    result.above(f"skirt, {name}: load reached", found.load_reached, 1.0, ".3f")
    result.below(f"skirt, {name}: J, m^2", found.target_error, EXACT, ".1e")
    result.below(f"skirt, {name}: G, N^2", found.friction_error, EXACT, ".1e")
    result.holds(f"skirt, {name}: no negative pivot", found.stable)
    left, used = _forces(skirt, found)
    result.below(f"skirt, {name}: forces a second way, left on free nodes, of the weight of one", left, LEFT, ".1e")
    result.below(f"skirt, {name}: forces a second way, most friction that is used, of what there is", used,
                 PART + 1e-6, ".4f")  # fmt: skip
    result.info(f"skirt, {name}: stretch of the rest shape, smallest, %", 100.0 * float(found.stretch.min()), ".2f")
    if found.passes:
        _passes(result, name, found)
    else:
        result.info(f"skirt, {name}: linear systems", found.iterations, ".0f")
    result.info(f"skirt, {name}: wall-clock time, s", answer.wall, ".2f", paper="240" if found.passes else "")
    result.info(f"skirt, {name}: processor time, s", answer.processor, ".2f")


def _passes(result: Result, name: str, found: Inversion) -> None:
    """Iterations of both steps, and their parts of the time."""
    first = [one.first for one in found.passes]
    second = [one.second for one in found.passes if one.second is not None]
    result.near(f"skirt, {name}: passes", len(found.passes), PASSES, 0.0, ".0f", paper=f"{PASSES}")
    for label, steps, papers in (("1", first, PAPERS[0]), ("2", second, PAPERS[1])):
        count = sum(step.iterations for step in steps)
        result.info(f"skirt, {name}: step {label}, iterations in all", count, ".0f", paper=f"{papers * PASSES}")
        result.info(f"skirt, {name}: step {label}, iterations of a pass, mean", count / len(found.passes), ".0f",
                    paper=f"{papers}")  # fmt: skip
    spent = sum(step.seconds for step in first)
    share = 100.0 * spent / (spent + sum(step.seconds for step in second))
    result.info(f"skirt, {name}: part of the time in step 1, %", share, ".0f", paper=f"{PAPERS[2]}")
    result.plot("passes", "pass", "value", np.arange(1, len(found.passes) + 1), {
        "lambda, N/m": [one.attraction for one in found.passes],
        "iterations of step 1": [step.iterations for step in first],
        "iterations of step 2": [step.iterations for step in second],
    })  # fmt: skip


def _forces(skirt: Skirt, found: Inversion) -> tuple[float, float]:
    """From positions and rest shape alone: what is left on free nodes, of the mean weight of a node; and the largest
    part of the friction that a node uses, infinite where one is pulled."""
    points = found.target.vertices
    numbers = (skirt.model.stretch, skirt.model.bending, skirt.fabric.density, GRAVITY)
    force = forces_on(points, found.rest.vertices, found.target.faces, numbers)
    left = float(np.abs(np.delete(force, skirt.touching, axis=0)).max() * len(points) / np.abs(force[:, 2].sum()))
    at, normal = force[skirt.touching], _cone_normal(points[skirt.touching])
    push = np.einsum("nd,nd->n", at, normal)
    pull = np.linalg.norm(at - push[:, None] * normal, axis=1)
    return left, float(np.where(push > 0.0, pull / np.maximum(FRICTION * push, 1e-300), np.inf).max())


def _moves(result: Result, name: str, found: Inversion, seconds: float) -> None:
    """By either law of contact, and with gravity that is a little larger, or tilted."""
    hard, springs = found.simulation(contact=HARD), found.simulation()
    result.below(f"skirt, {name}: moves in {seconds:g} s, hard contacts, m", farthest(hard, seconds), STILL, ".1e")
    result.info(f"skirt, {name}: moves in {seconds:g} s, contacts as springs, m", farthest(springs, seconds), ".1e")
    masses = found.simulation().cloth.mass
    for label, direction in PUSHES:
        far = farthest(found.simulation(contact=HARD, extra_force=pushed(masses, direction)), seconds)
        what = f"skirt, {name}: moves in {seconds:g} s if gravity is {label}, m"
        if name == "forces first":
            result.below(what, far, LITTLE, ".1e")
        else:
            result.info(what, far, ".1e")


def _second_alone(result: Result, target: Mesh, skirt: Skirt, seconds: float) -> None:
    """G over the rest shape, with the cloth in the target from the beginning: a balance, whether stable or not.

    target: laid on the cone, at just the distance that is kept.
    """
    forces = RestForces(target, skirt.model, skirt.fabric.density, GRAVITY)
    x, draping = target.vertices, Draping(forces, skirt.touching)
    hands, k = hands_at(skirt.touching), len(skirt.touching)
    bodies = hands._replace(
        cones=Borne(_cone_normal(x[skirt.touching]), np.full(k, FRICTION), np.zeros(k)), body=np.ones(k, dtype=np.int64)
    )
    begin = time.monotonic()
    found = TwoStepSearch(draping, Cones(bodies, len(x), PART), TwoSteps()).corrected(x, x, 0.0, np.inf)
    name, rest = "step 2 alone", target.with_vertices(found.point.reshape(-1, 3))
    result.info(f"skirt, {name}: G, N^2", found.value, ".1e")
    result.info(f"skirt, {name}: iterations", found.iterations, ".0f")
    result.info(f"skirt, {name}: wall-clock time, s", time.monotonic() - begin, ".2f")
    result.info(f"skirt, {name}: negative eigenvalues", _negative(draping, rest.vertices), ".0f")

    def simulation(**more: Any) -> Simulation:
        return Simulation(
            target, skirt.fabric, model=skirt.model, rest=rest, obstacles=[skirt.cone], contact=HARD, **more
        )

    masses = simulation().cloth.mass
    result.info(f"skirt, {name}: moves in {seconds:g} s, hard contacts, m", farthest(simulation(), seconds), ".1e")
    for label, direction in PUSHES:
        far = farthest(simulation(extra_force=pushed(masses, direction)), seconds)
        result.info(f"skirt, {name}: moves in {seconds:g} s if gravity is {label}, m", far, ".1e")


def _negative(draping: Draping, points: FloatArray) -> float:
    """Negative eigenvalues of the second derivative over the free nodes, in the target."""
    potential = draping.potential(points)
    layout = draping.layout(potential)
    matrix = layout.matrix(layout.assembled(potential.blocks(draping.target)))
    return float((np.linalg.eigvalsh(matrix.toarray()) < 0.0).sum())
