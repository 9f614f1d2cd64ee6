"""Pieces that the checks of contact share: what their steps report, sheets placed in space, pictures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.typing import BoolArray, FloatArray
from isocloth.meshes import Mesh
from isocloth.obstacles import recorded
from isocloth.obstacles.obstacle import Solid
from isocloth.pictures import render
from isocloth.simulation import Report, Simulation
from isocloth.trajectory import Trajectory
from validation.result import Result

#: relative change of lengths of edges, rms, that a cloth which does not stretch may show
STRETCH = 3e-3


@dataclass
class Watch:
    """What the steps of a run among obstacles report."""

    steps: int = 0
    iterations: int = 0
    unconverged: int = 0  # steps whose certificate said no
    cut: int = 0  # steps that had to be cut into substeps
    substeps: int = 0
    helped: int = 0  # steps in which a solver from a library had to solve a problem
    seconds: float = 0.0  # of processor time
    slowest: float = 0.0  # step, s of processor time
    simulated: float = 0.0  # s
    min_gap: float = np.inf  # m, smallest of all steps
    friction_residual: float = 0.0  # largest of all steps
    isometry_error: float = 0.0  # largest of all steps
    stretch: float = 0.0  # largest rms change of the lengths of edges, measured after every step
    clearance: float = np.inf  # m, smallest distance of a node from an obstacle, measured after every step
    faces: float = np.inf  # m, the same of middles of edges and faces, where nothing is held off: negative inside

    @property
    def q(self) -> float:
        """Computing time over simulated time."""
        return self.seconds / max(self.simulated, 1e-12)

    def step(self, sim: Simulation) -> Report:
        """One step, with its report counted."""
        before, begin = sim.time, time.process_time()
        report = sim.step()
        spent = time.process_time() - begin
        if self.steps > 0:  # kernels are loaded in the first step, or compiled
            self.seconds += spent
            self.slowest = max(self.slowest, spent)
            self.simulated += sim.time - before
        self.count(report)
        self.measure(sim)
        return report

    def measure(self, sim: Simulation) -> None:
        """Lengths of edges and distances from obstacles at positions, whatever the solver reports of them."""
        self.stretch = max(self.stretch, edge_stretch(sim))
        nodes, faces = clearances(sim)
        self.clearance, self.faces = min(self.clearance, nodes), min(self.faces, faces)

    def count(self, report: Report) -> None:
        """A step that was taken elsewhere, without its time."""
        self.steps += 1
        self.iterations += report.iterations
        self.unconverged += not report.converged
        self.cut += report.substeps > 1
        self.substeps += report.substeps
        self.helped += report.fallbacks > 0
        self.min_gap = min(self.min_gap, report.min_gap)
        self.friction_residual = max(self.friction_residual, report.friction_residual)
        self.isometry_error = max(self.isometry_error, report.isometry_error)

    def run(self, sim: Simulation, duration: float, look: Callable[[Simulation], None] | None = None) -> Watch:
        """Steps for a duration (s); `look` is called after each."""
        for _ in range(round(duration / sim.timestep)):
            self.step(sim)
            if look is not None:
                look(sim)
        return self

    def add(self, other: Watch) -> None:
        """Count the steps of another run too."""
        for name in ("steps", "iterations", "unconverged", "cut", "substeps", "helped", "seconds", "simulated"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for name in ("min_gap", "clearance", "faces"):
            setattr(self, name, min(getattr(self, name), getattr(other, name)))
        for name in ("slowest", "friction_residual", "isometry_error", "stretch"):
            setattr(self, name, max(getattr(self, name), getattr(other, name)))

    def tell(self, result: Result, name: str, *, q: float | None = None, paper: str = "", edges: bool = True) -> None:
        """The lines that every scene has: failed steps, lengths, distances, what the solver reports, and q.

        q: its target, if it has one, with the paper's values. edges: whether their lengths have to stay, which is not
        so where a fabric shears along them or is stretched on purpose.
        """
        result.below(f"{name}: steps not converged", self.unconverged, 0, ".0f")
        what = f"{name}: lengths of edges, largest rms change, %"
        if edges:
            result.below(what, 100 * self.stretch, 100 * STRETCH)
        else:
            result.info(what, 100 * self.stretch)
        if np.isfinite(self.clearance):
            result.above(f"{name}: smallest distance of a node from an obstacle, mm", 1e3 * self.clearance, 0.0, ".4f")
            result.info(f"{name}: the same of middles of edges and faces, mm", 1e3 * self.faces, ".3f")
        result.info(f"{name}: smallest gap as reported, mm", 1e3 * self.min_gap, ".4f")
        result.info(f"{name}: residual of Coulomb's law as reported / largest force", self.friction_residual, ".1e")
        result.info(f"{name}: isometry error as reported", self.isometry_error, ".1e")
        result.info(f"{name}: steps cut, of {self.steps}", self.cut, ".0f")
        result.below(f"{name}: share of steps in which a library helped", self.helped / self.steps, 0.01, ".4f")
        result.info(f"{name}: solves per step", self.iterations / self.steps, ".2f")
        if q is None:
            result.info(f"{name}: q = computing / simulated time", self.q, ".3f", paper=paper)
        else:
            result.below(f"{name}: q = computing / simulated time", self.q, q, ".3f", paper=paper)


def edge_stretch(sim: Simulation) -> float:
    """Relative change of the lengths of edges, rms, from positions alone."""
    a, b = sim.mesh.edges.T
    now = np.linalg.norm(sim.positions[a] - sim.positions[b], axis=1)
    rest = np.linalg.norm(sim.rest.vertices[a] - sim.rest.vertices[b], axis=1)
    return float(np.sqrt(np.mean((now / rest - 1.0) ** 2)))


def clearances(sim: Simulation) -> tuple[float, float]:
    """Smallest distance (m) of a node, and of a middle of an edge or a face, from an obstacle that has an inside.

    Looked for among all of them, whatever the detection of the simulator has found near; infinite if there is no such
    obstacle. The middle surface of a cloth that touches is half a thickness away.
    """
    x = sim.positions
    between = np.concatenate([x[sim.mesh.edges].mean(axis=1), x[sim.mesh.triangles].mean(axis=1)])
    bodies = [o for o in sim.obstacles if isinstance(o, Solid)]
    nodes = min((float(o.gaps(x, sim.time)[0].min()) for o in bodies), default=np.inf)
    return nodes, min((float(o.gaps(between, sim.time)[0].min()) for o in bodies), default=np.inf)


def turned(mesh: Mesh, angle: float) -> Mesh:
    """A mesh turned about the z axis by an angle, rad."""
    c, s = np.cos(angle), np.sin(angle)
    return mesh.with_vertices(mesh.vertices @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]).T)


def centred(mesh: Mesh, centre: ArrayLike) -> Mesh:
    """A mesh moved so that the middle of its box is at a point (3,), m."""
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    return mesh.with_vertices(mesh.vertices - 0.5 * (low + high) + np.asarray(centre, dtype=np.float64))


def centre_of_mass(sim: Simulation) -> FloatArray:
    """(3,) m."""
    area = sim.cloth.area
    return np.asarray(area @ sim.positions / area.sum())


class Film:
    """Frames of a simulation among moving obstacles, for a picture."""

    def __init__(self, sim: Simulation, every: float) -> None:
        self.sim, self.every = sim, every
        self.times, self.frames = [sim.time], [sim.positions.copy()]

    def look(self, sim: Simulation) -> None:
        """Keep the frame if it is time for it."""
        if sim.time > self.times[-1] + self.every - 1e-9:
            self.times.append(sim.time)
            self.frames.append(sim.positions.copy())

    def trajectory(self) -> Trajectory:
        """The frames with the obstacles."""
        times = np.array(self.times)
        return Trajectory(
            times=times, positions=np.array(self.frames), faces=self.sim.mesh.faces, rest=self.sim.rest.vertices,
            obstacles=recorded(self.sim.obstacles, times),
        )  # fmt: skip

    def save(self, out: Path | None, name: str, title: str, *, width: int = 1200, height: int = 760) -> None:
        """A contact sheet in the folder `out`, if there is one."""
        if out is not None:
            render(self.trajectory(), out / f"{name}.png", width=width, height=height, title=title)


class Passages:
    """Counts points (such as tips of needles) that pass through faces of the cloth, step by step.

    A point passes a triangle if the volume of the tetrahedron of both changes its sign while the point lies over the
    triangle, looked at at `parts` instants between two steps. A test of its own, beside the detection of the simulator.
    """

    def __init__(self, sim: Simulation, points: FloatArray, parts: int = 16) -> None:
        self.triangles, self.points, self.parts = sim.mesh.triangles, points, parts
        self.before = sim.positions.copy()
        self.count = 0

    def look(self, sim: Simulation) -> None:
        """After a step."""
        x0, x1 = self.before, sim.positions.copy()
        low = np.minimum(x0[self.triangles].min(axis=1), x1[self.triangles].min(axis=1))
        high = np.maximum(x0[self.triangles].max(axis=1), x1[self.triangles].max(axis=1))
        for point in self.points:
            near = self.triangles[((low <= point) & (point <= high)).all(axis=1)]
            last = None
            for share in np.linspace(0.0, 1.0, self.parts + 1) if len(near) else ():
                volume, over = _over(x0[near] + share * (x1[near] - x0[near]), point)
                if last is not None:
                    self.count += int(((volume * last < 0.0) & over).sum())
                    volume = np.where(volume == 0.0, last, volume)
                last = volume
        self.before = x1


def _over(corners: FloatArray, point: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Signed volumes (m,) of triangles (m, 3, 3) with a point, and whether it lies over them along their normals."""
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normal = np.cross(b - a, c - a)
    inside = np.ones(len(a), dtype=bool)
    for u, v in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("md,md->m", np.cross(v - u, point - u), normal) >= 0.0
    return np.einsum("md,md->m", normal, point - a), inside
