"""How a loss of the draped cloth changes with its rest shape and its density, by one transposed solve.

With F = dE_p/dx, A = d^2E_p/dx^2 + lambda over the free nodes, and a loss L(x) of x = Phi(X),

    A p = dL/dx,    dL/dX = -(dF/dX)^T p,    dL/d(density) = -p . dF/d(density),

p zero at fixed nodes (Casati 2015; the thesis, section 5.4.1). dF/dX includes the change of the masses.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from isocloth.base.errors import ConvergenceError
from isocloth.base.typing import FloatArray
from isocloth.inverse.thesis.draping import Draped, Draping


class Slope(NamedTuple):
    """Derivative of a loss: in the rest shape, (p, 3) per m, and in the density, per kg/m^2; p: (n, 3), the adjoint."""

    rest: FloatArray
    density: float
    adjoint: FloatArray


def pulled_back(draping: Draping, draped: Draped, loss: FloatArray) -> Slope:
    """Of a loss with the derivative (n, 3) in the positions of the draped cloth."""
    if draped.factor is None:
        raise ConvergenceError(
            f"the draped cloth is no stable equilibrium (largest force left {draped.residual:.2e} N): its shape has no "
            "derivative; drape it with a larger attraction, or a stiffer model"
        )
    adjoint = np.zeros_like(draped.positions)
    adjoint[draping.free] = draped.factor.solve(loss[draping.free].ravel()).reshape(-1, 3)
    potential = draped.potential
    return Slope(
        -potential.rest_product(draped.positions, adjoint), -potential.density_product(adjoint), adjoint
    )  # fmt: skip


def pushed_forward(draping: Draping, draped: Draped, change: FloatArray) -> FloatArray:
    """Dx (n, 3) m = Phi'(X) dX of a change (p, 3) m of the rest shape."""
    if draped.factor is None:
        raise ConvergenceError("the draped cloth is no stable equilibrium: its shape has no derivative")
    force = draped.potential.times_rest(draped.positions, change)
    out = np.zeros_like(draped.positions)
    out[draping.free] = -draped.factor.solve(force[draping.free].ravel()).reshape(-1, 3)
    return out


class Distance(NamedTuple):
    """J = |Phi(X) - target|^2 / 2, m^2, its derivative, and the cloth."""

    value: float
    slope: Slope
    draped: Draped


def distance(draping: Draping, draped: Draped) -> Distance:
    """J of a cloth that was draped."""
    off = draped.positions - draping.target
    return Distance(0.5 * float(np.sum(off * off)), pulled_back(draping, draped, off), draped)
