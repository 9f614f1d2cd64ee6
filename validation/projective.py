"""Projective dynamics with dry friction: a slope, a sheet on a turning sphere, a stack of three (chapter 2 of Ly)."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.models import MassSpring
from isocloth.obstacles import Plane, Sphere
from isocloth.simulation import Simulation, State
from isocloth.simulation.steppers import ProjectiveStepper
from isocloth.solvers import Projective, ProjectiveOptions
from validation.intersections import Intersections
from validation.phases import detection, law, phases
from validation.result import Result, Say, silent
from validation.turning_sphere import Turn

TITLE = "projective friction: exact on a slope, a sheet on a turning sphere, a stack of sheets with and without order"

STEP = 0.005  # s, of the thesis' squares
STRETCH, BENDING = 200.0, 5e-4  # N/m, N m
RADIUS, SIDE, THICKNESS = 0.35, 1.2, 5e-3  # m
#: the sphere begins to turn when the sheet has fallen, faster and faster up to SPIN within RAMP. Friction under the
#: weight turns the inertia of a draped sheet by some mu g / R, about 3 rad/s^2 with mu 0.1 and 8 with 0.3: this is in
#: between
FALLEN, RAMP, SPIN = 1.5, 1.0, 5.0  # s, s, rad/s
#: ms of a step at 20 iterations on the thesis' machine: a sheet with mu 0.1 and 0.3, three of them
PAPER = {0.1: 153.0, 0.3: 144.0, "three": 525.0}
#: iterations after which the error of the law is looked at, and those of them that are told; the last is the plateau
ITERATIONS, TOLD = (1, 2, 3, 5, 10, 20, 30, 50, 100, 200), (5, 10, 20, 30, 200)
#: ms with mu 0.3 in table 2.2 of the thesis: of an iteration, and of a step
PHASES = {"right-hand side": 2.1, "forces of the body": 0.28, "forces between layers": 0.071, "solve": 1.23}
PER_STEP = {"contacts with the body": 6.6, "contacts between layers": 62.6, "order": 0.16}
#: nodes along an edge of the sheet on which the exact law is beside, and s between frames that are looked at
BESIDE, LOOK = 15, 0.05
#: m/s: nothing that falls from this high is faster; what is has been thrown, and further steps tell no more
FALL, THROWN = 8.0, 1e3


def square(nodes: int, density: float, height: float) -> tuple[meshes.Mesh, Fabric]:
    """A sheet above the sphere, by so much."""
    flat = meshes.rectangle(SIDE, SIDE, shape=(nodes, nodes), element="triangle")
    fabric = Fabric(density=density, bending=BENDING, thickness=THICKNESS, friction=0.3)
    return flat.transformed(translation=[-SIDE / 2, -SIDE / 2, RADIUS + height]), fabric


def turned(t: float) -> FloatArray:
    """(3, 3): the sphere about the vertical axis."""
    s = min(max(t - FALLEN, 0.0), RAMP)
    angle = 0.5 * SPIN * s * s / RAMP + SPIN * max(t - FALLEN - RAMP, 0.0)
    return np.array([[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]])


def simulation(mesh: meshes.Mesh, fabric: Fabric, mu: float, **options: object) -> Simulation:
    """Projective dynamics of a cloth over the sphere."""
    sphere = Sphere([0.0, 0.0, 0.0], RADIUS, friction=mu, rotation=turned)
    return Simulation(
        mesh, fabric, model=MassSpring(stretch=STRETCH, flexion=0.0), timestep=STEP, obstacles=[sphere],
        self_collision=True, solver="projective", solver_options=ProjectiveOptions(**options),  # type: ignore[arg-type]
    )  # fmt: skip


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """The slope, the sheet and the stack."""
    result = Result("projective", TITLE)
    _slope(result, say)
    nodes = 15 if quick else 77
    _sphere(result, nodes, quick, say)
    _stack(result, nodes, quick, say)
    _beside(result, nodes if quick else BESIDE, quick, say)
    result.notes.append(
        "the thesis gives neither the size of its sheets nor of the sphere; ours: "
        f"{nodes} x {nodes} nodes, {SIDE:g} m, radius {RADIUS:g} m, {1e3 * THICKNESS:g} mm thick"
    )
    return result


def _slope(result: Result, say: Say) -> None:
    """A sheet on a slope: what is decided without springs is exact after one iteration."""
    say("slope")
    angle, steps = np.deg2rad(20.0), 80
    down, normal = np.array([np.cos(angle), 0.0, -np.sin(angle)]), np.array([np.sin(angle), 0.0, np.cos(angle)])
    mesh = meshes.rectangle(0.5, 0.5, shape=(11, 11), element="triangle")
    x, y, _ = mesh.vertices.T
    start = x[:, None] * down + y[:, None] * np.array([0.0, 1.0, 0.0]) + 0.5 * THICKNESS * normal
    for mu in (0.1, 0.5):
        sim = Simulation(
            mesh.with_vertices(start), Fabric(density=3.0, bending=BENDING, thickness=THICKNESS), rest=mesh,
            model=MassSpring(stretch=STRETCH, flexion=0.0), timestep=STEP,
            obstacles=[Plane([0.0, 0.0, 0.0], normal, friction=mu)], solver="projective",
            solver_options=ProjectiveOptions(iterations=1),
        )  # fmt: skip
        worst = 0.0
        for _ in range(steps):
            worst = max(worst, sim.step().friction_residual)
        acceleration = max(0.0, 9.81 * (np.sin(angle) - mu * np.cos(angle)))
        way = 0.5 * acceleration * STEP**2 * steps * (steps + 1)
        off = float(np.abs((sim.positions - start) @ down - way).max())
        result.below(f"slope, mu {mu:g}: error of Coulomb's law after one iteration", worst, 1e-9, ".1e")
        result.below(f"slope, mu {mu:g}: off the way that it slides within 0.4 s, m", off, 1e-9, ".1e")


def _sphere(result: Result, nodes: int, quick: bool, say: Say) -> None:
    """A sheet that slips at low friction and follows at high."""
    share = {}
    for mu in (0.1, 0.3):
        say(f"sheet on the sphere, mu {mu:g}")
        mesh, fabric = square(nodes, 3.0, 0.01)
        sim = simulation(mesh, fabric, mu)
        turn = Turn(sim, np.flatnonzero(np.linalg.norm(mesh.vertices[:, :2], axis=1) < 0.6 * RADIUS))
        seconds, steps, most, deepest, unconverged, kept = 0.0, 0, 0, np.inf, 0, {}
        sim.step()  # compiles
        while sim.time < FALLEN + RAMP - 1e-9:
            before = sim.positions
            begin = time.perf_counter()
            report = sim.step()
            seconds, steps = seconds + time.perf_counter() - begin, steps + 1
            most, deepest = max(most, report.contacts), min(deepest, report.min_gap)
            unconverged += not report.converged
            turn.look(sim)
            if mu == 0.3 and any(abs(sim.time - t) < 1e-6 for t in (0.25, 0.5, 1.0, 1.5)):
                kept[f"{sim.time:.2f} s"] = sim.state.copy()
        share[mu] = turn.angle / (0.5 * SPIN * RAMP)
        if not quick:
            paper = f"{PAPER[mu]:g} on another machine"
            result.below(f"mu {mu:g}: ms per step", 1e3 * seconds / steps, PAPER[mu], ".0f", paper=paper)
            if mu == 0.3:
                _phases(result, sim, before)
        result.info(f"mu {mu:g}: contacts that carry force, at most", most, ".0f")
        result.info(f"mu {mu:g}: deepest penetration, mm", -1e3 * min(deepest, 0.0), ".2g")
        result.info(f"mu {mu:g}: steps whose 20 iterations were not enough, of {steps}", unconverged, ".0f")
        if kept:
            _errors(result, sim, kept)
    result.above("mu 0.3: share of the turn that the cap follows", share[0.3], 0.8, ".2f", paper="follows")
    result.below("mu 0.1: share of the turn that the cap follows", share[0.1], 0.6, ".2f", paper="slips")


def _phases(result: Result, sim: Simulation, before: FloatArray) -> None:
    """Where the time of the last step went."""
    solver = solver_of(sim)
    assert solver.last is not None
    parts = {name: 1e3 * value for name, value in phases(solver, solver.last).items()}
    for name, paper in PHASES.items():
        result.info(f"mu 0.3, an iteration: {name}, ms", parts[name], ".2f", paper=f"{paper:g}")
    bodies, layers = detection(sim, before, solver.last.start)
    spent = {"contacts with the body": bodies, "contacts between layers": layers, "order": solver.seconds["order"]}
    for name, paper in PER_STEP.items():
        result.info(f"mu 0.3, a step: {name}, ms", 1e3 * spent[name], ".2f", paper=f"{paper:g}")


def solver_of(sim: Simulation) -> Projective:
    """What solves its steps."""
    assert isinstance(sim.stepper, ProjectiveStepper)
    return sim.stepper.projective


def _errors(result: Result, sim: Simulation, kept: dict[str, State]) -> None:
    """The error of the law after more and more iterations of the same step."""
    solver, usual = solver_of(sim), solver_of(sim).options
    curves: dict[str, list[float]] = {}
    for name, state in kept.items():
        for iterations in ITERATIONS:
            solver.options = ProjectiveOptions(iterations=iterations, force=0.0, force_floor=0.0)
            sim.state = state
            sim.step()
            assert solver.last is not None
            curves.setdefault(name, []).append(law(solver.last))
    solver.options = usual
    result.plot("error of Coulomb's law", "iterations", "mean error (Alart-Curnier) of the mean force",
                ITERATIONS, curves, log=True)  # fmt: skip
    for name, errors in curves.items():
        known = dict(zip(ITERATIONS, errors, strict=True))
        for iterations in TOLD:
            plateau = ", the plateau" if iterations == ITERATIONS[-1] else ""
            result.info(f"error of the law at {name} after {iterations} iterations{plateau}", known[iterations], ".1e")


def _beside(result: Result, nodes: int, quick: bool, say: Say) -> None:
    """The same sheet by projective friction and by the exact law of contact, within Newton's method."""
    until = 0.35 if quick else FALLEN + RAMP
    for name in ("projective", "exact"):
        say(f"{nodes} x {nodes} nodes on the sphere, {name}")
        mesh, fabric = square(nodes, 3.0, 0.01)
        sim = simulation(mesh, fabric, 0.3) if name == "projective" else exact(mesh, fabric, 0.3)
        turn = Turn(sim, np.flatnonzero(np.linalg.norm(mesh.vertices[:, :2], axis=1) < 0.6 * RADIUS))
        crossings = Intersections(sim, LOOK)
        seconds, deepest, errors, unconverged = 0.0, np.inf, [], 0
        sim.step()  # compiles
        while sim.time < until - 1e-9:
            begin = time.perf_counter()
            report = sim.step()
            seconds += time.perf_counter() - begin
            errors.append(report.friction_residual)
            deepest, unconverged = min(deepest, report.min_gap), unconverged + (not report.converged)
            turn.look(sim)
            crossings.look(sim)
        what = f"{mesh.n_vertices} nodes, {name}"
        result.info(f"{what}: ms per step", 1e3 * seconds / len(errors), ".1f")
        result.info(f"{what}: error of the law, of the largest force, median", float(np.median(errors)), ".1e")
        result.info(f"{what}: the same, largest", float(np.max(errors)), ".1e")
        result.info(f"{what}: deepest penetration, mm", -1e3 * min(deepest, 0.0), ".2g")
        result.info(f"{what}: steps that are not solved, of {len(errors)}", unconverged, ".0f")
        if crossings.frames:
            result.info(f"{what}: frames with intersections by ipctk, of {crossings.frames}", crossings.bad, ".0f")
        if not quick:
            result.info(f"{what}: share of the turn that the cap follows", turn.angle / (0.5 * SPIN * RAMP), ".2f")


