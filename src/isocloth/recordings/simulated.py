"""Markers on a simulated cloth, as the fields of a recording: where they are, without noise or gaps."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.errors import InputError, RecordingError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.recordings.fields import RecordingFields
from isocloth.recordings.grid import sheet
from isocloth.recordings.sampling import weights_at
from isocloth.trajectory import Trajectory


def simulated_fields(
    trajectory: Trajectory, markers: tuple[int, int] | ArrayLike | None = None, *, name: str
) -> RecordingFields:
    """Fields of a recording of a simulated cloth; markers as of `from_trajectory`."""
    positions, mesh, held = _marked(trajectory, markers)
    about = trajectory.metadata.get("fabric") or {}
    fabric = Fabric(**{f.name: about[f.name] for f in fields(Fabric) if f.name in about}) if about else None
    return RecordingFields(
        times=trajectory.times, positions=positions, mesh=mesh, held=held, fabric=fabric, name=name,
        metadata={"obstacles": len(trajectory.obstacles)} if trajectory.obstacles else {},
    )  # fmt: skip


def _marked(trajectory: Trajectory, markers: Any) -> tuple[FloatArray, Mesh | None, IntArray]:
    """(T, k, 3) positions of the markers, their mesh, and the two that hold the sheet."""
    rest = trajectory.rest
    if markers is None:
        mesh = Mesh(_laid_down(rest), trajectory.faces)
        return trajectory.positions, mesh, _highest_corners(trajectory, mesh)
    if isinstance(markers, tuple) and len(markers) == 2 and all(isinstance(m, int | np.integer) for m in markers):
        rows, columns = int(markers[0]), int(markers[1])
        if min(rows, columns) < 2:
            raise InputError(f"markers = {markers!r}: expected at least 2 rows and 2 columns")
        flat = np.flatnonzero(np.ptp(rest, axis=0) > 1e-9 * np.ptp(rest))
        if len(flat) != 2:
            raise RecordingError(
                "rows and columns of markers need a flat rest shape along two axes; give nodes instead"
            )
        a, b = rest[:, flat[0]], rest[:, flat[1]]
        size = (float(np.ptp(a)), float(np.ptp(b)))
        mesh = sheet((rows, columns), size)
        places = mesh.vertices[:, :2] + np.array([a.min(), b.min()])
        weights, nodes = weights_at(np.stack([a, b], axis=1), trajectory.faces, places)
        points = np.einsum("kq,tkqd->tkd", weights, trajectory.positions[:, nodes])
        return points, mesh, np.array([0, columns - 1])
    nodes = np.asarray(markers, dtype=np.int64)
    return trajectory.positions[:, nodes], None, np.zeros(0, dtype=np.int64)


def _laid_down(rest: FloatArray) -> FloatArray:
    """A rest shape in an upright plane along two axes, laid into z = 0; others stay."""
    extent = np.ptp(rest, axis=0)
    thin = np.flatnonzero(extent <= 1e-9 * extent.max())
    if len(thin) != 1 or thin[0] == 2:
        return rest
    along = [c for c in range(3) if c != thin[0]]
    # turned, not reflected
    first = rest[:, along[0]] if thin[0] == 0 else rest[:, 0]
    return np.stack([first, rest[:, 2], np.zeros(len(rest))], axis=1)


def _highest_corners(trajectory: Trajectory, mesh: Mesh) -> IntArray:
    corners = mesh.corners
    if len(corners) < 2:
        return np.zeros(0, dtype=np.int64)
    height = trajectory.positions[0, corners, 2]
    return np.sort(corners[np.argsort(-height, kind="stable")[:2]])
