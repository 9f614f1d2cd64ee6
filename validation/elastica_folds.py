"""Folds of a heavy strip in a plane, without any cloth: the continuous elastica, and polygons with an energy of turns.

Lengths are in c = (B / (rho g))^(1/3), energies per width in B / c. The strip lies on a floor, lifts off, turns back
and lies on itself; in the plane both layers lie on the floor, as their thickness is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy.integrate import solve_bvp
from scipy.optimize import minimize

from isocloth.base.typing import FloatArray
from isocloth.terms.stiffening import measures

#: energy of a turn, doubled and of lengths 1, and its derivative, at angles (n,) rad
Turns = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


@cache
def elastica_height() -> float:
    """c, height of the loop between lift-off and touch-down: theta'' = f sin(theta) - (g + s) cos(theta).

    f and g are the horizontal and the vertical force where it lifts off, where theta, its curvature, x and y are zero;
    it touches down level, turned by pi, without curvature, at y = 0. Its length is the third unknown.
    """

    def slope(t: FloatArray, state: FloatArray, unknown: FloatArray) -> FloatArray:
        theta, curvature, _, _ = state
        f, g, length = unknown
        bent = f * np.sin(theta) - (g + length * t) * np.cos(theta)
        return np.asarray(length * np.stack([curvature, bent, np.cos(theta), np.sin(theta)]))

    def ends(first: FloatArray, last: FloatArray, unknown: FloatArray) -> FloatArray:
        return np.array([*first, last[0] - np.pi, last[1], last[3]])

    t = np.linspace(0.0, 1.0, 60)
    theta = np.pi * (3.0 * t**2 - 2.0 * t**3)
    best = np.inf
    for length in (4.0, 6.0, 8.0):
        for g in (-4.0, -3.0, -2.0):
            path = length * np.cumsum(np.stack([np.cos(theta), np.sin(theta)]), axis=1) / len(t)
            start = np.stack([theta, np.gradient(theta, length * t), *path])
            found = solve_bvp(slope, ends, t, start, p=[0.0, g, length], tol=1e-6, max_nodes=5000)
            turn, low = found.y[0], found.y[3].min()
            simple = turn.min() > -0.8 and turn.max() < np.pi + 0.8 and low > -1e-6
            if found.success and found.p is not None and found.p[2] > 0.0 and simple:
                best = min(best, float(found.y[3].max()))
    return best


def saturating(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """u = (2 sin(theta / 2))^2, the bending matrix."""
    return 2.0 - 2.0 * np.cos(theta), 2.0 * np.sin(theta)


def stiffening(theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """psi(u), `terms/stiffening.py`."""
    u, slope = saturating(theta)
    found = np.empty((3, len(u)))
    measures(np.ascontiguousarray(u), found)
    return found[0] + u, (found[1] + 1.0) * slope


def polygon_height(turns: Turns, h: float, offset: float, *, sharp: bool, reach: float = 4.0) -> tuple[float, bool]:
    """c, height of a polygon of edges h that is folded, and whether a minimum was found.

    Its ends lie, level and stuck, the far one `offset` edges from above the near one; `reach`: length of a layer.
    Energy: sum of B/(2h) times the energy of every turn, and the weight; the floor holds every corner.
    """
    count = 2 * round(reach / h)
    edge = np.arange(count)
    turning = 0.5 * (count + offset)
    wide = 0.05 if sharp else max(1.2 / h, 1.0)
    start = np.pi / (1.0 + np.exp(-np.clip((edge + 0.5 - turning) / wide, -50.0, 50.0)))
    if sharp:
        start = start + 0.02 * np.sin(1.7 * edge)

    def energy(phi: FloatArray) -> tuple[float, FloatArray]:
        value, slope = turns(np.diff(np.concatenate([[0.0], phi, [np.pi]])))
        moment = slope / (2.0 * h)
        heights = h * np.cumsum(np.sin(phi))
        back = moment[:-1] - moment[1:] + h * h * np.cos(phi) * np.arange(count, 0, -1)
        return float(value.sum() / (2.0 * h) + h * heights.sum()), back

    below = np.tril(np.ones((count, count)))
    limits: Any = [
        {"type": "ineq", "fun": lambda p: h * np.cumsum(np.sin(p))[:-1], "jac": lambda p: (h * below * np.cos(p))[:-1]},
        {"type": "eq", "fun": lambda p: h * np.array([np.sin(p).sum(), np.cos(p).sum() - offset]),
         "jac": lambda p: h * np.stack([np.cos(p), -np.sin(p)])},
    ]  # fmt: skip
    found = minimize(
        energy, start, jac=True, constraints=limits, method="SLSQP", options={"maxiter": 500, "ftol": 1e-11}
    )
    return float((h * np.cumsum(np.sin(found.x))).max()), bool(found.success)
