"""A strip held at both ends hangs in a catenary of its length, and its grippers carry its weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.optimize import brentq

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.fabric import Fabric
from isocloth.simulation import Simulation
from isocloth.solvers import NewtonOptions
from validation.result import Result, Say, silent
from validation.scenes import Settling, settle

TITLE = "a strip held at both ends settles to a catenary"

LENGTH, SPAN = 1.0, 0.8  # m
DENSITY = 0.2  # kg/m^2
GRAVITY = 9.81
OPTIONS = NewtonOptions(strain_gap=1e-4, force=0.0, force_floor=1e-3, max_iterations=40)


def catenary(length: float, span: float) -> tuple[float, float]:
    """Parameter a and sag (m) of z = a cosh(x / a) with the given length over the given span."""
    a = float(brentq(lambda a: 2.0 * a * np.sinh(span / (2.0 * a)) - length, 0.05 * span, 50.0 * span))
    return a, a * (np.cosh(span / (2.0 * a)) - 1.0)


def hang(elements: int, kind: str, across: int = 3) -> tuple[float, float, float, Settling]:
    """(deviation / span, sag, reaction / weight, log) of a strip `elements` long and `across` wide."""
    width = LENGTH / elements * across
    if kind == "irregular":
        mesh = meshes.irregular_rectangle(LENGTH, width, nodes=(elements + 1) * (across + 1))
    else:
        mesh = meshes.rectangle(LENGTH, width, shape=(elements + 1, across + 1), element=kind)  # type: ignore[arg-type]
    a, _ = catenary(LENGTH, SPAN)
    sim = Simulation(mesh, Fabric(density=DENSITY, damping=6.0 * DENSITY), integrator="euler", solver_options=OPTIONS)
    x, y, _ = mesh.vertices.T
    # start: a half circle's arc is not the answer, so the strip has to find it; its ends are at the span already
    sim.positions = _arc(x, y)
    ends = np.flatnonzero((x < 1e-9) | (x > LENGTH - 1e-9))
    grasp = sim.grasp(ends)
    log = settle(sim, 1e-4, 20.0)
    p = sim.positions
    # distance to the curve at the same material point: s = a sinh(x / a)
    s = x - LENGTH / 2.0
    cx = a * np.arcsinh(s / a)
    cz = np.hypot(a, s) - np.hypot(a, LENGTH / 2.0)
    deviation = np.hypot(p[:, 0] - (SPAN / 2.0 + cx), p[:, 2] - cz).max() / SPAN
    weight = DENSITY * GRAVITY * mesh.area
    return float(deviation), float(-p[:, 2].min()), float(grasp.force[:, 2].sum() / weight), log


def _arc(x: FloatArray, y: FloatArray) -> FloatArray:
    """The strip on a circular arc of its length between the two ends."""
    half = float(brentq(lambda h: np.sin(h) / h - SPAN / LENGTH, 1e-3, np.pi))
    radius = LENGTH / (2.0 * half)
    angle = (x - LENGTH / 2.0) / radius
    return np.stack([SPAN / 2.0 + radius * np.sin(angle), y, radius * (np.cos(half) - np.cos(angle))], axis=1)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Largest distance to the catenary at the same material points, and the sum of the reactions."""
    result = Result("catenary", TITLE)
    _, sag = catenary(LENGTH, SPAN)
    counts = (16,) if quick else (10, 20, 40)
    for kind in ("quad", "triangle", "irregular"):
        errors = []
        for n in counts:
            say(f"{kind}, {n} elements long")
            deviation, found, reaction, log = hang(n, kind)
            errors.append(deviation)
            name = f"{kind} {n} x 3"
            if n == counts[-1]:
                result.below(f"{name}: largest deviation / span, %", 100 * deviation, 1.0)
                result.near(f"{name}: sag, m", found, sag, 0.01)
                result.near(f"{name}: sum of reactions / weight", reaction, 1.0, 1e-3, ".5f")
                result.below(f"{name}: steps not converged", log.unconverged, 0, ".0f")
                result.below(f"{name}: fastest node at the end, mm/s", 1e3 * log.speed, 0.1)
            else:
                result.info(f"{name}: largest deviation / span, %", 100 * deviation)
        if len(errors) > 1:
            result.holds(
                f"{kind}: deviation falls with h",
                errors[-1] < errors[0],
                " > ".join(f"{100 * e:.2f} %" for e in errors),
            )
    result.notes.append(f"length {LENGTH:g} m, span {SPAN:g} m, no bending stiffness; sag of the catenary {sag:.5f} m")
    return result
