"""The locking test: a square held at three corners must fold along its diagonal, whatever the mesh.

The free corner of an inextensible square falls until the two halves hang below the diagonal between the held corners,
sqrt(1/2) m deep. A discretisation that locks stays flat. In the papers the meshes carry 3 mm of noise at rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.interpolate import LinearNDInterpolator

from isocloth import meshes
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.simulation import Simulation
from isocloth.solvers import ProjectionOptions
from validation.result import Result, Say, silent
from validation.scenes import Settling, advance, corner_nodes, with_noise

TITLE = "a square held at three corners folds along its diagonal"

NOISE = 3e-3  # m
DENSITY = 0.1  # kg/m^2
DAMPING = 0.2  # kg/(m^2 s): a rate of 2 1/s
IDEAL = 0.5**0.5  # m, depth of a perfect fold
DRAWS = 6  # of the noise, of which the first is judged
SPREAD = 0.037  # m, the papers' largest distance between free corners


@dataclass
class Fold:
    """The cloth at rest."""

    depth: float  # m, of the free corner below the held ones
    corner: np.ndarray  # (3,) m
    asymmetry: float  # rms difference of heights between mirrored points, m
    crease: float  # mean height of the diagonal from the middle corner to the free one, minus that of its flanks, m
    log: Settling
    early: float  # speed of the fastest node after 10 s, m/s


def least_depth(nodes: int) -> float:
    """Depth (m) to reach: 0.60 at 529 nodes, 0.62 at 900, in between and below by the size of an element."""
    h = 1.0 / (np.sqrt(nodes) - 1.0)
    h1, h2 = 1.0 / 22.0, 1.0 / 29.0
    return float(0.60 + (h1 - h) / (h1 - h2) * 0.02) if h > h1 else (0.62 if nodes >= 900 else 0.60)


def fold(
    mesh: Mesh, *, noise: float, duration: float = 12.0, seed: int = 0, discretisation: str | None = None,
    solver: str = "newton", integrator: str = "bdf2", solver_options: object = None, flat_rest: bool = False,
    disturbed: bool = False,
) -> Fold:  # fmt: skip
    """Drop the square and let it come to rest.

    Noise is in the start and, unless `flat_rest`, in the rest shape too. `disturbed` throws the cloth at rest out of
    its shape by 3 mm of noise in all directions and lets it come to rest again.
    """
    start = with_noise(mesh, noise, seed) if noise else mesh
    fabric = Fabric(density=DENSITY, damping=DAMPING)
    sim = Simulation(
        start,
        fabric,
        rest=mesh if flat_rest else None,
        solver=solver,
        integrator=integrator,
        discretisation=discretisation,
        solver_options=solver_options,
    )
    held = corner_nodes(mesh, (0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
    sim.grasp(held)
    free = int(corner_nodes(mesh, (1.0, 1.0))[0])
    log = advance(sim, round(min(10.0, duration) / sim.timestep))
    early = log.speed
    if duration > 10.0:
        advance(sim, round((duration - 10.0) / sim.timestep), log)
    if disturbed:
        thrown = sim.positions + np.random.default_rng(seed).normal(0.0, NOISE, start.vertices.shape)
        thrown[held] = sim.positions[held]
        sim.positions = thrown
        advance(sim, round(duration / sim.timestep), log)
    x = sim.positions
    return Fold(float(x[held, 2].mean() - x[free, 2]), x[free].copy(), _asymmetry(mesh, x), crease(mesh, x), log, early)


def _heights(mesh: Mesh, positions: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Height of material points (k, 2) m."""
    values: np.ndarray = LinearNDInterpolator(mesh.vertices[:, :2], positions[:, 2])(points)
    return values


def _asymmetry(mesh: Mesh, positions: np.ndarray) -> float:
    grid = np.linspace(0.05, 0.95, 19)
    points = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    difference = _heights(mesh, positions, points) - _heights(mesh, positions, points[:, ::-1])
    return float(np.sqrt(np.mean(difference**2)))


