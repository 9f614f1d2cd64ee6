"""What a run keeps: frames, the certificates between them, and what there was to touch."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import numpy as np

from isocloth.base.typing import FloatArray
from isocloth.obstacles import Obstacle, recorded
from isocloth.obstacles.motion import Commanded
from isocloth.obstacles.obstacle import Surface
from isocloth.reports import Reports
from isocloth.simulation.report import RECORDED, Report
from isocloth.trajectory import Trajectory

if TYPE_CHECKING:
    from isocloth.simulation.simulation import Simulation

SUMMED = ("iterations", "substeps")


class Recorder:
    """Frames so far, and what the steps since the last frame reported."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.positions: list[FloatArray] = []
        self.velocities: list[FloatArray] = []
        self.reports: dict[str, list[float]] = {name: [] for name in RECORDED}
        self._obstacles: list[tuple[Obstacle, ...]] = []  # that there were at every frame ...
        self._placed: list[FloatArray] = []  # ... and where those were that are moved at run time

    def add(self, sim: Simulation, reports: list[Report]) -> None:
        """Keep a frame. Of the steps since the last one the worst is kept, and the sum of the iterations."""
        self.times.append(sim.time)
        self.positions.append(sim.positions)
        self.velocities.append(sim.velocities)
        self._obstacles.append(sim.obstacles)
        self._placed.append(sim.state.placed)
        if not reports:
            rows = sim.cloth.rows
            error = float(np.abs(rows.values(sim.positions)[rows.enforced]).max(initial=0.0))
            measured = sim.cloth.shape or sim.cloth.mesh, sim.positions
            reports = [Report(sim.time, 0, error, True, 0, 0.0, 0.0, _measured=measured)]
        for name in RECORDED:
            values = [getattr(r, name) for r in reports]
            worst = min(values) if name in ("converged", "min_gap") else max(values)
            self.reports[name].append(sum(values) if name in SUMMED else worst)

    def placed_arrays(self, count: int) -> FloatArray:
        """(T, o, 4, 3) poses of moved obstacles at every frame, for a checkpoint; NaN where there were not so many."""
        nowhere = np.full((count, 4, 3), np.nan)
        return np.array([placed if len(placed) == count else nowhere for placed in self._placed])

    def resume(self, sim: Simulation, placed: list[FloatArray]) -> None:
        """Frames of the first part of a run, among the obstacles that there are now."""
        self._obstacles, self._placed = [sim.obstacles] * len(placed), placed

    def _scenery(self) -> list[Surface]:
        """What to draw of all obstacles that were there at any frame."""
        different: dict[int, Obstacle] = {id(o): o for among in self._obstacles for o in among}
        found: list[Surface] = []
        for obstacle in different.values():
            where = [next((k for k, o in enumerate(among) if o is obstacle), -1) for among in self._obstacles]
            poses = [placed[k] if k >= 0 else None for k, placed in zip(where, self._placed, strict=True)]
            if all(pose is not None and np.isnan(pose[0, 0]) for pose in poses):
                found += recorded([obstacle], self.times)
            elif (drawn := self._moved(obstacle, poses)) is not None:
                found.append(drawn)
        return found

    def _moved(self, obstacle: Obstacle, poses: list[FloatArray | None]) -> Surface | None:
        """The surface of an obstacle at poses (4, 3), with NaN on its own motion; a point where it was not there."""
        frames = []
        for time, pose in zip(self.times, poses, strict=True):
            there = obstacle
            if pose is not None and np.isfinite(pose[0, 0]):
                still = (pose[:3], pose[3])
                there = obstacle.placed(Commanded(still, still, time, time + 1.0))
            surface = there.surface(time)
            if surface is None:
                return None
            vertices, faces = surface
            frames.append(vertices if pose is not None else np.broadcast_to(vertices.mean(axis=0), vertices.shape))
        return np.stack(frames), faces

    def trajectory(self, sim: Simulation) -> Trajectory:
        kinds = {"iterations": np.int64, "substeps": np.int64, "contacts": np.int64, "converged": np.bool_}
        return Trajectory(
            times=np.array(self.times),
            positions=np.stack(self.positions),
            velocities=np.stack(self.velocities),
            faces=sim.mesh.faces,
            rest=sim.rest.vertices,
            reports=Reports({k: np.array(v, dtype=kinds.get(k, np.float64)) for k, v in self.reports.items()}),
            obstacles=self._scenery(),
            metadata={
                "timestep": sim.timestep, "gravity": sim.gravity, "integrator": sim.integrator,
                "solver": sim.solver.name, "model": {"name": sim.model.name, **asdict(sim.model)},
                "fabric": asdict(sim.fabric),
                **({"fabrics": [asdict(fabric) for fabric in sim.fabrics]} if len(sim.fabrics) > 1 else {}),
            },
        )  # fmt: skip
