"""Preparation: what a recording needs to be simulated, made of it once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, InputTypeError, RecordingError
from isocloth.base.numeric import check_flag
from isocloth.base.typing import FloatArray, IntArray
from isocloth.calibration.experiment import Experiment
from isocloth.calibration.mesh import simulation_mesh, with_elements
from isocloth.calibration.particle_start import particles_at
from isocloth.calibration.smooth import (
    filled_ends,
    limit_distance,
    set_distance,
    sighting_weights,
    smooth_path,
    with_smooth_distance,
)
from isocloth.calibration.start import first_shape, hanging_shape, unstretched
from isocloth.calibration.surroundings import obstacles_of, outside
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.models import Isometric, Model, Nonconforming, as_model
from isocloth.obstacles import Obstacle
from isocloth.recordings import Recording
from isocloth.recordings.resample import longest_absence
from isocloth.recordings.sampling import weights_at
from isocloth.simulation.arguments import as_fabric, as_timestep

#: s; frames farther apart than this do not belong to one motion
LONGEST_STEP = 1.0


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
    obstacles: Sequence[Obstacle] | None = None,
    model: str | Model = "isometric",
    **options: Any,
) -> Experiment:
    """Make a recording ready to be simulated.

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
        longest_gap: s, for which a held marker, or one at the end of a stick, may be missing.
        start: "recorded" (the nearest unstretched shape to the first one that was seen) or "hanging" (at rest below
            the held corners, for recordings that begin with this).
        markers: (k, 3) m, the recorded markers at the first frame, at rest; None = by the first frames.
        keep_bias: whether what the markers show beside the simulated start is added to every simulated frame, for
            cameras whose nodes are not points of the cloth.
        obstacles: what the cloth meets beside the recording's own bodies, of which those of the same name are left out.
            Their clock begins with 0 at the first frame that is simulated. None = what the recording has; one of a
            tablecloth or of hits that has nothing is then refused.
        model: of the cloth, see `Simulation`. All start from the same shape on the same nodes; quads become triangles
            for the nonconforming one, and triangles in a rectangle quads for the quasi-inextensible one.
        options: for `Simulation`: integrator, solver, self_collision, ...
    """
    check_flag(smooth, "smooth")
    check_flag(keep_bias, "keep_bias")
    part = recording.longest_segment(max(5.0 / recording.rate, LONGEST_STEP))
    fabric, rest = _required(part, fabric)
    hold = _Hold(drive, smooth, apart, longest_gap)
    seen = hold.sightings(part)
    if start not in ("recorded", "hanging"):
        raise InputError(f"start = {start!r}: expected 'recorded' or 'hanging'")
    chosen = as_model(model)
    if not isinstance(chosen, Isometric):
        options["model"] = chosen
    if timestep is None:
        timestep = chosen.timestep
    timestep = as_timestep(timestep)
    mesh, carry, note = simulation_mesh(rest, shape, chosen)
    held = _nodes_at(mesh, rest.vertices[part.held])
    steps = int(np.floor(part.duration / timestep + 1e-6)) + 1
    width = float(np.linalg.norm(np.diff(mesh.vertices[held], axis=0))) if len(held) == 2 else None
    clock = part.times[0] + timestep * np.arange(steps + 1)
    path, pulled = hold.path(part, seen, clock, width)
    bodies = obstacles_of(part, obstacles, clock, partial(hold.ends, part.times))
    shown, speeds = first_shape(part) if markers is None else _markers_at_rest(markers, rest)
    nodal, velocities = carry(shown), carry(speeds)
    if start == "hanging":
        first, velocities = hanging_shape(mesh, held, path[0], nodal), np.zeros_like(nodal)
    else:
        first = unstretched(mesh, nodal, held, path[0])
    first = outside(bodies, first, fabric.thickness)
    mesh, cut = with_elements(mesh, chosen)
    weights, nodes = weights_at(mesh.vertices[:, :2], mesh.faces, rest.vertices[:, :2])
    bias = np.zeros_like(shown)
    if keep_bias:
        bias = shown - np.einsum("kq,kqd->kd", weights, first[nodes])
    exact = particles_at(mesh, first, held, path[0]) if isinstance(chosen, Nonconforming) else None
    left = len(recording) - len(part)
    unused = f"{left} frames before or after a gap in time are not used" if left else ""
    made = Experiment(
        recording=part, fabric=fabric, mesh=mesh, start=first, velocities=velocities, held=held, path=path,
        timestep=timestep, areas=_areas(rest), obstacles=bodies, options=dict(options),
        notes=tuple(x for x in (unused, pulled, note, cut) if x), markers=shown, bias=bias, weights=weights,
        nodes=nodes, particles=exact,
    )  # fmt: skip
    # options and models that do not go together are refused here, before a search takes long
    made.simulation(fabric)
    return made


def as_experiments(given: Any, options: Mapping[str, Any]) -> tuple[Experiment, ...]:
    """Experiments of recordings, each prepared; those that are experiments already stay as they are."""
    items = list(given) if isinstance(given, list | tuple) else [given]
    if not items:
        raise RecordingError(f"there is no recording to calibrate with in {given!r}: expected one at least")
    for item in items:
        if not isinstance(item, Recording | Experiment):
            raise InputTypeError(f"recording is {type(item).__name__}: expected an isocloth.Recording")
        if isinstance(item, Experiment) and options:
            raise InputTypeError(f"{', '.join(options)} belong to prepare(), which has been called already")
    return tuple(x if isinstance(x, Experiment) else prepare(x, **options) for x in items)


def _required(part: Recording, fabric: Fabric | None) -> tuple[Fabric, Mesh]:
    """The fabric and the mesh of the markers, without which a recording cannot be simulated."""
    fabric = part.fabric if fabric is None else as_fabric(fabric)
    if fabric is None:
        raise RecordingError("the recording does not say what the cloth is made of; give fabric=ic.Fabric(density=...)")
    if part.mesh is None:
        raise RecordingError(
            "the recording has no mesh: the grid of its markers was not found; load it with grid=(rows, columns) and "
            "size=(width, height)"
        )
    if len(part.held) < 1:
        raise RecordingError("the recording does not say which markers are held; load it with held=[labels]")
    return fabric, part.mesh


class _Hold(NamedTuple):
    """How the path of the held markers is made; fields as the arguments of `prepare`."""

    drive: str
    smooth: bool
    apart: float | None
    longest_gap: float

    def sightings(self, part: Recording) -> FloatArray:
        """(T, h, 3) m, the held markers as they were seen, or where the tool was."""
        if self.drive not in ("camera", "tool"):
            raise InputError(f"drive = {self.drive!r}: expected 'camera' or 'tool'")
        if self.drive == "tool" and part.held_path is None:
            raise RecordingError("the recording has no path of a tool; use drive='camera'")
        return part.positions[:, part.held] if self.drive == "camera" or part.held_path is None else part.held_path

    def path(self, part: Recording, seen: FloatArray, times: FloatArray, width: float | None) -> tuple[FloatArray, str]:
        """(S, h, 3) m at the times (S,) of the steps, from sightings (T, h, 3); and a note if it was corrected.

        width: m, the length of the cloth between two held markers; None if there are not two.
        """
        self._check_gaps(part.times, seen, part.held_labels, "held marker")
        if self.apart is not None:
            _check_apart(self.apart, width)
        if self.smooth:
            path = smooth_path(
                part.times, seen, times, None if self.apart is None else sighting_weights(seen, self.apart)
            )
        else:
            path = _straight(part.times, seen, times)
        if width is None:
            return path, ""
        if self.apart is not None:
            path = set_distance(path, min(self.apart, width))
        elif self.smooth:
            path = with_smooth_distance(part.times, seen, times, path)
        path, pulled = limit_distance(path, width)
        if pulled > 1e-3:
            return path, f"held corners are up to {1e3 * pulled:.1f} mm too far apart for the cloth; brought together"
        return path, ""

    def ends(self, clock: FloatArray, seen: FloatArray, names: tuple[str, ...], times: FloatArray) -> FloatArray:
        """(S, 2, 3) m at other times: both ends of a stick, from sightings (T, 2, 3) at the times (T,) of a clock."""
        self._check_gaps(clock, seen, names, "end marker of a stick")
        known = filled_ends(clock, seen)
        return smooth_path(clock, known, times) if self.smooth else _straight(clock, known, times)

    def _check_gaps(self, times: FloatArray, seen: FloatArray, labels: tuple[str, ...], what: str) -> None:
        for j, label in enumerate(labels):
            gap, begin, end = longest_absence(times, seen[:, j])
            if gap > max(self.longest_gap, 1.5 * float(np.diff(times).max())):
                raise RecordingError(
                    f"{what} {label!r} is not seen from {begin:g} to {end:g} s; choose a window without this, "
                    f"e.g. recording.window({times[0]:g}, {begin:g}), or allow it: longest_gap={1.1 * gap:.2g}"
                )


def _markers_at_rest(markers: ArrayLike, rest: Mesh) -> tuple[FloatArray, FloatArray]:
    """Given positions (k, 3) m of the markers, and velocities of zero."""
    shown = np.array(markers, dtype=np.float64)
    if shown.shape != rest.vertices.shape or not np.isfinite(shown).all():
        raise InputError(f"markers have shape {shown.shape}: expected {rest.vertices.shape}, finite positions")
    return shown, np.zeros_like(shown)


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
