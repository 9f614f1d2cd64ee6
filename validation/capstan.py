"""A strip pulled over a fixed cylinder: at slip the tensions of its ends have the ratio exp(mu w) (Eytelwein)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.obstacles import Cylinder
from isocloth.simulation import Simulation
from isocloth.solvers import NewtonOptions
from validation.encounters import Watch
from validation.result import Result, Say, silent
from validation.scenes import smooth_ramp

TITLE = "a strip pulled over a fixed cylinder: ratio of the tensions at slip, exp(mu w)"

RADIUS, TAIL, WIDTH = 0.05, 0.06, 0.02  # m
FABRIC = Fabric(density=0.2)
STRETCH = 1e-3  # of the whole strip, before it slips
SPEED = 0.05  # m/s
TIGHTENING, PULLING = 0.2, 0.5  # s
#: the strip is stretched by a thousandth: the default, which settles strains to 6e-4, is too coarse to weigh its forces
ACCURATE = NewtonOptions(strain_gap=1e-6, force=1e-3, force_floor=1e-3, max_iterations=40)


def wound(s: FloatArray, y: FloatArray, wrap: float) -> FloatArray:
    """(n, 3) m: points of arc length s over the cylinder, s = 0 on its top; straight beyond the angle `wrap` (rad)."""
    radius = RADIUS + 0.5 * FABRIC.thickness
    angle = np.clip(s / radius, -wrap / 2, wrap / 2)
    beyond = s - radius * angle
    return np.stack(
        [radius * np.sin(angle) + beyond * np.cos(angle), y, radius * np.cos(angle) - beyond * np.sin(angle)], axis=1
    )


def pull(mu: float, wrap: float, element: float) -> tuple[FloatArray, FloatArray, Watch]:
    """Tensions (T,) in N of the slack and the pulled end while a strip slips, in steady motion, and the steps' log.

    Both ends are held: they tighten the strip, and then move together along it.
    """
    half = 0.5 * wrap * (RADIUS + 0.5 * FABRIC.thickness) + TAIL
    count = round(2 * half / element)
    mesh = meshes.rectangle(2 * half, WIDTH, shape=(count + 1, 3))
    s, y = mesh.vertices[:, 0] - half, mesh.vertices[:, 1] - WIDTH / 2
    cylinder = Cylinder([0.0, -WIDTH, 0.0], [0.0, WIDTH, 0.0], RADIUS, friction=mu)
    sim = Simulation(
        mesh.with_vertices(wound(s, y, wrap)), FABRIC, gravity=0.0, rest=mesh, obstacles=[cylinder],
        solver_options=ACCURATE,
    )  # fmt: skip
    first, last = np.flatnonzero(s < -half + 1e-9), np.flatnonzero(s > half - 1e-9)

    def moved(t: float) -> tuple[float, float]:
        tight = STRETCH * half * smooth_ramp(t, TIGHTENING)
        shift = SPEED * max(t - TIGHTENING, 0.0)
        return -half - tight + shift, half + tight + shift

    slack = sim.grasp(first, lambda t: wound(np.full(len(first), moved(t)[0]), y[first], wrap))
    pulled = sim.grasp(last, lambda t: wound(np.full(len(last), moved(t)[1]), y[last], wrap))
    along = np.array([np.cos(wrap / 2), 0.0, -np.sin(wrap / 2)])
    watch = Watch().run(sim, TIGHTENING)
    low, high = [], []
    for _ in range(round(PULLING / sim.timestep)):
        watch.step(sim)
        high.append(float(pulled.force.sum(axis=0) @ along))
        low.append(float(slack.force.sum(axis=0) @ (along * [-1.0, 1.0, 1.0])))
    return np.array(low), np.array(high), watch


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Ratios of three coefficients of friction and two angles."""
    result = Result("capstan", TITLE)
    element = 0.01 if quick else 0.005
    whole, curves = Watch(), {}
    for degrees in (90.0, 180.0):
        for mu in (0.2, 0.4, 0.6):
            wrap = np.deg2rad(degrees)
            name = f"wrap {degrees:g} degrees, mu {mu:g}"
            say(name)
            low, high, watch = pull(mu, wrap, element)
            steady = slice(len(low) // 2, None)
            ratio = high / low
            curves[name] = ratio
            result.near(f"{name}: T2/T1", float(ratio[steady].mean()), float(np.exp(mu * wrap)), 0.05)
            result.info(f"{name}: T2, N", float(high[steady].mean()))
            result.info(
                f"{name}: range of T2/T1 in motion, %", 100 * float(np.ptp(ratio[steady]) / ratio[steady].mean())
            )
            whole.add(watch)
    whole.tell(result, "all runs", edges=False)
    result.plot("ratio", "time, s", "T2/T1", 0.01 * np.arange(1, 1 + len(ratio)), curves)
    result.notes.append(
        f"radius {RADIUS:g} m, elements of {1e3 * element:g} mm, no gravity; both ends held, stretched by "
        f"{100 * STRETCH:g} % and moved at {SPEED:g} m/s; mean of the last {PULLING / 2:g} s"
    )
    return result
