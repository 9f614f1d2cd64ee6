"""Measures of how well a motion keeps the cloth's metric, as in the papers (eq. 19-22), with stricter ones beside."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from isocloth.base.compiled import inlined, kernel
from isocloth.base.typing import FloatArray, IntArray
from isocloth.measure.frames import frames_of, shaped
from isocloth.meshes import Mesh
from isocloth.terms.elements import area_elements, gauss
from isocloth.terms.isometry import nodal_metric
from isocloth.terms.quadratic_membrane import first_sides, green_strain
from isocloth.terms.rest_shape import RestShape, metric_of


class AreaErrors(NamedTuple):
    """Relative area errors; a number for one frame, an array (T,) for a motion."""

    total: FloatArray | float  # |A(t) - A_0| / A_0 (eq. 19)
    mean: FloatArray | float  # mean over elements of |a_e(t) - a_e(0)| / a_e(0) (eq. 20)
    dispersion: FloatArray | float  # mean + 2 standard deviations (eq. 21)


class Stretch(NamedTuple):
    """Relative change of edge lengths; numbers for one frame, arrays (T,) for a motion."""

    max: FloatArray | float  # largest |l/l_0 - 1|
    rms: FloatArray | float


class MetricErrors(NamedTuple):
    """Largest errors of the nodal averages E, F, G at interior nodes (dimensionless)."""

    E: FloatArray | float
    F: FloatArray | float
    G: FloatArray | float


def areas(mesh: Mesh, positions: ArrayLike) -> FloatArray:
    """Area of every element (..., m) in m^2 at positions (..., n, 3); quads as bilinear patches."""
    points = frames_of(mesh, positions)
    rule = gauss(mesh.faces.shape[1])
    found = np.stack([area_elements(frame[mesh.faces], rule).sum(axis=1) for frame in points])
    return found[0] if np.ndim(positions) == 2 else found


def area_change(mesh: Mesh, positions: ArrayLike) -> float:
    """Relative change of the whole area at positions (n, 3), negative if some is lost; quads are folded paper.

    A quad is cut along the diagonal that leaves more area: one that is folded along a diagonal has lost none, as a
    bilinear patch would, and one that is sheared or crumpled has.
    """
    return float(_area(mesh.faces, frames_of(mesh, positions)[0]) / _area(mesh.faces, mesh.vertices)) - 1.0


@kernel
def _area(faces: IntArray, x: FloatArray) -> float:
    """Area of all elements, m^2; of a quad the larger one of its two pairs of triangles."""
    total = 0.0
    for e in range(len(faces)):
        a, b, c = faces[e, 0], faces[e, 1], faces[e, 2]
        area = _double_area(x, a, b, c)
        if faces.shape[1] == 4:
            d = faces[e, 3]
            area = max(area + _double_area(x, a, c, d), _double_area(x, a, b, d) + _double_area(x, b, c, d))
        total += 0.5 * area
    return total


@inlined
def _double_area(x: FloatArray, a: int, b: int, c: int) -> float:
    ux, uy, uz = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
    vx, vy, vz = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
    length: float = np.sqrt((uy * vz - uz * vy) ** 2 + (uz * vx - ux * vz) ** 2 + (ux * vy - uy * vx) ** 2)
    return length


def area_errors(mesh: Mesh, positions: ArrayLike) -> AreaErrors:
    """Total, mean element and dispersion error of positions (n, 3) or (T, n, 3) against the mesh's rest shape."""
    now, rest = np.atleast_2d(areas(mesh, positions)), areas(mesh, mesh.vertices)
    total = np.abs(now.sum(axis=1) - rest.sum()) / rest.sum()
    each = np.abs(now - rest) / rest
    mean = each.mean(axis=1)
    return AreaErrors(*shaped(positions, total, mean, mean + 2.0 * each.std(axis=1)))


def edge_stretch(mesh: Mesh, positions: ArrayLike) -> Stretch:
    """Largest and rms relative change of the lengths of all edges."""
    points = frames_of(mesh, positions)
    a, b = mesh.edges.T
    relative = np.linalg.norm(points[:, a] - points[:, b], axis=2) / mesh.edge_lengths - 1.0
    return Stretch(*shaped(positions, np.abs(relative).max(axis=1), np.sqrt(np.mean(relative**2, axis=1))))


def metric_errors(mesh: Mesh, positions: ArrayLike) -> MetricErrors:
    """Largest errors of the papers' nodal metric at interior nodes."""
    points = frames_of(mesh, positions)
    parts = []
    for component in "EFG":
        rows = nodal_metric(mesh, component, mesh.interior_nodes)
        parts.append(np.array([np.abs(rows.values(frame)).max(initial=0.0) for frame in points]))
    return MetricErrors(*shaped(positions, *parts))


def corner_measures(shape: RestShape, positions: FloatArray) -> dict[str, float]:
    """Errors at positions (n, 3) of a shell whose faces have rest corners of their own: each by its own rest shape.

    Edges count once for every face they have; E, F and G are those of Green's metric in every face, at rest 1, 0, 1.
    """
    now, then = positions[shape.faces], shape.points[shape.corners]
    lengths = [np.linalg.norm(p - p[:, [1, 2, 0]], axis=2).ravel() for p in (now, then)]
    stretch = np.abs(lengths[0] / lengths[1] - 1.0)
    size = [np.linalg.norm(np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), axis=1) / 2 for p in (now, then)]
    local = np.abs(size[0] / size[1] - 1.0)
    strain = green_strain(shape.metric, first_sides(len(now))) @ (metric_of(now) - shape.metric)[:, :, None]
    worst = 2.0 * np.abs(strain[:, :, 0]).max(axis=0)
    return {
        "edge_stretch": float(stretch.max()), "edge_stretch_rms": float(np.sqrt(np.mean(stretch**2))),
        "metric_E": float(worst[0]), "metric_F": float(worst[2]), "metric_G": float(worst[1]),
        "area_total": abs(float(size[0].sum() / size[1].sum()) - 1.0), "area_mean": float(local.mean()),
        "area_dispersion": float(local.mean() + 2.0 * local.std()),
    }  # fmt: skip
