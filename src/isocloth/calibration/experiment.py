"""A recording made ready to be simulated again and again with other parameters."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import ConvergenceError, InputError, RecordingError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.calibration.errors import Errors, errors
from isocloth.calibration.mesh import lay, suited
from isocloth.calibration.particle_start import particles_at
from isocloth.calibration.smooth import at_most, set_apart, smooth_path, trust, with_smooth_distance
from isocloth.calibration.start import first_shape, hanging, unstretched
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Isometric, Model, Nonconforming, as_model
from isocloth.obstacles import Obstacle
from isocloth.recordings import Recording
from isocloth.recordings.resample import longest_absence
from isocloth.recordings.sampling import weights_at
from isocloth.simulation import Simulation

#: s; frames farther apart than this do not belong to one motion
LONGEST_STEP = 1.0


class Simulated(NamedTuple):
    """What a simulation of a recording gave."""

    positions: FloatArray  # (T, k, 3) m, the markers at the times of the recording
    frames: FloatArray  # (S, n, 3) m, all nodes at every step
    unconverged: int  # steps whose certificate said no
    iterations: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Experiment:
    """A recording with the mesh, start, path and settings of its simulation. Made by `prepare`."""

    recording: Recording
    fabric: Fabric
    mesh: Mesh  # flat rest shape of the simulation
    start: FloatArray  # (n, 3) m
    velocities: FloatArray  # (n, 3) m/s
    held: IntArray  # nodes
    path: FloatArray  # (S + 1, h, 3) m, held nodes at every step, the start included
    timestep: float
    weights: FloatArray  # (k, c) and nodes (k, c): markers between the nodes of the mesh
    nodes: IntArray
    areas: FloatArray  # (k,) weight of every marker, summing up to 1
    markers: FloatArray  # (k, 3) m, the recorded markers at the start
    bias: FloatArray  # (k, 3) m, added to simulated markers in every frame
    particles: FloatArray | None = None  # (m, 3) m, where those of the nonconforming model start
    obstacles: tuple[Obstacle, ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def times(self) -> FloatArray:
        """(S + 1,) s, of the steps."""
        return self.recording.times[0] + self.timestep * np.arange(len(self.path))

    def halves(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The papers' training and test windows, s: the first and the second half."""
        a, b = float(self.recording.times[0]), float(self.recording.times[-1])
        return (a, 0.5 * (a + b)), (0.5 * (a + b), b)

    @property
    def model(self) -> Model:
        """The cloth model that is simulated."""
        return as_model(self.options.get("model", "isometric"))

    def simulation(self, fabric: Fabric) -> Simulation:
        """The cloth at its start, held by nobody yet."""
        obstacles = [obstacle.replace(friction=fabric.friction) for obstacle in self.obstacles]
        sim = Simulation(
            self.mesh.with_vertices(self.start), fabric, timestep=self.timestep, rest=self.mesh,
            obstacles=obstacles, **self.options,
        )  # fmt: skip
        if self.particles is not None:
            sim.state = replace(sim.state, particles=self.particles)
        if self.velocities.any():
            sim.velocities = self.velocities
        return sim

    def simulate(self, fabric: Fabric, until: float | None = None) -> Simulated:
        """Simulate the recorded motion with another fabric, whose friction is also that of all obstacles.

        until: s, after which nothing is needed; frames after it are NaN.
        """
        sim = self.simulation(fabric)
        path, inverse, last = self.path, 1.0 / self.timestep, len(self.path) - 1

        def between(t: float) -> FloatArray:
            s = t * inverse
            k = min(int(s + 1e-6), last)
            share = s - k
            if share < 1e-6 or k == last:
                return path[k]
            return (1.0 - share) * path[k] + share * path[k + 1]

        sim.grasp(self.held, between)
        steps = last
        if until is not None:
            # one more: the last frame may lie between two steps
            steps = min(steps, max(1, int(np.ceil((until - self.recording.times[0]) * inverse - 1e-6)) + 1))
        frames = np.full((last + 1, *self.start.shape), np.nan)
        frames[0] = self.start
        unconverged = iterations = 0
        for k in range(1, steps + 1):
            report = sim.step()
            frames[k] = sim.state.positions
            unconverged += not report.converged
            iterations += report.iterations
        return Simulated(self.at_markers(frames), frames, unconverged, iterations)

    def at_markers(self, frames: FloatArray) -> FloatArray:
        """(T, k, 3) m: the markers at the times of the recording, from all nodes (S + 1, n, 3) at every step."""
        # markers that are nodes need no sum over the corners of an element
        single = (self.weights == 1.0).any(axis=1)
        if single.all():
            chosen = self.nodes[np.arange(len(self.nodes)), np.argmax(self.weights, axis=1)]
            points = frames[:, chosen]
        else:
            points = np.einsum("kq,tkqd->tkd", self.weights, frames[:, self.nodes])
        return self.at_times(points) + self.bias

    def at_times(self, points: FloatArray) -> FloatArray:
        """(T, ...) at the times of the recording, by straight lines between steps (S + 1, ...)."""
        s = (self.recording.times - self.recording.times[0]) / self.timestep
        before = np.clip(np.floor(s + 1e-6).astype(np.int64), 0, len(points) - 2)
        share = np.clip(s - before, 0.0, 1.0)[:, None, None]
        return (1.0 - share) * points[before] + share * points[before + 1]

    def errors(self, simulated: Simulated | FloatArray) -> Errors:
        """The papers' errors of every frame."""
        points = simulated.positions if isinstance(simulated, Simulated) else simulated
        return errors(self.recording.times, points, self.recording.positions, self.areas)

    def try_simulate(self, fabric: Fabric, until: float | None = None) -> Simulated | None:
        """`simulate`, or None if there is no motion with these parameters."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                return self.simulate(fabric, until)
            except (ConvergenceError, ValueError):
                return None


def prepare(
    recording: Recording,
    *,
    fabric: Fabric | None = None,
    shape: tuple[int, int] | None = None,
    timestep: float | None = None,
    drive: str = "camera",
    smooth: bool = True,
    apart: float | None = None,
    longest_gap: float = 0.25,
    start: str = "recorded",
    markers: ArrayLike | None = None,
    keep_bias: bool = False,
    obstacles: Sequence[Obstacle] = (),
    model: str | Model = "isometric",
    **options: Any,
) -> Experiment:
    """Make a recording ready.

    Args:
        recording: with a mesh and held markers; only its longest run of frames without a gap in time is used.
        fabric: what the cloth is made of; None = the recording's.
        shape: nodes (along the width, along the height) of the simulated sheet; None = a node per marker, or with up to
            30 markers also one between every two.
        timestep: s; None = what suits the model, 0.01 or with the nonconforming one 0.002.
        drive: "camera" (the held markers as they were seen) or "tool" (`recording.held_path`).
        smooth: whether the paths of held markers are smoothed.
        apart: m, the distance at which one rigid thing (a hanger, a tool) holds two corners; None = as it was seen. A
            camera that rounds corners off sees them too near, and the sheet would bow out where the real one is taut.
        longest_gap: s, for which a held marker may be missing.
        start: "recorded" (the nearest unstretched shape to the first one that was seen) or "hanging" (at rest below
            the held corners, for recordings that begin with this).
        markers: (k, 3) m, the recorded markers at the first frame, at rest; None = by the first frames.
        keep_bias: whether what the markers show beside the simulated start is added to every simulated frame, for
            cameras whose nodes are not points of the cloth.
        obstacles: what the cloth meets.
        model: of the cloth, see `Simulation`. All start from the same shape on the same nodes; quads become triangles
            for the nonconforming one, and triangles in a rectangle quads for the quasi-inextensible one.
        options: for `Simulation`: integrator, solver, self_collision, ...
    """
    part = recording.longest_segment(max(5.0 / recording.rate, LONGEST_STEP))
    notes = []
    if len(part) < len(recording):
        notes.append(f"{len(recording) - len(part)} frames before or after a gap in time are not used")
    fabric = fabric or part.fabric
    if fabric is None:
        raise RecordingError("the recording does not say what the cloth is made of; give fabric=ic.Fabric(density=...)")
    if part.mesh is None:
        raise RecordingError(
            "the recording has no mesh: the grid of its markers was not found; load it with grid=(rows, columns) and "
            "size=(width, height)"
        )
    if len(part.held) < 1:
        raise RecordingError("the recording does not say which markers are held; load it with held=[labels]")
    if drive not in ("camera", "tool"):
        raise InputError(f"drive = {drive!r}: expected 'camera' or 'tool'")
    if start not in ("recorded", "hanging"):
        raise InputError(f"start = {start!r}: expected 'recorded' or 'hanging'")
    if drive == "tool" and part.held_path is None:
        raise RecordingError("the recording has no path of a tool; use drive='camera'")
    chosen = as_model(model)
    if not isinstance(chosen, Isometric):
        options["model"] = chosen
    if timestep is None:
        timestep = chosen.timestep
    mesh, carry, note = lay(part.mesh, shape, chosen)
    held = _nodes_at(mesh, part.mesh.vertices[part.held])
    steps = int(np.floor(part.duration / timestep + 1e-6)) + 1
    times = part.times[0] + timestep * np.arange(steps + 1)
    seen = part.positions[:, part.held] if drive == "camera" or part.held_path is None else part.held_path
    for j, label in enumerate(part.held_labels):
        gap, begin, end = longest_absence(part.times, seen[:, j])
        if gap > max(longest_gap, 1.5 * float(np.diff(part.times).max())):
            raise RecordingError(
                f"held marker {label!r} is not seen from {begin:g} to {end:g} s; choose a window without this, e.g. "
                f"recording.window({part.times[0]:g}, {begin:g}), or allow it: longest_gap={1.1 * gap:.2g}"
            )
    width = float(np.linalg.norm(np.diff(mesh.vertices[held], axis=0))) if len(held) == 2 else None
    if apart is not None:
        _check_apart(apart, width)
    if smooth:
        path = smooth_path(part.times, seen, times, None if apart is None else trust(seen, apart))
    else:
        path = _straight(part.times, seen, times)
    if width is not None:
        if apart is not None:
            path = set_apart(path, min(apart, width))
        elif smooth:
            path = with_smooth_distance(part.times, seen, times, path)
        path, pulled = at_most(path, width)
        if pulled > 1e-3:
            notes.append(f"held corners are up to {1e3 * pulled:.1f} mm too far apart for the cloth; brought together")
    if markers is None:
        shown, speeds = first_shape(part)
    else:
        shown = np.array(markers, dtype=np.float64)
        speeds = np.zeros_like(shown)
        if shown.shape != part.mesh.vertices.shape or not np.isfinite(shown).all():
            raise InputError(f"markers have shape {shown.shape}: expected {part.mesh.vertices.shape}, finite positions")
    nodal, velocities = carry(shown), carry(speeds)
    if start == "hanging":
        first, velocities = hanging(mesh, held, path[0], nodal), np.zeros_like(nodal)
    else:
        first = unstretched(mesh, nodal, held, path[0])
    mesh, cut = suited(mesh, chosen)
    notes += [x for x in (note, cut) if x]
    weights, nodes = weights_at(mesh.vertices[:, :2], mesh.faces, part.mesh.vertices[:, :2])
    bias = np.zeros_like(shown)
    if keep_bias:
        bias = shown - np.einsum("kq,kqd->kd", weights, first[nodes])
    exact = particles_at(mesh, first, held, path[0]) if isinstance(chosen, Nonconforming) else None
    made = Experiment(
        recording=part, fabric=fabric, mesh=mesh, start=first, velocities=velocities, held=held, path=path,
        timestep=timestep, areas=_areas(part.mesh), obstacles=tuple(obstacles), options=dict(options),
        notes=tuple(notes), markers=shown, bias=bias, weights=weights, nodes=nodes, particles=exact,
    )  # fmt: skip
    # options and models that do not go together are refused here, where a search would take them for bad parameters
    made.simulation(fabric)
    return made


def _check_apart(apart: float, width: float | None) -> None:
    if width is None:
        raise InputError(f"apart = {apart!r}: expected two held markers; leave it out")
    if not 0.0 < apart <= width * (1.0 + 1e-9):
        raise InputError(
            f"apart = {apart!r}: expected a distance in m, up to {width:g}, the length of the cloth between the held "
            "markers"
        )


def _nodes_at(mesh: Mesh, places: FloatArray) -> IntArray:
    nodes: IntArray = np.asarray(mesh.nearest(places), dtype=np.int64)
    away = float(np.linalg.norm(mesh.vertices[nodes] - places, axis=1).max())
    if away > 1e-6 * float(np.ptp(mesh.vertices)) or len(np.unique(nodes)) != len(nodes):
        raise RecordingError(
            f"a held marker lies {1e3 * away:.3g} mm from the nearest node of the mesh; choose a shape with one there"
        )
    return nodes


def _straight(times: FloatArray, points: FloatArray, wanted: FloatArray) -> FloatArray:
    out = np.empty((len(wanted), *points.shape[1:]))
    for j in range(points.shape[1]):
        seen = np.isfinite(points[:, j, 0])
        for c in range(3):
            out[:, j, c] = np.interp(wanted, times[seen], points[seen, j, c])
    return out


def _areas(mesh: Mesh) -> FloatArray:
    """Share of the sheet that every marker stands for."""
    share = np.zeros(mesh.n_vertices)
    np.add.at(share, mesh.faces.ravel(), np.repeat(mesh.face_areas / mesh.faces.shape[1], mesh.faces.shape[1]))
    out: FloatArray = share / share.sum()
    return out
