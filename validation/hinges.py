"""Hinges: bending about the edges of triangles, with a memory of the rest shape (terms/hinge.py).

Strips clamped at one end bend like the heavy elastica, theta'' = -Gamma (1 - s) cos theta with theta(0) = 0; if the
strip is an arc at rest, the bending moment vanishes at its natural curvature, theta'(1) = k0, and else at 0.

How squares are cut decides on the stiffness. With the second derivatives xx, xy and yy of a sheet of squares that are
all cut along the same diagonal, the energy per area is B/2 ((xx + xy)^2 + (yy + xy)^2 + 4 xy^2): a strip that is bent,
xx = 1, finds it cheaper to twist. Of all developable ones, yy = xy^2, the cheapest has 0.824 of the energy. Where the
diagonals of every second row of squares run the other way, mirror images forbid the twist and D = B.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.integrate import solve_bvp, trapezoid
from scipy.optimize import minimize_scalar

from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from isocloth.terms.hinge import HingeBending
from isocloth.terms.term import Term, assembled_gradient, total_energy
from validation.cantilever import DENSITY, GAMMAS, GRAVITY, LENGTH, OPTIONS, TOLERANCE, drop_over_reach, elastica
from validation.result import Result, Say, silent
from validation.scenes import settle

TITLE = "hinges with rest angles: derivatives, cantilevers, curved rest shapes"

#: how squares are cut: which of the two diagonals that of column i and row j has
CUTS = {
    "in rows": lambda i, j: j % 2,
    "all alike": lambda i, j: 0,
    "crosswise": lambda i, j: (i + j) % 2,
}
#: natural curvature times length of the strip that is an arc at rest: it curls upwards, and gravity pulls it down
CURL = -1.0
ARC_LOAD = 3.0


def strip(elements: int, across: int, cut: str) -> tuple[Mesh, IntArray, float]:
    """A strip of cut squares along x, the nodes of its first two columns, and x of the clamp between them, m."""
    h, n = LENGTH / elements, across + 1
    i, j = (index.ravel() for index in np.indices((elements + 1, n)))
    faces = []
    for a in range(elements):
        for b in range(across):
            p, q, r, s = a * n + b, (a + 1) * n + b, (a + 1) * n + b + 1, a * n + b + 1
            faces += [[p, q, r], [p, r, s]] if CUTS[cut](a, b) == 0 else [[p, q, s], [q, r, s]]
    vertices = np.stack([h * i, h * j, 0.0 * i], axis=1)
    return Mesh(vertices, np.array(faces)), np.flatnonzero(i < 2), 0.5 * h


def hung(mesh: Mesh, held: IntArray, free: float, gamma: float) -> tuple[FloatArray, float, int]:
    """Positions at rest of a strip held at some nodes, the fastest node in m/s, and steps that did not converge."""
    kappa = DENSITY * GRAVITY * free**3 / gamma
    fabric = Fabric(density=DENSITY, bending=kappa, damping=12.0 * DENSITY)
    sim = Simulation(
        mesh, fabric, timestep=0.02, gravity=GRAVITY, integrator="euler", bending_model="hinge", solver_options=OPTIONS
    )
    sim.grasp(held)
    log = settle(sim, 1e-4, 12.0)
    return sim.positions, log.speed, log.unconverged


def arc_elastica(gamma: float, curl: float) -> tuple[float, float]:
    """Tip (along, below) in units of the length, of a clamped strip with natural curvature curl / length."""
    s = np.linspace(0.0, 1.0, 401)
    guess = np.vstack([curl * s, np.full_like(s, curl)])
    for load in np.geomspace(0.05, gamma, 12):

        def slopes(s: np.ndarray, y: np.ndarray, load: float = load) -> np.ndarray:
            return np.vstack([y[1], -load * (1.0 - s) * np.cos(y[0])])

        found = solve_bvp(slopes, lambda a, b: np.array([a[0], b[1] - curl]), s, guess, tol=1e-9, max_nodes=100_000)
        guess = found.sol(s)
    fine = np.linspace(0.0, 1.0, 20_001)
    theta = found.sol(fine)[0]
    return float(trapezoid(np.cos(theta), fine)), float(trapezoid(np.sin(theta), fine))


def arc(elements: int, across: int) -> tuple[Mesh, IntArray]:
    """The strip rolled into an arc that curls upwards from the middle of its first element, and its held nodes."""
    mesh, held, clamp = strip(elements, across, "in rows")
    free = LENGTH - clamp
    radius = -free / CURL
    angle = (mesh.vertices[:, 0] - clamp) / radius
    x, z = clamp + radius * np.sin(angle), radius * (1.0 - np.cos(angle))
    return mesh.with_vertices(np.stack([x, mesh.vertices[:, 1], z], axis=1)), held


def softest() -> float:
    """D / B of a developable strip of squares cut all alike that is free to twist."""
    found = minimize_scalar(
        lambda t: (1.0 + t) ** 2 + (t * t + t) ** 2 + 4.0 * t * t, bounds=(-1.0, 1.0), method="bounded"
    )
    return float(found.fun)


def _difference(term: Term, x: FloatArray, along: FloatArray, eps: float = 1e-6) -> float:
    return (total_energy(term, x + eps * along) - total_energy(term, x - eps * along)) / (2.0 * eps)


def _derivatives(result: Result) -> None:
    """The gradient in x against differences of the energy; of the gradient in X and B against differences of it."""
    rng = np.random.default_rng(5)
    mesh, _, _ = strip(6, 4, "crosswise")
    rest = mesh.with_vertices(mesh.vertices + 0.01 * rng.standard_normal(mesh.vertices.shape))
    x = rest.vertices + 0.02 * rng.standard_normal(mesh.vertices.shape)
    along, bending, eps = rng.standard_normal(x.shape), 3e-4, 1e-7
    term = HingeBending.of(rest, bending)
    exact = float(np.sum(assembled_gradient(term, x, len(x)) * along))
    result.below("gradient in x, relative error", abs(_difference(term, x, along) / exact - 1.0), 1e-6)

    def force(shape: FloatArray, stiffness: float) -> FloatArray:
        return assembled_gradient(HingeBending.of(rest.with_vertices(shape), stiffness), x, len(x))

    numeric = (force(rest.vertices + eps * along, bending) - force(rest.vertices - eps * along, bending)) / (2.0 * eps)
    blocks, nodes = term.rest_gradient(x), term.stencils
    change = np.einsum("eij,ej->ei", blocks, along[nodes].reshape(len(nodes), -1)).reshape(*nodes.shape, 3)
    found = np.zeros_like(x)
    np.add.at(found, nodes, change)
    size = np.abs(numeric).max()
    result.below("its derivative in the rest shape", float(np.abs(found - numeric).max() / size), 1e-6)
    numeric = (force(rest.vertices, 1.001 * bending) - force(rest.vertices, 0.999 * bending)) / (0.002 * bending)
    found = np.zeros_like(x)
    np.add.at(found, nodes, term.parameter_gradient(x)["bending"])
    result.below("its derivative in B", float(np.abs(found - numeric).max() / np.abs(numeric).max()), 1e-6)


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Derivatives, cantilevers on cut and irregular triangles, and strips that are arcs at rest."""
    result = Result("hinges", TITLE)
    _derivatives(result)
    elements, across = (20, 4) if quick else (40, 4)
    speeds, failed = [], 0
    for cut in CUTS if not quick else ("in rows",):
        for gamma in GAMMAS if not quick else (10.0,):
            say(f"cantilever, squares cut {cut}, Gamma {gamma:g}")
            mesh, held, clamp = strip(elements, across, cut)
            positions, speed, unconverged = hung(mesh, held, LENGTH - clamp, gamma)
            speeds.append(speed)
            failed += unconverged
            x, _, z = positions[mesh.vertices[:, 0] > LENGTH - 1e-9].mean(axis=0)
            value = float(-z / (x - clamp))
            what = f"squares cut {cut} {elements} x {across}, Gamma {gamma:g}: H/W"
            if cut == "in rows":
                result.near(what, value, elastica(gamma), TOLERANCE[gamma])
            else:
                result.info(f"{what}, relative error, %", 100.0 * (value / elastica(gamma) - 1.0), ".1f")
                if cut == "all alike":
                    soft = elastica(gamma / softest()) / elastica(gamma) - 1.0
                    result.info("   the same of the cheapest twisted one in closed form, %", 100.0 * soft, ".1f")
    for gamma in GAMMAS if not quick else ():
        say(f"cantilever, irregular triangles, Gamma {gamma:g}")
        value, log = drop_over_reach(
            gamma, elements=elements, across=across, kind="irregular", width=LENGTH / elements * across, model="hinge"
        )
        failed += log.unconverged
        error = 100.0 * (value / elastica(gamma) - 1.0)
        result.info(f"irregular triangles, Gamma {gamma:g}: H/W, relative error, %", error, ".1f")
    say("arcs")
    mesh, held = arc(elements, across)
    sim = Simulation(mesh, Fabric(density=DENSITY, bending=1e-3), gravity=0.0, bending_model="hinge")
    for _ in range(100):
        failed += not sim.step().converged
    moved = float(np.abs(sim.positions - mesh.vertices).max())
    result.below("an arc at rest, without gravity, 1 s: moves by, m", moved, 1e-6)
    clamp = 0.5 * LENGTH / elements
    free = LENGTH - clamp
    positions, speed, unconverged = hung(mesh, held, free, ARC_LOAD)
    speeds.append(speed)
    failed += unconverged
    tip = positions[-(across + 1) :].mean(axis=0)
    along, below = arc_elastica(ARC_LOAD, CURL)
    result.near(
        f"the arc hung, Gamma {ARC_LOAD:g}: its tip is below the clamp by, in lengths", -tip[2] / free, below, 0.02
    )
    result.near("and along by", float((tip[0] - clamp) / free), along, 0.01)
    result.info("a strip that is flat at rest would be below by", arc_elastica(ARC_LOAD, 0.0)[1], ".4f")
    result.below("steps that did not converge", failed, 0, ".0f")
    result.below("fastest node at the end, mm/s", 1e3 * max(speeds), 0.1)
    return result
