"""Bending, shear, damping and virtual mass against finite differences, closed forms and each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.cloth.cloth import discretise, kinetic_energy, potential_energy
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from isocloth.solvers import TIGHT
from isocloth.terms.bending import bending
from validation.result import Result, Say, silent
from validation.roll import RADIUS, rolled
from validation.scenes import advance, hanging, upper_corners

TITLE = "bending, shear, damping and virtual mass: finite differences, free fall, energy"

GRAVITY = 9.81


def cloths(quick: bool) -> dict[str, Mesh]:
    """One mesh of every kind; the quads are not square on purpose."""
    n = 5 if quick else 8
    return {
        "quads": meshes.rectangle(0.5, 0.4, shape=(n, n + 2)),
        "triangles": meshes.rectangle(0.5, 0.4, shape=(n, n + 2), element="triangle"),
        "irregular": meshes.irregular_rectangle(0.5, 0.4, nodes=n * n),
        "strip one element wide": meshes.rectangle(0.5, 0.05, shape=(11, 2)),
        "ring": meshes.ring(0.09, 0.15, shape=(4, 4 * n)),
    }


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """All terms."""
    result = Result("terms", TITLE)
    say("bending")
    for name, mesh in cloths(quick).items():
        _bending(result, name, mesh)
    for kind, mesh in (
        ("quads", meshes.rectangle(1.0, 1.0, shape=(41, 41))),
        ("triangles", meshes.rectangle(1.0, 1.0, shape=(41, 41), element="triangle")),
        ("irregular", meshes.irregular_rectangle(1.0, 1.0, nodes=400 if quick else 1600)),
    ):
        for degrees in (0.0, 45.0):
            x = rolled(mesh, np.deg2rad(degrees))
            energy = float(np.sum(x * (bending(mesh) @ x)))
            what = f"{kind}, rolled at {degrees:g} degrees: bending energy / (kappa A / 2 R^2)"
            result.near(what, energy / (mesh.area / RADIUS**2), 1.0, 0.08, ".4f")
    say("forces")
    for name, mesh in cloths(quick).items():
        _forces(result, name, mesh)
    say("free fall and damping")
    for integrator in ("bdf2", "euler"):
        _free_fall(result, integrator)
        _damping(result, integrator)
    say("energy")
    _energy(result, quick)
    result.notes.append(
        "rolled: a border of half an element without the curvature across it costs O(h) of the energy, none of the "
        "equilibrium (the moment across a free border vanishes)"
    )
    return result


def _bending(result: Result, name: str, mesh: Mesh) -> None:
    k = bending(mesh)
    random = np.random.default_rng(0)
    scale = float(np.abs(k.diagonal()).max() * np.abs(mesh.vertices).max())
    affine = mesh.vertices @ random.normal(size=(3, 3)) + random.normal(size=3)
    result.below(
        f"{name}: bending force on an affine image / (|K| |x|)", float(np.abs(k @ affine).max()) / scale, 1e-10, ".1e"
    )
    values = np.linalg.eigvalsh(k.toarray())
    zero = int((values < 1e-10 * values[-1]).sum())
    result.between(f"{name}: null modes of K (affine functions: 3)", zero, 3, 3, ".0f")
    result.above(f"{name}: smallest eigenvalue of K / largest", values[0] / values[-1], -1e-12, ".1e")


def _forces(result: Result, name: str, mesh: Mesh) -> None:
    """The gradient of the step's potential against finite differences of the energies, all terms together."""
    fabric = Fabric(density=0.2, gravity_density=0.15, bending=1e-3, damping=0.3, bending_damping=1e-4, shear=20.0)
    problem = discretise(mesh, fabric, gravity=GRAVITY)
    random = np.random.default_rng(1)
    # bent and sheared, but not stretched a lot
    x = rolled(mesh, 0.4) + 2e-3 * random.normal(size=mesh.vertices.shape)
    direction = random.normal(size=x.shape)
    eps = 1e-6
    difference = (potential_energy(problem, x + eps * direction) - potential_energy(problem, x - eps * direction)) / (
        2 * eps
    )
    values = problem.rows.values(x)
    jacobian = problem.rows.jacobian(x)
    gradient = (
        fabric.bending * (problem.stiffness @ x)
        - problem.weight
        + (jacobian.T @ (problem.rows.weight * values)).reshape(-1, 3)
    )
    exact = float(np.sum(gradient * direction))
    result.below(f"{name}: gradient of the energies against differences", abs(difference / exact - 1.0), 1e-6, ".1e")
    # the rows' jacobian against differences of the rows
    change = (problem.rows.values(x + eps * direction) - problem.rows.values(x - eps * direction)) / (2 * eps)
    error = np.abs(jacobian @ direction.ravel() - change).max() / np.abs(change).max()
    result.below(f"{name}: jacobian of the rows against differences", float(error), 1e-7, ".1e")
    # a solved step of implicit Euler obeys the equation of motion with v = (y - x)/h and a = (v - v_0)/h
    sim = Simulation(mesh, fabric, gravity=GRAVITY, integrator="euler", solver_options=TIGHT)
    before = np.zeros_like(mesh.vertices)
    before[:, 2] = mesh.vertices[:, 0] ** 2
    sim.velocities = before
    advance(sim, 1)
    y, h, mass, k = sim.positions, sim.timestep, problem.area[:, None], problem.stiffness
    v = (y - mesh.vertices) / h
    tension = sim.cloth.rows.weight * sim.cloth.rows.values(y)
    motion = (
        mass * (fabric.density * (v - before) / h + fabric.damping * v)
        + k @ (fabric.bending * y + fabric.bending_damping * v)
        + (sim.cloth.rows.jacobian(y).T @ tension).reshape(-1, 3)
    )
    residual = float(np.abs(motion - problem.weight).max() / np.abs(problem.weight).max())
    result.below(f"{name}: residual of the equation of motion / weight", residual, 1e-5, ".1e")


