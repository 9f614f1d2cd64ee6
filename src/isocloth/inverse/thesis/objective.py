"""What chapter 6 minimises over rest shapes, and its derivatives.

    J + a C + y . c + a_s C_smooth + a_mu G_contact,        J = |Phi(X) - target|^2 / 2

J is the distance of the draped cloth (`adjoint.py`), C = |c|^2 / 2 a penalty of the rest shape alone
(`developability.py`) with multipliers y where it is a constraint, and G_contact what the forces of contacts are out of
their cones (`cone_errors.py`), in the draped cloth:

    d G_contact / dX = (dF/dX)^T (v - p),    v = dG/dF,    A p = (d^2E_p/dx^2 v) over the free nodes

one transposed solve for J and G together (the thesis, sections 6.2 and 6.3.4).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from isocloth.base.typing import FloatArray, IntArray
from isocloth.inverse.thesis.adjoint import distance, pulled_back
from isocloth.inverse.thesis.cone_errors import Cones
from isocloth.inverse.thesis.developability import Penalty, Residuals
from isocloth.inverse.thesis.draping import Draped, Draping
from isocloth.inverse.thesis.second_derivative import distance_hessian, gauss_newton, sensitivity

#: of the area in the target: what a face at rest has at least
LEAST_AREA = 1e-3


class Parts(NamedTuple):
    """The terms at one rest shape: values, and derivatives (n, 3) in it.

    draped: the cloth; adjoint: p (n, 3) m of J; penalty, smooth: residuals, smooth None if it has no weight.
    """

    draped: Draped
    adjoint: FloatArray
    distance: float
    distance_slope: FloatArray
    penalty: Residuals
    smooth: Residuals | None
    friction: float
    friction_slope: FloatArray


@dataclass
class Objective:
    """The sum, for one density. Weights may be changed between evaluations.

    moving: (k,) nodes whose rest places are sought; the others stay as in `start` (n, 3) m.
    attraction: lambda, N/m, of the draped cloth to the target.
    weight: a, m^2; multipliers: y, m^2, or None; smoothness: a_s, m^2; friction: a_mu, m^2/N^2.
    """

    draping: Draping
    attraction: float
    moving: IntArray
    start: FloatArray
    penalty: Penalty
    smooth: Penalty
    cones: Cones | None = None
    weight: float = 0.0
    multipliers: FloatArray | None = None
    smoothness: float = 0.0
    friction: float = 0.0
    evaluations: int = field(default=0, init=False)
    _known: tuple[bytes, Parts | None] = field(default=(b"", None), init=False)

    def points(self, flat: FloatArray) -> FloatArray:
        """The rest shape (n, 3) m of coordinates (3k,) of the nodes that move."""
        whole = self.start.copy()
        whole[self.moving] = flat.reshape(-1, 3)
        return whole

    def parts(self, flat: FloatArray) -> Parts | None:
        """All terms; None where the cloth does not come to rest, or faces at rest have vanished."""
        key = flat.tobytes()
        if self._known[0] != key:
            self._known = (key, self._evaluated(self.points(flat)))
        return self._known[1]

    def __call__(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Value, and gradient (3k,); infinite where there is none."""
        parts = self.parts(flat)
        if parts is None:
            return np.inf, np.zeros_like(flat)
        value = parts.distance + self.weight * parts.penalty.penalty + self.friction * parts.friction
        slope = parts.distance_slope + self.weight * parts.penalty.gradient + self.friction * parts.friction_slope
        if self.multipliers is not None:
            value += float(self.multipliers @ parts.penalty.value)
            slope = slope + (parts.penalty.slope.T @ self.multipliers).reshape(-1, 3)
        if parts.smooth is not None:
            value += self.smoothness * parts.smooth.penalty
            slope = slope + self.smoothness * parts.smooth.gradient
        return float(value), np.asarray(slope[self.moving].ravel())

    def matrix(self, flat: FloatArray, whole: bool) -> FloatArray:
        """(3k, 3k): with `whole` the second derivative of J, else that of Gauss and Newton; of penalties always the
        latter. Friction, whose cones have kinks, adds nothing."""
        parts = self.parts(flat)
        columns = (3 * self.moving[:, None] + np.arange(3)).ravel()
        if parts is None:
            return np.full((len(columns), len(columns)), np.nan)
        if whole:
            found = distance_hessian(self.draping, parts.draped, parts.adjoint, columns)
        else:
            found = gauss_newton(sensitivity(self.draping, parts.draped, columns))
        added = self.weight * parts.penalty.matrix
        if parts.smooth is not None:
            added = added + self.smoothness * parts.smooth.matrix
        return np.asarray(found + added[columns][:, columns])

    def _evaluated(self, points: FloatArray) -> Parts | None:
        draping = self.draping
        if (_areas(draping, points) < LEAST_AREA * _areas(draping, draping.target)).any():
            return None
        draped = draping(points, self.attraction)
        self.evaluations += 1
        if not draped.stable:
            return None
        found = distance(draping, draped)
        friction, slope = 0.0, np.zeros_like(points)
        if self.cones is not None and self.friction > 0.0:
            friction, slope = contact_error(draping, draped, self.cones)
        smooth = self.smooth(points) if self.smoothness > 0.0 else None
        return Parts(draped, found.slope.adjoint, found.value, found.slope.rest, self.penalty(points), smooth,
                     friction, slope)  # fmt: skip


def contact_error(draping: Draping, draped: Draped, cones: Cones) -> tuple[float, FloatArray]:
    """G_contact, N^2, of a draped cloth, and its whole derivative (p, 3) N^2/m in the rest shape."""
    potential, x = draped.potential, draped.positions
    force = potential.gradient(x) + draped.attraction * (x - draping.target)
    error = cones.error(force)
    way = error.slope_contacts
    pulled = potential.times_stiffness(x, way) + draped.attraction * way
    return error.contacts, potential.rest_product(x, way) + pulled_back(draping, draped, pulled).rest


def _areas(draping: Draping, points: FloatArray) -> FloatArray:
    return draping.forces.shape(points).areas
