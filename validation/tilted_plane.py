"""A sheet on a tilted plane: it sticks when mu > tan(theta), and slides with g (sin - mu cos) otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.obstacles import Floor, Plane
from isocloth.simulation import Simulation
from validation.encounters import Watch, centred, turned
from validation.result import Result, Say, silent

TITLE = "a sheet on a tilted plane: stick, slide, no creep; no bounce of a drop"

GRAVITY = 9.81
FABRIC = Fabric(density=0.2)


def sheets(quick: bool) -> dict[str, Mesh]:
    """Flat sheets around the origin, also one oblique to the slope and one of irregular triangles."""
    n = 6 if quick else 11
    square = centred(meshes.rectangle(0.3, 0.3, shape=(n, n)), np.zeros(3))
    irregular = centred(meshes.irregular_rectangle(0.3, 0.3, nodes=n * n), np.zeros(3))
    return {"quads": square, "quads turned by 30 degrees": turned(square, np.pi / 6), "irregular triangles": irregular}


def on_slope(mesh: Mesh, theta: float, mu: float, **options: Any) -> tuple[Simulation, FloatArray]:
    """A sheet that lies on a plane tilted by theta (rad), and the direction down the slope."""
    c, s = np.cos(theta), np.sin(theta)
    down, normal = np.array([c, 0.0, -s]), np.array([s, 0.0, c])
    x, y, _ = mesh.vertices.T
    lying = np.outer(x, down) + np.outer(y, [0.0, 1.0, 0.0]) + 0.5 * FABRIC.thickness * normal
    plane = Plane([0.0, 0.0, 0.0], normal, friction=mu)
    return Simulation(mesh.with_vertices(lying), FABRIC, gravity=GRAVITY, obstacles=[plane], **options), down


def slide(mesh: Mesh, theta: float, mu: float, duration: float, **options: Any) -> tuple[float, Watch]:
    """Acceleration (m/s^2) of a sheet that was let go, over the second half of a duration (s)."""
    sim, down = on_slope(mesh, theta, mu, **options)
    watch = Watch().run(sim, duration / 2)
    before = float((sim.velocities @ down).mean())
    watch.run(sim, duration / 2)
    return (float((sim.velocities @ down).mean()) - before) / (duration / 2), watch


def creep(mesh: Mesh, theta: float, mu: float, duration: float, **options: Any) -> tuple[float, Watch]:
    """Largest displacement of a node within a duration (s), m."""
    sim, _ = on_slope(mesh, theta, mu, **options)
    start = sim.positions.copy()
    watch = Watch().run(sim, duration)
    return float(np.linalg.norm(sim.positions - start, axis=1).max()), watch


def drop(mesh: Mesh, height: float) -> tuple[float, float, Watch]:
    """Drop a sheet flat on the floor: highest node (m) after the first touch; speed (m/s) of the fastest at the end."""
    half = 0.5 * FABRIC.thickness
    floor = Floor(friction=0.3)
    start = mesh.vertices + np.array([0.0, 0.0, half + height])
    sim = Simulation(mesh.with_vertices(start), FABRIC, obstacles=[floor])
    watch, touched, highest = Watch(), False, 0.0
    for _ in range(60):
        report = watch.step(sim)
        if touched:
            highest = max(highest, float(sim.positions[:, 2].max()) - half)
        touched |= report.contacts > 0
    return highest, float(np.linalg.norm(sim.velocities, axis=1).max()), watch


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Threshold of sticking, accelerations, creep, and the end of a fall."""
    result = Result("tilted_plane", TITLE)
    long = 2.0 if quick else 10.0
    whole = Watch()
    for name, mesh in sheets(quick).items():
        for degrees in (20.0,) if quick else (10.0, 20.0, 35.0):
            theta = np.deg2rad(degrees)
            say(f"{name}, {degrees:g} degrees")
            for share in (0.5, 0.8, 0.99):
                mu = share * np.tan(theta)
                exact = GRAVITY * (np.sin(theta) - mu * np.cos(theta))
                found, watch = slide(mesh, theta, mu, 0.4 if quick else 1.0)
                result.near(f"{name}, {degrees:g} degrees, mu = {share:g} tan: acceleration, m/s^2", found, exact, 0.01)
                whole.add(watch)
            for share in (1.01, 1.5):
                moved, watch = creep(mesh, theta, share * np.tan(theta), long)
                result.below(
                    f"{name}, {degrees:g} degrees, mu = {share:g} tan: moved in {long:g} s, mm", 1e3 * moved, 0.1, ".1e"
                )
                whole.add(watch)
        highest, speed, watch = drop(mesh, 0.02)
        result.below(f"{name}: rebound of a drop of 2 cm, mm", 1e3 * highest, 0.1, ".1e")
        result.below(f"{name}: fastest node 0.5 s after it, mm/s", 1e3 * speed, 0.1, ".1e")
        whole.add(watch)
    whole.tell(result, "all runs")
    return result
