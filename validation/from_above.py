"""States that are only seen from above: points on what is not covered, a surface through them, and its outline.

What bounds the visible surface of a folded cloth is not the boundary of the cloth: creases bound it too, and sides
that lie under a layer do not. So two things are tried. The outline of the reconstructed surface is compared with the
outlines of other states, whichever part of the cloth they are made of. And where the napkin has marks next to its
corners, on both sides, as in the thesis' experiment, those that are not covered are found on the reconstructed
surface, and the state is named by the dGLI of the segments that are left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from isocloth.base.errors import MeshError, SamplingError
from isocloth.base.typing import BoolArray, FloatArray, IntArray
from isocloth.meshes.polygons import reach
from isocloth.reconstruction import Reconstruction, reconstruct
from isocloth.states import Database, boundary_of, corner_segments, of_segments
from validation.result import Result, Say
from validation.simulated_states import coordinates_of, names_without_itself

PITCH = 0.02  # m between rays of the camera
NOISE = 0.001  # m, standard deviation of every coordinate
#: m: a mark that is covered by something this much higher is not seen
COVERED = 5e-4
#: points in which outlines are compared
POINTS = 128


@dataclass(frozen=True)
class View:
    """A state from above: its cloud (n, 3) m, the surface through it, if one was found, and its outline (k, 3) m."""

    cloud: FloatArray
    found: Reconstruction | None
    outline: FloatArray | None


def top(positions: FloatArray, triangles: IntArray, places: FloatArray) -> FloatArray:
    """Heights (k,) in m of what is seen from above at places (k, 2) m; -inf beside the cloth."""
    height = np.full(len(places), -np.inf)
    for a, b, c in positions[triangles]:
        low, high = np.minimum(np.minimum(a, b), c)[:2], np.maximum(np.maximum(a, b), c)[:2]
        near = np.flatnonzero(((places >= low) & (places <= high)).all(axis=1))
        u, v, w = b[:2] - a[:2], c[:2] - a[:2], places[near] - a[:2]
        area = u[0] * v[1] - u[1] * v[0]
        if near.size == 0 or area == 0.0:
            continue
        s = (w[:, 0] * v[1] - w[:, 1] * v[0]) / area
        t = (u[0] * w[:, 1] - u[1] * w[:, 0]) / area
        inside = (s >= 0.0) & (t >= 0.0) & (s + t <= 1.0)
        z = a[2] + s * (b[2] - a[2]) + t * (c[2] - a[2])
        height[near[inside]] = np.maximum(height[near[inside]], z[inside])
    return height


def seen_points(positions: FloatArray, triangles: IntArray, rng: np.random.Generator) -> FloatArray:
    """Points (n, 3) in m that a camera far above gives: a net of rays, each hitting the highest layer, with noise."""
    low, high = positions[:, :2].min(axis=0), positions[:, :2].max(axis=0)
    x, y = (np.arange(a + rng.uniform(0.0, PITCH), b, PITCH) for a, b in zip(low, high, strict=True))
    rays = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
    rays = rays + rng.uniform(-0.3 * PITCH, 0.3 * PITCH, rays.shape)
    z = top(positions, triangles, rays)
    hit = np.isfinite(z)
    points = np.column_stack([rays[hit], z[hit]])
    return np.asarray(points + NOISE * rng.standard_normal(points.shape))


def view(positions: FloatArray, triangles: IntArray, rng: np.random.Generator) -> View:
    """The cloud of a state, and the surface and outline that are found in it."""
    cloud = seen_points(positions, triangles, rng)
    try:
        found = reconstruct(cloud)
        curves = [found.points[c] for c in found.boundary_curves]
    except (SamplingError, MeshError):
        return View(cloud, None, None)
    if not curves:
        return View(cloud, found, None)
    return View(cloud, found, max(curves, key=lambda c: abs(_area(c))))


def outline_distances(outlines: list[FloatArray | None]) -> FloatArray:
    """Root mean square distances (n, n) in m of closed curves (k, 3) in the view from above, infinite where one lacks.

    Points equally spaced along them, least over all turns about the vertical, shifts and first points: with the points
    as complex numbers the best turn is the phase of their correlation, and all first points come from one transform.
    """
    curves = np.array([np.full(POINTS, np.nan, complex) if c is None else _even(c) for c in outlines])
    spectra = np.fft.fft(curves, axis=1)
    size = (np.abs(curves) ** 2).sum(axis=1)
    table = np.full((len(curves), len(curves)), np.inf)
    for i in range(len(curves)):
        match = np.abs(np.fft.ifft(np.conj(spectra[i]) * spectra, axis=1)).max(axis=1)
        square = np.maximum(size[i] + size - 2.0 * match, 0.0) / POINTS
        table[i] = np.where(np.isfinite(square), np.sqrt(square), np.inf)
    return table


def visible_segments(database: Database, state: int, seen: View) -> FloatArray:
    """The eight segments (8, 2, 3) in m, at the heights of the reconstructed surface; NaN where a mark is covered."""
    triangles, x = database.mesh.triangles, database.positions[state]
    segments = corner_segments(boundary_of(database.mesh, x))
    if seen.found is None:
        return np.full_like(segments, np.nan)
    marks = segments.reshape(-1, 3)
    covered: BoolArray = top(x, triangles, marks[:, :2]) > marks[:, 2] + COVERED
    surface = seen.found.surface
    height = top(surface.points, surface.triangles, marks[:, :2])
    beside = ~np.isfinite(height)  # marks are on the edge: that of the surface is half a pitch inside
    nearest = np.argmin(((marks[beside, None, :2] - surface.points[None, :, :2]) ** 2).sum(axis=2), axis=1)
    height[beside] = surface.points[nearest, 2]
    result = np.column_stack([marks[:, :2], height]).reshape(segments.shape)
    result[covered.reshape(8, 2).any(axis=1)] = np.nan
    return np.asarray(result)


def seen_from_above(result: Result, database: Database, say: Say) -> None:
    """How many states are named rightly by what is seen of them from above."""
    rng = np.random.default_rng(0)
    views = []
    for i, x in enumerate(database.positions):
        views.append(view(x, database.mesh.triangles, rng))
        if (i + 1) % 20 == 0:
            say(f"{i + 1} of {len(database)} states seen from above")
    labels = database.labels
    count = len(labels)
    kind = "seen from above"
    surfaces = [v.found for v in views if v.found is not None]
    result.info(f"{kind}: points of a state, mean", float(np.mean([len(v.cloud) for v in views])), ".0f")
    result.info(f"{kind}: a surface is found, %", 100.0 * len(surfaces) / count, ".1f")
    result.info(f"{kind}: a disc without doubts, %",
                100.0 * sum(f.sure and f.euler_characteristic == 1 for f in surfaces) / count, ".1f")  # fmt: skip
    table = outline_distances([v.outline for v in views])
    np.fill_diagonal(table, np.inf)
    found = np.where(np.isfinite(table).any(axis=1), labels[np.argmin(table, axis=1)], -1)
    result.info(
        f"{kind}: named by the outline of the surface: right, %", 100.0 * float(np.mean(found == labels)), ".1f"
    )
    segments = [visible_segments(database, i, v) for i, v in enumerate(views)]
    seen = np.array([of_segments(s, touching="nan") for s in segments])
    hidden = np.mean([np.isnan(s).any(axis=(1, 2)).sum() for s in segments])
    result.info(f"{kind}: marked segments that are covered, of 8, mean", float(hidden), ".1f")
    named = names_without_itself(seen, database, coordinates_of(database.boundaries))
    rate = 100.0 * float(np.mean(named == labels))
    result.info(f"{kind}: named by marks that are seen, on the surface: right, %", rate, ".1f")
    trivial = 100.0 * float(np.bincount(labels).max() / count)
    result.info(f"{kind}: always the most frequent class: right, %", trivial, ".1f")


def _area(curve: FloatArray) -> float:
    x, y = curve[:, 0], curve[:, 1]
    return 0.5 * float(np.sum(x * np.roll(y, -1) - y * np.roll(x, -1)))


def _even(curve: FloatArray) -> np.ndarray:
    """POINTS complex numbers along a closed curve seen from above, counter-clockwise, their mean zero."""
    x = curve[:, :2] if _area(curve) > 0.0 else curve[::-1, :2]
    closed = np.concatenate([x, x[:1]])
    far = reach(closed)
    at = np.arange(POINTS) * far[-1] / POINTS
    z = np.interp(at, far, closed[:, 0]) + 1j * np.interp(at, far, closed[:, 1])
    return np.asarray(z - z.mean())