def exact(mesh: meshes.Mesh, fabric: Fabric, mu: float) -> Simulation:
    """The same cloth over the sphere by Newton's method, with the default law of contact."""
    sphere = Sphere([0.0, 0.0, 0.0], RADIUS, friction=mu, rotation=turned)
    return Simulation(
        mesh, fabric, model=MassSpring(stretch=STRETCH, flexion=0.0), timestep=STEP, integrator="euler",
        obstacles=[sphere], self_collision=True,
    )  # fmt: skip


def _stack(result: Result, nodes: int, quick: bool, say: Say) -> None:
    """Three sheets that fall on the sphere together."""
    sheets = [square(nodes, 1.5, 0.01 + 1.5 * k * THICKNESS)[0] for k in range(3)]
    fabric = replace(square(nodes, 1.5, 0.0)[1], friction=0.3)
    fastest: dict[str, float] = {}
    for ordered in (True, False):
        say(f"three sheets, {'in order' if ordered else 'all contacts together'}")
        sim = simulation(meshes.together(sheets), fabric, 0.3, ordered=ordered)
        seconds, steps, gap = 0.0, 0, np.inf
        sim.step()
        name = "in order" if ordered else "all together"
        fastest[name] = 0.0
        while sim.time < (0.5 if quick else 1.0) - 1e-9:
            begin = time.perf_counter()
            try:
                gap = min(gap, sim.step().min_gap)
            except ConvergenceError:
                fastest[name] = np.inf
                break
            seconds, steps = seconds + time.perf_counter() - begin, steps + 1
            fastest[name] = max(fastest[name], float(np.linalg.norm(sim.velocities, axis=1).max()))
            if fastest[name] > THROWN:
                break
        result.info(f"three sheets, {name}: deepest penetration, mm", -1e3 * gap, ".2g")
        result.info(f"three sheets, {name}: fastest node, m/s", fastest[name], ".2g")
        result.info(f"three sheets, {name}: seconds until the end", sim.time, ".2f")
        if not quick and ordered:
            spent, paper = 1e3 * seconds / steps, f"{PAPER['three']:g} on another machine"
            result.below("three sheets: ms per step", spent, PAPER["three"], ".0f", paper=paper)
    result.below("three sheets in order: fastest node, m/s", fastest["in order"], FALL, ".2g", paper="stable")
    result.above("three sheets all together: fastest node, m/s", fastest["all together"], FALL, ".2g", paper="unstable")
