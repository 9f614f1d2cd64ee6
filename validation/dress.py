"""A dress on a body that walks and turns, by projective dynamics with friction, beside the thesis' Arabesque."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.models import MassSpring
from isocloth.obstacles import Solid
from isocloth.pictures import render
from isocloth.simulation import Simulation
from isocloth.simulation.steppers import ProjectiveStepper
from isocloth.solvers import ProjectiveOptions
from isocloth.trajectory import Trajectory
from validation.body import body, facing
from validation.intersections import INSTALL, Judge
from validation.phases import detection, law, phases
from validation.result import Result, Say, silent

TITLE = "a dress on a body that walks and turns, by projective dynamics with friction"

#: the thesis' own numbers of its scene Arabesque: kg/m^2, N/m, N m, N s/m, s
DENSITY, STRETCH, BENDING, DRAG, STEP = 0.01, 4.0, 5e-7, 3e-6, 0.002
ITERATIONS, FRICTION = 30, 0.3
THICKNESS = 2e-3  # m
#: ms of Arabesque with friction 0.3 in table 2.2: of an iteration ...
PAPER = {"right-hand side": 5.4, "forces of the body": 0.68, "forces between layers": 0.093, "solve": 4.39}
#: ... and of a step: contacts with the body, between layers, their order, all
PAPER_STEP = {"contacts with the body": 58.0, "contacts between layers": 152.7, "order": 0.30, "all": 543.0}
#: mean numbers of contacts there, with the body and between layers
PAPER_CONTACTS = (3673.0, 102.0)
#: m/s: the body nowhere moves as fast, and nothing falls as far; what is faster has been thrown
THROWN = 5.0
#: m: height above which a dress is straps
STRAPS = 0.95


def dressed(triangles: int, friction: float = FRICTION) -> Simulation:
    """A dress that hangs around the body, a little above its shoulders."""
    fabric = Fabric(density=DENSITY, bending=BENDING, thickness=THICKNESS, friction=friction)
    return Simulation(
        meshes.dress(triangles=triangles), fabric, model=MassSpring(stretch=STRETCH, flexion=0.0), timestep=STEP,
        obstacles=body(friction), self_collision=True, solver="projective",
        solver_options=ProjectiveOptions(iterations=ITERATIONS, drag=DRAG),
    )  # fmt: skip


def turned(positions: FloatArray, before: FloatArray) -> float:
    """rad: by which nodes (k, 3) have turned about the vertical since they were at (k, 3)."""
    now, then = (x[:, :2] - x[:, :2].mean(axis=0) for x in (positions, before))
    cross = then[:, 0] * now[:, 1] - then[:, 1] * now[:, 0]
    return float(np.arctan2(cross.sum(), (then * now).sum()))


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """The dress falls on the body, which then walks and turns."""
    result = Result("dress", TITLE)
    triangles, duration, every = (400, 0.75, 25) if quick else (31000, 3.0, 25)
    say("making the dress")
    sim = dressed(triangles)
    n, stepper = sim.mesh.n_vertices, sim.stepper
    assert isinstance(stepper, ProjectiveStepper)
    solver = stepper.projective
    straps = np.flatnonzero(sim.mesh.vertices[:, 2] > STRAPS)
    judge = _judge(sim, result)
    sim.step()  # compiles
    frames, times, laws, worst, counts, parts = [sim.positions], [sim.time], [], [], [], []
    spent, steps, gap, fastest, unconverged, crossed, inside = 0.0, 0, np.inf, 0.0, 0, 0, 0
    surface = np.inf
    lags: list[float] = []
    while sim.time < duration - 1e-9:
        before = sim.positions
        begin = time.perf_counter()
        report = sim.step()
        spent, steps = spent + time.perf_counter() - begin, steps + 1
        gap, unconverged = min(gap, report.min_gap), unconverged + (not report.converged)
        fastest = max(fastest, float(np.linalg.norm(sim.velocities, axis=1).max()))
        if not fastest <= THROWN:
            break
        if steps % every == 0:
            assert solver.last is not None
            laws.append(law(solver.last))
            worst.append(report.friction_residual)
            own = solver.last.contacts.body == 0
            carries = (solver.last.force != 0.0).any(axis=1)
            counts.append((int((carries & ~own).sum()), int((carries & own).sum())))
            frames.append(sim.positions)
            times.append(sim.time)
            deepest = min(
                float(part.gaps(sim.positions, sim.time)[0].min()) for part in sim.obstacles if isinstance(part, Solid)
            )
            inside, surface = inside + (deepest < 0.0), min(surface, deepest)
            ahead = facing(sim.time)
            lags.append(turned(sim.positions[straps], sim.mesh.vertices[straps] @ ahead.T))
            if steps % (4 * every) == 0:
                say(f"{sim.time:.2f} s, {1e3 * spent / steps:.0f} ms a step")
                ext, own_layers = detection(sim, before, solver.last.start)
                parts.append({**phases(solver, solver.last), "contacts with the body": ext,
                              "contacts between layers": own_layers, "order": solver.seconds["order"],
                              "iterations": solver.seconds["iterations"] / report.iterations})  # fmt: skip
                crossed += judge is not None and judge.intersects(sim.positions)
    result.holds("runs to its end", sim.time >= duration - 1e-9 and bool(np.isfinite(sim.positions).all()))
    result.above("vertices", n, 0 if quick else 15000, ".0f", paper="15842")
    result.below("fastest node, m/s", fastest, THROWN, ".2g")
    mean = {name: 1e3 * float(np.mean([part[name] for part in parts])) for name in parts[0]} if parts else {}
    if not quick:
        _times(result, mean, 1e3 * spent / steps)
    _contacts(result, counts)
    result.info("deepest penetration of what contacts keep apart, mm", -1e3 * min(gap, 0.0), ".2f")
    result.below(f"of {len(laws)} frames, those with a node inside the body", inside, 0, ".0f")
    result.info("deepest node in these frames, below the surface of the body, mm", -1e3 * min(surface, 0.0), ".2f")
    result.info(
        "friction: mean error (Alart-Curnier) of the mean force, median of frames", float(np.median(laws)), ".2g"
    )
    result.info("friction: largest error of a contact, of the largest force, median", float(np.median(worst)), ".2g")
    result.info(f"steps whose {ITERATIONS} iterations were not enough, of {steps}", unconverged, ".0f")
    if judge is not None:
        result.info(f"frames with intersections by ipctk, of {len(parts)}", crossed, ".0f")
    result.info("straps: degrees that they lag behind the body, at most", float(np.abs(np.degrees(lags)).max()), ".1f")
    result.plot("error of Coulomb's law", "time, s", "mean error (Alart-Curnier) of the mean force", times[1:],
                {"dress": laws})  # fmt: skip
    result.notes.append(
        f"{n} vertices, {THICKNESS * 1e3:g} mm thick; the thesis' density, stiffness, drag, time step and iterations; "
        "the dress and the body are ours, its times are of a laptop of 2015, ours of one core that others use too"
    )
    if out is not None:
        _picture(sim, times, frames, out)
    return result


def _judge(sim: Simulation, result: Result) -> Judge | None:
    try:
        return Judge(sim.mesh, sim.positions)
    except ImportError:
        result.notes.append(f"ipctk is not installed: intersections were not looked for; {INSTALL}")
        return None


def _times(result: Result, mean: dict[str, float], step: float) -> None:
    for name, paper in PAPER.items():
        result.info(f"an iteration: {name}, ms", mean[name], ".2f", paper=f"{paper:g}")
    result.info("an iteration: all, ms", mean["iterations"], ".2f", paper="10.6")
    for name in ("contacts with the body", "contacts between layers", "order"):
        result.info(f"a step: {name}, ms", mean[name], ".2f", paper=f"{PAPER_STEP[name]:g}")
    result.info("a step: all, ms", step, ".0f", paper=f"{PAPER_STEP['all']:g}")


def _contacts(result: Result, counts: list[tuple[int, int]]) -> None:
    mean = np.mean(counts, axis=0)
    for name, value, paper in zip(("with the body", "between layers"), mean, PAPER_CONTACTS, strict=True):
        result.info(f"contacts {name} that carry force, mean", float(value), ".0f", paper=f"{paper:g}")


def _picture(sim: Simulation, times: list[float], frames: list[FloatArray], out: Path) -> None:
    """Six instants of the dress and the body."""
    solids = []
    for part in sim.obstacles:
        drawn = [surface for t in times if (surface := part.surface(t)) is not None]
        solids.append((np.stack([vertices for vertices, _ in drawn]), drawn[0][1]))
    shown = Trajectory(
        times=np.array(times), positions=np.stack(frames), faces=sim.mesh.faces, rest=sim.rest.vertices,
        obstacles=solids,
    )  # fmt: skip
    render(shown, out / "dress.png", width=1500, height=1000, wireframe=False)
