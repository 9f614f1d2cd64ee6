"""Where a simulation starts: the recorded sheet at the beginning, without noise and without stretch."""

from __future__ import annotations

import numpy as np
from scipy.interpolate import RectBivariateSpline
from scipy.sparse import csr_array, diags_array
from scipy.sparse.linalg import spsolve

from isocloth.base.errors import RecordingError
from isocloth.base.typing import FloatArray, IntArray
from isocloth.fabric import Fabric
from isocloth.meshes import Mesh
from isocloth.recordings import Recording
from isocloth.simulation import Simulation

#: s, at most, over which a sheet that stands still is averaged
LONGEST_STILL = 1.0
#: m/s below which a sheet stands still
STILL = 0.03
#: rounds of the projection onto unstretched shapes, and the error of squared lengths at which it ends
ROUNDS, UNSTRETCHED = 30, 1e-3
#: steps of 10 ms in which a sheet comes to rest, damped with 5 1/s
SETTLING = 300


def first_shape(recording: Recording) -> tuple[FloatArray, FloatArray]:
    """Positions (k, 3) m and velocities (k, 3) m/s of the markers at the first frame.

    While the sheet stands still its positions are averaged, and it has no velocity; if it moves from the beginning on,
    both come from straight lines through the first tenth of a second, or four frames.
    """
    times, points = recording.times - recording.times[0], recording.positions
    still = _still(times, points)
    if still > 0.0:
        part = points[times <= still + 1e-9]
        shape = _median(part)
        velocity = np.zeros_like(shape)
    else:
        part = np.flatnonzero((times <= 0.1) | (np.arange(len(times)) < 4))
        shape, velocity = _lines(times[part], points[part])
    if recording.mesh is None:
        raise RecordingError("the recording has no mesh; give the size of the cloth and the grid of its markers")
    if np.isnan(shape).all():
        raise RecordingError("no marker is seen at the beginning; choose another window")
    return filled(recording.mesh, shape), np.nan_to_num(velocity)


def _median(part: FloatArray) -> FloatArray:
    """Medians over frames (T, k, 3); NaN where a marker is never seen."""
    out = np.full(part.shape[1:], np.nan)
    seen = np.isfinite(part[:, :, 0]).any(axis=0)
    out[seen] = np.nanmedian(part[:, seen], axis=0)
    return out


def _still(times: FloatArray, points: FloatArray) -> float:
    """For how long, s, nothing moves at the beginning; 0 if that is not even 0.2 s."""
    block = max(0.1, 2.0 * float(np.median(np.diff(times))))
    before: FloatArray | None = None
    end = 0.0
    for k in range(round(LONGEST_STILL / block)):
        part = points[(times >= k * block) & (times < (k + 1) * block)]
        if len(part) == 0:
            return end if end >= 0.2 else 0.0
        now = _median(part)
        if before is not None:
            moved = np.linalg.norm(now - before, axis=1)
            if np.nanmedian(moved) > STILL * block:
                break
        before, end = now, (k + 1) * block
    return end if end >= 0.2 else 0.0


