"""A real cloth swung by a robot arm: the model beside a damped pendulum, both fitted on half of the runs.

The runs (0.30 x 0.30 m, seen as a grid by one depth camera at 8 - 10 Hz) may not be shipped. The environment variable
ISOCLOTH_ROBOT_RUNS names the folder that holds them; without it, and in the small version, runs of the same layout are
simulated.
"""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from isocloth import meshes
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.calibration import Experiment, SearchOptions, baselines, calibrate, prepare
from isocloth.fabric import Fabric
from isocloth.recordings import Recording, from_trajectory
from isocloth.simulation import Simulation
from validation.result import Result, Say, silent
from validation.scenes import hanging, smooth_ramp, upper_corners

TITLE = "a cloth swung by a robot arm, parameters of half of the runs, tested on the others"

FOLDER = "ISOCLOTH_ROBOT_RUNS"
#: kg/m^2: not recorded, and it does not matter: motions depend on delta / rho and alpha / rho alone
DENSITY = 0.2
RANGES = {"gravity_density": (0.2 * DENSITY, 1.5 * DENSITY), "damping": (0.0, 8.0 * DENSITY)}
#: delta / rho of a pendulum that may have one of its own
WEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2)


@dataclass
class Run:
    """A run, ready, with the frames that count."""

    experiment: Experiment
    straight: Experiment  # the same with corners that are not smoothed, which may suit the pendulum
    scored: IntArray  # frames of the experiment's recording
    free: BoolArray  # (k,) nodes that are not held


class Pendulum(NamedTuple):
    """A pendulum fitted to runs."""

    error: float  # mm, mean over these runs
    rate: float
    weight: float
    smooth: bool  # whether it is driven by smoothed corners

    def motion(self, run: Run) -> FloatArray:
        """(T, k, 3) m."""
        experiment = run.experiment if self.smooth else run.straight
        return baselines.damped_pendulum(experiment, self.rate, weight=self.weight)


def load_run(path: Path, drive: str) -> Run:
    """A run from its last still frames on, as its makers score it."""
    recording = Recording.load(path, fabric=Fabric(density=DENSITY))
    good = np.array(recording.metadata.get("good", [1] * len(recording)), dtype=bool)
    phase = np.array(recording.metadata.get("phase", [1] * len(recording)))
    covered = np.array(recording.metadata.get("tool_covers", [1] * len(recording)), dtype=bool)
    still = np.flatnonzero((phase == 0) & good)
    still = (still if len(still) >= 3 else np.flatnonzero(good)[:3])[-10:]
    assert recording.mesh is not None
    rows, columns = recording.metadata["grid"]
    start = still_mesh(recording.positions[still], (rows, columns))
    begin = int(still[-1])
    part = recording.frames(slice(begin, len(recording)))
    # one tool holds both corners, and the cloth between them is taut: still recordings of 8 x 8 and 13 x 13 nodes show
    # them 301 and 303 mm apart, while in motion the camera rounds corners off and sees them too near
    taut = float(np.linalg.norm(np.diff(recording.mesh.vertices[recording.held], axis=0)))
    experiment, straight = (
        prepare(
            part, drive=drive, smooth=smooth, apart=taut, markers=start, start="hanging", keep_bias=True,
            longest_gap=2.0,
        )
        for smooth in (True, False)
    )  # fmt: skip
    frames = np.arange(len(experiment.recording))
    free = np.ones(len(recording.labels), dtype=bool)
    free[recording.held] = False
    return Run(experiment, straight, frames[(frames > 0) & covered[begin : begin + len(frames)]], free)


def still_mesh(frames: FloatArray, grid: tuple[int, int]) -> FloatArray:
    """Median of still frames (T, k, 3), holes filled with the mean of their neighbours on the grid."""
    seen = np.isfinite(frames[:, :, 0]).any(axis=0)
    shape = np.full(frames.shape[1:], np.nan)
    shape[seen] = np.nanmedian(frames[:, seen], axis=0)
    x = shape.reshape(*grid, 3)
    while (hole := ~np.isfinite(x).all(axis=2)).any():
        p = np.pad(x, ((1, 1), (1, 1), (0, 0)), constant_values=np.nan)
        around = np.stack([p[:-2, 1:-1], p[2:, 1:-1], p[1:-1, :-2], p[1:-1, 2:]])
        known = np.isfinite(around).any(axis=(0, 3)) & hole
        x[known] = np.nanmean(around[:, known], axis=0)
    return x.reshape(-1, 3)


def node_error(run: Run, predicted: FloatArray) -> float:
    """Mean distance of free nodes (T, k, 3) in the frames that count, mm."""
    away = np.linalg.norm(run.experiment.recording.positions - predicted, axis=2)[run.scored][:, run.free]
    return 1e3 * float(np.nanmean(away))


