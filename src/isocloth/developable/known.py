"""Developable surfaces known in closed form, closed curves on them, and how far off a surface found is.

What a boundary must come back to: tests and validation hold `developables` against these.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import Polynomial

from isocloth.base.typing import FloatArray
from isocloth.developable.ruled import RuledSurface
from isocloth.developable.ushakov import ushakov

Chart = Callable[[FloatArray, FloatArray], FloatArray]

RADIUS = 0.5  # m, of the cylinder
CONE = 0.5  # rad, between axis and rulings
USHAKOV = ushakov(Polynomial([0.0, 0.2, 0.5, 0.1]), Polynomial([0.0, 1.0, 0.1]))


def cylinder(u: FloatArray, v: FloatArray) -> FloatArray:
    """u along the arc, v along the rulings, in m: an isometry."""
    return np.stack([RADIUS * np.cos(u / RADIUS), RADIUS * np.sin(u / RADIUS), v], axis=-1)


def cone(u: FloatArray, v: FloatArray) -> FloatArray:
    """u the angle about the axis, v + 1 the distance from the apex."""
    r = 1.0 + v
    return np.stack(
        [r * np.sin(CONE) * np.cos(u), r * np.sin(CONE) * np.sin(u), np.broadcast_to(r * np.cos(CONE), u.shape)],
        axis=-1,
    )


def tangents(u: FloatArray, v: FloatArray) -> FloatArray:
    """Tangents of a helix: u along the helix, v + 1.2 along the tangent."""
    w = v + 1.2
    return np.stack([np.cos(u) - w * np.sin(u), np.sin(u) + w * np.cos(u), 0.5 * (u + w)], axis=-1)


#: charts whose lines of constant u are the rulings
CHARTS: dict[str, Chart] = {"cylinder": cylinder, "cone": cone, "tangents of a helix": tangents, "Ushakov": USHAKOV}


def round_domain(n: int) -> FloatArray:
    """A smooth closed curve (n, 2) in the domain of a chart."""
    a = 2.0 * np.pi * np.arange(n) / n
    return np.stack([0.5 * np.cos(a) + 0.06 * np.sin(2.0 * a), 0.4 * np.sin(a) + 0.04 * np.cos(3.0 * a)], axis=1)


def square_domain(n: int, degrees: float) -> FloatArray:
    """A unit square (4 n, 2), turned, from one of its corners."""
    corners = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
    part = (np.arange(n) / n)[:, None]
    points = np.concatenate([(1.0 - part) * corners[k] + part * corners[(k + 1) % 4] for k in range(4)])
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.asarray(points @ np.array([[c, s], [-s, c]]))


def off_the_chart(surface: RuledSurface, domain: FloatArray, chart: Chart) -> float:
    """Largest distance (m) of the surface's points from the true rulings: segments of constant u."""
    # the same number of points on every true ruling, dense; only those inside the domain count
    u = np.linspace(domain[:, 0].min() - 0.02, domain[:, 0].max() + 0.02, 600)
    v = np.linspace(domain[:, 1].min() - 0.05, domain[:, 1].max() + 0.05, 2)
    ends = [chart(u, np.full_like(u, w)) for w in v]
    true = RuledSurface(ends[0], ends[1], np.zeros((len(u), 2)), np.zeros(len(u) - 1, dtype=np.bool_), 1.0)
    return float(true.distance(surface.points(5).reshape(-1, 3)).max())


def saddle_curve(n: int, height: float) -> FloatArray:
    """(cos a, sin a, h cos 2 a), (n, 3): it bounds z = h (2 x^2 - 1) and z = h (1 - 2 y^2), two parabolic cylinders."""
    a = 2.0 * np.pi * np.arange(n) / n
    return np.stack([np.cos(a), np.sin(a), height * np.cos(2.0 * a)], axis=1)


def fillings(surface: RuledSurface, height: float) -> tuple[float, float]:
    """Largest distances (m, along z) of a surface from the two fillings of `saddle_curve`."""
    x, y, z = surface.points(9).reshape(-1, 3).T
    return (
        float(np.abs(z - height * (2.0 * x**2 - 1.0)).max()),
        float(np.abs(z - height * (1.0 - 2.0 * y**2)).max()),
    )


def corner_error(surface: RuledSurface, domain: FloatArray, per_side: int) -> float:
    """Largest error (m) of a distance between corners of the unrolled surface, against the plane domain."""
    a, b = surface.unrolled()
    flat = np.concatenate([a, b])
    where = np.concatenate([surface.parameters[:, 0], surface.parameters[:, 1]])
    corners = domain[per_side * np.arange(4)]
    at = []
    for k in range(4):
        away = np.abs(
            np.mod(where - 0.25 * k * surface.length + 0.5 * surface.length, surface.length) - 0.5 * surface.length
        )
        at.append(flat[int(np.argmin(away))])
    i, j = np.triu_indices(4, 1)
    found, true = np.array(at), corners
    return float(np.abs(np.linalg.norm(found[i] - found[j], axis=1) - np.linalg.norm(true[i] - true[j], axis=1)).max())