def _free_fall(result: Result, integrator: str) -> None:
    """Centre of mass without damping: x(t) of the scheme, acceleration g delta / rho."""
    rho, delta, dt, steps = 0.2, 0.13, 0.01, 50
    mesh = meshes.rectangle(0.3, 0.3, shape=(4, 4))
    sim = Simulation(mesh, Fabric(density=rho, gravity_density=delta), timestep=dt, integrator=integrator)
    advance(sim, steps)
    acceleration = -GRAVITY * delta / rho
    fallen = float(np.average(sim.positions[:, 2], weights=sim.cloth.area))
    speed = float(np.average(sim.velocities[:, 2], weights=sim.cloth.area))
    t = dt * steps
    result.near(f"{integrator}: free fall, velocity / (g t delta / rho)", speed / (acceleration * t), 1.0, 1e-9, ".9f")
    own = _scheme(integrator, dt, steps, 0.0, acceleration, 0.0)
    result.below(
        f"{integrator}: free fall, height against the scheme's own recurrence", abs(fallen / own - 1.0), 1e-9, ".1e"
    )
    result.near(
        f"{integrator}: free fall, height / (a t^2 / 2)", fallen / (0.5 * acceleration * t**2), 1.0, 2.0 / steps, ".4f"
    )


def _damping(result: Result, integrator: str) -> None:
    """A sheet that drifts without gravity slows at the rate alpha / rho, exactly as the scheme says."""
    rho, alpha, dt, steps, start = 0.2, 0.5, 0.01, 60, 0.7
    mesh = meshes.irregular_rectangle(0.3, 0.3, nodes=16)
    sim = Simulation(mesh, Fabric(density=rho, damping=alpha), timestep=dt, gravity=0.0, integrator=integrator)
    sim.velocities = np.tile([start, 0.0, 0.0], (mesh.n_vertices, 1))
    before = float(np.average(sim.positions[:, 0], weights=sim.cloth.area))
    advance(sim, steps)
    moved = float(np.average(sim.positions[:, 0], weights=sim.cloth.area)) - before
    own = _scheme(integrator, dt, steps, start, 0.0, alpha / rho)
    result.below(f"{integrator}: damped drift against the scheme's own recurrence", abs(moved / own - 1.0), 1e-9, ".1e")
    exact = start * rho / alpha * (1.0 - np.exp(-alpha / rho * dt * steps))
    result.near(f"{integrator}: damped drift / exact", moved / exact, 1.0, 0.02, ".4f")
    speed = float(np.average(sim.velocities[:, 0], weights=sim.cloth.area))
    rate = -np.log(speed / start) / (dt * steps)
    result.near(f"{integrator}: rate of damping, 1/s", rate, alpha / rho, 0.02, ".4f")


