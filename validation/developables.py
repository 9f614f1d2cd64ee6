"""Developable surfaces from their boundary alone: known surfaces come back."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray
from isocloth.developable import RuledSurface, developables, follow
from isocloth.developable.known import (
    CHARTS,
    corner_error,
    cylinder,
    fillings,
    off_the_chart,
    round_domain,
    saddle_curve,
    square_domain,
)
from isocloth.fabric import Fabric
from isocloth.pictures import frame, save_png
from isocloth.simulation import Simulation
from isocloth.states.boundary import boundary_of
from isocloth.states.folds import Fold, fold
from isocloth.trajectory import Trajectory
from validation.result import Result, Say, silent

TITLE = "developable surfaces from their boundary: known ones come back"


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Distance of what is found from the truth, for smooth curves, corners, flat patches, motions, a simulation."""
    result = Result("developables", TITLE)
    n = 140 if quick else 240
    for name, chart in CHARTS.items():
        say(name)
        shapes = {"smooth": round_domain(n), "square, 25 deg": square_domain(n // 4, 25.0)}
        if not quick:
            shapes["square, 0 deg"] = square_domain(n // 4, 0.0)
        for kind, domain in shapes.items():
            domain = domain * (0.8 if name == "Ushakov" else 1.0)
            points = chart(domain[:, 0], domain[:, 1])
            found = developables(points)
            worst = min((off_the_chart(s, domain, chart) for s in found), default=np.inf)
            result.info(f"{name}, {kind}: surfaces found", len(found), ".0f")
            result.below(f"{name}, {kind}: off the true surface, m", worst, 1e-5, ".1e")
    _two_fillings(result, n, out)
    _flat_patches(result, n)
    _isometry(result, n)
    _motion(result, 5 if quick else 21)
    _noise(result, 1 if quick else 10)
    _simulated(result, quick, say)
    result.notes.append("off the true surface: the nearest of the surfaces found; a curve may bound several")
    return result


def _two_fillings(result: Result, n: int, out: Path | None) -> None:
    found = developables(saddle_curve(n, 0.4))
    result.between("saddle curve: surfaces found", len(found), 2, 2, ".0f")
    away = np.array([fillings(s, 0.4) for s in found]).reshape(-1, 2)
    result.below("saddle curve: off the first filling, m", away[:, 0].min(initial=np.inf), 1e-6, ".1e")
    result.below("saddle curve: off the second filling, m", away[:, 1].min(initial=np.inf), 1e-6, ".1e")
    if out is not None:
        for k, surface in enumerate(found):
            mesh = surface.mesh(9)
            still = Trajectory(times=np.zeros(1), positions=mesh.vertices[None], faces=mesh.faces, rest=mesh.vertices)
            save_png(frame(still, 0), out / f"developables-filling-{k + 1}.png")


def _flat_patches(result: Result, n: int) -> None:
    domain = square_domain(n // 2, 0.0)
    flat = np.concatenate([domain, np.zeros((len(domain), 1))], axis=1)
    sheet = meshes.rectangle(1.0, 1.0, (15, 15)).vertices - [0.5, 0.5, 0.0]
    folds = {
        "in half": Fold((0.0, 0.0), (1.0, 0.0), angle=1.5, radius=0.15),
        "askew": Fold((0.0, 0.0), (0.94, 0.34), angle=1.5, radius=0.15),
        "a corner": Fold((0.2, 0.2), (1.0, 1.0), angle=1.0, radius=0.1),
    }
    for name, by in folds.items():
        found = developables(fold(flat, by))
        inside = fold(sheet, by)
        worst = min((float(s.distance(inside).max()) for s in found), default=np.inf)
        result.below(f"folded {name}, with flat patches: off the true sheet, m", worst, 2e-3, ".1e")


def _isometry(result: Result, n: int) -> None:
    """Rolled squares laid flat again: distances of their corners, and the area."""
    for degrees in (0.0, 25.0, 45.0):
        domain = square_domain(n // 4, degrees)
        found = developables(cylinder(domain[:, 0], domain[:, 1]))
        surface = _nearest(found, partial(off_the_chart, domain=domain, chart=cylinder))
        result.below(f"rolled square, {degrees:g} deg: error of its area", abs(surface.area - 1.0), 1e-3, ".1e")
        result.below(
            f"rolled square, {degrees:g} deg: corners laid flat, m", corner_error(surface, domain, n // 4), 1e-3, ".1e"
        )
        result.below(f"rolled square, {degrees:g} deg: metric error of strips", surface.metric_error(), 1e-6, ".1e")


def _motion(result: Result, times: int) -> None:
    """The second filling of the saddle curve, followed while the curve grows higher and turns."""
    heights = np.linspace(0.2, 0.6, times)
    curves = [saddle_curve(160, h) for h in heights]
    start = _nearest(developables(curves[0]), lambda s: fillings(s, heights[0])[1])
    followed = follow(curves, start)
    worst = max(fillings(s, h)[1] for s, h in zip(followed, heights, strict=True))
    result.below(f"followed through {times} curves: off the same filling, m", worst, 1e-5, ".1e")


def _noise(result: Result, tries: int) -> None:
    """Random errors of the points: how often the surface is found, and how near."""
    shapes = {"rolled square": (square_domain(40, 25.0), [0, 40, 80, 120]), "smooth curve": (round_domain(160), [])}
    rng = np.random.default_rng(0)
    for name, (domain, corners) in shapes.items():
        points = cylinder(domain[:, 0], domain[:, 1])
        for noise in (1e-6, 1e-5, 1e-4):
            away = []
            for _ in range(tries):
                shaken = points + noise * rng.standard_normal(points.shape)
                try:
                    found = developables(shaken, corners=corners, smoothing=noise)
                except ValueError:  # too many ways
                    found = []
                away.append(min((off_the_chart(s, domain, cylinder) for s in found), default=np.inf))
            near = np.array(away) < 0.01
            what = f"{name} with {1000 * noise:g} mm of noise"
            result.info(f"{what}: found, %", 100.0 * float(near.mean()), ".0f")
            if near.any():
                result.info(f"{what}: off the surface, m", float(np.array(away)[near].max()), ".1e")


def _simulated(result: Result, quick: bool, say: Say) -> None:
    """Inner nodes of simulated sheets against the surface of their boundary."""
    say("a simulated strip")
    strip = meshes.rectangle(0.6, 0.15, (31, 8) if quick else (61, 16))
    right = np.flatnonzero(strip.vertices[:, 0] > 0.6 - 1e-9)
    sim = Simulation(strip, Fabric(density=0.2, bending=2e-3, damping=1.0))
    sim.grasp(np.flatnonzero(strip.vertices[:, 0] < 1e-9))
    sim.grasp(right, _shifted(strip.vertices[right], [[-0.1, 0.0, 0.0]]))
    _inside(result, "simulated strip, ends closer", strip, sim.run(1.2 if quick else 2.0).positions[-1], 1e-4)
    say("a simulated square")
    square = meshes.rectangle(0.5, 0.5, (31, 31))
    held = square.nearest([[0.0, 0.0, 0.0], [0.5, 0.5, 0.0]])
    sim = Simulation(square, Fabric(density=0.2, bending=1e-2, damping=2.0), gravity=0.5)
    sim.grasp(held, _shifted(square.vertices[held], [[0.06, 0.06, 0.0], [-0.06, -0.06, 0.0]]))
    positions = sim.run(2.0 if quick else 3.0).positions[-1]
    across = np.round(square.vertices[:, :2].sum(axis=1), 9)
    bowed = max(float(np.ptp(positions[across == line, 2])) for line in np.unique(across))
    result.info("simulated square, opposite corners closer: bow along its rulings, m", bowed, ".1e")
    _inside(result, "simulated square, opposite corners closer", square, positions, 5e-3)


def _shifted(rest: FloatArray, by: list[list[float]]) -> Callable[[float], FloatArray]:
    """Held nodes that are moved within a second, without a jerk."""

    def path(time: float) -> FloatArray:
        part = min(time, 1.0)
        return np.asarray(rest + part * part * (3.0 - 2.0 * part) * np.array(by))

    return path


def _inside(result: Result, name: str, mesh: meshes.Mesh, positions: FloatArray, limit: float) -> None:
    edge = boundary_of(mesh, positions)
    found = developables(edge.points, corners=edge.corners)
    result.info(f"{name}: surfaces found", len(found), ".0f")
    away = min((s.distance(positions) for s in found), key=np.max, default=np.array([np.inf]))
    result.below(f"{name}: nodes off the surface of the boundary, m", float(away.max()), limit, ".1e")
    result.info(f"{name}: the same, rms, m", float(np.sqrt((away**2).mean())), ".1e")


def _nearest(found: list[RuledSurface], away: Callable[[RuledSurface], float]) -> RuledSurface:
    if not found:
        raise ValueError("no surface was found for a curve that bounds one")
    return min(found, key=away)
