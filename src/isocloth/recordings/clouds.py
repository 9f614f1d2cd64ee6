"""From a depth camera: clouds of points in time become a grid of nodes of a rectangular cloth, followed through them.

The thesis meshes every frame for itself (section 4.1.1). Here one sheet is laid into the first frame and then moved
along: in every frame it is drawn to the points of the cloud, while its edges and diagonals keep their lengths as well
as an inextensible cloth must. That gives correspondence over time, and bridges holes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from isocloth.base.errors import RecordingError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes import Mesh
from isocloth.reconstruction.distance import distances
from isocloth.reconstruction.filters import largest_cluster, outliers
from isocloth.recordings.grid import sheet
from isocloth.recordings.recording import Recording

#: places per side of a cell at which the sheet meets the cloud
FINE = 5
#: rounds of drawing the sheet to the points, and change (m) at which they end
ROUNDS, ENOUGH = 30, 2e-4
#: weights relative to that of the points: lengths of edges and diagonals, smoothness, staying along the sheet
LENGTHS, SMOOTH, STAY = 10.0, 0.15, 0.02
#: points farther from the sheet than this many times the usual distance do not count
FAR = 4.0


def cloth_points(
    points: ArrayLike,
    *,
    planes: Sequence[tuple[ArrayLike, float]] = (),
    centre: ArrayLike | None = None,
    reach: float | None = None,
    colours: ArrayLike | None = None,
    colour: ArrayLike | None = None,
    tolerance: float = 0.2,
) -> FloatArray:
    """The points of a cloud (N, 3) m that are cloth.

    Args:
        planes: pairs (normal, offset); points with normal . x < offset are left out.
        centre, reach: points farther than `reach` (m) from the centre (3,) are left out.
        colours, colour: (N, 3) from 0 to 1 and the colour (3,) of the cloth; others than this, by more than
            `tolerance`, are left out.
    Points that lie apart from all others, and smaller clumps, are left out too.
    """
    cloud = np.asarray(points, dtype=np.float64)
    if cloud.ndim != 2 or cloud.shape[1] != 3:
        raise RecordingError(f"a cloud has shape {cloud.shape}: expected (N, 3)")
    keep: BoolArray = np.asarray(np.isfinite(cloud).all(axis=1))
    for normal, offset in planes:
        keep &= cloud @ np.asarray(normal, dtype=np.float64) >= offset
    if centre is not None and reach is not None:
        keep &= np.linalg.norm(cloud - np.asarray(centre, dtype=np.float64), axis=1) <= reach
    if colours is not None and colour is not None:
        shades = np.asarray(colours, dtype=np.float64)
        if shades.shape != cloud.shape:
            raise RecordingError(f"colours have shape {shades.shape}: expected {cloud.shape}")
        keep &= np.linalg.norm(shades - np.asarray(colour, dtype=np.float64), axis=1) <= tolerance
    cloud = cloud[keep]
    if len(cloud) < 20:
        raise RecordingError(f"{len(cloud)} points are left after the filters; widen them")
    cloud = cloud[~outliers(cloud)]
    spacing = float(np.median(_nearest(cloud, cloud, 9)[0][:, -1]))
    return cloud[largest_cluster(cloud, 4.0 * spacing)]


class Followed(NamedTuple):
    """A sheet that was followed."""

    positions: FloatArray  # (T, n, 3) m
    distance: FloatArray  # (T,) m, mean distance of the points that count from the sheet
    used: FloatArray  # (T,) share of points that count
    bare: FloatArray  # (T,) share of faces without a point within half an edge of their middle


def from_clouds(
    times: ArrayLike,
    clouds: Sequence[ArrayLike],
    *,
    size: tuple[float, float],
    shape: tuple[int, int] = (9, 9),
    first: ArrayLike | None = None,
    name: str = "clouds",
    **filters: Any,
) -> Recording:
    """A recording of a grid of nodes from clouds of points, one per frame, z up, in m.

    Args:
        times: (T,) s.
        clouds: T arrays (N_i, 3).
        size: width and height of the cloth, m.
        shape: nodes along the width and along the height.
        first: (n, 3) m, where the nodes are in the first frame; None = found there, where the sheet must hang or lie
            nearly flat.
        filters: for `cloth_points`.

    `metadata["distance"]` holds the mean distance of points from the sheet in every frame, m; `["used"]` the share of
    points that count; `["bare"]` the share of the sheet without points nearby: it was hidden there, or the sheet is not
    where the cloth is. The two upper corners are taken to be held.
    """
    t = np.asarray(times, dtype=np.float64)
    if len(clouds) == 0:
        raise RecordingError("no clouds were given: expected one per time, at least one")
    if len(t) != len(clouds):
        raise RecordingError(f"{len(clouds)} clouds for {len(t)} times: expected one per time")
    mesh = sheet((shape[1], shape[0]), size)
    cleaned = [cloth_points(c, **filters) for c in clouds]
    start = register_flat(mesh, cleaned[0]) if first is None else np.array(first, dtype=np.float64)
    if start.shape != mesh.vertices.shape:
        raise RecordingError(f"first has shape {start.shape}: expected {mesh.vertices.shape}")
    found = follow_sheet(mesh, cleaned, start)
    return Recording(
        times=t, positions=found.positions, mesh=mesh, held=np.array([0, shape[0] - 1]), name=name,
        metadata={
            "grid": [shape[1], shape[0]], "distance": found.distance.tolist(), "used": found.used.tolist(),
            "bare": found.bare.tolist(),
        },
    )  # fmt: skip


def register_flat(mesh: Mesh, cloud: FloatArray) -> FloatArray:
    """Rigid registration: the flat mesh over a nearly flat cloud, its upper edge up (or, lying flat, to large y)."""
    middle = cloud.mean(axis=0)
    _, _, axes = np.linalg.svd(cloud - middle, full_matrices=False)
    u, v = (cloud - middle) @ axes[0], (cloud - middle) @ axes[1]
    width, height = (float(s) for s in np.ptp(mesh.vertices[:, :2], axis=0))
    best: tuple[float, FloatArray] | None = None
    for angle in np.deg2rad(np.arange(0.0, 180.0, 1.0)):
        a, b = u * np.cos(angle) + v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)
        low, high = np.quantile(a, [0.005, 0.995]), np.quantile(b, [0.005, 0.995])
        mismatch = abs(float(np.ptp(low)) - width) + abs(float(np.ptp(high)) - height)
        if best is None or mismatch < best[0]:
            x = axes[0] * np.cos(angle) + axes[1] * np.sin(angle)
            y = axes[1] * np.cos(angle) - axes[0] * np.sin(angle)
            centre = middle + x * low.mean() + y * high.mean()
            best = (mismatch, np.stack([centre, x, y]))
    assert best is not None
    if best[0] > 0.3 * (width + height):
        raise RecordingError(
            f"the first cloud is no flat sheet of {width:g} x {height:g} m; choose another first frame, or give the "
            "positions of its nodes as `first`"
        )
    centre, x, y = best[1]
    if abs(y[2]) > 0.5:  # upright: which way is up is known, and x goes to the right
        y = y if y[2] > 0 else -y
        main = int(np.argmax(np.abs(x[:2])))
        x = x if x[main] > 0 else -x
    flat = mesh.vertices[:, :2] - 0.5 * (mesh.bounds[0, :2] + mesh.bounds[1, :2])
    return centre + flat[:, :1] * x + flat[:, 1:] * y


def follow_sheet(mesh: Mesh, clouds: Sequence[FloatArray], start: FloatArray) -> Followed:
    """Tracking by nonrigid registration to every cloud in turn, starting from where the last motion would lead."""
    places = _places(mesh)
    out, away, share, bare = [], [], [], []
    half = 0.5 * float(np.median(mesh.edge_lengths))
    now, before = start, start
    for k, cloud in enumerate(clouds):
        guess = now + (now - before) if k > 1 else now
        tree = cKDTree(cloud)
        moved, distance, used = _register(mesh, places, cloud, tree, guess)
        before, now = now, moved
        out.append(moved)
        away.append(distance)
        share.append(used)
        bare.append(float((_nearest(tree, moved[mesh.faces].mean(axis=1))[0] > half).mean()))
    return Followed(np.array(out), np.array(away), np.array(share), np.array(bare))


def _nearest(points: FloatArray | cKDTree, wanted: FloatArray, count: int = 1) -> tuple[FloatArray, IntArray]:
    """Distances and indices of the nearest points."""
    tree = points if isinstance(points, cKDTree) else cKDTree(points)
    distance, index = tree.query(wanted, k=count)
    return np.asarray(distance), np.asarray(index)


class _Places(NamedTuple):
    """Points of the sheet between its nodes."""

    nodes: IntArray  # (s, 4)
    weights: FloatArray  # (s, 4)
    border: BoolArray  # (s,) on the boundary
    pairs: IntArray  # (e, 2) edges and diagonals
    lengths: FloatArray  # (e,)
    bends: FloatArray  # (b, n) second differences


def _places(mesh: Mesh) -> _Places:
    across, along = np.meshgrid(np.linspace(0.0, 1.0, FINE), np.linspace(0.0, 1.0, FINE), indexing="ij")
    s, t = across.ravel(), along.ravel()
    shape = np.stack([(1 - s) * (1 - t), s * (1 - t), s * t, (1 - s) * t], axis=1)
    nodes = np.repeat(mesh.faces, len(s), axis=0)
    weights = np.tile(shape, (mesh.n_faces, 1))
    flat = np.einsum("sq,sqd->sd", weights, mesh.vertices[nodes])[:, :2]
    low, high = mesh.bounds[0, :2], mesh.bounds[1, :2]
    border = ((flat - low < 1e-9) | (high - flat < 1e-9)).any(axis=1)
    pairs = np.vstack([mesh.edges, mesh.faces[:, [0, 2]], mesh.faces[:, [1, 3]]])
    lengths = np.linalg.norm(mesh.vertices[pairs[:, 0]] - mesh.vertices[pairs[:, 1]], axis=1)
    rows = []
    spacing = mesh.edge_lengths
    for a in range(mesh.n_vertices):
        beside = np.unique(mesh.edges[(mesh.edges == a).any(axis=1)])
        beside = beside[beside != a]
        for i, b in enumerate(beside):
            for c in beside[i + 1 :]:
                if np.linalg.norm(mesh.vertices[b] + mesh.vertices[c] - 2 * mesh.vertices[a]) < 1e-6 * spacing.max():
                    row = np.zeros(mesh.n_vertices)
                    row[[a, b, c]] = [-2.0, 1.0, 1.0]
                    rows.append(row)
    return _Places(nodes, weights, border, pairs, lengths, np.array(rows).reshape(-1, mesh.n_vertices))


def _register(
    mesh: Mesh, places: _Places, cloud: FloatArray, tree: cKDTree, guess: FloatArray
) -> tuple[FloatArray, float, float]:
    """Nonrigid registration by Gauss-Newton steps: points to the planes of the sheet they are next to (point-to-plane
    ICP), lengths kept, bending small.

    Beyond the border of the sheet a point draws the border itself; and where the border has no points, it is drawn to
    the nearest ones, so that the sheet does not slide in itself.
    """
    n = mesh.n_vertices
    x = guess.copy()
    spacing = float(np.median(places.lengths))
    counted: BoolArray = np.zeros(len(cloud), dtype=bool)
    for _ in range(ROUNDS):
        surface = np.einsum("sq,sqd->sd", places.weights, x[places.nodes])
        normals = mesh.with_vertices(x).vertex_normals
        normal = np.einsum("sq,sqd->sd", places.weights, normals[places.nodes])
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        near, which = _nearest(surface, cloud)
        limit = max(FAR * float(np.median(near)), 0.15 * spacing)
        counted = np.asarray(near < limit)
        rows = _Rows(3 * n)
        share = 1.0 / max(int(counted.sum()), 1)
        next_to, away = which[counted], cloud[counted] - surface[which[counted]]
        inside = ~places.border[next_to]
        # along the normal inside, in all directions at the border
        n_in = normal[next_to[inside]]
        rows.places(places, next_to[inside], n_in, (away[inside] * n_in).sum(axis=1), share)
        rows.pulls(places, next_to[~inside], away[~inside], share)
        # the border, back to the cloud
        edge = np.flatnonzero(places.border)
        gap, nearest = _nearest(tree, surface[edge])
        fine: BoolArray = np.asarray(gap < 0.5 * spacing)
        rows.pulls(places, edge[fine], cloud[nearest[fine]] - surface[edge[fine]], 0.25 / max(int(fine.sum()), 1))
        # lengths
        i, j = places.pairs.T
        along = x[i] - x[j]
        length = np.maximum(np.linalg.norm(along, axis=1), 1e-12)
        unit = along / length[:, None]
        ends = np.concatenate([3 * i[:, None] + np.arange(3), 3 * j[:, None] + np.arange(3)], axis=1)
        rows.add(ends, np.concatenate([unit, -unit], axis=1), places.lengths - length, LENGTHS / len(i))
        A, b = rows.normal_equations()
        # smoothness, and staying where it is where nothing else decides
        S = SMOOTH / max(len(places.bends), 1) * places.bends.T @ places.bends
        for p in range(3):
            A[p::3, p::3] += S + STAY / n * np.eye(n)
            b[p::3] -= S @ x[:, p]
        step = np.linalg.solve(A, b).reshape(n, 3)
        longest = float(np.linalg.norm(step, axis=1).max())
        x = x + step * min(1.0, 0.5 * spacing / max(longest, 1e-12))
        if longest < ENOUGH:
            break
    away = distances(cloud[counted], x, mesh.triangles)
    return x, float(away.mean()) if len(away) else np.inf, float(counted.mean())


class _Rows:
    """Squares (row . dx - value)^2 with weights, collected for their normal equations."""

    def __init__(self, unknowns: int) -> None:
        self._unknowns = unknowns
        self._parts: list[tuple[IntArray, FloatArray, FloatArray]] = []

    def add(self, index: IntArray, row: FloatArray, value: FloatArray, weight: float) -> None:
        """Rows (m, c) at unknowns (m, c) with values (m,)."""
        root = np.sqrt(weight)
        self._parts.append((index, root * row, root * value))

    def places(self, places: _Places, which: IntArray, direction: FloatArray, value: FloatArray, weight: float) -> None:
        """Places (m,) of the sheet are to move by values (m,) along directions (m, 3)."""
        row = (places.weights[which][:, :, None] * direction[:, None, :]).reshape(len(which), 12)
        index = (3 * places.nodes[which][:, :, None] + np.arange(3)).reshape(len(which), 12)
        self.add(index, row, value, weight)

    def pulls(self, places: _Places, which: IntArray, away: FloatArray, weight: float) -> None:
        """Places (m,) of the sheet are to move by (m, 3)."""
        for p in range(3):
            direction = np.zeros((len(which), 3))
            direction[:, p] = 1.0
            self.places(places, which, direction, away[:, p], weight)

    def normal_equations(self) -> tuple[FloatArray, FloatArray]:
        """Matrix and right-hand side."""
        data = np.concatenate([row.ravel() for _, row, _ in self._parts])
        columns = np.concatenate([index.ravel() for index, _, _ in self._parts])
        lengths = np.concatenate([np.full(len(row), row.shape[1]) for _, row, _ in self._parts])
        R = csr_array((data, columns, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(lengths), self._unknowns))
        value = np.concatenate([v for _, _, v in self._parts])
        A: FloatArray = (R.T @ R).toarray()
        return A, R.T @ value