def best_pendulum(runs: Sequence[Run], weights: Sequence[float] = (1.0,)) -> Pendulum:
    """The best of all damping rates and weights, with smoothed corners and without."""
    tried = []
    for rate, weight, smooth in itertools.product(baselines.RATES, weights, (True, False)):
        made = Pendulum(0.0, rate, weight, smooth)
        tried.append(made._replace(error=float(np.mean([node_error(r, made.motion(r)) for r in runs]))))
    return min(tried)


def surface_error(run: Run, predicted: FloatArray) -> float:
    """Mean distance of measured free nodes from the predicted surface, mm: what slides along it does not count."""
    mesh = run.experiment.recording.mesh
    assert mesh is not None
    found = []
    for f in run.scored:
        points = run.experiment.recording.positions[f][run.free]
        points = points[np.isfinite(points[:, 0])]
        if len(points):
            found.append(distance_to_triangles(points, predicted[f][mesh.triangles]))
    return 1e3 * float(np.concatenate(found).mean())


def best_rigid(run: Run) -> float:
    """Mean distance that is left when the still mesh is turned and shifted onto every frame, mm; no prediction."""
    found = []
    start, seen = run.experiment.markers, run.experiment.recording.positions
    for f in run.scored:
        known = np.isfinite(seen[f, :, 0])
        if known.sum() < 4:
            continue
        a, b = start[known], seen[f, known]
        u, _, vt = np.linalg.svd((a - a.mean(axis=0)).T @ (b - b.mean(axis=0)))
        turn = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
        away = np.linalg.norm((a - a.mean(axis=0)) @ turn + b.mean(axis=0) - b, axis=1)
        found.append(away[run.free[known]])
    return 1e3 * float(np.concatenate(found).mean())