def _scheme(integrator: str, dt: float, steps: int, v: float, a: float, rate: float) -> float:
    """Position after some steps of x'' = a - rate x', written out apart from the package."""
    x, x_old, v_old = 0.0, 0.0, v
    for k in range(steps):
        if integrator == "euler" or k == 0:
            v_new = (v + dt * a) / (1.0 + dt * rate)
            x_new = x + dt * v_new
        else:
            h = 2.0 * dt / 3.0
            v_new = ((4.0 * v - v_old) / 3.0 + h * a) / (1.0 + h * rate)
            x_new = (4.0 * x - x_old) / 3.0 + h * v_new
        x_old, v_old, x, v = x, v, x_new, v_new
    return x


def _energy(result: Result, quick: bool) -> None:
    """A bent, sheared, damped sheet never gains energy; its reactions carry its virtual weight at rest."""
    n = 5 if quick else 9
    mesh = hanging(meshes.rectangle(0.4, 0.4, shape=(n, n)))
    for name, fabric in (
        ("bending", Fabric(density=0.2, bending=2e-3, damping=0.2)),
        ("bending damping", Fabric(density=0.2, bending=2e-3, bending_damping=2e-4)),
        ("shear", Fabric(density=0.2, shear=5.0, damping=0.2)),
    ):
        sim = Simulation(mesh, fabric, solver_options=TIGHT)
        held = upper_corners(mesh)
        push = np.zeros_like(mesh.vertices)
        push[:, 1] = 0.8 * mesh.vertices[:, 2] / mesh.vertices[:, 2].min()
        push[held] = 0.0
        sim.velocities = push
        grasp = sim.grasp(held)
        energies = [_total(sim.cloth, sim.positions, sim.velocities)]
        for _ in range(100 if quick else 300):
            advance(sim, 1)
            energies.append(_total(sim.cloth, sim.positions, sim.velocities))
        e: FloatArray = np.array(energies)
        # BDF2 does not dissipate step by step but over a few steps: look at tenths of a second
        gain = float(np.diff(e[::10]).max(initial=0.0) / (e[0] - e[-1]))
        result.below(f"{name}: largest gain of energy within 0.1 s / energy lost in all", gain, 0.02, ".1e")
        heavier = Fabric(density=0.2, gravity_density=0.11, damping=2.0, bending=fabric.bending, shear=fabric.shear)
        sim = Simulation(mesh, heavier, timestep=0.02, integrator="euler", solver_options=TIGHT)
        grasp = sim.grasp(held)
        advance(sim, 150)
        weight = 0.11 * GRAVITY * mesh.area
        result.near(
            f"{name}: reactions at rest / virtual weight", float(grasp.force[:, 2].sum()) / weight, 1.0, 1e-4, ".6f"
        )


def _total(problem: object, x: FloatArray, v: FloatArray) -> float:
    return kinetic_energy(problem, v) + potential_energy(problem, x)  # type: ignore[arg-type]