def _lines(times: FloatArray, points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Position and velocity at time 0 of straight lines in time."""
    k = points.shape[1]
    shape, velocity = np.full((k, 3), np.nan), np.zeros((k, 3))
    for j in range(k):
        seen = np.isfinite(points[:, j, 0])
        if seen.sum() >= 3:
            slope, shape[j] = np.polyfit(times[seen], points[seen, j], 1)
            velocity[j] = slope
        elif seen.any():
            shape[j] = points[seen, j].mean(axis=0)
    return shape, velocity


def filled(mesh: Mesh, shape: FloatArray) -> FloatArray:
    """Positions (k, 3) with the missing ones filled in by harmonic interpolation.

    The flat sheet is laid rigidly over what is known; deviations from it are spread harmonically over the mesh.
    """
    known = np.isfinite(shape[:, 0])
    if known.all():
        return shape
    if known.sum() < 3:
        raise RecordingError(f"only {int(known.sum())} markers are seen at the beginning; choose another window")
    flat, there = mesh.vertices[known], shape[known]
    u, _, vt = np.linalg.svd((flat - flat.mean(axis=0)).T @ (there - there.mean(axis=0)))
    turn = u @ np.diag([1.0, 1.0, np.sign(np.linalg.det(u @ vt))]) @ vt
    laid = (mesh.vertices - flat.mean(axis=0)) @ turn + there.mean(axis=0)
    a, b = mesh.edges.T
    n = mesh.n_vertices
    ones = np.ones(len(a))
    links = csr_array((np.r_[ones, ones], (np.r_[a, b], np.r_[b, a])), shape=(n, n))
    laplacian = (diags_array(links.sum(axis=1)) - links).tocsr()
    free = np.flatnonzero(~known)
    right = -laplacian[free][:, np.flatnonzero(known)] @ (there - laid[known])
    away = np.zeros_like(laid)
    away[known] = there - laid[known]
    away[free] = spsolve(laplacian[free][:, free].tocsc(), right).reshape(len(free), 3)
    return laid + away


def on_finer_grid(markers: FloatArray, shape: tuple[int, int], finer: tuple[int, int]) -> FloatArray:
    """Values (k, 3) on a grid of markers (rows, columns) on a finer grid of the same sheet, by cubic splines."""
    rows, columns = shape
    values = markers.reshape(rows, columns, 3)
    u, v = np.linspace(0.0, 1.0, rows), np.linspace(0.0, 1.0, columns)
    s, t = np.linspace(0.0, 1.0, finer[0]), np.linspace(0.0, 1.0, finer[1])
    parts = [
        RectBivariateSpline(u, v, values[:, :, c], kx=min(3, rows - 1), ky=min(3, columns - 1))(s, t) for c in range(3)
    ]
    return np.stack(parts, axis=2).reshape(-1, 3)


def unstretched(mesh: Mesh, shape: FloatArray, held: IntArray, corners: FloatArray) -> FloatArray:
    """Projection onto isometric shapes: the nearest positions (n, 3) of a flat mesh, held nodes at corners (h, 3).

    Steps of a cloth without weight and speed: inertia keeps it near where it is, the constraints do the rest.
    """
    placed = shape.copy()
    placed[held] = corners
    sim = Simulation(mesh.with_vertices(placed), Fabric(density=0.2), rest=mesh, gravity=0.0, integrator="euler")
    sim.grasp(held)
    for _ in range(ROUNDS):
        report = sim.step()
        sim.velocities = np.zeros_like(placed)
        if report.isometry_error < UNSTRETCHED:
            break
    return np.array(sim.positions)


def hanging_shape(mesh: Mesh, held: IntArray, corners: FloatArray, towards: FloatArray) -> FloatArray:
    """Where a sheet (n, 3) comes to rest that hangs from two nodes at given corners (2, 3).

    Of the two ways to bow out it takes that of the positions `towards` (n, 3).
    """
    if len(held) != 2:
        raise RecordingError(f"a sheet is hung up by two markers, but {len(held)} are held; start from the recording")
    apart = corners[1] - corners[0]
    length = float(np.linalg.norm(apart))
    axis = apart / length
    up = np.array([0.0, 0.0, 1.0])
    down = axis * (axis @ up) - up
    down /= np.linalg.norm(down)
    out = np.cross(axis, down)
    flat = mesh.vertices
    width = float(np.linalg.norm(flat[held[1]] - flat[held[0]]))
    x = (flat - flat[held].mean(axis=0)) @ (flat[held[1]] - flat[held[0]]) / width
    y = np.linalg.norm(flat - flat[held].mean(axis=0) - np.outer(x, flat[held[1]] - flat[held[0]]) / width, axis=1)
    plane = corners.mean(axis=0) + np.outer(x * min(1.0, length / width), axis) + np.outer(y, down)
    side = 1.0 if float(((towards - plane) @ out).mean()) >= 0.0 else -1.0
    placed = plane + np.outer(side * 1e-3 * np.cos(np.pi * x / width), out)
    placed[held] = corners
    sim = Simulation(mesh.with_vertices(placed), Fabric(density=0.2, damping=1.0), rest=mesh)
    sim.grasp(held)
    for _ in range(SETTLING):
        sim.step()
    return np.array(sim.positions)