def distance_to_triangles(points: FloatArray, triangles: FloatArray) -> FloatArray:
    """(p,) m: distance of points (p, 3) from the nearest of triangles (t, 3, 3)."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    normal = np.cross(b - a, c - a)
    area = np.maximum((normal**2).sum(axis=1), 1e-30)
    away = points[:, None] - a[None]
    v = np.einsum("ptd,td->pt", np.cross(away, (c - a)[None]), normal) / area
    w = np.einsum("ptd,td->pt", np.cross((b - a)[None], away), normal) / area
    inside = (v >= 0) & (w >= 0) & (v + w <= 1)
    height = np.abs(np.einsum("ptd,td->pt", away, normal)) / np.sqrt(area)
    best = np.where(inside, height, np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        along = q - p
        s = np.clip(np.einsum("ptd,td->pt", points[:, None] - p[None], along) / (along**2).sum(axis=1), 0.0, 1.0)
        best = np.minimum(best, np.linalg.norm(points[:, None] - p[None] - s[:, :, None] * along[None], axis=2))
    out: FloatArray = best.min(axis=1)
    return out


def simulate_runs(folder: Path, count: int) -> None:
    """Runs of the same layout from simulations on a finer mesh."""
    random = np.random.default_rng(3)
    flat = meshes.rectangle(0.3, 0.3, (9, 9))
    sheet = hanging(flat)
    held = upper_corners(sheet)
    start = sheet.vertices[held]
    for number in range(count):
        f, phase = random.uniform(0.4, 0.7, 3), random.uniform(0.0, 6.0, 3)

        def path(t: float, f: FloatArray = f, phase: FloatArray = phase) -> FloatArray:
            go = smooth_ramp(t - 1.0, 1.0)
            waves = np.sin(2 * np.pi * f * t + phase)
            return start + go * np.array([0.0, 0.08 * waves[0] + 0.03 * waves[1], 0.02 * waves[2]])

        sim = Simulation(sheet, Fabric(density=DENSITY, gravity_density=0.15, damping=0.5), rest=flat)
        sim.grasp(held, path)
        seen = from_trajectory(sim.run(5.0), markers=(5, 5), noise=4e-3, missing=0.01, rate=10.0, seed=number)
        nodes = seen.positions.reshape(len(seen), 5, 5, 3)
        tool = np.array([path(t) for t in seen.times])
        phases = np.where(seen.times < 1.0, 0, 1)
        np.savez(
            folder / f"run{number}.npz", t=seen.times, nodes=nodes, held=np.array([[0, 0], [0, 4]]),
            cloth_size=np.array([0.3, 0.3]), held_tool_run=tool, phase=phases,
            good=np.ones(len(seen), dtype=bool), tool_covers=np.ones(len(seen), dtype=bool),
        )  # fmt: skip


def run(quick: bool = False, *, out: Path | None = None, say: Say = silent) -> Result:
    """Test errors of model and pendulum, with paired differences."""
    result = Result("robot_runs", TITLE)
    named = os.environ.get(FOLDER, "")
    real = bool(named) and not quick
    if real and not Path(named).is_dir():
        raise FileNotFoundError(f"{FOLDER} names {named!r}, which is no folder; give the one that holds the runs")
    with tempfile.TemporaryDirectory() as made:
        folder = Path(named) if real else Path(made)
        if not real:
            say("simulating runs of the same layout")
            simulate_runs(folder, 4)
        paths = sorted(p for p in folder.glob("*.npz") if "calibration" not in p.stem and "blooper" not in p.stem)
        for drive in ("tool",) if quick or not real else ("tool", "camera"):
            _drive(result, paths, drive, say, None if real else 8)
    result.notes.append(
        f"{len(paths)} runs, every second one for the fit; density {DENSITY:g} kg/m^2 (assumed: only ratios matter); "
        "both start from the still mesh, keep its bias and are held taut; errors are mean distances of free nodes in "
        "all frames after it"
    )
    if not real:
        result.notes.append(f"simulated runs; {FOLDER} names the folder with the real ones")
    return result


def _drive(result: Result, paths: list[Path], drive: str, say: Say, most: int | None) -> None:
    say(f"{drive}: {len(paths)} runs are read")
    runs = [load_run(p, drive) for p in paths]
    train, test = runs[::2], runs[1::2]
    say(f"{drive}: pendulums")
    plain, weighted = best_pendulum(train), best_pendulum(train, WEIGHTS)
    say(f"{drive}: fit")
    fitted = calibrate(
        [r.experiment for r in train], RANGES, method="nelder_mead", loss="mean",
        train=(-1e9, 1e9), test=(-1e9, 1e9), workers=1 if most else None,
        search=SearchOptions(most=most or 30, tolerance=5e-3),
    )  # fmt: skip
    values = fitted.values
    cloth = Fabric(density=DENSITY, **values)
    fit_error = float(np.mean([node_error(r, r.experiment.simulate(cloth).positions) for r in train]))
    simulated = [r.experiment.simulate(cloth) for r in test]
    model = np.array([node_error(r, s.positions) for r, s in zip(test, simulated, strict=True)])
    board = [plain.motion(r) for r in test]
    pendulum = np.array([node_error(r, b) for r, b in zip(test, board, strict=True)])
    say(f"{drive}: model {model.mean():.2f} mm, pendulum {pendulum.mean():.2f} mm")
    result.info(f"{drive}: delta / rho", values["gravity_density"] / DENSITY, ".3f")
    result.info(f"{drive}: alpha / rho, 1/s", values["damping"] / DENSITY, ".3f")
    result.info(f"{drive}: fitted runs, model, mm", fit_error, ".2f")
    result.info(f"{drive}: fitted runs, damped pendulum, mm", plain.error, ".2f")
    result.info(f"{drive}: pendulum, damping, 1/s", plain.rate, "g")
    result.info(f"{drive}: pendulum, corners smoothed (1) or not (0)", int(plain.smooth), ".0f")
    frozen = np.mean([node_error(r, baselines.frozen(r.experiment)) for r in test])
    carried = np.mean([node_error(r, baselines.rigid_translation(r.experiment)) for r in test])
    result.info(f"{drive}: test runs, nothing moves, mm", float(frozen), ".2f")
    result.info(f"{drive}: test runs, rigid translation, mm", float(carried), ".2f")
    result.info(f"{drive}: test runs, damped pendulum, mm", float(pendulum.mean()), ".2f")
    result.below(f"{drive}: test runs, model, mm", float(model.mean()), round(float(pendulum.mean()), 2), ".2f")
    paired = model - pendulum
    spread = float(paired.std(ddof=1)) / np.sqrt(len(paired))
    result.info(f"{drive}: model less pendulum, mean over test runs, mm", float(paired.mean()), ".2f")
    result.info(f"{drive}: its standard error, mm", spread, ".2f")
    result.info(f"{drive}: test runs in which the model is nearer, of {len(test)}", int((paired < 0).sum()), ".0f")
    other = np.array([node_error(r, weighted.motion(r)) for r in test])
    result.info(f"{drive}: pendulum that has a delta / rho too: its value", weighted.weight, "g")
    result.info(f"{drive}: its damping, 1/s", weighted.rate, "g")
    result.info(f"{drive}: its error in the test runs, mm", float(other.mean()), ".2f")
    result.info(f"{drive}: model less this one, mean over test runs, mm", float((model - other).mean()), ".2f")
    further = float((model - other).std(ddof=1)) / np.sqrt(len(other))
    result.info(f"{drive}: the standard error of that, mm", further, ".2f")
    surfaces = [surface_error(r, s.positions) for r, s in zip(test, simulated, strict=True)]
    result.info(f"{drive}: distance from the model's surface, mm", float(np.mean(surfaces)), ".2f")
    boards = [surface_error(r, b) for r, b in zip(test, board, strict=True)]
    result.info(f"{drive}: distance from the pendulum's surface, mm", float(np.mean(boards)), ".2f")
    result.info(
        f"{drive}: best rigid fit of every frame (no prediction), mm",
        float(np.mean([best_rigid(r) for r in test])),
        ".2f",
    )
    result.below(f"{drive}: steps not converged", sum(s.unconverged for s in simulated), 0, ".0f")
