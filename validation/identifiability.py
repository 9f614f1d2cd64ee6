"""Known parameters are found again: synthetic recordings with 20 markers, a millimetre of noise and gaps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from isocloth import meshes
from isocloth.base.typing import FloatArray, IntArray
from isocloth.calibration import Calibration, SearchOptions, calibrate
from isocloth.fabric import Fabric
from isocloth.obstacles import Box
from isocloth.recordings import Recording, from_trajectory
from isocloth.simulation import Simulation
from validation.result import Result, Say, silent
from validation.scenes import hanging, smooth_ramp, upper_corners
from validation.trailing import SHEET, trailing

TITLE = "delta, alpha and mu of synthetic recordings found again"

NOISE, MISSING = 1e-3, 0.05  # m; share of all positions
#: rho, delta, alpha in SI, and how the sheet is moved
CLOTHS = ((0.3046, 0.15, 0.50, "shake"), (0.1804, 0.10, 0.40, "twist"), (0.1042, 0.05, 0.25, "shake"))

FRICTIONS = (0.3, 0.45, 0.6)
#: what the papers fitted to wool, and the bending stiffness of a light cloth
LAID = Fabric(density=0.1804, gravity_density=0.078, damping=0.50, bending=3e-5)
LOWERED, STOPPED = 3.5, 4.3  # s, until which the corners are lowered, and move


def hung(
    cloth: Fabric, motion: str, size: tuple[float, float], shape: tuple[int, int], amplitude: float = 0.075,
    rough: float = 0.0,
) -> Simulation:  # fmt: skip
    """A hanging sheet that is shaken (amplitude in m, 0.6 Hz) or twisted (30 degrees, 0.6 Hz).

    rough: m, by which its nodes are out of the plane at the start, at random.
    """
    flat = meshes.rectangle(*size, shape)
    sheet = hanging(flat)
    held = upper_corners(sheet)
    start = sheet.vertices[held]
    middle = start.mean(axis=0)

    def path(t: float) -> FloatArray:
        swing = smooth_ramp(t - 0.5, 1.0) * np.sin(2.0 * np.pi * 0.6 * t)
        if motion == "shake":
            return start + np.array([0.0, amplitude * swing, 0.0])
        c, s = np.cos(np.deg2rad(30.0) * swing), np.sin(np.deg2rad(30.0) * swing)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return (start - middle) @ turn.T + middle

    sim = Simulation(_roughened(sheet, held, rough), cloth, rest=flat)
    sim.grasp(held, path)
    return sim


def _roughened(sheet: meshes.Mesh, held: IntArray, rough: float) -> meshes.Mesh:
    out = np.zeros_like(sheet.vertices)
    out[:, 1] = rough * np.random.default_rng(3).standard_normal(len(out))
    out[held] = 0.0
    return sheet.with_vertices(sheet.vertices + out)


def determined(make: Callable[[float], Simulation], duration: float) -> float:
    """How far apart the same sheet ends up if its start is out by a micrometre: mean over nodes and time, m.

    No parameter can be learnt from a motion more exactly than the motion follows from it.
    """
    one, other = (make(rough).run(duration) for rough in (0.0, 1e-6))
    return float(np.linalg.norm(one.positions - other.positions, axis=2).mean())


def table(mu: float) -> Box:
    """A table whose top is at z = 0 less half the thickness of the cloth, so that the sheet lies at z = 0."""
    return Box([0.5 * SHEET[0], -1.0, -0.5 * LAID.thickness - 0.02], [1.0, 5.0, 0.04], friction=mu, name="table")


def laid(mu: float, shape: tuple[int, int], rough: float = 0.0) -> Simulation:
    """A sheet that is lowered on a table, and in the end half lies on it."""
    flat, sheet, held, path = trailing(shape, LOWERED, STOPPED)
    sim = Simulation(_roughened(sheet, held, rough), LAID, rest=flat, obstacles=[table(mu)])
    sim.grasp(held, path)
    return sim


def _seen(sim: Simulation, duration: float, markers: tuple[int, int], seed: int) -> Recording:
    """Markers at 120 Hz, which know the density of the cloth and nothing else."""
    seen = from_trajectory(
        sim.run(duration), markers=markers, noise=NOISE, missing=MISSING, longest_loss=0.2, rate=120.0, seed=seed
    )
    return seen.with_(fabric=Fabric(density=sim.fabric.density), metadata={})


def _tell(result: Result, name: str, found: Calibration, truth: dict[str, float], limit: float, apart: float) -> None:
    result.info(f"{name}: apart if the start is out by 1 um, mm", 1e3 * apart, ".3f")
    for parameter, true in truth.items():
        value = found.values[parameter]
        result.info(f"{name}: {parameter}, true {true:g}", value, ".4g")
        off = 100 * abs(value / true - 1.0)
        # where a micrometre decides more than the noise hides, a recording does not hold its parameters so exactly
        if apart > NOISE:
            result.info(f"{name}: {parameter}, off by, %", off, ".2f")
        else:
            result.below(f"{name}: {parameter}, off by, %", off, limit, ".2f")
    fit = found.fits[0]
    result.info(f"{name}: mean error of the test window, mm", 1e3 * fit.row()["mean"], ".2f")
    rival = min(e.within(*fit.test).mean for e in fit.baselines.values())
    result.info(f"{name}: best of frozen, carried along, pendulum, mm", 1e3 * rival, ".2f")
    result.below(f"{name}: steps not converged", found.unconverged, 0, ".0f")


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Fits of hanging sheets and of sheets half laid on a table."""
    result = Result("identifiability", TITLE)
    workers = 1 if quick else None
    if quick:
        size, made, markers, duration, limit = (0.297, 0.42), (5, 7), (4, 3), 6.0, 5.0
        search = SearchOptions(points=6, starts=1)
    else:
        size, made, markers, duration, limit = SHEET, (13, 17), (5, 4), 14.0, 5.0
        search = SearchOptions()
    for rho, delta, alpha, motion in ((0.2, 0.12, 0.45, "shake"),) if quick else CLOTHS:
        name = f"{motion}, rho {rho:g}"
        say(name)
        cloth = Fabric(density=rho, gravity_density=delta, damping=alpha)
        make = partial(hung, cloth, motion, size, made, 0.05 if quick else 0.075)
        recording = _seen(make(0.0), duration, markers, 1)
        found = calibrate(recording, ("gravity_density", "damping"), workers=workers, search=search)
        apart = determined(make, duration)
        _tell(result, name, found, {"gravity_density": delta, "damping": alpha}, limit, apart)
        if out is not None:
            found.report(out / f"identifiability-{motion}-{rho:g}.html", title=name)
    for mu in FRICTIONS[:1] if quick else FRICTIONS:
        name = f"half laid, mu {mu:g}"
        say(name)
        make = partial(laid, mu, (7, 9))
        recording = _seen(make(0.0), STOPPED + 0.3, (5, 4), 2)
        end = float(recording.times[-1])
        found = calibrate(
            recording, {"friction:table": (0.12, 0.52) if quick else (0.05, 1.0)}, "sweep" if quick else "multistart",
            workers=workers, search=SearchOptions(points=5, rounds=1) if quick else SearchOptions(), fabric=LAID,
            obstacles=[table(mu)], train=(0.0, end), test=(0.0, end), shape=None,
        )  # fmt: skip
        _tell(result, name, found, {"friction:table": mu}, 10.0, determined(make, STOPPED + 0.3))
        if out is not None:
            found.report(out / f"identifiability-mu-{mu:g}.html", title=name)
    count = markers[0] * markers[1]
    result.notes.append(
        f"{count} markers (on the table 20) at 120 Hz, {1e3 * NOISE:g} mm of noise, {100 * MISSING:g} % missing; "
        f"hanging sheets made on {made[0]} x {made[1]} nodes, fitted on {2 * markers[1] - 1} x {2 * markers[0] - 1}; "
        "on the table made and fitted on the same mesh, delta, alpha and bending known"
    )
    return result
