"""A strip clamped at one end bends under its weight like the heavy elastica.

With theta the slope at arc length s in units of L, theta'' = -Gamma (1 - s) cos theta, theta(0) = 0, theta'(1) = 0 and
Gamma = delta g L^3 / kappa. What is compared is the drop over the reach of the tip, H / W.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.integrate import solve_bvp, trapezoid

from isocloth.fabric import Fabric
from isocloth.simulation import Simulation
from isocloth.solvers import NewtonOptions
from validation.result import Result, Say, silent
from validation.scenes import Settling, clamped_strip, settle

TITLE = "cantilever strips against the heavy elastica"

GAMMAS = (1.0, 10.0, 100.0)
TABLE = {1.0: 0.1246, 10.0: 1.0668, 100.0: 5.888}
TOLERANCE = {1.0: 0.02, 10.0: 0.02, 100.0: 0.05}

LENGTH = 0.4  # m
DENSITY = 0.1  # kg/m^2
GRAVITY = 9.81
#: equilibrium is a matter of forces, so they are solved further than motion needs
OPTIONS = NewtonOptions(strain_gap=1e-4, force=0.0, force_floor=1e-3, max_iterations=40)


def elastica(gamma: float) -> float:
    """H / W of the heavy elastica, from its boundary value problem."""
    s = np.linspace(0.0, 1.0, 401)
    guess = np.zeros((2, len(s)))
    for load in np.geomspace(min(0.1, gamma), gamma, 12):

        def slopes(s: np.ndarray, y: np.ndarray, load: float = load) -> np.ndarray:
            return np.vstack([y[1], -load * (1.0 - s) * np.cos(y[0])])

        # theta grows downwards, so its second derivative is negative with theta' > 0 at the clamp
        found = solve_bvp(slopes, lambda a, b: np.array([a[0], b[1]]), s, guess, tol=1e-9, max_nodes=100_000)
        guess = found.sol(s)
    fine = np.linspace(0.0, 1.0, 20_001)
    theta = found.sol(fine)[0]
    return float(trapezoid(np.sin(theta), fine) / trapezoid(np.cos(theta), fine))


def drop_over_reach(
    gamma: float, *, elements: int, across: int, kind: str, width: float, model: str = "hessian",
    speed: float = 1e-4, timestep: float = 0.02,
) -> tuple[float, Settling]:  # fmt: skip
    """H / W at rest of a strip `elements` long and `across` wide, and how it came to rest."""
    mesh, held, clamp = clamped_strip(LENGTH, width, elements, across, kind)
    free = LENGTH - clamp
    kappa = DENSITY * GRAVITY * free**3 / gamma
    fabric = Fabric(density=DENSITY, bending=kappa, damping=12.0 * DENSITY)
    sim = Simulation(
        mesh,
        fabric,
        timestep=timestep,
        gravity=GRAVITY,
        integrator="euler",
        bending_model=model,
        solver_options=OPTIONS,
    )
    sim.grasp(held)
    log = settle(sim, speed, 12.0)
    tip = np.flatnonzero(mesh.vertices[:, 0] > LENGTH - 1e-9)
    x, _, z = sim.positions[tip].mean(axis=0)
    return float(-z / (x - clamp)), log


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """H / W of strips of every kind, refined, and of the papers' bending matrices beside."""
    result = Result("cantilever", TITLE)
    exact = {gamma: elastica(gamma) for gamma in GAMMAS}
    for gamma in GAMMAS:
        result.near(f"elastica solved here, Gamma {gamma:g}", exact[gamma], TABLE[gamma], 1e-3)
    longest = 20 if quick else 40
    logs: list[Settling] = []

    def measure(gamma: float, elements: int, across: int, kind: str, model: str = "hessian") -> float:
        width = LENGTH / elements * across
        say(f"{kind} {elements} x {across}, Gamma {gamma:g}, {model}")
        value, log = drop_over_reach(gamma, elements=elements, across=across, kind=kind, width=width, model=model)
        if model == "hessian":
            logs.append(log)
        return value

    strips = (
        [("quad", 3)]
        if quick
        else [("quad", 3), ("triangle", 3), ("irregular", 3), ("quad", 16), ("triangle", 16), ("irregular", 16)]
    )
    for kind, across in strips:
        for gamma in GAMMAS if not quick else (10.0,):
            counts = [n for n in (10, 20, 40) if n <= longest]
            errors = []
            for n in counts:
                # the wide strip keeps its width, the narrow one its number of elements
                wide = across if across == 3 else max(3, across * n // 40)
                value = measure(gamma, n, wide, kind)
                errors.append(abs(value / exact[gamma] - 1.0))
                what = f"{kind} {n} x {wide}, Gamma {gamma:g}: H/W"
                if n == longest:
                    result.near(what, value, exact[gamma], TOLERANCE[gamma] * (2 if quick else 1))
                else:
                    result.info(what, value, ".4g")
            result.holds(
                f"{kind} {across} wide, Gamma {gamma:g}: error falls with h", errors[-1] < errors[0],
                " > ".join(f"{100 * e:.2f} %" for e in errors),
            )  # fmt: skip
    for model in ("laplacian", "interior"):
        for gamma in (10.0,) if quick else GAMMAS:
            for across in (3,) if quick else (3, 16):
                value = measure(gamma, longest, across, "quad", model)
                result.info(f'"{model}", quad {longest} x {across}, Gamma {gamma:g}: H/W', value, ".4g")
    result.below("steps that did not converge", sum(log.unconverged for log in logs), 0, ".0f")
    result.below("fastest node at the end, mm/s", 1e3 * max(log.speed for log in logs), 0.1)
    result.info("steps cut into substeps", sum(log.cut for log in logs), ".0f")
    result.notes.append(
        "clamped half an element before the second held column; length and reach are measured from there"
    )
    return result