def crease(
    mesh: Mesh, positions: np.ndarray, a: tuple[float, float] = (0.0, 1.0), b: tuple[float, float] = (1.0, 0.0)
) -> float:
    """How much the line between the held corners a and b stands above its neighbourhood, m.

    That line is the ridge over which both triangles hang: for a fold along it it lies higher than the lines 0.15 m to
    either side of it.
    """
    s = np.linspace(0.25, 0.75, 21)[:, None]
    along = np.subtract(b, a)
    ridge = np.asarray(a) + s * along
    aside = 0.15 * np.array([-along[1], along[0]]) / np.hypot(*along)
    flanks = [_heights(mesh, positions, ridge + sign * aside) for sign in (-1.0, 1.0)]
    return float(np.mean(_heights(mesh, positions, ridge) - 0.5 * (flanks[0] + flanks[1])))


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Depth of the free corner on triangles and quads, from a noisy and a perfectly flat start."""
    result = Result("locking", TITLE)
    cloths: dict[str, Mesh]
    if quick:
        cloths = {
            "quads 13x13": meshes.rectangle(1.0, 1.0, shape=(13, 13)),
            "irregular 150": meshes.irregular_rectangle(1.0, 1.0, nodes=150),
        }
    else:
        cloths = {
            "irregular 472": meshes.irregular_rectangle(1.0, 1.0, nodes=472),
            "irregular 941": meshes.irregular_rectangle(1.0, 1.0, nodes=941),
            "quads 23x23": meshes.rectangle(1.0, 1.0, shape=(23, 23)),
            "quads 30x30": meshes.rectangle(1.0, 1.0, shape=(30, 30)),
        }
    duration = 6.0 if quick else 12.0
    folds: list[Fold] = []
    for name, mesh in cloths.items():
        for start, noise in (("noisy", NOISE), ("flat", 0.0)):
            say(f"{name}, {start}")
            found = fold(mesh, noise=noise, duration=duration)
            folds.append(found)
            result.above(f"{name}, {start}: depth, m", found.depth, round(least_depth(mesh.n_vertices), 3), ".4f")
            result.above(f"{name}, {start}: diagonal above its flanks, m", found.crease, 0.02, ".3f")
            result.info(f"{name}, {start}: left-right asymmetry (rms), m", found.asymmetry, ".4f")
            result.below(f"{name}, {start}: steps not converged", found.log.unconverged, 0, ".0f")
            result.info(f"{name}, {start}: steps cut", found.log.cut, ".0f")
            result.info(f"{name}, {start}: solves per step", found.log.iterations / found.log.steps, ".2f")
            result.info(f"{name}, {start}: largest isometry error", found.log.isometry_error, ".1e")
            result.info(
                f"{name}, {start}: fastest node after {min(10.0, duration):g} s, mm/s", 1e3 * found.early, ".2f"
            )
            result.notes.append(f"{name}, {start}: free corner at {np.array2string(found.corner, precision=3)} m")
    if not quick:
        depths = np.array([f.depth for f in folds])
        result.below("all depths within, m", float(np.ptp(depths)), SPREAD, ".4f")
        result.below("depths from noisy starts within, m", float(np.ptp(depths[0::2])), SPREAD, ".4f")
        result.info("depths from flat starts within, m", float(np.ptp(depths[1::2])), ".4f")
        noisy = np.array([f.corner for f in folds[0::2]])
        apart = np.linalg.norm(noisy[:, None] - noisy[None], axis=2)
        result.info(
            "free corners from noisy starts apart in space, largest, m", float(apart.max()), ".4f", paper="0.037"
        )
        for coarse, fine, kind in ((0, 2, "triangles"), (4, 6, "quads")):
            result.holds(
                f"{kind}: depth rises with refinement, noisy and flat",
                bool((depths[coarse : coarse + 2] < depths[fine : fine + 2]).all()),
            )
        say("irregular 472, other draws of the noise")
        draws = [folds[0].depth] + [fold(cloths["irregular 472"], noise=NOISE, seed=k).depth for k in range(1, DRAWS)]
        result.info(f"irregular 472, {DRAWS} draws of the noise: depth, mean, m", float(np.mean(draws)), ".4f")
        result.info("irregular 472, the same: standard deviation, m", float(np.std(draws, ddof=1)), ".4f")
        quads = cloths["quads 23x23"]
        for what, options in (
            ("noise in the start only", {"noise": NOISE, "flat_rest": True}),
            ("flat, thrown out of its shape at rest by 3 mm", {"noise": 0.0, "disturbed": True}),
        ):
            say(f"quads 23x23, {what}")
            found = fold(quads, **options)  # type: ignore[arg-type]
            result.info(f"quads 23x23, {what}: depth, m", found.depth, ".4f")
            result.below(f"quads 23x23, {what}: steps not converged", found.log.unconverged, 0, ".0f")
        longer = float(np.mean(with_noise(quads, NOISE).edge_lengths / quads.edge_lengths)) - 1.0
        result.info("quads 23x23: edges longer through noise in the rest shape, mean, %", 100 * longer, ".2f")
    side = 7 if quick else 17
    say("the papers' discretisation and projection")
    papers = fold(
        meshes.rectangle(1.0, 1.0, shape=(side, side)),
        noise=NOISE,
        duration=1.0 if quick else 6.0,
        discretisation="nodal",
        solver="projection",
        integrator="euler",
        solver_options=ProjectionOptions(max_iterations=30),
    )
    result.info(f"papers' way, quads {side}x{side}, noisy: depth, m", papers.depth, ".4f")
    result.info("papers' way: steps not converged", papers.log.unconverged, ".0f")
    result.info("papers' way: projections per step", papers.log.iterations / papers.log.steps, ".2f")
    result.notes.append(f"a perfect fold has its free corner at (0.5, 0.5, -{IDEAL:.4f}) m")
    return result
